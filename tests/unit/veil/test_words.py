from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from support.concepts import CountingTerms
from support.embedders import WordEmbedder
from support.veils import made_veil
from vecveil.concepts import Concept, Passage, Span, annotated, anything, patterns, terms
from vecveil.concepts.terms import Terms
from vecveil.core.arrays import Embeddings
from vecveil.core.errors import BudgetExceededError, InvalidInputError, VecveilWarning
from vecveil.core.key import Key
from vecveil.files.output import read_label
from vecveil.ledger import Ledger, open_ledger
from vecveil.substitutions import Substitution
from vecveil.substitutions.plain import Keep, Placeholder, Remove
from vecveil.substitutions.randomize import Randomize
from vecveil.veil import Guard, Veil, learn, protect_file
from vecveil.veil.words import WordProtection, collect_candidates

CONCEPT = terms("gout", "asthma", "lupus", label="DISEASE")
DISEASES = {"DISEASE": ("gout", "asthma", "lupus")}
KEY = Key(bytes(range(32)))
RANDOM = Randomize(epsilon=1.0, candidates=DISEASES)


class Reader(WordEmbedder):
    """Remembers what it was given to read."""

    def __init__(self) -> None:
        super().__init__()
        self.read: list[str] = []

    def embed(self, texts: Sequence[str]) -> Embeddings:
        self.read += texts
        return super().embed(texts)


def _veil(substitution: Substitution | None = None, **changes: Any) -> Veil:
    veil = made_veil(epsilon=2000.0)
    provenance = replace(veil.provenance, concept=dict(CONCEPT.summary()))
    given = {"substitution": substitution or Remove(), "concept": CONCEPT, "provenance": provenance, **changes}
    return replace(veil, **given)


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with open_ledger(tmp_path / "ledger.sqlite") as opened:
        yield opened


def test_the_model_never_reads_private_words() -> None:
    reader = Reader()
    _veil().protect(["She has gout.", "Asthma, and pain."], embedder=reader)
    assert reader.read == ["She has.", "and pain."]


def test_a_release_does_not_depend_on_words_that_are_removed() -> None:
    texts = [f"She has {word} again." for word in ("gout", "asthma", "LUPUS")]
    for law in (Remove(), Placeholder()):
        rows = [_veil(law).protect([text], embedder=WordEmbedder(), key=KEY)[0] for text in texts]
        np.testing.assert_array_equal(rows[0], rows[1])
        np.testing.assert_array_equal(rows[0], rows[2])


def test_words_that_a_gap_brings_together_are_removed_too() -> None:
    concept = terms("gout", "heart attack", label="X")
    words = WordProtection(substitution=Remove(), concept=concept)
    assert words.rewrite(["heart gout attack"], [lambda *_: 0.0]).texts == ["[removed]"]


@pytest.mark.parametrize("concept", [terms("removed", "asthma"), anything(), patterns(WORD=r"\w+")])
def test_removing_comes_to_an_end_where_the_mark_itself_is_private(concept: Concept) -> None:
    words = WordProtection(substitution=Remove(), concept=concept)
    for text in ("asthma", "hospital removed asthma", "removed [removed] removed"):
        rewritten = words.rewrite([text], [lambda *_: 0.5]).texts[0]
        assert "asthma" not in rewritten
        assert "hospital" not in rewritten or isinstance(concept, Terms)


def test_a_text_of_nested_words_takes_no_longer_than_its_length() -> None:
    """Each pass would find one of them, where gaps are closed one by one."""
    concept = CountingTerms(terms=("heart attack",))
    words = WordProtection(substitution=Remove(), concept=concept)
    rewritten = words.rewrite(["heart " * 500 + "attack " * 500], [lambda *_: 0.5]).texts[0]
    assert len(concept.searched) <= 5
    assert not concept.find(rewritten)


def test_with_a_key_a_record_is_rewritten_in_the_same_way_again() -> None:
    texts = ["She has gout and asthma." for _ in range(40)]
    ids = [f"n{number}" for number in range(40)]
    release = _veil(RANDOM).release(key=KEY, ledger="none")
    first, again = (release.rewrite(texts, ids=ids).texts for _ in range(2))
    assert first == again
    assert len(set(first)) > 3
    assert release.rewrite(texts[::-1], ids=ids[::-1]).texts == first[::-1]
    other = _veil(RANDOM).release(key=Key.new(), ledger="none")
    assert other.rewrite(texts, ids=ids).texts != first


