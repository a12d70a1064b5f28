"""What a run was asked to do, kept beside its parts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from vecveil.core.errors import ArtifactError, InvalidInputError


def require_same_job(record: Path, job: Mapping[str, Any]) -> str:
    """Return the name of the run that wrote `record`, or raise, with what differs, unless it was asked to do `job`."""
    found = dict(_read_job(record))
    run = found.pop("run", None)
    if not isinstance(run, str):
        raise ArtifactError(f"{record} is damaged; delete {record.parent} to start anew")
    differing = [key for key in {**found, **job} if found.get(key) != job.get(key)]
    if differing:
        raise InvalidInputError(
            f"{record.parent} holds the parts of an unfinished run that differs in {', '.join(sorted(differing))}; "
            "finish that run with its own options, or delete the folder to start anew"
        )
    return run


def _read_job(record: Path) -> Mapping[str, Any]:
    try:
        found = json.loads(record.read_text(encoding="utf-8"))
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise ArtifactError(f"{record} is damaged; delete {record.parent} to start anew")
    return found
