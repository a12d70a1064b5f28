"""Spark: protection of a data frame on all machines of a cluster."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from vecveil.core.errors import InvalidInputError, needs_extra
from vecveil.integrations.engines import Columns, require_shared_ledger, write_parts
from vecveil.veil import Guard
from vecveil.veil.batches import BatchProtection
from vecveil.veil.protect_file import SAMPLE

with needs_extra("pyspark", "spark"):
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema


def protect_frame(frame: DataFrame, guard: Guard, columns: Columns | None = None) -> DataFrame:
    """Return a data frame with protected vectors in the place of texts or clean vectors.

    Args:
        frame: Rows with texts or with vectors.
        guard: The veil, its budget, its key and its ledger, by paths that every worker can read.
        columns: Which columns are what; found out where there is no doubt.
    """
    return _protect(frame, _plan_protection(frame, guard, columns))


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
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    session = SparkSession.builder.appName("vecveil").config("spark.ui.showConsoleProgress", "false").getOrCreate()
    frame = session.read.parquet(str(Path(source).resolve()))
    protection = _plan_protection(frame, guard, columns)
    return write_parts(
        Path(output),
        lambda folder: _protect(frame, protection).write.parquet(str(folder)),
        protection,
        overwrite=overwrite,
    )


def _plan_protection(frame: DataFrame, guard: Guard, columns: Columns | None) -> BatchProtection:
    if guard.grid == "float16":
        raise InvalidInputError("Spark has no numbers of 16 bits: use the grid float32 or int8")
    # Spark Connect has settings, and no context to ask.
    if not (frame.sparkSession.conf.get("spark.master", "") or "").startswith("local"):
        require_shared_ledger(guard)
    sample = frame.limit(SAMPLE).toArrow()
    return (columns or Columns()).make_protection(guard, to_arrow_schema(frame.schema), sample)


def _protect(frame: DataFrame, protection: BatchProtection) -> DataFrame:
    schema = _spark_schema(protection.schema)

    def protect_batches(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            yield protection(batch).cast(schema)

    return frame.mapInArrow(protect_batches, from_arrow_schema(schema))


def _spark_schema(schema: Any) -> Any:
    """Return an Arrow schema without lists of a fixed length, which Spark does not know."""
    return pa.schema(
        [
            field.with_type(pa.list_(field.type.value_type)) if pa.types.is_fixed_size_list(field.type) else field
            for field in schema
        ]
    )
