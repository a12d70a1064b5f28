"""A comparison of defenses as a table and as a figure."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from vecveil.audit.frontier.results import NO_DEFENSE, REDACTED, FrontierResult, mean_over_seeds
from vecveil.core.atomic import atomic_file
from vecveil.core.errors import MissingExtraError
from vecveil.core.percent import percent
from vecveil.reports.table import Column, Table, TableCell, number, share, significant, words

PLAIN = "uniform"
"""The shape of plain Laplace noise, which others are held against."""

_REFERENCES = {NO_DEFENSE: "no defense", REDACTED: "concept taken out of the text"}

_COLUMNS = (
    Column(key="level", title="utility kept", words=True),
    Column(key="defense", title="defense", words=True),
    Column(key="directions", title="left out"),
    Column(key="noise", title="noise ratio"),
    Column(key="search", title="all searches"),
    Column(key="unnamed", title="concept not named"),
    Column(key="reranked", title="reranked"),
    Column(key="attack", title="strongest attack", words=True),
    Column(key="excess", title="words read above chance", interval=True),
    Column(key="against_laplace", title="over uniform's"),
    Column(key="blank", title="blanks filled in"),
    Column(key="blank_chance", title="by guessing"),
)

_CELL_COLUMNS = (
    Column(key="level", title="utility kept", words=True),
    Column(key="defense", title="defense", words=True),
    Column(key="attack", title="attack", words=True),
    Column(key="excess", title="words read above chance", interval=True),
    Column(key="leakage", title="leakage", interval=True),
    Column(key="beyond_context", title="beyond context"),
    Column(key="over_uniform", title="over uniform's"),
    Column(key="top_one", title="top-1", interval=True),
    Column(key="auc", title="AUC", interval=True),
)


def frontier_table(result: FrontierResult) -> Table:
    """Return, for each level and defense, what the strongest attack reads."""
    rows = [_row(result, name, 1.0) for name in _REFERENCES]
    rows += [_row(result, spec, level) for level in result.plan["levels"] for spec in result.plan["contenders"]]
    return Table(
        name="frontier",
        title="What leaks at equal utility",
        note=(
            f"Utility: {result.utility['measured_by']}. {result.corpus['texts']:,} texts, "
            f"{result.corpus['with_concept']:,} with the concept; {len(result.plan['seeds'])} repetitions, with 95 % "
            "intervals over them."
        ),
        columns=_COLUMNS,
        rows=tuple(rows),
    )


def cells_table(result: FrontierResult) -> Table:
    """Return every attack on every defense at every level."""
    levels = [(1.0, name) for name in _REFERENCES]
    levels += [(level, spec) for level in result.plan["levels"] for spec in result.plan["contenders"]]
    rows = []
    for level, spec in levels:
        for attack in result.plan["attacks"]:
            excess = result.excess(spec, level, attack)
            if excess is not None:
                context, plain = (result.excess(*one, attack) for one in ((REDACTED, 1.0), (PLAIN, level)))
                beyond = None if context is None else max(0.0, excess.value - context.value)
                over = None if plain is None or plain.value <= 0 else excess.value / plain.value
                found = result.rows_of(spec, level, attack)
                rows.append(
                    (
                        *_names(spec, level),
                        words(attack),
                        share(excess),
                        share(mean_over_seeds([row.leakage for row in found])),
                        share(beyond),
                        number(over),
                        share(mean_over_seeds([row.top_one for row in found])),
                        number(mean_over_seeds([row.auc for row in found])),
                    )
                )
    return Table(
        name="frontier-cells",
        title="Every attack on every defense",
        note="Beyond context: above what the same attack reads when the concept is taken out of the texts.",
        columns=_CELL_COLUMNS,
        rows=tuple(rows),
    )


def write_frontier(result: FrontierResult, folder: Path) -> None:
    """Write `frontier.md`, a CSV file for each of its tables, `frontier.svg` and `frontier.png` into `folder`."""
    tables = (frontier_table(result), cells_table(result))
    files = {"frontier.md": "\n".join(table.markdown() for table in tables)}
    for name, content in (files | {f"{table.name}.csv": table.csv() for table in tables}).items():
        with atomic_file(folder / name) as draft:
            draft.write_text(content, encoding="utf-8")
    figure = _figure(result)
    for kind in ("svg", "png"):
        with atomic_file(folder / f"frontier.{kind}") as draft:
            # No date in the file: the same results make the same figure.
            figure.savefig(draft, format=kind, dpi=150, metadata={"Date": None} if kind == "svg" else None)


def _row(result: FrontierResult, spec: str, level: float) -> tuple[TableCell, ...]:
    points, strongest = result.points_of(spec, level), result.strongest(spec, level)
    if strongest is None or not points:
        nothing = [number(None)] * 5
        return (*_names(spec, level), *nothing, words("none: it can't keep that much"), *[number(None)] * 4)
    attack, excess = strongest
    plain = result.strongest(PLAIN, level)

    def mean(name: str) -> float | None:
        known = [getattr(point, name) for point in points if getattr(point, name) is not None]
        return float(np.mean(known)) if known else None

    return (
        *_names(spec, level),
        significant(mean("directions")),
        significant(mean("noise_ratio")),
        *(share(mean(name)) for name in ("search", "unnamed", "reranked")),
        words(attack),
        share(excess),
        number(None if plain is None or plain[1].value <= 0 else excess.value / plain[1].value),
        share(mean("blank")),
        share(mean("blank_chance")),
    )


def _names(spec: str, level: float) -> tuple[TableCell, TableCell]:
    return words("" if spec in _REFERENCES else percent(level)), words(_REFERENCES.get(spec, spec))


def _figure(result: FrontierResult) -> Any:
    """Return the curves of all defenses: utility kept to the right, leakage upwards, so that low and right is good."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("matplotlib", "research") from None
    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes: Any = figure.add_subplot()
    for spec in result.plan["contenders"]:
        found = [(level, result.strongest(spec, level)) for level in sorted(result.plan["levels"])]
        points = [(100 * level, one[1]) for level, one in found if one is not None]
        middle = [100 * estimate.value for _, estimate in points]
        spread = [
            [100 * (estimate.value - estimate.low) for _, estimate in points],
            [100 * (estimate.high - estimate.value) for _, estimate in points],
        ]
        axes.errorbar([level for level, _ in points], middle, yerr=spread, marker="o", capsize=3, label=spec)
    for (name, label), line in zip(_REFERENCES.items(), (":", "--"), strict=True):
        reference = result.strongest(name, 1.0)
        if reference is not None:
            axes.axhline(100 * reference[1].value, color="0.5", linestyle=line, label=label)
    axes.set_xlabel(f"% of undefended utility ({result.utility['measured_by']})")
    axes.set_ylabel("words read above chance, %, strongest attack")
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3)
    axes.legend()
    return figure
