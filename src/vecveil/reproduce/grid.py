"""Tables of the paper that are leakage, confidence and utility of some defences at some budgets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from vecveil.audit.budgets import Budget, BudgetScale
from vecveil.core.errors import VecveilError
from vecveil.reproduce.datasets import dataset
from vecveil.reproduce.defences import DefenceName
from vecveil.reproduce.finding import Finding, Row, row_of
from vecveil.reproduce.lab import Lab
from vecveil.reproduce.published import published

EPSILONS = (5, 10, 20, 30, 40)
NOISES = ("laplace", "purkayastha", "sparse", "sparse-working", "vecveil")
"""The paper's defences that add noise, its mask as it can be made to close, and ours."""


@dataclass(frozen=True, kw_only=True)
class Request:
    """One line of a table.

    Attributes:
        keys: What the paper's table calls it.
        dataset: The data set.
        defence: What is done to its vectors.
        attack: What reads them: `mlc`, `geia`, `vec2text` or `nearest`; None for the lab's main attack.
        embedder: What makes them; None for the lab's own.
        category: Whose leakage is wanted; None for all of the concept.
        metrics: What is measured.
        scale: How epsilon is read.
        named: Values of `keys` by which the paper's table has it, where they differ.
    """

    keys: Mapping[str, str]
    dataset: str
    defence: DefenceName
    attack: str | None = None
    embedder: str | None = None
    category: str | None = None
    metrics: tuple[str, ...] = ("leakage", "confidence", "utility")
    scale: str = ""
    named: Mapping[str, str] = field(default_factory=dict)


def budgets(lab: Lab, epsilons: Iterable[float]) -> list[Budget]:
    """Return the budgets of a table: on the paper's scale, and those that are asked for on the literal one."""
    scales: tuple[BudgetScale, ...] = ("paper", "literal")
    return [
        Budget(value=epsilon, scale=scale)
        for scale in scales
        for epsilon in epsilons
        if scale == "paper" or epsilon in lab.effort.literal
    ]


def undefended_and(lab: Lab, epsilon: float) -> list[tuple[str, DefenceName]]:
    """Return no defence, and every noise at one epsilon on each scale, each with its scale."""
    noises = [(one.scale, DefenceName(name=name, budget=one)) for one in budgets(lab, (epsilon,)) for name in NOISES]
    return [("", DefenceName(name="none")), *noises]


def measured(lab: Lab, experiment: str, title: str, requests: Sequence[Request]) -> Finding:
    """Return every line, measured for every seed, beside the paper's figures.

    A data set on which too little is private to train an attack on is left out, and the notes say so.
    """
    rows: list[Row] = []
    notes: dict[str, None] = {}
    unusable: set[tuple[str, str | None]] = set()
    for request in lab.progress(requests, label=experiment, total=len(requests)):
        place = request.dataset, request.embedder
        if dataset(request.dataset).stands_in:
            notes[f"{request.dataset}: {dataset(request.dataset).stands_in}."] = None
        if place in unusable:
            continue
        try:
            lab.bench(*place)
        except VecveilError as error:
            unusable.add(place)
            what = request.dataset + ("" if request.embedder is None else f" with {request.embedder}")
            notes[f"{what} was not run: {error}."] = None
            continue
        rows += _rows(lab, experiment, request)
    return Finding(name=experiment, title=title, rows=tuple(rows), notes=(_attack_note(lab), *notes), lab=lab.facts())


def _rows(lab: Lab, experiment: str, request: Request) -> list[Row]:
    figures = published(experiment)
    found = []
    values = [_metrics(lab, request, seed) for seed in lab.effort.seeds]
    for metric in request.metrics:
        printed = figures.value({**request.keys, **request.named}, metric) if request.scale != "literal" else None
        found.append(
            row_of(
                request.keys,
                metric,
                [one[metric] for one in values if metric in one],
                scale=request.scale,
                paper=printed,
            )
        )
    return found


def _metrics(lab: Lab, request: Request, seed: int) -> dict[str, float]:
    """Return the metrics in per cent, as the paper prints them."""
    found = {}
    if {"leakage", "confidence"} & {*request.metrics}:
        attack = request.attack or lab.main_attack
        attacked = lab.attacked(request.dataset, request.defence, attack, seed, embedder=request.embedder)
        found["leakage"] = 100 * attacked.leakage
        if request.category is not None:
            found["leakage"] = 100 * attacked.categories.get(request.category, float("nan"))
        found["confidence"] = 100 * attacked.confidence
        found["chance"] = 100 * attacked.chance
    if "utility" in request.metrics:
        useful = lab.useful(request.dataset, request.defence, seed, embedder=request.embedder)
        if useful is not None:
            found["utility"] = 100 * useful.score
    return found


def _attack_note(lab: Lab) -> str:
    stand_in = "" if lab.main_attack == "vec2text" else " in place of the paper's Vec2Text, for want of a prior of it"
    return (
        f"Embedder {lab.embedder} in place of GTR-base; attack {lab.main_attack}{stand_in}, trained on what each "
        f"defence lets out; {len(lab.effort.seeds)} seed{'s' if len(lab.effort.seeds) > 1 else ''}, "
        f"{lab.effort.name} run."
    )
