"""What is promised of private words holds for annotated ones, in the ledger, in labels and in what a veil tells."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import permutations, product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from support.embedders import WordEmbedder
from support.veils import made_veil, unit_vectors, with_words
from vecveil.concepts import Concept, Passage, annotated, terms
from vecveil.core.arrays import Embeddings
from vecveil.core.errors import InvalidInputError, UnknownNameError, VecveilWarning
from vecveil.core.key import Key
from vecveil.embedders import Fingerprint
from vecveil.files.output import read_label
from vecveil.ledger import Ledger, open_ledger
from vecveil.substitutions import Substitution
from vecveil.substitutions.plain import Remove
from vecveil.substitutions.randomize import Randomize
from vecveil.veil import Guard, Veil, learn, protect_file
from vecveil.veil.words import WordProtection

CONCEPT = terms("gout", "asthma", "lupus", label="DISEASE")
KEY = Key(bytes(range(32)))
RANDOM = Randomize(epsilon=1.0, candidates={"DISEASE": ("gout", "asthma", "lupus")})
TEXTS = [f"Case {number} has {('gout', 'asthma')[number % 2]} again." for number in range(30)]
TEXTS += [f"Visit {number} was calm." for number in range(30)]


class Reader(WordEmbedder):
    """Remembers what it was given to read."""

    def __init__(self) -> None:
        super().__init__()
        self.read: list[str] = []

    def embed(self, texts: Sequence[str]) -> Embeddings:
        self.read += texts
        return super().embed(texts)


def _veil(substitution: Substitution | None = None, concept: Concept = CONCEPT) -> Veil:
    return with_words(made_veil(epsilon=2000.0), concept, substitution)


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with open_ledger(tmp_path / "ledger.sqlite") as opened:
        yield opened


def test_annotated_words_of_a_file_never_reach_the_model(tmp_path: Path) -> None:
    marks = [[{"start": 4, "end": 8, "label": "D"}], []]
    table = pa.table({"text": ["has gout now", "is well"], "entities": marks, "marks": marks[::-1]})
    pq.write_table(table, tmp_path / "in.parquet")
    reader = Reader()
    protect_file(_veil(concept=annotated("D")), tmp_path / "in.parquet", tmp_path / "out.parquet", embedder=reader)
    assert reader.read == ["has now", "is well"]
    named: dict[str, Any] = {"embedder": Reader(), "annotations_column": "marks"}
    with pytest.raises(InvalidInputError, match="row 1 has a wrong annotation"):
        protect_file(_veil(concept=annotated("D")), tmp_path / "in.parquet", tmp_path / "other.parquet", **named)


def test_texts_without_annotations_are_refused_where_words_are_annotated(tmp_path: Path) -> None:
    veil = _veil(concept=annotated("D") | CONCEPT)
    pq.write_table(pa.table({"text": ["has gout now"]}), tmp_path / "in.parquet")
    for attempt in (
        lambda: veil.protect(["has gout now"], embedder=WordEmbedder()),
        lambda: Guard(veil, embedder=WordEmbedder()).protect_texts(["has gout now"]),
        lambda: protect_file(veil, tmp_path / "in.parquet", tmp_path / "out.parquet", embedder=WordEmbedder()),
    ):
        with pytest.raises(InvalidInputError, match="annotated"):
            attempt()
    reader = Reader()
    veil.protect([Passage("has gout now")], embedder=reader)
    assert reader.read == ["has now"]


def test_a_text_that_is_replaced_moves_no_other_when_a_veil_is_learned() -> None:
    words = WordProtection(substitution=RANDOM, concept=CONCEPT)
    one = [Passage(text) for text in TEXTS]
    other = [Passage("Nobody was here."), *one[1:]]
    first, second = (words.rewrite_sample(corpus, CONCEPT.find_all(corpus), seed=0) for corpus in (one, other))
    assert {row: text for row, text in first.items() if row} == second


def test_exchanging_two_values_costs_epsilon_for_each_and_no_more() -> None:
    """Each text's outcomes in full: one number on every line of a grid for each value, which its law divides."""
    epsilon, numbers = 1.0, (np.arange(300) + 0.5) / 300
    drawn = WordProtection(substitution=replace(RANDOM, epsilon=epsilon), concept=CONCEPT)

    def spread(first: str, second: str) -> Counter[str]:
        texts = [f"Has {first} and {second}."] * len(numbers) ** 2
        grid = [dict(zip((first, second), pair, strict=True)) for pair in product(numbers, numbers)]
        return Counter(drawn.rewrite(texts, [lambda _, value, of=of: of[value] for of in grid]).texts)

    spreads = {pair: spread(*pair) for pair in permutations(RANDOM.candidates["DISEASE"], 2)}
    assert all(len(found) == 9 for found in spreads.values())
    for (first, one), (second, other) in permutations(spreads.items(), 2):
        exchanged = sum(before != after for before, after in zip(first, second, strict=True))
        worst = max(math.log(one[text] / other[text]) for text in one)
        # The lines of the grid are counted, which is exact to a few of them.
        assert worst <= exchanged * epsilon + 0.05
    assert max(
        math.log(spreads["gout", "asthma"][text] / spreads["asthma", "gout"][text])
        for text in spreads["gout", "asthma"]
    ) == pytest.approx(2 * epsilon, abs=0.05)


