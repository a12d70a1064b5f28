"""From what a user asks for to the grid of an audit, with everything checked before anything long begins."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import fields
from itertools import product
from pathlib import Path
from typing import Any

from vecveil.attacks import ATTACKS, Attack, build_attack
from vecveil.attacks.generation.generative import GenerativeAttack
from vecveil.attacks.priors.prior import load_prior
from vecveil.audit.corpus import AuditCorpus
from vecveil.audit.defences import Rewritten, mechanism_of
from vecveil.audit.encoding import Memory
from vecveil.audit.grid import Grid
from vecveil.audit.plan import AuditPlan
from vecveil.audit.tasks import build_task
from vecveil.concepts import Concept, Passage
from vecveil.concepts.passage import passages as as_passages
from vecveil.concepts.rewriting import build_rewriter
from vecveil.core.errors import InvalidInputError, VecveilWarning
from vecveil.core.progress import Progress, silent
from vecveil.core.specs import parse_spec
from vecveil.embedders import Embedder, resolve_embedder
from vecveil.veil import Veil

ALWAYS = ("nearest", "averaging")
"""Cheap attacks that `vecveil audit` always runs, asked for or not."""

FEWEST_WORDS = 2
"""Sensitive words that the texts must hold for an attack to read back which of them it was."""


def prepare(
    plan: AuditPlan,
    veil: Veil,
    concept: Concept,
    texts: Iterable[str | Passage],
    *,
    embedder: str | Embedder | None = None,
    cache: Path | None = None,
    progress: Progress = silent,
) -> Grid:
    """Return the grid that `plan` asks for. What is wrong with the plan is said before anything is embedded.

    Args:
        plan: Attacks, tasks, budgets and seeds.
        veil: What is audited.
        concept: What is private. A veil does not tell.
        texts: The owner's texts.
        embedder: The embedder, where it isn't to be found under the name that the veil was learned with.
        cache: Folder to keep clean embeddings in; as sensitive as the texts.
        progress: Told how far the work is.
    """
    passages = as_passages(texts)
    attacks = {spec: attack_of(spec) for spec in plan.attacks}
    for attack in attacks.values():
        _check_prior(attack, veil)
    for name, budget in product(plan.defences, plan.budgets):
        mechanism_of(name, budget, veil)
    tasks = {spec: build_task(spec, texts=list(dict.fromkeys(one.text for one in passages))) for spec in plan.tasks}
    _check_labels([task.label for task in tasks.values()])
    rewriters = {name: build_rewriter(name) for name in plan.baselines}
    judge = _judge(plan.judge, veil, cache, progress)
    embed = Memory(veil.embedder(embedder, cache=cache), progress)
    corpus = AuditCorpus.of(concept, passages, embed, near_copies=plan.near_copies, progress=progress)
    if len(corpus.vocabulary) < FEWEST_WORDS:
        attacks = _without_words(attacks, len(corpus.vocabulary))
    return Grid(
        plan=plan,
        veil=veil,
        corpus=corpus,
        embed=embed,
        attacks=attacks,
        tasks=tasks,
        baselines={
            name: Rewritten.over(corpus.passages, rewriter=rewriter, concept=concept, embed=embed, seed=plan.seeds[0])
            for name, rewriter in rewriters.items()
        },
        judge=judge,
    )


def attack_of(spec: str) -> Attack:
    """Return the attack that `spec` names: `NAME[:PRIOR][,setting=value…]`."""
    parsed = parse_spec(spec, ATTACKS.kind)
    settings: dict[str, Any] = dict(parsed.settings)
    if parsed.target is not None:
        kind: Any = ATTACKS.load(parsed.name)
        if "prior" not in {field.name for field in fields(kind)}:
            raise InvalidInputError(f"the attack {parsed.name!r} takes no prior, got {parsed.target!r}")
        settings["prior"] = parsed.target
    return build_attack(parsed.name, settings)


def _check_prior(attack: Attack, veil: Veil) -> None:
    """Raise unless the prior that the attack names is there, and reads vectors like those of the veil."""
    if isinstance(attack, GenerativeAttack) and attack.prior:
        prior = load_prior(Path(attack.prior).expanduser())
        prior.require(attack.name, veil.fingerprint, veil.fingerprint.dimensions)


def _check_labels(labels: list[str]) -> None:
    twice = next((label for number, label in enumerate(labels) if label in labels[:number]), None)
    if twice is not None:
        raise InvalidInputError(f"two tasks would both be called {twice!r} in results; leave one out, or rename a file")


def _judge(spec: str, veil: Veil, cache: Path | None, progress: Progress) -> Memory | None:
    if not spec:
        return None
    judge = resolve_embedder(spec, cache=cache)
    if judge.fingerprint == veil.fingerprint:
        raise InvalidInputError(f"the judge must be another model than the attacked one, got {spec!r}")
    return Memory(judge, progress)


def _without_words(attacks: Mapping[str, Attack], words: int) -> dict[str, Attack]:
    """Return no attack, or raise where the user asked for one: with a single word there is nothing to read back."""
    asked = [spec for spec in attacks if parse_spec(spec, ATTACKS.kind).name not in ALWAYS]
    problem = f"the concept comes down to {words} sensitive word in these texts: there is no other to tell it from"
    if asked:
        raise InvalidInputError(f"{problem}, so that {asked[0]!r} can't run; leave it out, and the concept probes will")
    warnings.warn(f"{problem}; only the concept probes were run", VecveilWarning, stacklevel=3)
    return {}
