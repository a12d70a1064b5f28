"""Reports: what an audit found, as tables and as one page that people look at."""

from vecveil.reports.html import render_report, write_report
from vecveil.reports.tables import write_tables

__all__ = ["render_report", "write_report", "write_tables"]
