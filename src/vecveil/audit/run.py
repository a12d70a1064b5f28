"""The audit as one call, with the defaults of the command line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from vecveil.audit.audit import prepare_audit
from vecveil.audit.experiment import Experiment
from vecveil.audit.plan import TASKS, AuditPlan
from vecveil.audit.result import AuditResult
from vecveil.concepts import Concept, Passage
from vecveil.core.progress import Progress, silent
from vecveil.embedders import Embedder
from vecveil.veil import Veil
from vecveil.veil.budget import SCALES, Budget

NOISE_RATIOS = (0.5, 1.0, 2.0)
"""Budgets where none is named and the veil keeps none."""


def audit(
    veil: Veil | str | Path,
    texts: Iterable[str | Passage],
    *,
    concept: Concept | None = None,
    epsilon: float | Sequence[float] | None = None,
    noise_ratio: float | Sequence[float] | None = None,
    paper_epsilon: float | Sequence[float] | None = None,
    queries: str | Path | None = None,
    ids: Sequence[object] | None = None,
    groups: Sequence[object] | None = None,
    out: str | Path | None = None,
    embedder: str | Embedder | None = None,
    cache: str | Path | None = None,
    progress: Progress = silent,
    **settings: Any,
) -> AuditResult:
    """Attack what a veil protects of texts, beside no defense, redaction and plain noise, and measure the search.

    Example:
        >>> from vecveil.audit import learn
        >>> from vecveil.concepts import load_concept
        >>> from vecveil.samples import clinical_sentences, concept_path
        >>> texts = [sentence.text for sentence in clinical_sentences(240)]
        >>> veil = learn(load_concept(concept_path()), texts, shape="uniform", noise_ratio=0.5)
        >>> result = audit(veil, texts, attacks=("nearest",), defenses=("veil",), baselines=(), blanks=0)
        >>> [row.defense for row in result.overview]
        ['none', 'veil', 'guessing']

    Args:
        veil: What is audited, or its folder.
        texts: The owner's texts.
        concept: What is private, where the veil was learned not to tell.
        epsilon: Literal budgets to audit; the veil's own where none of the three is given.
        noise_ratio: The same as noise ratios.
        paper_epsilon: The same on the axis of the paper's tables.
        queries: File of the owner's own queries, to measure the search by.
        ids: What each record is called in results; the numbers of rows where None.
        groups: What each text belongs to, such as a document or a person.
        out: Folder for what was computed, to go on from after a stop; nothing is kept where None.
        embedder: The embedder, where it isn't to be found under the name that the veil was learned with.
        cache: Folder to keep clean embeddings in; as sensitive as the texts.
        progress: Told how far the work is.
        **settings: Further settings of `AuditPlan`: attacks, tasks, defenses, seeds, tolerance.
    """
    opened = veil if isinstance(veil, Veil) else Veil.load(veil)
    asked = {"epsilon": epsilon, "noise_ratio": noise_ratio, "paper_epsilon": paper_epsilon}
    prepared = prepare_audit(
        make_plan(opened, budgets=collect_budgets(asked), queries=queries, **settings),
        opened,
        opened.choose_concept(concept),
        texts,
        ids=ids,
        groups=groups,
        embedder=embedder,
        cache=None if cache is None else Path(cache),
        progress=progress,
    )
    if out is not None:
        return prepared.run(Experiment(Path(out)), progress=progress)[0]
    with TemporaryDirectory(prefix="vecveil-audit-") as folder:
        return prepared.run(Experiment(Path(folder) / "audit"), progress=progress)[0]


def collect_budgets(asked: Mapping[str, float | Sequence[float] | None]) -> tuple[Budget, ...]:
    """Return the budgets that are named as epsilon, noise_ratio and paper_epsilon, each a number or several."""
    found = []
    for name, values in asked.items():
        several = values if isinstance(values, Sequence) else () if values is None else (values,)
        found += [Budget(value=value, scale=SCALES[name]) for value in several]
    return tuple(found)


def make_plan(
    veil: Veil, *, budgets: Sequence[Budget] = (), queries: str | Path | None = None, **settings: Any
) -> AuditPlan:
    """Return the plan with its defaults: the veil at its own budget, beside plain noise that keeps as much search.

    Where budgets are named, plain noise has the same ones.
    """
    given = {name: value for name, value in settings.items() if value is not None}
    tasks = tuple(given.pop("tasks", TASKS))
    if queries is not None:
        # First, because the first task is what search is measured by.
        tasks = (f"queries:{queries}", *(task for task in tasks if not task.startswith("queries:")))
    if not budgets and veil.epsilon is not None:
        own = (Budget(value=veil.epsilon, scale="literal"),)
        return AuditPlan(**{"budgets": own, "tasks": tasks, "equal_search": bool(tasks), **given})
    asked = tuple(budgets) or tuple(Budget(value=value, scale="noise-ratio") for value in NOISE_RATIOS)
    return AuditPlan(budgets=asked, tasks=tasks, **given)
