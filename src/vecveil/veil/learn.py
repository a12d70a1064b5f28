"""Learning of a veil from a concept and texts."""

from __future__ import annotations

import secrets
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from vecveil.accounting import GaussianLoss
from vecveil.attacks import build_attack
from vecveil.concepts import Concept, Passage, contrast_set
from vecveil.concepts.agreement import compare_spans
from vecveil.concepts.passage import passages
from vecveil.core.checks import at_least
from vecveil.core.errors import InvalidInputError, VecveilWarning
from vecveil.core.progress import Progress, silent
from vecveil.embedders import EmbedderLike, resolve_embedder
from vecveil.ledger import Ledger
from vecveil.mechanisms import MECHANISMS
from vecveil.shapes import DEFAULT_SHAPE, AttackLearner, PrivateLearner, ShapeLearner, build_learner
from vecveil.shapes.erasure import release_center
from vecveil.substitutions import DEFAULT_SUBSTITUTION, Substitution, build_substitution
from vecveil.substitutions.plain import Keep
from vecveil.substitutions.randomize import Randomize
from vecveil.veil.budget import Budget, TypicalLengths
from vecveil.veil.evidence import corpus_evidence
from vecveil.veil.ledger_run import choose_ledger, record_learning
from vecveil.veil.provenance import Provenance
from vecveil.veil.release import digest_contents, identify_contents
from vecveil.veil.sheet import ANNOTATED, RECALL
from vecveil.veil.veil import Veil
from vecveil.veil.words import WordProtection, fit_substitution

FEWEST_PAIRS = 10
"""Contrast pairs that a learned shape needs at the least; hundreds are better."""


