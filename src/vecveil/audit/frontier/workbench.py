"""The workbench: contenders fitted, set to a level and attacked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

from vecveil.audit.attack_runner import FILL_IN_THE_BLANK, AttackRunner, BlankCell
from vecveil.audit.audit import attack_from_spec
from vecveil.audit.corpus import MOST_PAIRS, AuditCorpus
from vecveil.audit.defenses import Defense, Rewritten, Veiled
from vecveil.audit.embedding import MemoizedConcept, MemoizedEmbedder
from vecveil.audit.frontier.contender import Contender, at_noise
from vecveil.audit.frontier.results import Choice
from vecveil.audit.noise_search import find_noise
from vecveil.audit.rows import AttackRow, Setting
from vecveil.audit.tasks import build_task
from vecveil.audit.utility import Measure, Utility
from vecveil.concepts import Concept, Passage
from vecveil.concepts.rewriting import build_rewriter
from vecveil.core.arrays import Embeddings
from vecveil.core.digests import json_digest
from vecveil.core.percent import percent
from vecveil.core.progress import Progress, silent
from vecveil.embedders import Embedder, resolve_embedder
from vecveil.embedders.registry import embeds_any_text
from vecveil.shapes import Evidence
from vecveil.substitutions import Substitution
from vecveil.substitutions.plain import Keep
from vecveil.veil import Veil
from vecveil.veil.blanks import choose_blanks
from vecveil.veil.words import WordProtection, collect_candidates, fit_substitution

SEARCH = "known-item"
SEARCH_IN_VECTORS = "neighbors,protected=documents"
"""What utility is measured by where no task is named; the second where a file of vectors knows no queries."""

BLANKS, CANDIDATES = 40, 16
"""Texts in which someone fills in a private value, and what it may be at most."""

GUIDES = ("ridge,denoiser=none", "nearest")
"""Attacks of two kinds that take no time, so that what is left out is not fitted to one of them."""


class ReadCorpus(NamedTuple):
    """A corpus as the model reads it, with private words replaced; `known` where that is the same each time."""

    words: WordProtection
    vectors: Embeddings
    known: dict[str, str]


@dataclass(frozen=True, kw_only=True, eq=False)
class Workbench:
    """One corpus, one measure of utility.

    Attributes:
        corpus: The owner's texts.
        concept: What is private.
        utility: What utility is measured by.
        embed: The embedder, which attackers can call too.
        redacted: The reference without the concept; it knows nothing of texts outside of the corpus.
        specs: Specs of the tasks that utility is measured by.
        copies: Fresh releases of each training text that attackers learn from.
    """

    corpus: AuditCorpus
    concept: MemoizedConcept
    utility: Utility
    embed: MemoizedEmbedder
    redacted: Rewritten
    specs: tuple[str, ...]
    copies: int = 2
    _read: dict[str, ReadCorpus] = field(default_factory=dict, repr=False)
    _evidence: dict[tuple[str, int], Evidence] = field(default_factory=dict, repr=False)
    _veils: dict[str, Veil] = field(default_factory=dict, repr=False)

    @classmethod
    def from_texts(
        cls,
        concept: Concept,
        texts: Sequence[Passage],
        *,
        embedder: str | Embedder,
        tasks: Sequence[str] = (),
        measure: Measure | None = None,
        copies: int = 2,
        near_copies: float | None = None,
        most_pairs: int | None = MOST_PAIRS,
        cache: Path | None = None,
        progress: Progress = silent,
    ) -> Workbench:
        """Return the workbench for a corpus: tasks are read first, since a misspelled one should not cost an embedding.

        Args:
            concept: What is private.
            texts: The owner's texts.
            embedder: A name or an object.
            tasks: Specs of the tasks that utility is measured by; none to search for texts by their own words.
            measure: What counts of them. Where None, all searches of tasks that are named, and of searches by a text's
                own words those that don't name the concept: others can't be kept where it is hidden.
            copies: Fresh releases of each training text that attackers learn from.
            near_copies: Cosine from which two texts are near copies, which stay on one side of every split.
            most_pairs: Contrast pairs that shapes are learned from, and probes trained on; None for all.
            cache: Folder to keep clean embeddings in.
            progress: Told how far the work is.
        """
        own = list(dict.fromkeys(passage.text for passage in texts))
        for spec in tasks:
            build_task(spec, texts=own)
        embed = MemoizedEmbedder(resolve_embedder(embedder, cache=cache), progress)
        searched = concept if isinstance(concept, MemoizedConcept) else MemoizedConcept(concept)
        corpus = AuditCorpus.from_texts(
            searched, texts, embed, near_copies=near_copies, most_pairs=most_pairs, progress=progress
        )
        specs = tuple(tasks) or (SEARCH if embeds_any_text(embed) else SEARCH_IN_VECTORS,)
        return cls(
            corpus=corpus,
            concept=searched,
            utility=Utility(
                tasks=[build_task(spec, texts=corpus.texts, private=corpus.spans, concept=searched) for spec in specs],
                embed=embed,
                known=corpus.passage_of,
                measure=measure or ("search" if tasks else "unnamed"),
            ),
            embed=embed,
            redacted=Rewritten.over_corpus(corpus.passages, build_rewriter("remove"), searched, embed, seed=0),
            specs=specs,
            copies=copies,
        )

    def read(self, substitution: Substitution) -> ReadCorpus:
        """Return the corpus as the model reads it behind a substitution."""
        key = json_digest(substitution.settings())
        if key not in self._read:
            corpus = self.corpus
            fitted = fit_substitution(substitution, self.concept, corpus.passages, corpus.spans)
            words = WordProtection(substitution=fitted, concept=self.concept)
            changed = words.rewrite_sample(corpus.passages, corpus.spans, seed=0)
            texts = [changed.get(row, text) for row, text in enumerate(corpus.texts)]
            fixed = dict(zip(corpus.texts, texts, strict=True)) if fitted.word_epsilon == 0 else {}
            self._read[key] = ReadCorpus(words, self.embed(texts), fixed)
        return self._read[key]

    def evidence(self, seed: int, substitution: Substitution) -> Evidence:
        """Return what a defense may be learned from in the split of `seed`: all but what attacks are tested on."""
        key = json_digest(substitution.settings()), seed
        if key not in self._evidence:
            train, held_out, _ = self.corpus.split(seed)
            self._evidence[key] = self.corpus.evidence([*train, *held_out], self.read(substitution).vectors, self.embed)
        return self._evidence[key]

    def learn(self, contender: Contender, directions: int | None, seed: int) -> Veil:
        """Return the contender's veil with that many directions left out; it is learned once for all levels."""
        replaced = json_digest(contender.substitution.settings())
        key = repr((contender.spec, contender.settings, replaced, directions, seed))
        if key not in self._veils:
            words, model = self.read(contender.substitution).words, self.embed.embedder.fingerprint
            evidence = self.evidence(seed, contender.substitution)
            self._veils[key] = contender.learn(evidence, model, directions, seed, words)
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
            return self.utility.share_kept(self.at_noise(veil, ratio), np.random.default_rng(seed))

        return find_noise(share, level)

    def at_noise(self, veil: Veil, noise_ratio: float) -> Veiled:
        """Return the defense that a veil is with noise of that length."""
        known = next((one.known for one in self._read.values() if one.words.substitution == veil.substitution), {})
        return at_noise(veil, noise_ratio, self.embed, known)

    def attack(
        self,
        spec: str,
        defense: Defense,
        seed: int,
        *,
        rng: np.random.Generator | None = None,
        folder: Path | None = None,
    ) -> AttackRow:
        """Return what an attack, trained on what `defense` lets out, reads of texts that it has not seen.

        Args:
            spec: The attack.
            defense: What it attacks.
            seed: Of the split.
            rng: Of noise and training; from the spec and the seed where None.
            folder: Where to keep checkpoints.
        """
        drawn = rng or np.random.default_rng(int(json_digest({"attack": spec, "seed": seed})[:15], 16))
        return self._runner.attack(spec, attack_from_spec(spec), _setting(seed), defense, drawn, folder=folder).row

    def fill_blanks(self, defense: Defense, seed: int) -> BlankCell:
        """Return how often someone is right who has each text but for one private value."""
        if not embeds_any_text(self.embed):
            return BlankCell(row=None)
        corpus = self.corpus
        blanks = choose_blanks(
            corpus.passages,
            corpus.spans,
            collect_candidates(self.concept, corpus.passages, corpus.spans),
            np.random.default_rng(seed),
            rows=corpus.split(seed)[2].tolist(),
            most=BLANKS,
            most_candidates=CANDIDATES,
        )
        return self._runner.fill_blanks(blanks, _setting(seed), defense, np.random.default_rng(seed))

    def _read_by_guides(self, guides: Sequence[str], defense: Defense, seed: int) -> float:
        """Return what the strongest guide reads above chance, and how often a blank is filled in beyond that.

        What an attack is surest of decides where it reads no more than chance.
        """
        read = 0.0
        for row in (self.attack(guide, defense, seed) for guide in guides if guide != FILL_IN_THE_BLANK):
            read = max(read, max(0.0, row.r_precision.value - row.r_chance) + 0.01 * row.top_one.value)
        blank = self.fill_blanks(defense, seed).row if FILL_IN_THE_BLANK in guides else None
        return read if blank is None else read + blank.right.value - blank.chance

    @property
    def _runner(self) -> AttackRunner:
        return AttackRunner(corpus=self.corpus, embed=self.embed, judge=None, copies=self.copies, examples=0)

    def choose(
        self, contender: Contender, level: float, *, guides: Sequence[str] = (), seed: int, progress: Progress = silent
    ) -> Choice:
        """Return what a contender comes down to at one level of utility.

        Fewer directions leave room for more noise; which serves better depends on the concept, so each number is tried.

        Args:
            contender: Whose directions are chosen.
            level: Share of undefended utility to keep.
            guides: Specs of the attacks that read what is left: the strongest counts, and fill-in-the-blank beside it.
                Where none is named, two quick ones; and fill-in-the-blank where words stay, since what it reads is
                then for the directions and the noise to hide.
            seed: Of the split in which it is tried.
            progress: Told after each number.
        """
        if not guides:
            guides = (*GUIDES, FILL_IN_THE_BLANK) if isinstance(contender.substitution, Keep) else GUIDES
        tried: dict[str, float] = {}
        noises: dict[str, tuple[int | None, float]] = {}
        counts = contender.counts(self.corpus.clean.shape[1])
        members = self.members(contender, seed)
        for count, veil in progress(members, label=f"{contender.spec} at {percent(level)}", total=len(counts)):
            noise = self.find_noise(level, veil, seed)
            if noise is None:
                # What keeps too little with few directions keeps less with more.
                break
            name = str(count or 0)
            noises[name] = count, noise
            tried[name] = 0.0
            if contender.is_family:
                defense = self.at_noise(veil, noise)
                tried[name] = self._read_by_guides(guides, defense, seed)
        if not tried:
            return Choice(contender=contender.spec, level=level, directions=None, noise_ratio=None, tried={})
        count, noise = noises[min(tried, key=lambda name: tried[name])]
        return Choice(contender=contender.spec, level=level, directions=count, noise_ratio=noise, tried=tried)


def _setting(seed: int) -> Setting:
    return Setting(defense="", label="", asked="", readings=None, seed=seed)
