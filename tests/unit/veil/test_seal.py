from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from support.embedders import WordEmbedder
from support.veils import made_veil, unit_vectors, with_words
from vecveil.concepts import terms
from vecveil.core.errors import InvalidInputError, InvalidRowError
from vecveil.core.key import Key
from vecveil.files.key_file import write_key
from vecveil.ledger import open_ledger
from vecveil.veil import Guard
from vecveil.veil.seal import Sealer, write_as_text

KEY, OTHER = Key(bytes(range(32))), Key(bytes(range(1, 33)))
VECTORS = unit_vectors(6)
IDS = [f"n{number}" for number in range(6)]
TEXTS = ["the patient has gout", "a sunny day at sea", "rain again today"]


def _sealer(**changes: Any) -> Sealer:
    return replace(Sealer(key=KEY, veil="a" * 64, dimensions=VECTORS.shape[1]), **changes)


def test_a_seal_opens_to_its_vector_and_looks_like_nothing_before() -> None:
    sealed = _sealer().seal(VECTORS, IDS)
    np.testing.assert_allclose(_sealer().open(sealed, IDS), VECTORS, atol=1e-3)
    assert {len(one) for one in sealed} == {_sealer().size}
    for one, row in zip(sealed, VECTORS, strict=True):
        assert row.astype("<f2").tobytes() not in one


def test_a_seal_is_the_same_again_for_the_same_record_and_another_for_any_other() -> None:
    assert _sealer().seal(VECTORS, IDS) == _sealer().seal(VECTORS, IDS)
    twice = _sealer().seal(VECTORS[[0, 0]], ["a", "b"])
    assert twice[0][13:] != twice[1][13:]
    assert len({one[:13] for one in _sealer().seal(np.concatenate([VECTORS, VECTORS]), range(12))}) == 12


@pytest.mark.parametrize(
    ("changes", "ids"),
    [({"key": OTHER}, IDS), ({"veil": "b" * 64}, IDS), ({}, IDS[::-1]), ({}, range(6))],
)
def test_no_other_key_record_or_veil_opens_it(changes: dict[str, Any], ids: Any) -> None:
    sealed = _sealer().seal(VECTORS, IDS)
    with pytest.raises(InvalidRowError, match="row 0 has a seal that does not open"):
        _sealer(**changes).open(sealed, ids)


@pytest.mark.parametrize("place", [0, 1, 20, -1])
def test_a_changed_seal_does_not_open(place: int) -> None:
    sealed = _sealer().seal(VECTORS, IDS)
    broken = bytearray(sealed[2])
    broken[place] ^= 1
    with pytest.raises(InvalidRowError, match="row 2 has"):
        _sealer().open([*sealed[:2], bytes(broken), *sealed[3:]], IDS)


@pytest.mark.parametrize("wrong", [b"", b"\1" * 9, "vvs1:", "vvs1:***", "some text", None, 7])
def test_what_is_no_seal_is_named_by_its_row(wrong: Any) -> None:
    with pytest.raises(InvalidRowError, match="row 1 has no seal of a vector of 8 numbers"):
        _sealer().open([_sealer().seal(VECTORS, IDS)[0], wrong], ["n0", "n1"])


def test_candidates_come_back_in_their_exact_order() -> None:
    veil = made_veil(epsilon=30.0)
    query = VECTORS[4] + 0.1 * VECTORS[1]
    sealed = veil.sealer(KEY).seal(VECTORS, IDS)
    hits = veil.rerank(query, IDS, sealed, key=KEY)
    exact = VECTORS @ query / np.linalg.norm(query)
    assert [hit.row for hit in hits] == np.argsort(-exact).tolist()
    assert [hit.id for hit in hits[:1]] == ["n4"]
    np.testing.assert_allclose([hit.similarity for hit in hits], np.sort(exact)[::-1], atol=1e-3)
    assert veil.rerank(query, IDS, sealed, key=KEY, top=2) == hits[:2]
    assert veil.rerank(query, IDS, [write_as_text(one) for one in sealed], key=KEY) == hits
    assert veil.rerank(query, [], [], key=KEY) == []


def test_candidates_whose_texts_are_at_hand_are_embedded_again() -> None:
    veil = made_veil(epsilon=30.0)
    sealed = veil.sealer(KEY).seal(WordEmbedder().embed(TEXTS), range(3))
    query = "sunny sea"
    by_text, by_seal, mixed = (
        veil.rerank(query, range(3), candidates, key=KEY, embedder=WordEmbedder())
        for candidates in (TEXTS, sealed, [sealed[0], TEXTS[1], sealed[2]])
    )
    assert [hit.id for hit in by_text] == [hit.id for hit in by_seal] == [hit.id for hit in mixed]
    assert by_text[0].id == 1


def test_a_wrong_call_is_refused() -> None:
    veil = made_veil(epsilon=30.0)
    sealed = veil.sealer(KEY).seal(VECTORS, IDS)
    with pytest.raises(InvalidInputError, match="no key opens them"):
        veil.rerank(VECTORS[0], IDS, sealed)
    with pytest.raises(InvalidInputError, match="one id per candidate, got 6 ids for 2"):
        veil.rerank(VECTORS[0], IDS, sealed[:2], key=KEY)
    with pytest.raises(InvalidInputError, match="top must be"):
        veil.rerank(VECTORS[0], IDS, sealed, key=KEY, top=0)
    with pytest.raises(InvalidInputError, match="dimensions"):
        veil.rerank(VECTORS[0, :3], IDS, sealed, key=KEY)
    with pytest.raises(InvalidInputError, match="must have 8 dimensions"):
        veil.sealer(KEY).seal(VECTORS[:, :5], IDS)
    with pytest.raises(InvalidInputError, match="one id per record"):
        veil.sealer(KEY).seal(VECTORS, IDS[:2])


