"""Training of a prior on public sentences, in any number of runs."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vecveil.attacks.attack import Embed, Sample, TrainingRun
from vecveil.attacks.checkpoint import Checkpoint, TrainingState
from vecveil.attacks.generation.generative import PRIOR_RATE, SCRATCH_RATE, GenerativeAttack, NetworkTraining
from vecveil.attacks.generation.prior import MANIFEST, Prior, load_prior
from vecveil.attacks.training import Schedule, seed_torch, to_tensor
from vecveil.core.arrays import Embeddings
from vecveil.core.atomic import atomic_file, create_folder
from vecveil.core.checks import at_least, positive
from vecveil.core.digests import json_digest, text_digest
from vecveil.core.errors import InvalidInputError
from vecveil.core.progress import Progress, silent
from vecveil.embedders import Embedder

if TYPE_CHECKING:
    from vecveil.attacks.generation.generator import TrainedGenerator

FEWEST_SENTENCES = 100
"""Sentences below which a prior is refused; a good one takes a hundred thousand."""

MOST_HELD_OUT = 1000
CHUNK = 2048

ROUND_SECONDS = 150.0
"""Time between two checkpoints: the most that a killed run loses."""

WARMUP = 300
GUESSES = "guesses.json"


def train_prior(
    attack: GenerativeAttack,
    texts: Sequence[str],
    embedder: Embedder,
    folder: Path,
    *,
    hours: float | None = None,
    epochs: int = 3,
    seed: int = 0,
    on_round: Callable[[str, TrainingState], None] | None = None,
    progress: Progress = silent,
) -> Prior:
    """Train a prior of `attack` into `folder`, or go on with one that was stopped.

    Args:
        attack: Its settings say how large the networks are.
        texts: Public sentences: the prior remembers some of them, so nothing private belongs among them.
        embedder: Makes the vectors that the prior learns to read.
        folder: Where it is written. It can be used from the first checkpoint on. A prior of another plan is refused.
        hours: Most time in training, over all runs; None for no limit.
        epochs: Most passes over the sentences.
        seed: Seed of weights and batches.
        on_round: Called with a network's name and state after each round.
        progress: Reports how far it is.
    """
    at_least(epochs, 1, "epochs")
    if hours is not None:
        positive(hours, "hours")
    if attack.prior:
        raise InvalidInputError(f"a prior is trained from scratch, so it takes no prior, got {attack.prior!r}")
    if len(texts) < FEWEST_SENTENCES:
        raise InvalidInputError(f"a prior needs at least {FEWEST_SENTENCES} sentences, got {len(texts)}")
    plan = {
        "settings": {name: getattr(attack, name) for name in (*attack.sizes, *attack.prior_options)},
        "sentences": len(texts),
        "digest": json_digest({"texts": [text_digest(text).hex() for text in texts]}),
        "hours": hours,
        "epochs": epochs,
        "seed": seed,
    }
    prior = _open_prior(attack, texts, embedder, folder, plan)
    if prior.finished:
        return prior
    vectors = _embed_texts(embedder, texts, progress)
    held = min(MOST_HELD_OUT, len(texts) // 10)
    sample, held_out = (
        Sample(vectors=vectors[part], texts=tuple(texts[part]), tokens=((),) * len(texts[part]))
        for part in (slice(held, None), slice(held))
    )
    rng = np.random.default_rng(seed)
    with seed_torch(rng, library="transformers"):
        training = PriorTraining(
            # A prior has too many sentences to learn them by heart.
            attack=replace(attack, dropout=0.0),
            run=TrainingRun(sample, held_out, rng, progress=progress),
            tokenizer=prior.load_tokenizer(),
            embed=embedder.embed,
            prior=prior,
            on_round=on_round,
        )
        attack.train_networks(training)
    finished = replace(load_prior(folder), finished=True)
    finished.save()
    for name in finished.training:
        shutil.rmtree(finished.training_folder(name), ignore_errors=True)
    return finished


@dataclass(frozen=True, kw_only=True, eq=False)
class PriorTraining(NetworkTraining):
    """A training on public sentences, written into the folder of a prior."""

    embed: Embed
    prior: Prior
    on_round: Callable[[str, TrainingState], None] | None

    def initialize(self, network: Any, name: str, *, derived: bool) -> None:
        """Give each piece of the vocabulary the embedder's own vector of it, as far as the network is wide.

        Anyone who can call the embedder can have them. Words of like meaning then start alike, and a word that is rare
        in the sentences is known from the first step on.
        """
        import torch

        if derived or not self.attack.is_small(name):
            return
        pieces = [piece or "." for piece in self.tokenizer.decode([[number] for number in range(self.tokenizer.size)])]
        vectors = to_tensor(self.embed(pieces))
        centered = vectors - vectors.mean(dim=0)
        _, _, axes = torch.linalg.svd(centered / centered.std(), full_matrices=False)
        # The first embedding of a network is that of its words.
        weights = next(module for module in network.modules() if isinstance(module, torch.nn.Embedding)).weight
        start = centered @ axes[: weights.shape[1]].T
        with torch.no_grad():
            weights[: start.shape[0], : start.shape[1]] = start / start.std() * weights.std()

    def options(self, name: str, *, share: float, derived: bool) -> dict[str, Any]:
        """Return the options of a long training, which is never stopped early."""
        plan, hours = self.prior.plan, self.prior.plan["hours"]
        # At the step of a network from scratch, a derived one would unlearn first.
        slower = PRIOR_RATE / SCRATCH_RATE if derived else 1.0
        return {
            "schedule": Schedule(
                epochs=plan["epochs"],
                learning_rate=slower * (self.attack.learning_rate or SCRATCH_RATE),
                round_seconds=ROUND_SECONDS,
                warmup=WARMUP,
                decay=True,
                hours=None if hours is None else share * hours,
            ),
            "checkpoint": Checkpoint(folder=self.prior.training_folder(name), key=self.prior.key),
            "on_round": lambda state: self._record(name, state),
            "label": f"training the {name}",
        }

    def fit(self, network: Any, name: str, *guesses: Any, **options: Any) -> TrainedGenerator:
        """Train one network, or go on with it, and write it into the prior."""
        trained = super().fit(network, name, *guesses, **options)
        self.prior.save_network(network, name)
        return trained

    def guess_texts(self, inverter: TrainedGenerator, *, most: int) -> tuple[list[str], list[str]]:
        """Return the guesses, which take minutes and so are kept beside the checkpoints until the prior is done."""
        path = self.prior.training_folder("corrector") / GUESSES
        if path.exists():
            texts = json.loads(path.read_text(encoding="utf-8"))
        else:
            parts = self.held_vectors, self.vectors[:most]
            texts = [text for vectors in parts for text in inverter.guess_texts(vectors, self.run.progress)]
            create_folder(path.parent)
            with atomic_file(path) as draft:
                draft.write_text(json.dumps(texts), encoding="utf-8")
        held = len(self.run.held_out)
        return texts[held:], texts[:held]

    def _record(self, name: str, state: TrainingState) -> None:
        reached = {"steps": state.step, "seconds": round(state.seconds), "held_out_loss": -state.best}
        # The results of the other network are in the file by now, but not in the prior that this training began with.
        known = load_prior(self.prior.folder)
        replace(known, training={**known.training, name: reached}).save()
        if self.on_round is not None:
            self.on_round(name, state)


def _open_prior(
    attack: GenerativeAttack, texts: Sequence[str], embedder: Embedder, folder: Path, plan: dict[str, Any]
) -> Prior:
    """Return the prior in `folder`: one that was begun with the same plan, or a new one."""
    if (folder / MANIFEST).exists():
        prior = load_prior(folder)
        prior.require(attack.name, embedder.fingerprint, embedder.fingerprint.dimensions)
        different = sorted(name for name in plan if prior.plan.get(name) != plan[name])
        if different:
            raise InvalidInputError(
                f"{folder} holds a prior that was begun with other {', '.join(different)}; repeat its command to go on "
                "with it, choose another folder, or delete it"
            )
        return prior
    if folder.exists() and any(folder.iterdir()):
        raise InvalidInputError(f"{folder} holds something that is no prior; choose another folder")
    tokenizer = attack.build_tokenizer(texts)
    prior = Prior(
        folder=folder,
        attack=attack.name,
        embedder=embedder.fingerprint,
        settings={name: getattr(attack, name) for name in attack.sizes},
        end=tokenizer.end,
        padding=tokenizer.padding,
        plan=plan,
        training={},
    )
    prior.save(tokenizer)
    return prior


def _embed_texts(embedder: Embedder, texts: Sequence[str], progress: Progress) -> Embeddings:
    chunks = [texts[start : start + CHUNK] for start in range(0, len(texts), CHUNK)]
    reported = progress(chunks, label="embedding sentences", total=len(texts), weigh=len)
    return np.concatenate([embedder.embed(list(chunk)) for chunk in reported])
