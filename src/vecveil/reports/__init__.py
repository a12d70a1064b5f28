"""Reports: the results of an audit as tables and as a page."""

from vecveil.reports.findings import write_findings
from vecveil.reports.html import render_report, write_report
from vecveil.reports.tables import write_tables

__all__ = ["render_report", "write_findings", "write_report", "write_tables"]