def test_a_guard_seals_with_a_key_of_its_own_that_tells_of_no_noise(tmp_path: Path) -> None:
    for name, key in (("noise.key", KEY), ("seal.key", OTHER)):
        write_key(key, tmp_path / name)
    veil = made_veil(epsilon=30.0)
    guard = Guard(veil, key=tmp_path / "noise.key", seal_key=tmp_path / "seal.key", embedder=WordEmbedder())
    sealed = guard.seal_texts(TEXTS, range(3))
    assert guard.rerank("sunny sea", range(3), sealed)[0].id == 1
    assert veil.rerank("rain again today", range(3), sealed, key=OTHER, embedder=WordEmbedder())[0].id == 2
    with pytest.raises(InvalidRowError, match="does not open"):
        veil.rerank("rain", range(3), sealed, key=KEY, embedder=WordEmbedder())
    with pytest.raises(InvalidInputError, match="seals need a key"):
        Guard(veil, embedder=WordEmbedder()).seal_texts(TEXTS, range(3))


def test_seals_that_are_not_repeatable_differ_each_time_and_open_alike() -> None:
    fresh = _sealer(repeatable=False)
    sealed = [one.seal(VECTORS, IDS) for one in (_sealer(), fresh, fresh)]
    for one, two, three in zip(*sealed, strict=True):
        assert len({one[1:13], two[1:13], three[1:13]}) == 3
        assert len({one[13:], two[13:], three[13:]}) == 3
    for seals in sealed:
        np.testing.assert_array_equal(fresh.open(seals, IDS), _sealer().open(sealed[0], IDS))


def test_no_two_contents_share_a_nonce() -> None:
    sealers = [_sealer(), _sealer(veil="b" * 64), _sealer(key=OTHER), _sealer(repeatable=False)]
    seals = [one for sealer in sealers for rows in (VECTORS, -VECTORS) for one in sealer.seal(rows, IDS)]
    assert len({one[1:13] for one in seals}) == len(seals)


def test_seals_of_some_rows_are_named_by_their_numbers_among_all() -> None:
    sealed = _sealer().seal(VECTORS, IDS)
    with pytest.raises(InvalidRowError, match="row 9 has a seal that does not open"):
        _sealer().open([sealed[0], sealed[1]], ["n0", "n2"], rows=[4, 9])
    with pytest.raises(InvalidRowError, match="row 9 has no id, but NoneType"):
        _sealer().open([sealed[0], sealed[1]], ["n0", None], rows=[4, 9])  # type: ignore[list-item]
    with pytest.raises(InvalidInputError, match="one id per seal, got 1 ids for 2"):
        _sealer().open(sealed[:2], ["n0"])
    veil = made_veil(epsilon=30.0)
    seals = veil.sealer(KEY).seal(VECTORS, IDS)
    with pytest.raises(InvalidRowError, match="row 2 has a seal that does not open"):
        veil.rerank(VECTORS[0], ["n0", "n1", "x"], [TEXTS[0], seals[1], seals[2]], key=KEY, embedder=WordEmbedder())


@pytest.mark.parametrize("missing", [None, "", "  ", b""])
def test_a_candidate_without_a_seal_or_a_text_is_named_before_a_model_is_asked(missing: Any) -> None:
    model = WordEmbedder()
    with pytest.raises(InvalidRowError, match="row 1 has neither a seal nor a text"):
        made_veil(epsilon=30.0).rerank("rain", [0, 1], ["sun", missing], embedder=model)
    assert model.asked == []


def test_query_and_texts_are_one_call_of_the_model() -> None:
    calls: list[list[str]] = []

    def embed(texts: list[str]) -> Any:
        calls.append(texts)
        return WordEmbedder().embed(texts)

    guard = Guard(made_veil(epsilon=30.0), key=KEY, embedder=WordEmbedder())
    guard.rerank("rain", range(3), TEXTS, embed=embed)
    guard.rerank("rain", range(3), guard.seal_texts(TEXTS, range(3)), embed=embed)
    guard.rerank(VECTORS[0], range(3), guard.seal_texts(TEXTS, range(3)), embed=embed)
    assert calls == [["rain", *TEXTS], ["rain"]]


@pytest.mark.parametrize("ledger", [False, True])
def test_a_guard_protects_as_it_does_without_seals(tmp_path: Path, ledger: bool) -> None:
    veil = with_words(made_veil(epsilon=30.0), terms("gout", "rain"))
    books = [str(tmp_path / f"{name}.sqlite") if ledger else None for name in ("a", "b")]
    plain, sealing = (Guard(veil, key=KEY, ledger=book, embedder=WordEmbedder()) for book in books)
    expected = plain.protect_texts(TEXTS, ids=range(3))
    vectors, seals = sealing.protect_and_seal(TEXTS, range(3))
    np.testing.assert_array_equal(vectors, expected)
    np.testing.assert_allclose(sealing.sealer.open(seals, range(3)), WordEmbedder().embed(TEXTS), atol=1e-3)
    asked = WordEmbedder()
    sealing.protect_and_seal(TEXTS, range(3), embed=asked.embed)
    assert asked.asked == ["the patient has", TEXTS[1], "again today", TEXTS[0], TEXTS[2]]
    if ledger:
        totals = []
        for book in books:
            with open_ledger(str(book)) as opened:
                totals.append(opened.totals().records)
        assert totals == [3, 3]
