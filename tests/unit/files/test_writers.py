from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from support.veils import unit_vectors
from vecveil.files.vectors import to_vector_column
from vecveil.files.writers import open_writer

VECTORS = unit_vectors(6)
BATCHES = [pa.record_batch({"vector": to_vector_column(VECTORS[start : start + 2])}) for start in (0, 2, 4)]
SCHEMA = BATCHES[0].schema.with_metadata({b"made": b"here"})


@pytest.mark.parametrize("npy", [False, True])
def test_batches_are_written_in_order(tmp_path: Path, npy: bool) -> None:
    path = tmp_path / ("whole.npy" if npy else "whole.parquet")
    whole = open_writer(path, SCHEMA)
    for batch in BATCHES:
        whole.write(batch)
    whole.close({})
    written = np.load(path) if npy else np.array(pq.read_table(path)["vector"].to_pylist(), dtype=np.float32)
    np.testing.assert_array_equal(written, VECTORS)
    if not npy:
        assert pq.read_schema(path).metadata[b"made"] == b"here"


def test_numbers_of_vectors_are_not_looked_up_and_others_are(tmp_path: Path) -> None:
    batch = pa.record_batch({"ward": ["north", "north"], "vector": to_vector_column(VECTORS[:2])})
    whole = open_writer(tmp_path / "whole.parquet", batch.schema)
    whole.write(batch)
    whole.close({})
    group = pq.ParquetFile(tmp_path / "whole.parquet").metadata.row_group(0)
    assert "RLE_DICTIONARY" in group.column(0).encodings
    assert "RLE_DICTIONARY" not in group.column(1).encodings