class Unnormalized(WordEmbedder):
    """Vectors of any length."""

    @property
    def fingerprint(self) -> Fingerprint:  # type: ignore[override]
        return replace(super().fingerprint, normalized=False)


@pytest.mark.parametrize(
    ("substitution", "embedder", "bounded"),
    [
        (Remove(), WordEmbedder(), True),
        (RANDOM, WordEmbedder(), True),
        (Randomize(epsilon=1.0), Unnormalized(), False),
        (Remove(), Unnormalized(), False),
    ],
)
def test_a_bound_is_stated_only_where_it_is_known(
    substitution: Substitution, embedder: WordEmbedder, *, bounded: bool
) -> None:
    veil = learn(CONCEPT, TEXTS, embedder=embedder, settings={"directions": 1}, substitution=substitution)
    assert ("center" in veil.provenance.losses) == bounded


def test_candidates_that_are_values_of_the_texts_are_said_to_be_and_bound_nothing() -> None:
    names = [Passage(text, CONCEPT.find(text)) for text in TEXTS]
    given: dict[str, Any] = {"embedder": WordEmbedder(), "settings": {"directions": 1}, "substitution": "randomize"}
    veil = learn(annotated("DISEASE"), names, **given)
    assert veil.substitution.taken == ("DISEASE",)
    assert not veil.provenance.losses
    assert "candidates for DISEASE (values of the texts)" in str(veil.guarantee(noise_ratio=0.3))


def test_a_private_shape_and_replacements_from_other_texts_are_refused_together() -> None:
    with pytest.raises(InvalidInputError, match="replacements are words of other texts"):
        learn(CONCEPT, TEXTS, embedder=WordEmbedder(), shape="private-subspace", contrast="replacement")


def test_a_veil_that_hides_its_concept_does_not_keep_its_words_as_candidates() -> None:
    given: dict[str, Any] = {"embedder": WordEmbedder(), "settings": {"directions": 1}, "keep_concept": False}
    with pytest.raises(InvalidInputError, match="randomize keeps its candidates in the veil"):
        learn(CONCEPT, TEXTS, substitution="randomize", **given)
    learn(CONCEPT, TEXTS, substitution=RANDOM, **given)


def test_different_texts_with_one_vector_are_no_record_by_two_names(ledger: Ledger) -> None:
    ledger.set_renamed("refuse")
    guard = Guard(_veil(), ledger=ledger, embedder=WordEmbedder())
    guard.protect_texts(["She has gout now.", "She has asthma now."])
    # Without private words, equal vectors are one record.
    with pytest.raises(InvalidInputError, match="on record under another name"):
        guard.protect_texts(["She is well.", "She is well."], ids=[1, 2])


def test_each_value_that_a_record_has_had_is_charged_for_what_it_told(ledger: Ledger) -> None:
    law = Randomize(epsilon=1.0, candidates={"DISEASE": ("gout", "asthma")})
    guard = Guard(_veil(law), ledger=ledger, key=KEY, embedder=WordEmbedder())
    for word in ("gout", "asthma", "gout"):
        guard.protect_texts([f"Case {number} has {word}." for number in range(30)], ids=range(30))
    assert ledger.totals().highest_words == pytest.approx(2.0)


def test_vectors_and_queries_of_a_veil_that_replaces_words_are_labeled_and_charged_as_what_they_are(
    ledger: Ledger, tmp_path: Path
) -> None:
    guard = Guard(_veil(), ledger=ledger, embedder=WordEmbedder())
    assert guard.release.label()["words"].startswith("remove, epsilon 0")
    assert guard.vector_release.label()["words"] == "not covered: the vectors came without their texts"
    guard.protect_texts(["She has gout."])
    guard.protect_queries(["gout"])
    with pytest.warns(VecveilWarning, match="come without their texts"):
        guard.protect_vectors(unit_vectors(2))
    with pytest.warns(VecveilWarning, match="come without their texts"):
        _veil().perturb(unit_vectors(2), ledger=ledger)
    assert sorted(str(run.charge.word_epsilon) for run in ledger.runs()) == ["0.0", "None", "None"]
    np.save(tmp_path / "in.npy", unit_vectors(2))
    with pytest.warns(VecveilWarning, match="come without their texts"):
        protect_file(_veil(), tmp_path / "in.npy", tmp_path / "out.npy")
    assert read_label(tmp_path / "out.npy")["words"] == "not covered: the vectors came without their texts"


@pytest.mark.parametrize(("name", "value"), [("kee", KEY), ("leger", "x.sqlite"), ("noise_ration", 3.0)])
def test_a_misspelled_setting_never_falls_back_to_something_weaker(name: str, value: object, tmp_path: Path) -> None:
    veil = _veil()
    pq.write_table(pa.table({"text": ["is well"]}), tmp_path / "in.parquet")
    wrong: dict[str, Any] = {name: value}
    for attempt in (
        lambda: veil.protect(["is well"], embedder=WordEmbedder(), **wrong),
        lambda: veil.guarantee(**wrong),
        lambda: protect_file(veil, tmp_path / "in.parquet", tmp_path / "out.parquet", **wrong),
    ):
        with pytest.raises(UnknownNameError, match=f"unknown setting of a release '{name}'; did you mean"):
            attempt()
