"""Whether a protected file agrees with the ledger."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vecveil.artifacts import Source, open_source

if TYPE_CHECKING:
    from vecveil.accounting.ledger import RunSummary


def output_problem(path: Path, runs: Mapping[str, RunSummary]) -> str | None:
    """Return what is wrong between a protected file and the runs on record, in words; None if all is well."""
    source = open_source(path)
    label = _label(path, source)
    if label is None:
        return f"{path} does not say of itself that vecveil made it"
    if label.get("ledger") == "none":
        return f"{path} was made without a ledger: none of its {source.rows:,} rows is on record"
    run = runs.get(str(label.get("run")))
    if run is None:
        return f"{path} was made by run {label.get('run')}, which is not in this ledger"
    if run.releases != source.rows:
        return f"{path} has {source.rows:,} rows, but {run.releases:,} are on record for its run {run.charge.run}"
    if label.get("veil") != run.charge.veil:
        return f"{path} was made with another veil than is on record for its run {run.charge.run}"
    return None


def _label(path: Path, source: Source) -> dict[str, Any] | None:
    beside = path.with_name(f"{path.name}.json")
    if path.suffix == ".npy":
        text = beside.read_bytes() if beside.is_file() else None
    else:
        text = (source.schema.metadata or {}).get(b"vecveil")
    try:
        label = json.loads(text or b"null")
    except ValueError:
        return None
    return label if isinstance(label, dict) else None
