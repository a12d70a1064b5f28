"""All that is measured, by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from vecveil.bench.effort import Effort
from vecveil.bench.embedding import embedding_lines
from vecveil.bench.files import file_lines, memory_lines
from vecveil.bench.growth import Series, growth
from vecveil.bench.learning import closed_form_lines, training_lines
from vecveil.bench.line import Line
from vecveil.bench.noise import batch_lines, single_lines
from vecveil.bench.start import start_lines
from vecveil.core.checks import one_of
from vecveil.core.progress import Progress, silent

GROWTH = "growth"

LINES: Mapping[str, Callable[[Effort], Iterator[Line]]] = {
    "start": start_lines,
    "noise": batch_lines,
    "single": single_lines,
    "files": file_lines,
    "memory": memory_lines,
    "learning": closed_form_lines,
    "training": training_lines,
    "embedding": embedding_lines,
}
GROUPS = (*LINES, GROWTH)


@dataclass(frozen=True, kw_only=True)
class Result:
    """What was measured.

    Attributes:
        lines: By the name of their group.
        series: How costs grow.
    """

    lines: Mapping[str, tuple[Line, ...]]
    series: tuple[Series, ...]


def measured(names: Iterable[str], effort: Effort, *, progress: Progress = silent) -> Result:
    """Measure some groups, or all where none is named."""
    asked = [one_of(name, GROUPS, "group of benchmarks") for name in dict.fromkeys(names)] or list(GROUPS)
    lines: dict[str, tuple[Line, ...]] = {}
    series: tuple[Series, ...] = ()
    for name in progress(asked, label="measuring", total=len(asked)):
        if name == GROWTH:
            series = tuple(growth(effort))
        else:
            lines[name] = tuple(LINES[name](effort))
    return Result(lines=lines, series=series)
