"""The workbench: contenders fitted, set to a level and attacked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from vecveil.audit.attack_runner import AttackRunner
from vecveil.audit.audit import attack_from_spec
from vecveil.audit.corpus import AuditCorpus
from vecveil.audit.defenses import Defense, Rewritten
from vecveil.audit.embedding import MemoizedEmbedder
from vecveil.audit.frontier.contender import Contender, at_noise
from vecveil.audit.frontier.results import Choice
from vecveil.audit.frontier.utility import SearchYardstick, TaskYardstick, Utility, Yardstick
from vecveil.audit.results import AttackRow, Setting
from vecveil.audit.tasks import build_task
from vecveil.concepts import Concept, Passage
from vecveil.concepts.rewriting import build_rewriter
from vecveil.core.digests import json_digest
from vecveil.core.progress import Progress, silent
from vecveil.embedders import Embedder, resolve_embedder
from vecveil.shapes import Evidence
from vecveil.veil import Veil

LEAST_NOISE, MOST_NOISE = 0.1, 8.0
"""Noise ratios between which it is searched. Below the least there is no promise worth the name."""

STEPS = 7
"""Halvings of the interval, on the logarithm: the noise is found to within 4 %."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Workbench:
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
    embed: MemoizedEmbedder
    redacted: Rewritten
    copies: int = 2
    _evidence: dict[int, Evidence] = field(default_factory=dict, repr=False)
    _veils: dict[tuple[Contender, int | None, int], Veil] = field(default_factory=dict, repr=False)

    @classmethod
    def from_texts(
        cls,
        concept: Concept,
        texts: Sequence[Passage],
        *,
        embedder: str | Embedder,
        tasks: Sequence[str] = (),
        copies: int = 2,
        near_copies: float | None = None,
        cache: Path | None = None,
        progress: Progress = silent,
    ) -> Workbench:
        """Return the workbench for a corpus: tasks are read first, since a misspelled one should not cost an embedding.

        Args:
            concept: What is private.
            texts: The owner's texts.
            embedder: A name or an object.
            tasks: Specs of the tasks that utility is measured by; none to measure search in the texts themselves.
            copies: Fresh releases of each training text that attackers learn from.
            near_copies: Cosine from which two texts are near copies, which stay on one side of every split.
            cache: Folder to keep clean embeddings in.
            progress: Told how far the work is.
        """
        own = list(dict.fromkeys(passage.text for passage in texts))
        built = [build_task(spec, texts=own) for spec in tasks]
        embed = MemoizedEmbedder(resolve_embedder(embedder, cache=cache), progress)
        corpus = AuditCorpus.from_texts(concept, texts, embed, near_copies=near_copies, progress=progress)
        yardsticks: list[Yardstick] = [TaskYardstick(task=task, embed=embed) for task in built]
        return cls(
            corpus=corpus,
            utility=Utility(yardsticks or [SearchYardstick.from_corpus(corpus)]),
            embed=embed,
            redacted=Rewritten.over_corpus(corpus.passages, build_rewriter("remove"), concept, embed, seed=0),
            copies=copies,
        )

    def evidence(self, seed: int) -> Evidence:
        """Return what a defense may be learned from in the split of `seed`: all but what attacks are tested on."""
        if seed not in self._evidence:
            train, held_out, _ = self.corpus.split(seed)
            self._evidence[seed] = self.corpus.evidence([*train, *held_out])
        return self._evidence[seed]

    def learn(self, contender: Contender, directions: int | None, seed: int) -> Veil:
        """Return the contender's veil with that many directions left out; it is learned once for all levels."""
        key = contender, directions, seed
        if key not in self._veils:
            model = self.embed.embedder.fingerprint
            self._veils[key] = contender.learn(self.evidence(seed), model, directions, seed)
        return self._veils[key]

    def members(self, contender: Contender, seed: int) -> Iterator[tuple[int | None, Veil]]:
        """Yield every number of directions that the contender can leave out, with its veil."""
        for count in contender.counts(self.corpus.clean.shape[1]):
            veil = self.learn(contender, count, seed)
            yield count, veil
            if count is not None and veil.shape.dimensions - veil.shape.released < count:
                # The words of a small vocabulary span no more directions than these.
                return

    def find_noise(self, level: float, veil: Veil, seed: int) -> float | None:
        """Return the largest noise ratio at which `level` of the utility is kept; None where the least is too much.

        Every try has the same noise but for its length, so that what is kept falls with it.
        """

        def share(ratio: float) -> float:
            return self.utility.share_kept(at_noise(veil, ratio), np.random.default_rng(seed))

        if share(LEAST_NOISE) < level:
            return None
        low, high = np.log(LEAST_NOISE), np.log(MOST_NOISE)
        for _ in range(STEPS):
            middle = (low + high) / 2
            low, high = (middle, high) if share(float(np.exp(middle))) >= level else (low, middle)
        return float(np.exp(low))

    def attack(self, spec: str, defense: Defense, seed: int, *, name: str | None = None) -> AttackRow:
        """Return what an attack, trained on what `defense` lets out, reads of texts that it has not seen.

        Args:
            spec: The attack.
            defense: What it attacks.
            seed: Of the split, and of noise and training.
            name: What the attack's random numbers depend on beside the seed; the spec where None.
        """
        attacker = AttackRunner(corpus=self.corpus, embed=self.embed, judge=None, copies=self.copies, examples=0)
        setting = Setting(defense="", label="", asked="", readings=None, seed=seed)
        rng = np.random.default_rng(int(json_digest({"attack": name or spec, "seed": seed})[:15], 16))
        return attacker.attack(spec, attack_from_spec(spec), setting, defense, rng).row

    def choose(
        self, contender: Contender, level: float, *, guides: Sequence[str], seed: int, progress: Progress = silent
    ) -> Choice:
        """Return what a contender comes down to at one level of utility.

        Fewer directions leave room for more noise; which serves better depends on the concept, so each number is tried.

        Args:
            contender: Whose directions are chosen.
            level: Share of undefended utility to keep.
            guides: Specs of the attacks that read what is left.
            seed: Of the split in which it is tried.
            progress: Told after each number.
        """
        tried: dict[str, float] = {}
        noises: dict[str, tuple[int | None, float]] = {}
        members = self.members(contender, seed)
        for count, veil in progress(members, label=f"{contender.spec} at {level:.0%}", total=None):
            noise = self.find_noise(level, veil, seed)
            if noise is None:
                # What keeps too little with few directions keeps less with more.
                break
            name = str(count or 0)
            noises[name] = count, noise
            tried[name] = 0.0
            if contender.is_family:
                defense = at_noise(veil, noise)
                tried[name] = float(np.mean([_read(self.attack(guide, defense, seed)) for guide in guides]))
        if not tried:
            return Choice(contender=contender.spec, level=level, directions=None, noise_ratio=None, tried={})
        count, noise = noises[min(tried, key=lambda name: tried[name])]
        return Choice(contender=contender.spec, level=level, directions=count, noise_ratio=noise, tried=tried)


def _read(row: AttackRow) -> float:
    """Return how much an attack reads above chance: the mean of words claimed and of surest words.

    Leakage alone is zero for an attack that is just too unsure to claim anything.
    """
    return (max(0.0, row.leakage.value - row.chance) + row.top_one.value) / 2
