"""Put the comparisons that `run.sh` made into tables: `python summary.py OUT [LEVEL…]`."""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

REFERENCES = {"none": "no defense", "redacted": "redaction alone"}
LAPMECH, DEFAULT, EPSILON = "uniform", "canonical,substitution=remove", 4
RANDOMIZED = f"canonical,substitution=randomize,word_epsilon={EPSILON}"
CONTENDERS = {
    LAPMECH: "LapMech",
    "hard-concrete:paper": "SPARSE",
    "canonical": "directions alone",
    "swap": "swap",
    DEFAULT: "default",
    RANDOMIZED: f"words at ε = {EPSILON}, directions",
}

Result = dict[str, Any]
Cell = Callable[[Result, str, float], float | None]


def main() -> None:
    """Print what the strongest attack reads above chance, how often blanks are filled in, and what search keeps."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("levels", type=float, nargs="*", help="only these levels")
    asked = parser.parse_args()
    found = {path.parent: json.loads(path.read_text()) for path in sorted(asked.out.glob("**/frontier.json"))}
    names = list(dict.fromkeys(name for result in found.values() for name in result["plan"]["contenders"]))
    heads = [*REFERENCES.values(), *(CONTENDERS.get(name, name) for name in names)]

    def print_table(title: str, columns: Sequence[str], cells: Callable[[Result, float], list[float | None]]) -> None:
        lines = []
        for folder, result in found.items():
            for level in result["plan"]["levels"]:
                numbers = cells(result, level)
                if level in (asked.levels or [level]) and any(one is not None for one in numbers):
                    shown = ["–" if one is None else f"{one:.1%}" for one in numbers]
                    lines.append(f"| {folder.relative_to(asked.out)} | {level:.0%} | {' | '.join(shown)} |")
        rule = f"| --- | --- |{' ---: |' * len(columns)}"
        if lines:
            print(f"{title}\n", f"| comparison | utility | {' | '.join(columns)} |", rule, *lines, "", sep="\n")

    def print_each(title: str, cell: Cell) -> None:
        def cells(result: Result, level: float) -> list[float | None]:
            return [*(cell(result, name, 1.0) for name in REFERENCES), *(cell(result, name, level) for name in names)]

        print_table(title, heads, cells)

    print_each("Read above chance by the strongest attack", _leakage)
    for name, title in (
        ("blank", "Blanks filled in"),
        ("blank_chance", "Blanks filled in by guessing"),
        ("search", "Search kept"),
        ("unnamed", "Search kept, concept not named"),
        ("reranked", "Search kept, 100 candidates reranked"),
    ):
        print_each(title, lambda *asked, name=name: _mean(*asked, name))
    print_table("The default as a share of others, and blanks as shares of what they may be", [*_SHARES], _shares)


_SHARES = (
    "read, of LapMech's",
    "read, of no defense's",
    "read, of redaction's",
    "blanks, of guessing",
    f"blanks at ε = {EPSILON}, of the bound",
    "blanks behind swap, of directions alone",
)


def _shares(result: Result, level: float) -> list[float | None]:
    read = _leakage(result, DEFAULT, level)
    others = ((LAPMECH, level), ("none", 1.0), ("redacted", 1.0))
    chance = _mean(result, RANDOMIZED, level, "blank_chance")
    # Among k candidates the best guess is right in at most e^ε / (e^ε + k - 1) of cases.
    bound = chance and 1 / (1 + (1 / chance - 1) * math.exp(-EPSILON))
    swap, directions = (_mean(result, name, level, "blank") for name in ("swap", "canonical"))
    return [
        *(_share(read, _leakage(result, *other)) for other in others),
        _share(_mean(result, DEFAULT, level, "blank"), _mean(result, DEFAULT, level, "blank_chance")),
        _share(_mean(result, RANDOMIZED, level, "blank"), bound),
        _share(swap, directions),
    ]


def _share(part: float | None, whole: float | None) -> float | None:
    return part / whole if part is not None and whole else None


def _leakage(result: Result, contender: str, level: float) -> float | None:
    """Return words read above chance, or leakage above chance in results of before that was measured."""
    rows, means = _pick(result["rows"], contender, level), []
    for attack in result["plan"]["attacks"]:
        own = [row for row in rows if row["attack"] == attack]
        read = [max(0.0, row.get("words", row["leakage"]) - row.get("guess", row["chance"])) for row in own]
        means += [float(np.mean(read))] if read else []
    return max(means, default=None)


def _mean(result: Result, contender: str, level: float, name: str) -> float | None:
    points = _pick(result.get("points", []), contender, level)
    values = [point[name] for point in points if point[name] is not None]
    return float(np.mean(values)) if values else None


def _pick(rows: Sequence[Result], contender: str, level: float) -> list[Result]:
    return [row for row in rows if (row["contender"], row["level"]) == (contender, level)]


if __name__ == "__main__":
    main()
