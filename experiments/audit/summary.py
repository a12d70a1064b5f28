"""Put the audits that `run.sh` made into one table: `python summary.py OUT`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from vecveil.audit import PARTS, RESULTS, AuditResult, Experiment
from vecveil.audit.result import HEADINGS, OverviewRow

NAMES = {"redaction": "redaction alone", "veil": "default"}
KEPT = "directions and noise, words kept"
"""The default before private words were replaced."""
OUTCOMES = ("fail", "inconclusive", "pass")


def main() -> None:
    """Print one row for each defense of each corpus, and the verdict on the default."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    places = [place for place, name in enumerate(HEADINGS) if name != "overlap"]
    heads = [HEADINGS[place] for place in places]
    print(f"| corpus | {' | '.join(heads)} |\n| --- | --- |{' ---: |' * (len(heads) - 1)}")
    verdicts = []
    for folder in sorted(parser.parse_args().out.glob("*/audit")):
        result = Experiment(folder).read(RESULTS, AuditResult)
        named = [(NAMES.get(row.defense, row.defense), row) for row in result.overview]
        named += [(KEPT, row) for row in _read(folder.parent / "kept") if row.defense == "veil"]
        for name, row in named:
            cells = [folder.parent.name, name, *(row.cells()[one] for one in places[1:])]
            print(f"| {' | '.join(cells)} |")
        verdicts.append(f"| {folder.parent.name} | {' | '.join(_outcomes(result))} |")
    print(f"\n| corpus | {' | '.join(PARTS.values())} |\n| --- |{' --- |' * len(PARTS)}", *verdicts, sep="\n")


def _read(folder: Path) -> Sequence[OverviewRow]:
    """Return the overview of an audit; none where it has not ended."""
    return Experiment(folder).read(RESULTS, AuditResult).overview if (folder / RESULTS).is_file() else ()


def _outcomes(result: AuditResult) -> list[str]:
    """Return the worst outcome of each part over the seeds."""
    found = [part for verdict in result.verdicts for part in verdict.parts]
    outcomes = ({one.outcome for one in found if one.part == part} for part in PARTS)
    return [next((outcome for outcome in OUTCOMES if outcome in held), "") for held in outcomes]


if __name__ == "__main__":
    main()
