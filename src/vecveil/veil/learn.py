"""From a named concept and texts to a veil."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal

import numpy as np

from vecveil.accounting.ledger import Ledger
from vecveil.attacks import build_attack
from vecveil.concepts import Concept, Passage, contrast_set
from vecveil.concepts.passage import passages
from vecveil.core.checks import at_least, budget
from vecveil.core.errors import InvalidInputError, VecveilWarning
from vecveil.core.progress import Progress, silent
from vecveil.embedders import Embedder, resolve_embedder
from vecveil.mechanisms import MECHANISMS
from vecveil.shapes import AdversarialLearner, ContrastPairs, build_learner
from vecveil.shapes.registry import DEFAULT_SHAPE
from vecveil.veil.embedding import embed_texts
from vecveil.veil.fitting import fit, reads_corpus
from vecveil.veil.labelled import LabelledTexts
from vecveil.veil.provenance import Provenance
from vecveil.veil.recording import record_learning
from vecveil.veil.typical import TypicalLengths
from vecveil.veil.veil import Veil

FEWEST_PAIRS = 10
"""Contrast pairs that a learned shape needs at the least; hundreds are better."""


def learn(
    concept: Concept,
    texts: Iterable[str | Passage],
    *,
    embedder: str | Embedder = "minilm",
    shape: str = DEFAULT_SHAPE,
    preset: str | None = None,
    settings: Mapping[str, Any] | None = None,
    mechanism: str = "mahalanobis",
    contrast: Literal["removal", "replacement"] = "removal",
    fill: bool = True,
    epsilon: float | None = None,
    seed: int = 0,
    cache: str | Path | None = None,
    drop_empty: bool = False,
    allow_everywhere: bool = False,
    keep_concept: bool = False,
    public: bool = False,
    ledger: Ledger | None = None,
    progress: Progress = silent,
) -> Veil:
    """Learn where a concept lives in the vectors of an embedder.

    Args:
        concept: What is private.
        texts: Texts with and without it. The shape that is learned from them is itself a release.
        embedder: A name (see `resolve_embedder`) or an object.
        shape: Name of the shape learner.
        preset: Named settings of that learner, such as "paper".
        settings: Single settings of that learner, over the preset.
        mechanism: Name of the mechanism that the veil will use.
        contrast: Whether the concept is removed from a text, or replaced by another of its category.
        fill: Whether what is left out of a release is estimated from what is in it: free post-processing, done where
            it helps search in these texts.
        epsilon: Budget to keep in the veil.
        seed: Of the learner; noise is never seeded by it.
        cache: Folder to keep clean embeddings in; as sensitive as the texts. None keeps none.
        drop_empty: Leave out texts in which nothing but the concept stands.
        allow_everywhere: Accept a concept that every text holds.
        keep_concept: Write the concept itself, with its private terms, into the veil.
        public: Whether the texts are public, or made up: what is learned on them gives nothing of anyone's away.
        ledger: Where learning on private texts is recorded; nowhere where None.
        progress: Told how far the work is.
    """
    if not isinstance(concept, Concept):
        raise InvalidInputError(f"concept must be a concept, such as vv.terms(...), got {type(concept).__name__}")
    # Names and settings first: a misspelt one should not come to light after an hour of embedding.
    learner = build_learner(shape, preset=preset, settings=settings)
    if isinstance(learner, AdversarialLearner):
        build_attack(learner.attack, learner.attack_settings)
    if not MECHANISMS.load(mechanism).takes_shape and shape != "uniform":
        raise InvalidInputError(
            f"the mechanism {mechanism!r} adds the same noise along every axis and can't follow the shape {shape!r}; "
            "use the shape 'uniform' with it, or the mechanism 'mahalanobis'"
        )
    at_least(seed, 0, "seed")
    if epsilon is not None:
        budget(epsilon)
    model = resolve_embedder(embedder, cache=None if cache is None else Path(cache))

    corpus = passages(texts)
    pairs_of_texts = contrast_set(
        concept,
        corpus,
        kind=contrast,
        seed=seed,
        drop_empty=drop_empty,
        allow_everywhere=allow_everywhere,
        progress=progress,
    )
    if pairs_of_texts.unseen:
        unseen = ", ".join(pairs_of_texts.unseen)
        message = f"nothing was found for {unseen}: misspelt, or not in these texts?"
        warnings.warn(message, VecveilWarning, stacklevel=2)
    if shape != "uniform" and len(pairs_of_texts) < FEWEST_PAIRS:
        raise InvalidInputError(
            f"a shape must be learned from at least {FEWEST_PAIRS} texts with the concept, got {len(pairs_of_texts)}: "
            "with fewer it would tell more of single texts than of the concept"
        )
    pairs = ContrastPairs(
        embed_texts(model, pairs_of_texts.with_concept, label="embedding with the concept", progress=progress),
        embed_texts(model, pairs_of_texts.without_concept, label="embedding without it", progress=progress),
    )
    rng = np.random.default_rng(seed)
    labelled = None
    if reads_corpus(learner):
        labelled = LabelledTexts.of(
            concept, corpus=corpus, contrast=pairs_of_texts, pairs=pairs, embedder=model, progress=progress
        )
    fitted = fit(learner, pairs, labelled, rng, fill=fill, progress=progress)
    unit = MECHANISMS.load(mechanism).for_shape(
        epsilon=1.0, variances=fitted.shape.variances, axes=fitted.shape.axes, centre=fitted.shape.centre
    )
    learner_settings: Any = learner
    veil = Veil(
        shape=fitted.shape,
        mechanism=mechanism,
        fingerprint=model.fingerprint,
        typical=TypicalLengths.of(pairs, unit),
        filling=fitted.filling,
        provenance=Provenance(
            concept=concept.settings() if keep_concept else concept.summary(),
            contrast=contrast,
            pairs=len(pairs),
            embedder=embedder if isinstance(embedder, str) else None,
            learner={"name": shape, **asdict(learner_settings)},
            facts={name: value for name, value in fitted.facts.items() if np.isfinite(value)},
            seed=seed,
            public=public,
        ),
        epsilon=epsilon,
    )
    if ledger is not None and not public:
        record_learning(veil, [passage.text for passage in corpus], ledger)
    return veil
