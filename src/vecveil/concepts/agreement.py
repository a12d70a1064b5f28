"""Precision and recall of what a concept finds, against annotated spans."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from vecveil.concepts.concept import Concept
from vecveil.concepts.folding import fold
from vecveil.concepts.passage import Passage, Span, Spans, split_chunks
from vecveil.concepts.passage import passages as as_passages
from vecveil.concepts.tokens import FUNCTION_WORDS, locate_words
from vecveil.core.checks import one_of
from vecveil.core.errors import InvalidInputError
from vecveil.core.progress import Progress, silent


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """How many annotated spans, or words in them, a concept finds, and how much of what it finds is annotated.

    Attributes:
        annotated: Number of annotated ones.
        found: Number of those that the concept finds: of a span, every word.
        finds: Number of finds.
        right: Number of those that are annotated: of a find, any word.
    """

    annotated: int = 0
    found: int = 0
    finds: int = 0
    right: int = 0

    @property
    def recall(self) -> float:
        """Share of what is annotated that is found; not a number where nothing is annotated."""
        return self.found / self.annotated if self.annotated else math.nan

    @property
    def precision(self) -> float:
        """Share of what is found that is annotated; not a number where nothing is found."""
        return self.right / self.finds if self.finds else math.nan


@dataclass(frozen=True, kw_only=True)
class ConceptAgreement:
    """A concept beside annotations, by span and by word; function words don't count.

    Attributes:
        spans: Spans and finds, by label; all of them under an empty label.
        words: The same of words.
        missed: Annotated spans that were not wholly found, by label and folded form, the most frequent first.
        wrong: Finds of which nothing is annotated, in the same way.
    """

    spans: Mapping[str, Agreement]
    words: Mapping[str, Agreement]
    missed: Mapping[tuple[str, str], int] = field(repr=False)
    wrong: Mapping[tuple[str, str], int] = field(repr=False)


def measure_concept(
    concept: Concept, texts: Iterable[str | Passage], *, labels: Sequence[str] = (), progress: Progress = silent
) -> ConceptAgreement:
    """Return how well a concept agrees with the annotations of texts.

    >>> from vecveil.concepts import Span, terms
    >>> note = Passage("Gout and strokes.", (Span(0, 4, "DISEASE"), Span(9, 16, "DISEASE")))
    >>> measure_concept(terms("stroke", label="DISEASE"), [note]).spans["DISEASE"].recall
    0.5

    Args:
        concept: The concept; one that reads annotations has nothing to be measured by.
        texts: Annotated texts.
        labels: The annotated labels that are private. Where empty, the concept's own if annotations have one of these,
            and else all.
        progress: Told after each chunk of texts.
    """
    corpus = as_passages(texts)
    chunks = split_chunks(corpus, label="finding the concept", progress=progress)
    return compare_spans(concept, corpus, [spans for chunk in chunks for spans in concept.find_all(chunk)], labels)


def compare_spans(
    concept: Concept, corpus: Sequence[Passage], found: Sequence[Spans], labels: Sequence[str] = ()
) -> ConceptAgreement:
    """Return how well what a concept found agrees with annotations, as `measure_concept` does."""
    if concept.reads_annotations:
        raise InvalidInputError("the concept reads annotations itself, so they say nothing of what it misses")
    known = {span.label for passage in corpus for span in passage.annotations}
    if not known:
        raise InvalidInputError("no text is annotated")
    for label in labels:
        one_of(label, known, "annotated label")
    private = {*labels} or known & {*concept.expected} or known
    spans: Counter[tuple[str, str]] = Counter()
    words: Counter[tuple[str, str]] = Counter()
    missed: Counter[tuple[str, str]] = Counter()
    wrong: Counter[tuple[str, str]] = Counter()
    for passage, finds in zip(corpus, found, strict=True):
        marks = [span for span in passage.annotations if span.label in private]
        if not marks and not finds:
            continue
        places = [(start, end) for word, start, end in locate_words(passage.text) if word not in FUNCTION_WORDS]
        marked, hit = _find_touched(places, marks), _find_touched(places, finds)
        for sides, others, names, failures in (
            (marks, hit, ("annotated", "found"), missed),
            (finds, marked, ("finds", "right"), wrong),
        ):
            agree = all if sides is marks else any
            for span in sides:
                own = _find_touched(places, [span])
                good = agree(place in others for place in own)
                _count(spans, span.label, names, 1, int(good))
                _count(words, span.label, names, len(own), len(own & others))
                if not good:
                    form = " ".join(fold(passage.text[span.start : span.end], case_sensitive=False).text.split())
                    failures[span.label, form] += 1
    return ConceptAgreement(
        spans=_sum_up(spans), words=_sum_up(words), missed=dict(missed.most_common()), wrong=dict(wrong.most_common())
    )


def _find_touched(places: Sequence[tuple[int, int]], spans: Sequence[Span]) -> set[tuple[int, int]]:
    """Return the words that spans touch, by their places."""
    return {(start, end) for start, end in places if any(start < span.end and span.start < end for span in spans)}


def _count(counts: Counter[tuple[str, str]], label: str, names: tuple[str, str], whole: int, good: int) -> None:
    for each in (label, ""):
        counts[each, names[0]] += whole
        counts[each, names[1]] += good


def _sum_up(counts: Counter[tuple[str, str]]) -> dict[str, Agreement]:
    labels = sorted({label for label, _ in counts})
    fields = ("annotated", "found", "finds", "right")
    return {label: Agreement(**{name: counts[label, name] for name in fields}) for label in labels}
