"""Vector stores, in place: a collection is protected into a shadow beside it, compared, and swapped when told to."""

from vecveil.migrate.comparison import Comparison, compare
from vecveil.migrate.dropping import Backup, drop_backup, find_backup
from vecveil.migrate.migration import Migration, migrate
from vecveil.migrate.registry import STORES, open_store
from vecveil.migrate.store import BATCH_ROWS, Batch, Store
from vecveil.migrate.swapping import Swap, swap

__all__ = [
    "BATCH_ROWS",
    "STORES",
    "Backup",
    "Batch",
    "Comparison",
    "Migration",
    "Store",
    "Swap",
    "compare",
    "drop_backup",
    "find_backup",
    "migrate",
    "open_store",
    "swap",
]
