"""What Parquet can hold."""

from __future__ import annotations

from typing import Any

from vecveil.core.errors import InvalidInputError


def require_parquet(schema: Any) -> None:
    """Raise, with the name of the column, unless every column of an Arrow schema can be written as Parquet."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    for field in schema:
        try:
            pq.write_table(pa.schema([field]).empty_table(), pa.BufferOutputStream())
        except pa.ArrowException:
            raise InvalidInputError(
                f"column {field.name!r} of type {field.type} can't be written as Parquet; leave it out of the input"
            ) from None


def plain_schema(schema: Any) -> Any:
    """Return `schema` with categories as plain values: Parquet gives back only some of them as categories."""
    import pyarrow as pa

    return pa.schema([field.with_type(_plain(field.type)) for field in schema], metadata=schema.metadata)


def plain_batch(batch: Any) -> Any:
    """Return a record batch with categories as plain values."""
    import pyarrow as pa

    if not any(pa.types.is_dictionary(kind) for kind in batch.schema.types):
        return batch
    columns = [column.cast(_plain(column.type)) for column in batch.columns]
    return pa.RecordBatch.from_arrays(columns, schema=plain_schema(batch.schema))


def _plain(kind: Any) -> Any:
    import pyarrow as pa

    return kind.value_type if pa.types.is_dictionary(kind) else kind
