"""How much work goes into a benchmark."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Effort:
    """How much work goes into a benchmark.

    Attributes:
        rounds: How often each thing is timed; the shortest time counts.
        rows: Vectors of a batch.
        singles: Vectors that are protected one by one.
        pairs: Contrast pairs to learn from.
        epochs: Passes of the training that are timed, of the paper's hundred.
        file_rows: Vectors of the file that is read and written.
        memory_rows: Vectors of the files by which memory is looked at.
        texts: Texts that are embedded.
        dimensions: Lengths of vectors by which growth is looked at.
        batches: Rows by which it is.
        corpora: Contrast pairs by which it is.
    """

    rounds: int
    rows: int
    singles: int
    pairs: int
    epochs: int
    file_rows: int
    memory_rows: tuple[int, ...]
    texts: int
    dimensions: tuple[int, ...]
    batches: tuple[int, ...]
    corpora: tuple[int, ...]


FULL = Effort(
    rounds=7,
    rows=10_000,
    singles=1000,
    pairs=10_000,
    epochs=5,
    file_rows=100_000,
    memory_rows=(100_000, 1_000_000, 5_000_000),
    texts=2000,
    dimensions=(128, 256, 512, 1024, 2048, 4096),
    batches=(1000, 10_000, 100_000, 1_000_000, 10_000_000),
    corpora=(1000, 3000, 10_000, 30_000, 100_000),
)
QUICK = Effort(
    rounds=2,
    rows=1000,
    singles=100,
    pairs=300,
    epochs=1,
    file_rows=5000,
    memory_rows=(5000, 20_000),
    texts=64,
    dimensions=(128, 512),
    batches=(1000, 10_000),
    corpora=(200, 400),
)
