"""The red-team suite: `make redteam` for the full form; the short one is a part of `make test`."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest

from redteam.campaign import Campaign

JSON = "VECVEIL_REDTEAM_JSON"
"""Variable: file to write the figures to."""

PROPERTY = "redteam"


@pytest.fixture
def campaign(record_property: Callable[[str, object], None]) -> Callable[[str], AbstractContextManager[Campaign]]:
    """Open campaigns; when one ends, its figures are taken down, and the test fails where a case did."""

    @contextmanager
    def open_campaign(kind: str) -> Iterator[Campaign]:
        opened = Campaign.named(kind)
        try:
            yield opened
        finally:
            record_property(PROPERTY, opened.figures())
        opened.require_none_failed()

    return open_campaign


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print one table of figures, and write them down where that is asked for."""
    reports = [report for kind in ("passed", "failed") for report in terminalreporter.stats.get(kind, [])]
    rows = sorted(
        (value for report in reports for name, value in report.user_properties if name == PROPERTY),
        key=lambda row: str(row["kind"]),
    )
    if rows:
        terminalreporter.write_line("\n| kind | seed | cases | failures | seconds | outcomes |")
        terminalreporter.write_line("| --- | ---: | ---: | ---: | ---: | --- |")
        for row in rows:
            others = {name: row[name] for name in row if name not in {"kind", "seed", "cases", "failures", "seconds"}}
            outcomes = ", ".join(f"{name} {count:,}" for name, count in others.items())
            cells = [row["kind"], row["seed"], f"{row.get('cases', 0):,}", row["failures"], row["seconds"], outcomes]
            terminalreporter.write_line(f"| {' | '.join(map(str, cells))} |")
    if rows and (place := os.environ.get(JSON)):
        Path(place).write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")