def learn(
    concept: Concept,
    texts: Iterable[str | Passage],
    *,
    embedder: EmbedderLike = "minilm",
    shape: str = DEFAULT_SHAPE,
    preset: str | None = None,
    settings: Mapping[str, Any] | None = None,
    mechanism: str = "mahalanobis",
    substitution: str | Substitution = DEFAULT_SUBSTITUTION,
    contrast: Literal["removal", "replacement"] = "removal",
    epsilon: float | None = None,
    noise_ratio: float | None = None,
    paper_epsilon: float | None = None,
    seed: int = 0,
    cache: str | Path | None = None,
    drop_empty: bool = False,
    allow_everywhere: bool = False,
    keep_concept: bool = True,
    public: bool = False,
    ledger: Ledger | str | Path | None = None,
    progress: Progress = silent,
) -> Veil:
    """Learn where a concept lives in the vectors of an embedder.

    Args:
        concept: What is private.
        texts: Texts with and without it. What is learned from them is itself a release: the center gets Gaussian noise,
            the rest is not bounded unless `shape` is "private-subspace".
        embedder: A name or an object; see `resolve_embedder`.
        shape: Name of the shape learner.
        preset: Named settings of that learner, such as "paper".
        settings: Single settings of that learner, over the preset.
        mechanism: Name of the mechanism that the veil will use.
        substitution: What becomes of private words before the model reads them: "remove", "placeholder", "randomize",
            "keep", or an object with settings of its own.
        contrast: Whether the concept is removed from a text, or replaced by another of its category.
        epsilon: Budget to keep in the veil, as a literal epsilon.
        noise_ratio: The same as a noise ratio.
        paper_epsilon: The same on the axis of the paper's tables.
        seed: Of the learner; noise is never seeded by it, so that private texts give another center each time.
        cache: Folder to keep clean embeddings in; as sensitive as the texts. None keeps none.
        drop_empty: Leave out texts in which nothing but the concept stands.
        allow_everywhere: Accept a concept that every text holds.
        keep_concept: Whether the veil holds the concept itself, with its private terms. It must be handed in with every
            use that needs it otherwise.
        public: Whether the texts are public, or made up: what is learned on them gives nothing of anyone's away.
        ledger: Where learning on private texts is recorded, as for a release.
        progress: Told how far the work is.
    """
    if not isinstance(concept, Concept):
        raise InvalidInputError(f"concept must be a concept, such as vv.terms(...), got {type(concept).__name__}")
    # Names and settings first: a misspelled one should not come to light after an hour of embedding.
    learner = require_learner(shape, preset=preset, settings=settings, mechanism=mechanism, seed=seed)
    chosen = build_substitution(substitution) if isinstance(substitution, str) else substitution
    if isinstance(learner, PrivateLearner) and contrast == "replacement" and not public:
        raise InvalidInputError(
            f"the shape {shape!r} bounds what it tells of one text, and replacements are words of other texts; use the "
            "contrast 'removal'"
        )
    asked = Budget.from_settings({"epsilon": epsilon, "noise_ratio": noise_ratio, "paper_epsilon": paper_epsilon})
    model = resolve_embedder(embedder, cache=None if cache is None else Path(cache))

    corpus = passages(texts)
    contrasts = contrast_set(
        concept,
        corpus,
        kind=contrast,
        seed=seed,
        drop_empty=drop_empty,
        allow_everywhere=allow_everywhere,
        progress=progress,
    )
    if contrasts.unseen:
        unseen = ", ".join(contrasts.unseen)
        message = f"nothing was found for {unseen}: misspelled, or not in these texts?"
        warnings.warn(message, VecveilWarning, stacklevel=2)
    if shape != "uniform" and len(contrasts) < FEWEST_PAIRS:
        raise InvalidInputError(
            f"a shape must be learned from at least {FEWEST_PAIRS} texts with the concept, got {len(contrasts)}: "
            "with fewer it would tell more of single texts than of the concept"
        )
    facts = {}
    if not concept.reads_annotations and any(passage.annotations for passage in corpus):
        agreement = compare_spans(concept, corpus, contrasts.spans).spans[""]
        facts = {RECALL: agreement.recall, ANNOTATED: float(agreement.annotated)}
    replaced = fit_substitution(chosen, concept, corpus, contrasts.spans)
    if (
        not keep_concept
        and isinstance(replaced, Randomize)
        and {*replaced.candidates} - {*chosen.settings()["candidates"]}
    ):
        raise InvalidInputError(
            "randomize keeps its candidates in the veil, and these are words of the concept or of the texts: name "
            "public ones for each category (--values), or keep the concept"
        )
    words = WordProtection(substitution=replaced, concept=concept)
    rewritten = None if isinstance(replaced, Keep) else words.rewrite_sample(corpus, contrasts.spans, seed=seed)
    evidence = corpus_evidence(corpus, contrasts, model, rewritten=rewritten, progress=progress)
    # What is promised of the texts needs noise that no one can repeat; all else is repeatable.
    hidden = np.random.default_rng(secrets.randbits(256))
    private = not public and isinstance(learner, PrivateLearner)
    fitted = learner.fit(evidence, hidden if private else np.random.default_rng(seed), progress=progress)
    noise_shape, losses = fitted.shape, {}
    if not public and noise_shape.center is not None:
        center_loss = GaussianLoss()
        noise_shape = release_center(noise_shape, evidence.corpus, center_loss, hidden)
        # How far one text can move the mean is known where lengths are, and where no word of it stands in another text.
        if model.fingerprint.normalized and not replaced.taken:
            losses["center"] = center_loss
    if private and fitted.loss is not None and not replaced.taken:
        losses["axes"] = fitted.loss
    unit = MECHANISMS.load(mechanism).for_shape(
        epsilon=1.0, variances=noise_shape.variances, axes=noise_shape.axes, center=noise_shape.center
    )
    learner_settings: Any = learner
    veil = Veil(
        shape=noise_shape,
        mechanism=mechanism,
        fingerprint=model.fingerprint,
        typical=TypicalLengths.from_pairs(evidence.pairs, unit, normalized=model.fingerprint.normalized),
        substitution=replaced,
        concept=concept if keep_concept else None,
        learned_here=True,
        provenance=Provenance(
            concept=concept.summary(),
            contrast=contrast,
            pairs=len(evidence.pairs),
            embedder=embedder if isinstance(embedder, str) else None,
            learner={"name": shape, **asdict(learner_settings)},
            facts={
                name: float(f"{value:.4g}") for name, value in {**fitted.facts, **facts}.items() if np.isfinite(value)
            },
            seed=seed,
            public=public,
            losses={part: asdict(loss) for part, loss in losses.items()},
        ),
    )
    if asked is not None:
        veil = replace(veil, epsilon=veil.epsilon_at(asked))
        veil.warn_of_noise(veil.epsilon_at(asked))
    ledger = choose_ledger(ledger)
    if ledger is not None and not public:
        ids = identify_contents(digest_contents([passage.text for passage in corpus]))
        record_learning(ledger, ids, veil=veil.digest(), learner=shape, losses=losses)
    return veil


def require_learner(
    shape: str,
    *,
    preset: str | None = None,
    settings: Mapping[str, Any] | None = None,
    mechanism: str = "mahalanobis",
    seed: int = 0,
) -> ShapeLearner:
    """Return the shape learner of that name, or raise where it, its settings, the mechanism or the seed can't be."""
    learner = build_learner(shape, preset=preset, settings=settings)
    if isinstance(learner, AttackLearner):
        build_attack(learner.attack, learner.attack_settings)
    if not MECHANISMS.load(mechanism).takes_shape and shape != "uniform":
        raise InvalidInputError(
            f"the mechanism {mechanism!r} adds the same noise along every axis and can't follow the shape {shape!r}; "
            "use the shape 'uniform' with it, or the mechanism 'mahalanobis'"
        )
    at_least(seed, 0, "seed")
    return learner
