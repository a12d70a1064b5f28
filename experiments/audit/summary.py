"""Put the audits that `run.sh` made into one table: `python summary.py OUT`."""

from __future__ import annotations

import argparse
from pathlib import Path

from vecveil.audit import PARTS, RESULTS, AuditResult, Experiment
from vecveil.audit.result import HEADINGS

NAMES = {
    "plain noise (laplace), equal search": "LapMech, equal search",
    "redaction": "redaction alone",
    "veil": "default",
}
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
        for row in result.overview:
            cells = [folder.parent.name, NAMES.get(row.defense, row.defense), *(row.cells()[one] for one in places[1:])]
            print(f"| {' | '.join(cells)} |")
        verdicts.append(f"| {folder.parent.name} | {' | '.join(_outcomes(result))} |")
    print(f"\n| corpus | {' | '.join(PARTS.values())} |\n| --- |{' --- |' * len(PARTS)}", *verdicts, sep="\n")


def _outcomes(result: AuditResult) -> list[str]:
    """Return the worst outcome of each part over the seeds."""
    found = [part for verdict in result.verdicts for part in verdict.parts]
    outcomes = ({one.outcome for one in found if one.part == part} for part in PARTS)
    return [next((outcome for outcome in OUTCOMES if outcome in held), "") for held in outcomes]


if __name__ == "__main__":
    main()
