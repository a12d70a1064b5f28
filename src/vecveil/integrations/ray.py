"""Ray Data: protection of a data set on a cluster."""

import logging
from pathlib import Path
from typing import Any

from vecveil.core.errors import needs_extra
from vecveil.integrations.engines import Columns, require_shared_ledger, write_parts
from vecveil.veil import Guard
from vecveil.veil.batches import BatchProtection
from vecveil.veil.protect_file import SAMPLE, TEXTS, VECTORS

with needs_extra("ray", "ray"):
    import pyarrow as pa
    import ray
    import ray.data


def protect_dataset(dataset: ray.data.Dataset, guard: Guard, columns: Columns | None = None) -> ray.data.Dataset:
    """Return a data set with protected vectors in the place of texts or clean vectors.

    Args:
        dataset: Rows with texts or with vectors.
        guard: The veil, its budget, its key and its ledger, by paths that every worker can read.
        columns: Which columns are what; found out where there is no doubt.
    """
    return _protect(dataset, _plan_protection(dataset, guard, columns))


def protect_parquet(
    source: str | Path, output: str | Path, guard: Guard, columns: Columns | None = None, *, overwrite: bool = False
) -> int:
    """Protect a Parquet file, or a folder of them, into a folder, and return the number of rows.

    Args:
        source: File or folder that every worker can read.
        output: Folder, which appears when it is whole.
        guard: The veil, its budget, its key and its ledger.
        columns: Which columns are what.
        overwrite: Whether a folder that is there may be replaced.
    """
    if not ray.is_initialized():
        ray.init(include_dashboard=False, log_to_driver=False, logging_level=logging.ERROR)
    ray.data.DataContext.get_current().enable_progress_bars = False
    dataset = ray.data.read_parquet(str(Path(source).resolve()))
    protection = _plan_protection(dataset, guard, columns)
    return write_parts(
        Path(output),
        lambda folder: _protect(dataset, protection).write_parquet(str(folder)),
        protection,
        overwrite=overwrite,
    )


def _plan_protection(dataset: ray.data.Dataset, guard: Guard, columns: Columns | None) -> BatchProtection:
    if len(ray.nodes()) > 1:  # type: ignore[no-untyped-call]
        require_shared_ledger(guard)
    sample: Any = dataset.take_batch(SAMPLE, batch_format="pyarrow")
    return (columns or Columns()).make_protection(guard, sample.schema.remove_metadata(), sample)


def _protect(dataset: ray.data.Dataset, protection: BatchProtection) -> ray.data.Dataset:
    return dataset.map_batches(
        _Protector,
        fn_constructor_args=(protection,),
        batch_format="pyarrow",
        batch_size=TEXTS if protection.plan.is_text else VECTORS,
        # An actor keeps the model and the ledger open from batch to batch.
        compute=ray.data.ActorPoolStrategy(min_size=1, max_size=None),
    )


class _Protector:
    """Protects tables, as Ray hands them out."""

    def __init__(self, protection: BatchProtection) -> None:
        self._protection = protection

    def __call__(self, table: Any) -> Any:
        protection = self._protection
        batches = [protection(batch) for batch in table.combine_chunks().to_batches()]
        return pa.Table.from_batches(batches, schema=protection.schema)
