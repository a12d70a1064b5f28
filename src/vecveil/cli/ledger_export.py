"""Every release in a file, for those who ask what was given out."""

from __future__ import annotations

import csv
import itertools
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vecveil.artifacts.atomic import atomic_file, exists_already
from vecveil.artifacts.writers import ROW_GROUP, write_parquet
from vecveil.core.checks import one_of
from vecveil.core.progress import Progress

if TYPE_CHECKING:
    from vecveil.accounting.ledger import Ledger, Release

Rows = list[dict[str, Any]]

COLUMNS = ("run", "row", "kind", "record", "token", "veil", "mechanism", "epsilon", "distance", "cost", "noise", "time")


def export_releases(ledger: Ledger, path: Path, *, overwrite: bool, progress: Progress) -> int:
    """Write one row per release to `path`, whole or not at all, and return how many there are."""
    one_of(path.suffix, _WRITERS, "ending of an export")
    if path.exists() and not overwrite:
        raise exists_already(path)
    groups = progress(_groups(ledger), label="exporting", total=ledger.totals().releases, weigh=len)
    with atomic_file(path, private=True) as draft:
        return _WRITERS[path.suffix](draft, groups)


def _groups(ledger: Ledger) -> Iterator[Rows]:
    rows = map(_row, ledger.releases())
    while group := list(itertools.islice(rows, ROW_GROUP)):
        yield group


def _row(release: Release) -> dict[str, Any]:
    charge = release.charge
    return {
        "run": charge.run,
        "row": release.row,
        "kind": charge.kind,
        "record": release.record.hex(),
        "token": release.token.hex(),
        "veil": charge.veil,
        "mechanism": charge.mechanism,
        "epsilon": charge.epsilon,
        "distance": charge.distance,
        "cost": charge.cost,
        "noise": charge.noise,
        "time": release.at.isoformat(),
    }


def _write_csv(path: Path, groups: Iterable[Rows]) -> int:
    count = 0
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, COLUMNS, lineterminator="\n")
        writer.writeheader()
        for group in groups:
            writer.writerows(group)
            count += len(group)
    return count


def _write_jsonl(path: Path, groups: Iterable[Rows]) -> int:
    count = 0
    with path.open("w", encoding="utf-8") as stream:
        for group in groups:
            stream.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in group)
            count += len(group)
    return count


def _write_parquet(path: Path, groups: Iterable[Rows]) -> int:
    import pyarrow as pa
    import pyarrow.parquet as pq

    kinds = {"row": pa.int64(), "epsilon": pa.float64(), "cost": pa.float64()}
    schema = pa.schema([(name, kinds.get(name, pa.string())) for name in COLUMNS])
    batches = (pa.RecordBatch.from_pylist(group, schema=schema) for group in groups)
    write_parquet(path, batches, schema)
    return int(pq.ParquetFile(path).metadata.num_rows)


_WRITERS: Mapping[str, Callable[[Path, Iterable[Rows]], int]] = {
    ".csv": _write_csv,
    ".jsonl": _write_jsonl,
    ".parquet": _write_parquet,
}
