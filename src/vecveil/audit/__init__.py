"""Audit: attacks and utility tasks against a veil."""

from vecveil.audit.budgets import Budget
from vecveil.audit.corpus import AuditCorpus
from vecveil.audit.estimate import Estimate
from vecveil.audit.folder import AuditFolder
from vecveil.audit.grid import Grid
from vecveil.audit.metrics import mitigation, tradeoff_rate
from vecveil.audit.plan import AuditPlan
from vecveil.audit.prepare import ALWAYS, prepare
from vecveil.audit.results import AttackRow, AuditResult, Example, ProbeRow, Setting, TaskRow, Verdict
from vecveil.audit.run import run_audit

__all__ = [
    "ALWAYS",
    "AttackRow",
    "AuditCorpus",
    "AuditFolder",
    "AuditPlan",
    "AuditResult",
    "Budget",
    "Estimate",
    "Example",
    "Grid",
    "ProbeRow",
    "Setting",
    "TaskRow",
    "Verdict",
    "mitigation",
    "prepare",
    "run_audit",
    "tradeoff_rate",
]
