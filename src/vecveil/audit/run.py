"""The audit as one call, with the defaults of the command line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from vecveil.attacks import ATTACKS
from vecveil.audit.audit import prepare_audit
from vecveil.audit.experiment import Experiment
from vecveil.audit.plan import AuditPlan
from vecveil.audit.results import AuditResult
from vecveil.concepts import Concept, Passage
from vecveil.concepts.toml_file import concept_from_settings
from vecveil.core.errors import InvalidInputError, VecveilError
from vecveil.core.progress import Progress, silent
from vecveil.core.specs import parse_spec
from vecveil.embedders import Embedder
from vecveil.veil import Veil
from vecveil.veil.budget import Budget

NOISE_RATIOS = (0.5, 1.0, 2.0)
"""Budgets where none is named and the veil keeps none."""

RELEASES = 8
"""Fresh releases of a record that the averaging attack gets."""


def audit(
    veil: Veil,
    texts: Iterable[str | Passage],
    *,
    concept: Concept | None = None,
    attacks: Sequence[str] = (),
    tasks: Sequence[str] = ("neighbors",),
    budgets: Sequence[Budget] = (),
    out: str | Path | None = None,
    embedder: str | Embedder | None = None,
    cache: str | Path | None = None,
    progress: Progress = silent,
    **settings: Any,
) -> AuditResult:
    """Attack what a veil protects of texts, beside no defense and plain noise, and measure what is left of the search.

    Args:
        veil: What is audited.
        texts: The owner's texts.
        concept: What is private; a veil does not tell, unless it was learned with `keep_concept`.
        attacks: Specs of attacks, such as "mlc"; nearest and averaging, and the concept probes, always run.
        tasks: Specs of utility tasks.
        budgets: Budgets to audit; the veil's own where none is named, or noise ratios of 0.5, 1 and 2.
        out: Folder for what was computed, to go on from after a stop; nothing is kept where None.
        embedder: The embedder, where it isn't to be found under the name that the veil was learned with.
        cache: Folder to keep clean embeddings in; as sensitive as the texts.
        progress: Told how far the work is.
        **settings: Further settings of `AuditPlan`.
    """
    plan = AuditPlan(
        attacks=with_default_attacks(attacks),
        tasks=tuple(tasks),
        budgets=default_budgets(veil, budgets),
        **settings,
    )
    prepared = prepare_audit(
        plan,
        veil,
        read_concept(veil) if concept is None else concept,
        texts,
        embedder=embedder,
        cache=None if cache is None else Path(cache),
        progress=progress,
    )
    if out is not None:
        return prepared.run(Experiment(Path(out)), progress=progress)[0]
    with TemporaryDirectory(prefix="vecveil-audit-") as folder:
        return prepared.run(Experiment(Path(folder) / "audit"), progress=progress)[0]


def with_default_attacks(attacks: Sequence[str], *, releases: int = RELEASES) -> tuple[str, ...]:
    """Return attacks with those that always run; averaging only where there is more than one release to average."""
    named = {parse_spec(spec, ATTACKS.kind).name for spec in attacks}
    always = {"nearest": "nearest"} | ({"averaging": f"averaging,releases={releases}"} if releases > 1 else {})
    return (*attacks, *(spec for name, spec in always.items() if name not in named))


def default_budgets(veil: Veil, budgets: Sequence[Budget] = ()) -> tuple[Budget, ...]:
    """Return the budgets that are named, the veil's own where none is, or some where it keeps none."""
    if not budgets and veil.epsilon is not None:
        return (Budget(value=veil.epsilon, scale="literal"),)
    return tuple(budgets) or tuple(Budget(value=value, scale="noise-ratio") for value in NOISE_RATIOS)


def read_concept(veil: Veil) -> Concept:
    """Return the concept that the veil holds where its owner asked for that."""
    try:
        return concept_from_settings(veil.provenance.concept, folder=Path())
    except VecveilError:
        raise InvalidInputError(
            "name what is private with concept=: the veil was learned without keep_concept"
        ) from None
