"""A trained Vec2Text: guess, embed the guess, correct it, and keep the guess that came nearest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import TYPE_CHECKING

from vecveil.attacks.attack import Recovery, Sample
from vecveil.attacks.generation.conditions import noisy, tensor
from vecveil.attacks.generation.guesses import Embed, Guesses, embedded_guesses, nearer
from vecveil.attacks.generation.reading import Reader
from vecveil.attacks.generation.teaching import Condition
from vecveil.attacks.nearest import TrainedNearestNeighbour
from vecveil.attacks.training.loop import Rows
from vecveil.core.arrays import Embeddings, Vector
from vecveil.core.digests import array_digest
from vecveil.core.progress import Progress, silent

if TYPE_CHECKING:
    from vecveil.attacks.generation.corrector import Corrector
    from vecveil.attacks.generation.inverter import Inverter


@dataclass(frozen=True, kw_only=True, eq=False)
class Correction:
    """The second half of the attack.

    Attributes:
        corrector: Writes a better guess.
        embed: Says where a guess lands.
        steps: Number of corrections.
        known: Finds the nearest of the attacker's own texts, as another first guess; None to do without.
    """

    corrector: Corrector
    embed: Embed
    steps: int
    known: TrainedNearestNeighbour | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class TrainedVec2Text:
    """Both networks, trained.

    Attributes:
        inverter: Vectors to first guesses.
        correction: What is done with them; None to leave it at the first guess.
        reader: Asks the networks.
    """

    inverter: Inverter
    correction: Correction | None
    reader: Reader
    _last: dict[str, Guesses] = field(default_factory=dict, init=False, repr=False)

    def recover(self, vectors: Embeddings, *, progress: Progress = silent) -> Recovery:
        """Return the texts whose embeddings come nearest to the vectors, and their words."""
        condition = noisy(tensor(vectors), 0.0)
        if self.correction is None or not len(vectors):
            texts = self.reader.texts(self.inverter, condition, len(vectors), progress=progress)
            return self.reader.recovery(self.inverter, condition, texts)
        best = self._corrected(vectors, self.correction, progress)
        return self.reader.recovery(self.correction.corrector, best.condition(tensor(vectors)), best.texts)

    def confidence(self, sample: Sample, *, progress: Progress = silent) -> tuple[Vector, ...]:
        """Return the probability of each true token where it first stands, given the text before it.

        The corrector is asked, with the best guess before its eyes; without one, the inverter.
        """
        targets = tensor(sample.vectors)
        if self.correction is None:
            return self.reader.confidence(self.inverter, noisy(targets, 0.0), sample)
        best = self._corrected(sample.vectors, self.correction, progress)
        return self.reader.confidence(self.correction.corrector, best.condition(targets), sample)

    def _corrected(self, vectors: Embeddings, correction: Correction, progress: Progress) -> Guesses:
        # Whoever asks for the texts asks for the confidence next, and guessing is most of the work.
        key = array_digest(vectors)
        if key not in self._last:
            self._last.clear()
            self._last[key] = self._guessed(vectors, correction, progress)
        return self._last[key]

    def _guessed(self, vectors: Embeddings, correction: Correction, progress: Progress) -> Guesses:
        targets = tensor(vectors)
        guess = self._nearest(self.inverter, noisy(targets, 0.0), vectors, correction, progress)
        if correction.known is not None:
            guess = nearer(guess, self._embedded(correction.known.recover(vectors).texts or (), vectors, correction))
        best = guess
        for _ in range(correction.steps):
            condition = guess.condition(targets)
            guess = self._nearest(correction.corrector, condition, vectors, correction, progress)
            best = nearer(best, guess)
        return best

    def _nearest(
        self,
        network: Inverter | Corrector,
        condition: Callable[[Rows], Condition],
        vectors: Embeddings,
        correction: Correction,
        progress: Progress,
    ) -> Guesses:
        """Return, of all beams, the guess whose embedding comes nearest."""
        beams = self.reader.beams
        texts = self.reader.texts(network, condition, len(vectors), kept=beams, progress=progress)
        return reduce(nearer, (self._embedded(texts[beam::beams], vectors, correction) for beam in range(beams)))

    def _embedded(self, texts: Sequence[str], vectors: Embeddings, correction: Correction) -> Guesses:
        reader = self.reader
        return embedded_guesses(texts, vectors, correction.embed, reader.tokeniser, longest=reader.max_tokens)
