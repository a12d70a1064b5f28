"""The ledger: every release on record, and a budget for each record that is enforced."""

from vecveil.accounting.ledger.charge import Charge, new_run
from vecveil.accounting.ledger.entries import Release, RunSummary, Totals
from vecveil.accounting.ledger.ledger import Ledger
from vecveil.accounting.ledger.opening import default_ledger, is_address, open_ledger

__all__ = [
    "Charge",
    "Ledger",
    "Release",
    "RunSummary",
    "Totals",
    "default_ledger",
    "is_address",
    "new_run",
    "open_ledger",
]
