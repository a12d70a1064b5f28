from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from support.veils import unit_vectors
from vecveil.files.vectors import to_vector_column
from vecveil.files.writers import BackgroundWriter

VECTORS = unit_vectors(6)
BATCHES = [pa.record_batch({"vector": to_vector_column(VECTORS[start : start + 2])}) for start in (0, 2, 4)]
SCHEMA = BATCHES[0].schema.with_metadata({b"made": b"here"})


@pytest.mark.parametrize("npy", [False, True])
def test_batches_are_written_in_order(tmp_path: Path, npy: bool) -> None:
    path = tmp_path / "whole"
    whole = BackgroundWriter(path, SCHEMA, npy=npy)
    whole.write(BATCHES[:2])
    whole.write(BATCHES[2:])
    whole.close({})
    written = np.load(path) if npy else np.array(pq.read_table(path)["vector"].to_pylist(), dtype=np.float32)
    np.testing.assert_array_equal(written, VECTORS)
    if not npy:
        assert pq.read_schema(path).metadata[b"made"] == b"here"


def test_numbers_of_vectors_are_not_looked_up_and_others_are(tmp_path: Path) -> None:
    batch = pa.record_batch({"ward": ["north", "north"], "vector": to_vector_column(VECTORS[:2])})
    whole = BackgroundWriter(tmp_path / "whole", batch.schema, npy=False)
    whole.write([batch])
    whole.close({})
    group = pq.ParquetFile(tmp_path / "whole").metadata.row_group(0)
    assert "RLE_DICTIONARY" in group.column(0).encodings
    assert "RLE_DICTIONARY" not in group.column(1).encodings


def test_what_goes_wrong_behind_the_caller_is_heard_at_the_next_batch(tmp_path: Path) -> None:
    def failing() -> Iterator[Any]:
        yield BATCHES[0]
        raise OSError(28, "No space left on device")

    whole = BackgroundWriter(tmp_path / "whole", SCHEMA, npy=False)
    whole.write(failing())
    with pytest.raises(OSError, match="No space left"):
        whole.write(BATCHES[1:])
    whole.abandon()


def test_a_file_can_be_let_go_of_at_any_time(tmp_path: Path) -> None:
    whole = BackgroundWriter(tmp_path / "whole", SCHEMA, npy=True)
    whole.write(BATCHES)
    whole.abandon()
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("vecveil-write")]
