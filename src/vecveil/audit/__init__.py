"""Audit: attacks and utility tasks against a veil."""

from vecveil.audit.audit import EXAMPLES, RESULTS, Audit, prepare_audit
from vecveil.audit.corpus import AuditCorpus
from vecveil.audit.experiment import Cell, Experiment
from vecveil.audit.metrics import mitigation, tradeoff_rate
from vecveil.audit.plan import AuditPlan
from vecveil.audit.results import AttackRow, AuditResult, Estimate, Example, ProbeRow, Setting, TaskRow, Verdict
from vecveil.audit.run import audit, default_budgets, with_default_attacks

__all__ = [
    "EXAMPLES",
    "RESULTS",
    "AttackRow",
    "Audit",
    "AuditCorpus",
    "AuditPlan",
    "AuditResult",
    "Cell",
    "Estimate",
    "Example",
    "Experiment",
    "ProbeRow",
    "Setting",
    "TaskRow",
    "Verdict",
    "audit",
    "default_budgets",
    "mitigation",
    "prepare_audit",
    "tradeoff_rate",
    "with_default_attacks",
]
