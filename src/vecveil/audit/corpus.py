"""The corpus of an audit: texts, private spans, vectors and splits."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vecveil.audit.defenses import Embed
from vecveil.concepts import Concept, Passage, SensitiveToken, contrast_set, sensitive_tokens
from vecveil.concepts.passage import Spans
from vecveil.core.arrays import Embeddings, spread_rows
from vecveil.core.checks import fraction
from vecveil.core.digests import text_digest
from vecveil.core.errors import InvalidInputError, VecveilWarning
from vecveil.core.progress import Progress, silent
from vecveil.shapes import ContrastPairs, Evidence
from vecveil.veil.evidence import LabeledTexts, swap_pairs

FEWEST_TEXTS = 100
"""Distinct texts with the concept that an audit needs: with fewer, no attack learns and no interval means a thing."""

MOST_PAIRS = 2000
"""Contrast pairs that the concept probes are given unless told otherwise; more would hardly move their score."""

SHARES = (0.7, 0.1)
"""Parts of the texts that attacks train on, and that they stop by; the rest is what they are tested on."""

BLOCK = 2048
"""Texts that are compared with all others together."""

MOST_TOGETHER = SHARES[1]
"""Share of the texts that one group of near copies may hold: a larger one leaves nothing beside it to stop by."""


@dataclass(frozen=True, kw_only=True, eq=False)
class AuditCorpus:
    """Distinct texts with everything that attacks and probes are judged by.

    Attributes:
        passages: The texts, each once.
        spans: Where the concept stands in each.
        tokens: The sensitive tokens of each.
        clean: Their vectors, as the embedder makes them.
        pairs: Vectors of texts with the concept, and of the same texts without it.
        pair_passages: The texts of the pairs: all that hold the concept, then the same without it.
        near_copies: Cosine from which two texts are near copies, which stay on one side of every split; None where
            texts are split one by one, so that an attacker may know a near copy of a text that it is tested on.
        ids: What each record is called: its id, or the number of its row.
        groups: What each text belongs to, such as a person: texts of a group stay on one side of every split. Empty
            where nobody says.
    """

    passages: tuple[Passage, ...]
    spans: tuple[Spans, ...]
    tokens: tuple[tuple[SensitiveToken, ...], ...]
    clean: Embeddings
    pairs: ContrastPairs
    pair_passages: tuple[Passage, ...]
    near_copies: float | None = None
    ids: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()

    @classmethod
    def from_texts(
        cls,
        concept: Concept,
        texts: Iterable[Passage],
        embed: Embed,
        *,
        near_copies: float | None = None,
        ids: Sequence[object] | None = None,
        groups: Sequence[object] | None = None,
        most_pairs: int | None = MOST_PAIRS,
        progress: Progress = silent,
    ) -> AuditCorpus:
        """Find the concept in `texts`, make the contrast pairs and embed everything."""
        marked: dict[str, Spans] = {}
        first: dict[str, int] = {}
        for row, passage in enumerate(texts):
            # One copy of a text may be annotated and another not: what any of them marks is private.
            marked[passage.text] = tuple(dict.fromkeys((*marked.get(passage.text, ()), *passage.annotations)))
            first.setdefault(passage.text, row)
        passages = tuple(Passage(text, spans) for text, spans in marked.items())
        contrast = contrast_set(concept, passages, drop_empty=True, allow_everywhere=True, progress=progress)
        spans = contrast.spans
        tokens = tuple(sensitive_tokens(passage.text, found) for passage, found in zip(passages, spans, strict=True))
        # Probes are given pairs, which a text that holds nothing but the concept can't be half of.
        usable = min(sum(map(bool, tokens)), len(contrast))
        if usable < FEWEST_TEXTS:
            raise InvalidInputError(
                f"an audit needs at least {FEWEST_TEXTS} distinct texts with the concept, and something beside it, to "
                f"train and test attacks on, got {usable} among {len(passages)} distinct texts"
            )
        if contrast.unseen:
            unseen = ", ".join(contrast.unseen)
            warnings.warn(f"nothing was found for {unseen}: not audited", VecveilWarning, stacklevel=2)
        chosen = spread_rows(len(contrast), most_pairs)
        held = tuple(passages[contrast.rows[pair]] for pair in chosen)
        removed = tuple(Passage(contrast.without_concept[pair]) for pair in chosen)
        return cls(
            passages=passages,
            spans=spans,
            tokens=tokens,
            clean=embed([passage.text for passage in passages]),
            pairs=ContrastPairs(embed([one.text for one in held]), embed([one.text for one in removed])),
            pair_passages=held + removed,
            near_copies=near_copies,
            ids=tuple(str(row if ids is None else ids[row]) for row in first.values()),
            groups=() if groups is None else tuple(str(groups[row]) for row in first.values()),
        )

    def __len__(self) -> int:
        return len(self.passages)

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts alone."""
        return tuple(passage.text for passage in self.passages)

    @cached_property
    def passage_of(self) -> dict[str, Passage]:
        """The passage of each text, with what is annotated in it."""
        return {passage.text: passage for passage in self.passages}

    @property
    def vocabulary(self) -> frozenset[str]:
        """Every sensitive word."""
        return frozenset(token.word for tokens in self.tokens for token in tokens)

    @property
    def text_of(self) -> dict[str, str]:
        """The text of each record by its id; the texts of records that share one are joined."""
        found: dict[str, list[str]] = {}
        for record, text in zip(self.ids, self.texts, strict=True):
            found.setdefault(record, []).append(text)
        return {record: "\n".join(texts) for record, texts in found.items()}

    def split(self, seed: int) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
        """Return the rows to train on, to stop by and to test on; texts with and without the concept in proportion."""
        rng = np.random.default_rng(seed)
        parts: tuple[list[int], list[int], list[int]] = ([], [], [])
        for groups in self._groups:
            shuffled = [groups[number] for number in rng.permutation(len(groups))]
            rows = np.concatenate([*shuffled, np.array([], dtype=np.intp)])
            # A group goes where its first text would go.
            starts = np.cumsum([0, *map(len, shuffled)])
            ends = [starts[np.searchsorted(starts, round(end * len(rows)))] for end in np.cumsum(SHARES)]
            for part, chosen in zip(parts, np.split(rows, ends), strict=True):
                part.extend(int(row) for row in chosen)
        train, held_out, test = (np.array(part, dtype=np.intp) for part in parts)
        return train, held_out, test

    @cached_property
    def _groups(self) -> tuple[list[NDArray[np.intp]], list[NDArray[np.intp]]]:
        """Texts that stay together: groups in which the concept is, and groups in which it isn't."""
        labels = np.arange(len(self)) if self.near_copies is None else group_near_copies(self.clean, self.near_copies)
        if self.groups:
            labels = np.unique(np.array(self.groups), return_inverse=True)[1]
        order = np.argsort(labels, kind="stable")
        groups = np.split(order, np.flatnonzero(np.diff(labels[order])) + 1)
        largest = max(map(len, groups))
        kind = "one group" if self.groups else f"near copies from cosine {self.near_copies} on; name a higher one"
        if largest > MOST_TOGETHER * len(self):
            raise InvalidInputError(
                f"{largest} of {len(self)} texts belong together ({kind}): there is nothing to split"
            )
        private = [any(self.tokens[row] for row in group) for group in groups]
        with_concept = [group for group, held in zip(groups, private, strict=True) if held]
        return with_concept, [group for group, held in zip(groups, private, strict=True) if not held]

    def evidence(self, rows: Sequence[int], vectors: Embeddings | None = None, embed: Embed | None = None) -> Evidence:
        """Return what a defense may be learned from in the rows with these numbers.

        Args:
            rows: Numbers of texts.
            vectors: Vectors of all texts as the model reads them, where private words are replaced before.
            embed: The model, for learners that look at texts with other values.
        """
        pair_of = {passage.text: number for number, passage in enumerate(self.pair_passages[: len(self.pairs)])}
        chosen = [pair_of[text] for row in rows if self.tokens[row] and (text := self.passages[row].text) in pair_of]
        if len(chosen) < 2:
            raise InvalidInputError(f"a defense is learned from at least 2 contrast pairs, got {len(chosen)}")
        order = np.array(sorted(rows, key=lambda row: not self.tokens[row]), dtype=np.intp)
        labeled = LabeledTexts(
            texts=tuple(self.passages[row].text for row in order),
            tokens=tuple(self.tokens[row] for row in order),
            vectors=(self.clean if vectors is None else vectors)[order],
        )
        pairs = ContrastPairs(self.pairs.with_concept[chosen], self.pairs.without_concept[chosen])
        read = [self.passages[row] for row in order], [self.spans[row] for row in order]
        return labeled.evidence(pairs, None if embed is None else lambda: swap_pairs(*read, embed))

    def digest(self) -> str:
        """Return the SHA-256 of the texts and of what is private in them."""
        digest = hashlib.sha256()
        for passage, spans in zip(self.passages, self.spans, strict=True):
            digest.update(text_digest(passage.text) + repr(spans).encode())
        return digest.hexdigest()

    def facts(self) -> dict[str, Any]:
        """Return sizes and the digest, for results: nothing that is private."""
        counts: dict[str, int] = {}
        for token in (token for tokens in self.tokens for token in tokens):
            counts[token.label] = counts.get(token.label, 0) + 1
        parts = dict(zip(("train", "held_out", "test"), map(len, self.split(0)), strict=True))
        return {
            "texts": len(self),
            "with_concept": sum(map(bool, self.tokens)),
            "tokens": sum(map(len, self.tokens)),
            "distinct_tokens": len(self.vocabulary),
            "tokens_by_category": dict(sorted(counts.items())),
            "split": parts,
            "digest": self.digest(),
        }


def group_near_copies(vectors: Embeddings, cosine: float) -> NDArray[np.intp]:
    """Return the number of each row's group: rows are in one group where steps of at least `cosine` join them."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    fraction(cosine, "near_copies")
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    directions = np.asarray(vectors / np.where(lengths > 0, lengths, 1), dtype=np.float32)
    rows = directions.shape[0]
    joined: list[tuple[NDArray[Any], NDArray[Any]]] = []
    for start in range(0, rows, BLOCK):
        first, second = np.nonzero(directions[start : start + BLOCK] @ directions.T >= cosine)
        joined.append((first + start, second))
    firsts, seconds = (np.concatenate(side) for side in zip(*joined, strict=True))
    links = coo_array((np.ones(firsts.size, dtype=np.int8), (firsts, seconds)), shape=(rows, rows))
    _, labels = connected_components(links, directed=False)
    return np.asarray(labels, dtype=np.intp)
