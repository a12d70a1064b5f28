"""The training of a prior: public sentences, their vectors, and where what was learned is kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from vecveil.attacks.generation.tokeniser import Tokeniser
from vecveil.attacks.priors.prior import Prior, load_prior
from vecveil.attacks.training.checkpoint import Checkpoint, TrainingState
from vecveil.attacks.training.loop import Rows
from vecveil.attacks.training.schedule import Schedule
from vecveil.core.arrays import Embeddings
from vecveil.core.progress import Progress

if TYPE_CHECKING:
    import torch

    from vecveil.attacks.generation.teaching import Condition

ROUND_SECONDS = 150.0
"""Time between two checkpoints: what a killed run loses, at most."""

WARMUP = 300


@dataclass(frozen=True, kw_only=True, eq=False)
class PublicLesson:
    """Everything that the networks of a prior learn from.

    Attributes:
        prior: The folder, its manifest written already.
        tokeniser: The prior's.
        embed: The embedder, for guesses and single words.
        texts: The sentences to learn.
        vectors: Their clean vectors.
        held_texts: The sentences to stop by.
        held_vectors: Their clean vectors.
        max_tokens: Longest text in pieces.
        batch_size: Sentences per step.
        learning_rate: Adam's step after warming up.
        hours: Longest time for all networks; None for no limit.
        epochs: Most passes over the sentences.
        seed: Of weights and batches.
        told: Called with a network's name and state after each round.
        progress: Told after each batch.
    """

    prior: Prior
    tokeniser: Tokeniser
    embed: Callable[[Sequence[str]], Embeddings]
    texts: Sequence[str]
    vectors: torch.Tensor
    held_texts: Sequence[str]
    held_vectors: torch.Tensor
    max_tokens: int
    batch_size: int
    learning_rate: float
    hours: float | None
    epochs: int
    seed: int
    told: Callable[[str, TrainingState], None] | None
    progress: Progress

    def teach(
        self,
        network: torch.nn.Module,
        name: str,
        condition: Callable[[Rows], Condition],
        held_condition: Callable[[Rows], Condition],
        *,
        rows: int | None = None,
        share: float = 1.0,
        rate: float = 1.0,
    ) -> None:
        """Train one network, or go on with it, and write it into the prior.

        Args:
            network: What is trained.
            name: Its name in the prior.
            condition: What it knows of each text.
            held_condition: The same for the held-out ones.
            rows: How many of the texts it learns; all where None.
            share: Its share of the time.
            rate: Its step over that of a network that starts from nothing.
        """
        from vecveil.attacks.generation.teaching import Lesson, teach
        from vecveil.attacks.generation.token_rows import tokenised

        teach(
            network,
            Lesson(
                texts=tokenised(self.texts[:rows], self.tokeniser, longest=self.max_tokens, warn=True),
                condition=condition,
            ),
            Lesson(texts=tokenised(self.held_texts, self.tokeniser, longest=self.max_tokens), condition=held_condition),
            schedule=Schedule(
                epochs=self.epochs,
                learning_rate=rate * self.learning_rate,
                # A prior has too many sentences to learn them by heart, so it is never stopped early.
                patience=10**9,
                round_seconds=ROUND_SECONDS,
                warmup=WARMUP,
                decay=True,
                hours=None if self.hours is None else share * self.hours,
            ),
            batch_size=self.batch_size,
            rng=np.random.default_rng(self.seed),
            checkpoint=Checkpoint(folder=self.prior.training_folder(name), key=self.prior.key),
            told=lambda state: self._keep(name, state),
            label=f"training the {name}",
            progress=self.progress,
        )
        self.prior.finish(network, name)

    def start_words(self, model: Any) -> None:
        """Give each piece of the vocabulary the embedder's own vector of it, as far as the model is wide.

        Anyone who can call the embedder can have them. Words that mean alike then start alike, and a word that the
        sentences hardly hold is known from its first step on.
        """
        import torch

        names = [name or "." for name in self.tokeniser.decode([[piece] for piece in range(self.tokeniser.size)])]
        vectors = torch.from_numpy(np.asarray(self.embed(names), dtype=np.float32))
        centred = vectors - vectors.mean(dim=0)
        _, _, axes = torch.linalg.svd(centred / centred.std(), full_matrices=False)
        weights = model.get_input_embeddings().weight
        found = centred @ axes[: weights.shape[1]].T
        with torch.no_grad():
            weights[: found.shape[0], : found.shape[1]] = found / found.std() * weights.std()

    def _keep(self, name: str, state: TrainingState) -> None:
        reached = {"steps": state.step, "seconds": round(state.seconds), "held_out_loss": -state.best}
        # What another network reached is in the file by now, not in the prior that this lesson began with.
        known = load_prior(self.prior.folder)
        replace(known, training={**known.training, name: reached}).write()
        if self.told is not None:
            self.told(name, state)
