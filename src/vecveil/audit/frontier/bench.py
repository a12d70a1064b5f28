"""Where contenders are fitted, set to a level of utility and attacked, each split for itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from vecveil.audit.attacking import Attacker
from vecveil.audit.corpus import AuditCorpus
from vecveil.audit.defences import Defence, Noise, Rewritten
from vecveil.audit.encoding import Memory
from vecveil.audit.frontier.contender import Contender, at_noise
from vecveil.audit.frontier.evidence import evidence
from vecveil.audit.frontier.level import noise_at
from vecveil.audit.frontier.yardstick import Utility
from vecveil.audit.prepare import attack_of
from vecveil.audit.results import AttackRow, Setting
from vecveil.core.digests import json_digest
from vecveil.shapes import ContrastPairs
from vecveil.veil.fitting import Fitted, fit
from vecveil.veil.labelled import LabelledTexts


@dataclass(frozen=True, kw_only=True, eq=False)
class Bench:
    """One corpus, one measure of utility.

    Attributes:
        corpus: The owner's texts.
        utility: What utility is measured by.
        embed: The embedder, which attackers can call too.
        redacted: The reference without the concept; it knows nothing of texts outside of the corpus.
        copies: Fresh releases of each training text that attackers learn from.
    """

    corpus: AuditCorpus
    utility: Utility
    embed: Memory
    redacted: Rewritten
    copies: int = 2
    _evidence: dict[int, tuple[ContrastPairs, LabelledTexts]] = field(default_factory=dict, repr=False)
    _fitted: dict[tuple[Contender, int | None, int], Fitted] = field(default_factory=dict, repr=False)

    @cached_property
    def signal(self) -> float:
        """Typical length of an embedding."""
        return float(np.median(np.linalg.norm(self.corpus.clean, axis=1)))

    def evidence(self, seed: int) -> tuple[ContrastPairs, LabelledTexts]:
        """Return what a defence may be learned from in the split of `seed`: all but what attacks are tested on."""
        if seed not in self._evidence:
            train, held_out, _ = self.corpus.split(seed)
            self._evidence[seed] = evidence(self.corpus, [*train, *held_out])
        return self._evidence[seed]

    def fitted(self, contender: Contender, directions: int | None, seed: int) -> Fitted:
        """Return the contender's shape with that many directions left out; it is learned once for all levels."""
        key = contender, directions, seed
        if key not in self._fitted:
            learner, rng = contender.with_directions(directions), np.random.default_rng(seed)
            self._fitted[key] = fit(learner, *self.evidence(seed), rng)
        return self._fitted[key]

    def members(self, contender: Contender, seed: int) -> Iterator[tuple[int | None, Fitted]]:
        """Yield every number of directions that the contender can leave out, with its shape."""
        for count in contender.counts(self.corpus.clean.shape[1]):
            fitted = self.fitted(contender, count, seed)
            yield count, fitted
            if count is not None and fitted.shape.dimensions - fitted.shape.released < count:
                # The words of a small vocabulary span no more directions than these.
                return

    def noise_at(self, level: float, fitted: Fitted, seed: int) -> float | None:
        """Return the noise that a shape can bear at a level of utility; None where it can't keep that much."""
        return noise_at(level, fitted, self.utility, signal=self.signal, seed=seed)

    def defence(self, fitted: Fitted, noise_ratio: float) -> Noise:
        """Return the defence that a shape is with that much noise."""
        return at_noise(fitted, noise_ratio, self.signal)

    def attacked(self, spec: str, defence: Defence, seed: int, *, name: str | None = None) -> AttackRow:
        """Return what an attack, trained on what `defence` lets out, reads of texts that it has not seen.

        Args:
            spec: The attack.
            defence: What it attacks.
            seed: Of the split, and of noise and training.
            name: What the attack's random numbers depend on beside the seed; the spec where None.
        """
        attacker = Attacker(corpus=self.corpus, embed=self.embed, judge=None, copies=self.copies, examples=0)
        setting = Setting(defence="", label="", asked="", dials=None, seed=seed)
        rng = np.random.default_rng(int(json_digest({"attack": name or spec, "seed": seed})[:15], 16))
        return attacker.attack(spec, attack_of(spec), setting, defence, rng).row