def test_without_ids_spellings_of_a_text_are_rewritten_alike() -> None:
    release = _veil(RANDOM).release(key=KEY, ledger="none")
    spellings = ["She has gout and asthma.", "she  has GOUT and Asthma.", "SHE HAS GOUT AND ASTHMA."]
    assert len({text.casefold().replace("  ", " ") for text in release.rewrite(spellings).texts}) == 1


def test_a_value_has_one_outcome_in_a_group() -> None:
    texts = [f"Visit {number}: gout." for number in range(60)]
    release = _veil(RANDOM).release(key=KEY, ledger="none")
    grouped = release.rewrite(texts, ids=range(60), groups=["ann"] * 30 + ["bob"] * 30).texts
    assert len({text.partition(": ")[2] for text in grouped[:30]}) == 1
    single = release.rewrite(texts, ids=range(60)).texts
    assert len({text.partition(": ")[2] for text in single}) == 3


def test_a_group_needs_a_key() -> None:
    with pytest.raises(InvalidInputError, match="groups need a key"):
        _veil(RANDOM).protect(["gout"], groups=["ann"], embedder=WordEmbedder())


def test_fresh_outcomes_follow_the_law() -> None:
    release = _veil(RANDOM).release(ledger="none")
    drawn = release.rewrite(["gout"] * 3000).texts
    assert drawn.count("gout") / 3000 == pytest.approx(np.e / (np.e + 2), abs=0.04)


def test_annotated_words_are_found_in_passages() -> None:
    reader = Reader()
    passage = Passage("Seen by Okafor.", (Span(8, 14, "PERSON"),))
    veil = _veil(concept=annotated("PERSON"))
    veil.protect([passage], embedder=reader)
    assert reader.read == ["Seen by."]


def test_queries_keep_their_words() -> None:
    reader = Reader()
    guard = Guard(_veil(), embedder=reader)
    guard.protect_queries(["Who has gout?"])
    guard.protect_texts(["She has gout."])
    assert reader.read == ["Who has gout?", "She has."]


def test_a_model_that_is_called_elsewhere_reads_the_same() -> None:
    reader = Reader()
    guard = Guard(_veil(), key=KEY, embedder=WordEmbedder())
    there = guard.protect_texts(["She has gout."], embed=reader.embed)
    assert reader.read == ["She has."]
    np.testing.assert_array_equal(there, guard.protect_texts(["She has gout."]))


def test_vectors_without_texts_are_warned_of_and_labeled(tmp_path: Path) -> None:
    veil = _veil()
    vectors = WordEmbedder().embed(["a b", "c d"])
    with pytest.warns(VecveilWarning, match=r"come without their texts, so private words are not replaced \(remove\)"):
        veil.perturb(vectors)
    np.save(tmp_path / "in.npy", vectors)
    with pytest.warns(VecveilWarning, match="without their texts"):
        protect_file(veil, tmp_path / "in.npy", tmp_path / "out.npy")
    assert read_label(tmp_path / "out.npy")["words"] == "not covered: the vectors came without their texts"


@pytest.mark.parametrize(
    ("law", "said"), [(Remove(), "remove, epsilon 0 for each value that the concept finds"), (Keep(), "kept")]
)
def test_an_output_says_what_became_of_words(tmp_path: Path, law: Substitution, said: str) -> None:
    pq.write_table(pa.table({"text": ["She has gout.", "Pain."]}), tmp_path / "in.parquet")
    protect_file(_veil(law), tmp_path / "in.parquet", tmp_path / "out.parquet", embedder=WordEmbedder())
    assert read_label(tmp_path / "out.parquet")["words"] == said


def test_a_file_is_rewritten_by_groups(tmp_path: Path) -> None:
    table = pa.table({"text": ["gout"] * 20, "id": range(20), "who": ["ann"] * 20})
    pq.write_table(table, tmp_path / "in.parquet")
    for column, most in (("who", 1), (None, 3)):
        reader = Reader()
        output = tmp_path / f"{column}.parquet"
        given: dict[str, Any] = {"embedder": reader, "key": KEY, "id_column": "id", "group_column": column}
        protect_file(_veil(RANDOM), tmp_path / "in.parquet", output, **given)
        assert len({*reader.read}) == most


