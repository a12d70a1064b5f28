"""Audit: attacks and utility tasks against a veil."""

from vecveil.audit.audit import EXAMPLES, EXPOSURES, RESULTS, Audit, prepare_audit
from vecveil.audit.corpus import AuditCorpus
from vecveil.audit.experiment import Cell, Experiment
from vecveil.audit.learn import Target, learn
from vecveil.audit.metrics import mitigation, tradeoff_rate
from vecveil.audit.plan import AuditPlan
from vecveil.audit.result import AuditResult
from vecveil.audit.rows import (
    PARTS,
    AttackRow,
    BlankRow,
    Estimate,
    Example,
    Exposure,
    ProbeRow,
    Setting,
    TaskRow,
    Verdict,
)
from vecveil.audit.run import audit, collect_budgets, make_plan
from vecveil.audit.verdict import Tolerance

__all__ = [
    "EXAMPLES",
    "EXPOSURES",
    "PARTS",
    "RESULTS",
    "AttackRow",
    "Audit",
    "AuditCorpus",
    "AuditPlan",
    "AuditResult",
    "BlankRow",
    "Cell",
    "Estimate",
    "Example",
    "Experiment",
    "Exposure",
    "ProbeRow",
    "Setting",
    "Target",
    "TaskRow",
    "Tolerance",
    "Verdict",
    "audit",
    "collect_budgets",
    "learn",
    "make_plan",
    "mitigation",
    "prepare_audit",
    "tradeoff_rate",
]
