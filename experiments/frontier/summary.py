"""Put the comparisons that `run.sh` made into tables: `python summary.py OUT`."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

REFERENCES = {"none": "no defense", "redacted": "redaction alone"}
CONTENDERS = {
    "uniform": "LapMech",
    "hard-concrete:paper": "SPARSE",
    "canonical": "directions alone",
    "canonical,substitution=remove": "words and directions",
    "canonical,substitution=randomize,word_epsilon=4": "words at ε = 4, directions",
    "swap": "swap",
}

Rows = Sequence[dict[str, Any]]


def main() -> None:
    """Print what the strongest attack reads above chance, then what a blank gives away, then what search keeps."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    found = {}
    for path in sorted(parser.parse_args().out.glob("*/*/frontier.json")):
        found[path.parent.parent.name, path.parent.name] = json.loads(path.read_text())
    names = [name for name in CONTENDERS if any(name in result["plan"]["contenders"] for result in found.values())]

    def print_table(title: str, cell: Callable[[dict[str, Any], str, float], str]) -> None:
        heads = ["model", "concept", "utility", *REFERENCES.values(), *(CONTENDERS[name] for name in names)]
        print(f"{title}\n\n| {' | '.join(heads)} |\n| --- | --- |{' ---: |' * (len(heads) - 2)}")
        for (model, concept), result in found.items():
            for level in result["plan"]["levels"]:
                cells = [cell(result, name, 1.0) for name in REFERENCES] + [cell(result, name, level) for name in names]
                print(f"| {' | '.join([model, concept, f'{level:.0%}', *cells])} |")
        print()

    print_table("Words read above chance by the strongest attack", _leakage)
    print_table("Blanks filled in", partial(_mean, name="blank"))
    print_table("Search kept", partial(_mean, name="search"))
    print_table("Search kept, 100 candidates reranked", partial(_mean, name="reranked"))


def _leakage(result: dict[str, Any], contender: str, level: float) -> str:
    means = []
    for attack in result["plan"]["attacks"]:
        rows = _pick(result["rows"], contender, level)
        read = [max(0.0, row["words"] - row["guess"]) for row in rows if row["attack"] == attack]
        means += [float(np.mean(read))] if read else []
    return f"{max(means):.1%}" if means else "–"


def _mean(result: dict[str, Any], contender: str, level: float, name: str) -> str:
    values = [row[name] for row in _pick(result["points"], contender, level) if row[name] is not None]
    return f"{np.mean(values):.1%}" if values else "–"


def _pick(rows: Rows, contender: str, level: float) -> Rows:
    return [row for row in rows if (row["contender"], row["level"]) == (contender, level)]


if __name__ == "__main__":
    main()