def test_a_veil_that_does_not_tell_its_concept_must_be_told(tmp_path: Path) -> None:
    silent = _veil(concept=None)
    with pytest.raises(InvalidInputError, match=r"replaces private words \(remove\) and does not tell which"):
        silent.protect(["gout"], embedder=WordEmbedder())
    reader = Reader()
    silent.protect(["She has gout."], embedder=reader, concept=CONCEPT)
    assert reader.read == ["She has."]
    with pytest.raises(InvalidInputError, match="learned for another concept"):
        silent.protect(["gout"], embedder=WordEmbedder(), concept=terms("gout"))
    path = tmp_path / "concept.toml"
    path.write_text('[[part]]\nkind = "terms"\nterms = ["gout", "asthma", "lupus"]\nlabel = "DISEASE"\n')
    assert Guard(silent, concept=path, embedder=WordEmbedder()).protect_texts(["gout"]).shape == (1, 8)


def test_a_veil_on_disk_keeps_its_substitution(tmp_path: Path) -> None:
    veils = [_veil(law) for law in (Keep(), Remove(), Placeholder(phrases={"DISEASE": "it"}), RANDOM)]
    for number, veil in enumerate(veils):
        veil.save(tmp_path / f"{number}.veil")
        loaded = Veil.load(tmp_path / f"{number}.veil")
        assert (loaded.substitution, loaded.concept, loaded.digest()) == (
            veil.substitution,
            veil.concept,
            veil.digest(),
        )
    assert len({veil.digest() for veil in veils}) == 4


def test_the_ledger_charges_each_word_that_was_replaced(ledger: Ledger) -> None:
    veil = _veil(RANDOM)
    veil.protect(["gout, asthma and gout", "pain"], ids=["a", "b"], embedder=WordEmbedder(), ledger=ledger)
    assert ledger.totals().highest_words == pytest.approx(2.0)
    assert [entry.words for entry in ledger.releases()] == [2, 0]
    assert {run.charge.word_epsilon for run in ledger.runs()} == {1.0}


def test_words_have_a_limit_of_their_own(ledger: Ledger) -> None:
    ledger.set_word_limit(3.0)
    veil = _veil(RANDOM)
    for _ in range(3):
        veil.protect(["gout and asthma"], ids=["k"], embedder=WordEmbedder(), ledger=ledger, key=KEY)
    with pytest.raises(BudgetExceededError, match="limit of 3 nats, over all private words of a record"):
        veil.protect(["gout and asthma"], ids=["k"], embedder=WordEmbedder(), ledger=ledger)
    _veil(Remove()).protect(["gout and asthma"], ids=["k"], embedder=WordEmbedder(), ledger=ledger)
    assert ledger.totals().releases == 4


def test_a_concept_that_lists_words_gives_candidates_and_others_give_those_of_the_corpus() -> None:
    concept = CONCEPT | annotated("PERSON")
    corpus = [Passage("Okafor has gout", (Span(0, 6, "PERSON"),)), Passage("Ann Lind", (Span(0, 8, "PERSON"),))]
    found = concept.find_all(corpus)
    assert collect_candidates(concept, corpus, found) == {
        "DISEASE": ["gout", "asthma", "lupus"],
        "PERSON": ["Ann Lind", "Okafor"],
    }


@pytest.mark.parametrize("name", ["remove", "placeholder", "randomize", "keep"])
def test_a_veil_is_learned_on_texts_as_the_model_reads_them(name: str) -> None:
    texts = [f"Case {number} has {('gout', 'asthma')[number % 2]} again." for number in range(30)]
    texts += [f"Visit {number} was calm." for number in range(30)]
    reader = Reader()
    veil = learn(CONCEPT, texts, embedder=reader, shape="canonical", settings={"directions": 1}, substitution=name)
    assert veil.substitution.name == name
    if name == "placeholder":
        assert any("has a condition again" in text for text in reader.read)
    released, same = (
        veil.protect([f"Case {word} again."] * 9, ids=range(9), embedder=WordEmbedder(), noise_ratio=0.01, key=KEY)
        for word in ("gout", "asthma")
    )
    assert (released == same).all() == (name in {"remove", "placeholder"})
