"""Blanks: an unknown private value, and what a release tells of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeAlias

import numpy as np

from vecveil.concepts import Passage
from vecveil.concepts.passage import Span, Spans
from vecveil.core.arrays import Embeddings, Matrix, Vector
from vecveil.substitutions import Draw, fold_value
from vecveil.substitutions.substitution import pick
from vecveil.veil.release import Release

MOST_BLANKS, MOST_CANDIDATES = 64, 25
"""Texts that are asked about, and values that each of them is asked about, where nothing else is said."""

EQUAL = 1e-5
"""Vectors that are no farther apart than this, over their length, are of the same text."""

Embed: TypeAlias = Callable[[Sequence[str]], Embeddings]


@dataclass(frozen=True, kw_only=True)
class Blank:
    """A text in which one private value is unknown; whoever asks knows all else.

    Attributes:
        candidates: The text with each value that may stand there.
        places: Where the value stands, in each of these texts.
        truth: Number of the candidate that really stands there.
        row: Number of the text in its corpus.
    """

    candidates: tuple[Passage, ...] = field(repr=False)
    places: tuple[Spans, ...] = field(repr=False)
    truth: int = field(repr=False)
    row: int = 0


@dataclass(frozen=True, kw_only=True, eq=False)
class BlankReadings:
    """What releases tell of blanks to someone who knows the mechanism, the rest of the text and the candidates.

    Attributes:
        posteriors: For each blank, the probability of each candidate after the release; all were equally likely before.
        truths: The candidate that really stood there.
    """

    posteriors: tuple[Vector, ...] = field(repr=False)
    truths: tuple[int, ...] = field(repr=False)

    @cached_property
    def chance(self) -> Vector:
        """How often a guess without the release is right, for each blank."""
        return np.array([1 / posterior.size for posterior in self.posteriors])

    @cached_property
    def truth(self) -> Vector:
        """The probability of what really stood there."""
        return np.array([posterior[truth] for posterior, truth in self._pairs])

    @cached_property
    def right(self) -> Vector:
        """How often the best guess is right, for each blank; one among several that are equally good is drawn."""
        best = [np.flatnonzero(posterior >= posterior.max() * (1 - 1e-9)) for posterior in self.posteriors]
        return np.array([(truth in one) / one.size for one, truth in zip(best, self.truths, strict=True)])

    @cached_property
    def sure(self) -> Vector:
        """How sure the best guess is, which is how often it is right where any candidate may have stood there."""
        return np.array([posterior.max() for posterior in self.posteriors])

    @cached_property
    def bits(self) -> Vector:
        """How much the release tells of what stood there, in bits; below zero where it misleads."""
        return np.log2(np.maximum(self.truth, 1e-300) / self.chance)

    @cached_property
    def ranks(self) -> Vector:
        """The place of what stood there among the candidates, from 1, the likeliest; equals share their places."""
        above = [(posterior > posterior[truth]).sum() for posterior, truth in self._pairs]
        equal = [(posterior == posterior[truth]).sum() for posterior, truth in self._pairs]
        return np.array([more + (same + 1) / 2 for more, same in zip(above, equal, strict=True)])

    @property
    def _pairs(self) -> Sequence[tuple[Vector, int]]:
        return list(zip(self.posteriors, self.truths, strict=True))


def choose_blanks(
    corpus: Sequence[Passage],
    found: Sequence[Spans],
    values: Mapping[str, Sequence[str]],
    rng: np.random.Generator,
    *,
    rows: Sequence[int] | None = None,
    most: int = MOST_BLANKS,
    most_candidates: int = MOST_CANDIDATES,
) -> list[Blank]:
    """Return texts of a corpus in which one private value is unknown; none of a value that has no other beside it.

    Args:
        corpus: The texts.
        found: Where the concept stands in each.
        values: What may stand in a value's place, by label.
        rng: Chooses texts, values and candidates.
        rows: Numbers of the texts to choose from; all where None.
        most: Most texts.
        most_candidates: Most candidates for each.
    """
    among = [row for row in (range(len(corpus)) if rows is None else rows) if found[row]]
    blanks: list[Blank] = []
    for number in rng.permutation(len(among)):
        if len(blanks) == most:
            break
        row = among[number]
        blank = _make_blank(corpus[row], found[row], values, rng, most_candidates)
        if blank is not None:
            blanks.append(replace(blank, row=row))
    return blanks


def _make_blank(
    passage: Passage, spans: Spans, values: Mapping[str, Sequence[str]], rng: np.random.Generator, most: int
) -> Blank | None:
    here: dict[tuple[str, str], list[Span]] = {}
    for span in spans:
        here.setdefault((span.label, fold_value(span.read_value(passage.text))), []).append(span)
    label, value = list(here)[int(rng.integers(len(here)))]
    places = tuple(here[label, value])
    taken = {other for _, other in here}
    others = {fold_value(form): form for form in values.get(label, ()) if fold_value(form) not in taken}
    if not others:
        return None
    chosen = [list(others.values())[number] for number in rng.permutation(len(others))[: most - 1]]
    truth = int(rng.integers(len(chosen) + 1))
    filled = [_fill(passage, places, form) for form in chosen]
    filled.insert(truth, (passage, places))
    texts, where = zip(*filled, strict=True)
    return Blank(candidates=texts, places=where, truth=truth)


def _fill(passage: Passage, places: Spans, form: str) -> tuple[Passage, Spans]:
    """Return a passage with another value in some places, and where that stands then; annotations move along."""
    pieces: list[str] = []
    moved: list[Span] = []
    end, length = 0, 0
    for place in places:
        written = form[:1].upper() + form[1:] if passage.text[place.start].isupper() else form
        pieces += [passage.text[end : place.start], written]
        length += place.start - end
        moved.append(Span(length, length + len(written), place.label))
        length += len(written)
        end = place.end
    text = "".join([*pieces, passage.text[end:]])

    def shift(offset: int) -> int:
        return offset + sum(
            (after.end - after.start) - (before.end - before.start)
            for before, after in zip(places, moved, strict=True)
            if before.end <= offset
        )

    marked = [span for span in passage.annotations if not _overlaps(span, places)]
    kept = [Span(shift(span.start), shift(span.end), span.label) for span in marked]
    # What was marked in the old value is marked in the new one.
    new = [
        Span(after.start, after.end, span.label)
        for before, after in zip(places, moved, strict=True)
        for span in passage.annotations
        if _overlaps(span, (before,))
    ]
    return Passage(text, tuple(dict.fromkeys(sorted([*kept, *new])))), tuple(moved)


def _overlaps(span: Span, places: Sequence[Span]) -> bool:
    return any(span.start < place.end and place.start < span.end for place in places)


def read_blanks(release: Release, embed: Embed, blanks: Sequence[Blank], *, texts: bool = True) -> BlankReadings:
    """Return what one release of each text tells of its blank: the posterior of an optimal guess, by Bayes.

    Where words are randomized, the one who guesses is even told how the other private words of the text came out.

    Args:
        release: What lets vectors out.
        embed: The veil's model.
        blanks: The texts.
        texts: Whether private words are replaced before the model reads them; not where vectors come without texts.
    """
    words = release.words if texts else None
    laws: list[tuple[list[str], Matrix, int]] = []
    passages = [passage for blank in blanks for passage in blank.candidates]
    found = iter([()] * len(passages) if words is None or words.concept is None else words.concept.find_all(passages))
    for number, blank in enumerate(blanks):
        draw = _remember(release.draw_values(f"blank {number}".encode()))
        outcomes: list[Mapping[str, float]] = []
        for passage, places in zip(blank.candidates, blank.places, strict=True):
            spans = next(found)
            outcomes.append({passage.text: 1.0} if words is None else words.outcomes(passage, spans, places, draw))
        columns = list(dict.fromkeys(text for one in outcomes for text in one))
        law = np.array([[one.get(text, 0.0) for text in columns] for one in outcomes])
        laws.append((columns, law, columns.index(pick(outcomes[blank.truth], draw("", "outcome")))))
    vectors = embed([text for columns, _, _ in laws for text in columns])
    ends = np.cumsum([len(columns) for columns, _, _ in laws])
    parts = np.split(vectors, ends[:-1]) if laws else []
    clean = np.array([part[drawn] for part, (_, _, drawn) in zip(parts, laws, strict=True)])
    released = release.grid.values(release.protect_vectors(clean)) if len(blanks) else clean
    posteriors = []
    for part, seen, (_, law, _) in zip(parts, released, laws, strict=True):
        rounded = release.round_vectors(part)
        density = release.mechanism.log_density(np.broadcast_to(seen, rounded.shape), rounded)
        posteriors.append(_posterior(law, density))
    return BlankReadings(posteriors=tuple(posteriors), truths=tuple(blank.truth for blank in blanks))


def compare_blanks(embed: Embed, blanks: Sequence[Blank], rewritten: Sequence[Sequence[str]]) -> BlankReadings:
    """Return what vectors without noise tell of blanks: candidates whose vector is another one are ruled out.

    Args:
        embed: The model.
        blanks: The texts.
        rewritten: What the model reads for each candidate of each blank.
    """
    posteriors = []
    found = np.asarray(embed([text for candidates in rewritten for text in candidates]), dtype=np.float64)
    ends = np.cumsum([len(candidates) for candidates in rewritten])
    parts = np.split(found, ends[:-1]) if blanks else []
    for blank, vectors in zip(blanks, parts, strict=True):
        seen = vectors[blank.truth]
        equal = np.linalg.norm(vectors - seen, axis=1) <= EQUAL * np.linalg.norm(seen)
        posteriors.append(equal / equal.sum())
    return BlankReadings(posteriors=tuple(posteriors), truths=tuple(blank.truth for blank in blanks))


def _posterior(law: Matrix, density: Vector) -> Vector:
    """Return the probability of each candidate: the density of the release, summed over the outcomes of its law."""
    # Over the largest density that any candidate can have, so that nothing overflows.
    reachable = density[law.any(axis=0)].max()
    likelihood = law @ np.exp(np.minimum(density - reachable, 0.0))
    total = likelihood.sum()
    return np.asarray(likelihood / total if total > 0 else np.full(len(law), 1 / len(law)))


def _remember(draw: Draw) -> Draw:
    """Return `draw` with the same number again for the same value: one text is released, not one for each candidate."""
    known: dict[tuple[str, str], float] = {}

    def once(label: str, value: str) -> float:
        if (label, value) not in known:
            known[label, value] = draw(label, value)
        return known[label, value]

    return once
