"""Put the comparisons that `run.sh` made into one table: `python summary.py OUT LEVEL`."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np

COLUMNS = ("none", "redacted", "uniform", "hard-concrete:paper", "hard-concrete", "canonical")


def main() -> None:
    """Print, for every model, concept and attack, what is read above chance behind each defense."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("level", type=float)
    asked = parser.parse_args()
    print("| model | concept | attack | " + " | ".join(COLUMNS) + " | canonical over uniform |")
    print("| --- | --- | --- |" + " ---: |" * (len(COLUMNS) + 1))
    ratios = []
    for path in sorted(asked.out.glob("*/*/frontier.json")):
        rows = json.loads(path.read_text())["rows"]
        for attack in dict.fromkeys(row["attack"] for row in rows):
            means = {name: _mean(rows, name, attack, asked.level) for name in COLUMNS}
            ratio = means["canonical"] / means["uniform"] if means["uniform"] else float("nan")
            ratios.append(ratio)
            cells = [f"{100 * value:.1f} %" for value in means.values()]
            names = [path.parent.parent.name, path.parent.name, attack.split(",")[0]]
            print("| " + " | ".join([*names, *cells, f"{ratio:.2f}"]) + " |")
    print(f"\nMean ratio: {np.nanmean(ratios):.2f}")


def _mean(rows: list[dict[str, float]], name: str, attack: str, level: float) -> float:
    levels = (level, 1.0)
    found = [row for row in rows if row["contender"] == name and row["attack"] == attack and row["level"] in levels]
    return float(np.mean([max(0.0, row["leakage"] - row["chance"]) for row in found])) if found else float("nan")


if __name__ == "__main__":
    main()
