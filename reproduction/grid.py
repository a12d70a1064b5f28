"""Tables of leakage, confidence and utility by defense and budget."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from reproduction.defenses import DefenseName
from reproduction.lab import NEAREST, Lab
from reproduction.priors import GENERATIVE
from reproduction.published import read_published
from reproduction.result import PaperResult, Row, row_of
from vecveil.core.errors import VecveilError
from vecveil.veil.budget import Budget, BudgetScale

EPSILONS = (5, 10, 20, 30, 40)
NOISES = ("laplace", "purkayastha", "sparse", "sparse-working", "vecveil")
"""The paper's defenses that add noise, its mask as it can be made to close, and ours."""


@dataclass(frozen=True, kw_only=True)
class Request:
    """One line of a table.

    Attributes:
        keys: What the paper's table calls it.
        dataset: The data set.
        defense: What is done to its vectors.
        attack: What reads them: `mlc`, `geia`, `vec2text` or `nearest`; None for the lab's main attack.
        embedder: What makes them; None for the lab's own.
        category: Whose leakage is wanted; None for all of the concept.
        metrics: What is measured.
        scale: How epsilon is read.
        named: Values of `keys` by which the paper's table has it, where they differ.
        compared: Whether the paper's figure belongs beside it.
    """

    keys: Mapping[str, str]
    dataset: str
    defense: DefenseName
    attack: str | None = None
    embedder: str | None = None
    category: str | None = None
    metrics: tuple[str, ...] = ("leakage", "confidence", "utility")
    scale: str = ""
    named: Mapping[str, str] = field(default_factory=dict)
    compared: bool = True

    def paper(self, experiment: str, metric: str) -> float | None:
        """Return the paper's figure that belongs beside a metric; it printed none for the literal scale."""
        if not self.compared or self.scale == "literal":
            return None
        return read_published(experiment).value({**self.keys, **self.named}, metric)


def budgets(lab: Lab, epsilons: Iterable[float]) -> list[Budget]:
    """Return the budgets of a table: on the paper's scale, then as many as the effort allows on the literal one."""
    asked = sorted(epsilons)
    literal = asked if lab.effort.literal is None else asked[-lab.effort.literal :]
    scales: dict[BudgetScale, list[float]] = {"paper": asked, "literal": literal}
    return [Budget(value=epsilon, scale=scale) for scale, values in scales.items() for epsilon in values]


def with_undefended(lab: Lab, epsilon: float) -> list[tuple[str, DefenseName]]:
    """Return no defense, and every noise at one epsilon on each scale, each with its scale."""
    noises = [(one.scale, DefenseName(name=name, budget=one)) for one in budgets(lab, (epsilon,)) for name in NOISES]
    return [("", DefenseName(name="none")), *noises]


def measure(lab: Lab, experiment: str, title: str, requests: Sequence[Request]) -> PaperResult:
    """Return every line, measured for every seed, beside the paper's figures.

    A line that can't be measured, for want of data, of a package or of texts enough to train an attack on, stays empty,
    and the notes say why. So do figures of the paper for which there is no line.
    """
    rows: list[Row] = []
    problems: dict[str, None] = {}
    broken: set[tuple[str, str | None]] = set()
    for request in lab.progress(requests, label=experiment, total=len(requests)):
        place = request.dataset, request.embedder
        if place in broken:
            continue
        what = " with ".join(filter(None, place))
        try:
            lab.bench(*place)
        except VecveilError as error:
            broken.add(place)
            problems[_not_run(lab, what, error)] = None
            continue
        try:
            rows += _rows(lab, experiment, request)
        except VecveilError as error:
            problems[_not_run(lab, f"{what} behind {request.defense.name}", error)] = None
    rows += _without_ours(experiment, requests, rows)
    notes = (*_notes(lab, requests), *problems)
    return PaperResult(name=experiment, title=title, rows=tuple(rows), notes=notes, lab=lab.facts())


def _not_run(lab: Lab, what: str, error: VecveilError) -> str:
    # Tables are shown to others, who have no use for the paths of this machine.
    return f"{what} was not run: {error}.".replace(str(lab.data), "--data")


def _rows(lab: Lab, experiment: str, request: Request) -> list[Row]:
    values = [_metrics(lab, request, seed) for seed in lab.effort.seeds]
    return [
        row_of(
            request.keys,
            metric,
            [one[metric] for one in values if metric in one],
            scale=request.scale,
            paper=request.paper(experiment, metric),
        )
        for metric in request.metrics
    ]


def _metrics(lab: Lab, request: Request, seed: int) -> dict[str, float]:
    """Return the metrics in per cent, as the paper prints them."""
    found = {}
    if {"leakage", "confidence"} & {*request.metrics}:
        attack = request.attack or lab.main_attack
        attacked = lab.attack_dataset(request.dataset, request.defense, attack, seed, embedder=request.embedder)
        found = {"leakage": attacked.leakage, "chance": attacked.chance, "confidence": attacked.confidence}
        if request.category is not None:
            found["leakage"] = attacked.categories.get(request.category, float("nan"))
        found = {name: 100 * value for name, value in found.items()}
        found["tokens"] = attacked.tokens.get(request.category or "", 0)
    if "utility" in request.metrics:
        useful = lab.useful(request.dataset, request.defense, seed, embedder=request.embedder)
        if useful is not None:
            found["utility"] = 100 * useful.score
    return found


def _without_ours(experiment: str, requests: Sequence[Request], rows: Sequence[Row]) -> list[Row]:
    """Return the paper's figures, of what is measured, that no row of ours stands beside."""
    figures = read_published(experiment)
    metrics = {metric for request in requests for metric in request.metrics}
    renamed = {frozenset(request.keys.items()): {**request.keys, **request.named} for request in requests}
    met = set()
    for row in rows:
        keys = renamed.get(frozenset(row.keys.items()), row.keys)
        met.add((*(keys.get(axis, "") for axis in figures.axes), row.metric))
    return [
        Row(
            keys=dict(zip(figures.axes, place[:-1], strict=True)),
            scale="" if "inf" in place or "none" in place else "paper",
            metric=place[-1],
            ours=None,
            seeds=0,
            paper=figure.value,
        )
        for place, figure in figures.figures.items()
        if place not in met and place[-1] in metrics
    ]


def _notes(lab: Lab, requests: Sequence[Request]) -> list[str]:
    """Return what stood in for what."""
    seeds = len(lab.effort.seeds)
    models = list(dict.fromkeys(request.embedder or lab.embedder for request in requests))
    attacks = list(dict.fromkeys(request.attack or lab.main_attack for request in requests))
    found = [f"A {lab.effort.name} run, {seeds} seed{'s' if seeds > 1 else ''}; vectors of {' and '.join(models)}"]
    found[0] += ", where the paper has GTR-base." if len(models) == 1 else "."
    if NEAREST in attacks:
        found.append("The attack nearest stands in for the paper's Vec2Text, for want of a prior of it.")
    bare = [name for name in attacks if name in GENERATIVE and name not in lab.priors]
    if bare:
        found.append(f"{' and '.join(bare)} start from nothing, for want of priors, and learn from these texts alone.")
    found.append("Texts are split one by one, so that an attacker may know a near copy of a text.")
    known = dict.fromkeys(request.dataset for request in requests)
    found += [f"{name}: {lab.dataset(name).stands_in}." for name in known if lab.dataset(name).stands_in]
    return found
