"""From public sentences to a prior, in as many sittings as it takes."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from vecveil.attacks.generation.conditions import tensor
from vecveil.attacks.generation.generative import SCRATCH_RATE, GenerativeAttack, seeded
from vecveil.attacks.priors.lesson import PublicLesson
from vecveil.attacks.priors.prior import MANIFEST, Prior, load_prior
from vecveil.attacks.training.checkpoint import TrainingState
from vecveil.core.arrays import Embeddings
from vecveil.core.checks import at_least, positive
from vecveil.core.digests import json_digest, text_digest
from vecveil.core.errors import InvalidInputError
from vecveil.core.progress import Progress, silent
from vecveil.embedders import Embedder

FEWEST = 100
"""Sentences below which a prior is refused; a good one takes a hundred thousand."""

MOST_HELD_OUT = 1000
CHUNK = 2048


def train_prior(
    attack: GenerativeAttack,
    texts: Sequence[str],
    embedder: Embedder,
    folder: Path,
    *,
    hours: float | None = None,
    epochs: int = 3,
    seed: int = 0,
    told: Callable[[str, TrainingState], None] | None = None,
    progress: Progress = silent,
) -> Prior:
    """Train a prior of `attack` into `folder`, or go on with one that was stopped.

    Args:
        attack: Its settings say how large the networks are.
        texts: Public sentences: the prior remembers some of them, so nothing private belongs among them.
        embedder: Makes the vectors that the prior learns to read.
        folder: Where it is written. It can be used as a prior from the first checkpoint on.
        hours: Longest time in training, over all sittings; None for no limit.
        epochs: Most passes over the sentences.
        seed: Of weights and batches.
        told: Called with a network's name and state after each round.
        progress: Told how far it is.

    Raises:
        InvalidInputError: If the folder holds a prior of another plan, or too few sentences are given.
    """
    at_least(epochs, 1, "epochs")
    if hours is not None:
        positive(hours, "hours")
    if attack.prior:
        raise InvalidInputError(f"a prior is trained from scratch, so it takes no prior, got {attack.prior!r}")
    if len(texts) < FEWEST:
        raise InvalidInputError(f"a prior needs at least {FEWEST} sentences, got {len(texts)}")
    asked = {
        "settings": attack.prior_settings(),
        "sentences": len(texts),
        "digest": json_digest({"texts": [text_digest(text).hex() for text in texts]}),
        "hours": hours,
        "epochs": epochs,
        "seed": seed,
    }
    prior = _opened(attack, texts, embedder, folder, asked)
    if prior.finished:
        return prior
    vectors = tensor(_embedded(embedder, texts, progress))
    held = min(MOST_HELD_OUT, len(texts) // 10)
    with seeded(np.random.default_rng(seed)):
        attack.teach_prior(
            PublicLesson(
                prior=prior,
                tokeniser=prior.tokeniser(),
                embed=embedder.embed,
                texts=texts[held:],
                vectors=vectors[held:],
                held_texts=texts[:held],
                held_vectors=vectors[:held],
                max_tokens=attack.max_tokens,
                batch_size=attack.batch_size,
                learning_rate=attack.learning_rate or SCRATCH_RATE,
                hours=hours,
                epochs=epochs,
                seed=seed,
                told=told,
                progress=progress,
            )
        )
    finished = replace(load_prior(folder), finished=True)
    finished.write()
    for name in finished.training:
        shutil.rmtree(finished.training_folder(name), ignore_errors=True)
    return finished


def _opened(
    attack: GenerativeAttack, texts: Sequence[str], embedder: Embedder, folder: Path, asked: dict[str, Any]
) -> Prior:
    """Return the prior in `folder`: the one that lies there, if it was begun with the same plan, or a new one."""
    if (folder / MANIFEST).exists():
        found = load_prior(folder)
        found.require(attack.name, embedder.fingerprint, embedder.fingerprint.dimensions)
        different = sorted(name for name in asked if found.plan.get(name) != asked[name])
        if different:
            raise InvalidInputError(
                f"{folder} holds a prior that was begun with other {', '.join(different)}; repeat its command to go on "
                "with it, choose another folder, or delete it"
            )
        return found
    if folder.exists() and any(folder.iterdir()):
        raise InvalidInputError(f"{folder} holds something that is no prior; choose another folder")
    tokeniser = attack.new_tokeniser(texts)
    prior = Prior(
        folder=folder,
        attack=attack.name,
        embedder=embedder.fingerprint,
        settings={name: getattr(attack, name) for name in attack.sizes},
        end=tokeniser.end,
        padding=tokeniser.padding,
        plan=asked,
        training={},
    )
    prior.write(tokeniser)
    return prior


def _embedded(embedder: Embedder, texts: Sequence[str], progress: Progress) -> Embeddings:
    chunks = [texts[start : start + CHUNK] for start in range(0, len(texts), CHUNK)]
    told = progress(chunks, label="embedding sentences", total=len(texts), weigh=len)
    return np.concatenate([embedder.embed(list(chunk)) for chunk in told])
