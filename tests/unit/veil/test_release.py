from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from support.embedders import WordEmbedder
from support.ledgers import read_spent
from support.veils import made_veil, rotated_shape, unit_vectors
from vecveil.core.arrays import Embeddings
from vecveil.core.digests import text_digest
from vecveil.core.errors import BudgetExceededError, EmbedderMismatchError, InvalidInputError, VecveilWarning
from vecveil.core.key import Key
from vecveil.ledger import Ledger, open_ledger
from vecveil.shapes import NoiseShape
from vecveil.veil.release import CLEAN_BITS, Record, clean_step, encode_ids, identify_contents, make_records

KEY = Key(bytes(range(32)))
VECTORS = unit_vectors(50)
STEP = 2.0**-CLEAN_BITS
TEXTS = ["she rests well", "a calm visit", "she rests well"]


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with open_ledger(tmp_path / "ledger.sqlite") as opened:
        yield opened


def _few_axes() -> NoiseShape:
    variances = np.full(8, 0.7)
    variances[:2] = np.inf, 3.0
    return NoiseShape(variances=variances, axes=rotated_shape().axes, center=rotated_shape().center)


ROUND, DENSE = NoiseShape(variances=np.ones(8)), replace(rotated_shape(), variances=np.linspace(0.5, 2.0, 8))
WAYS = {
    "laplace": made_veil(epsilon=30.0, shape=ROUND, mechanism="laplace"),
    "purkayastha": made_veil(epsilon=30.0, shape=ROUND, mechanism="purkayastha"),
    "diagonal": made_veil(epsilon=30.0),
    "rotated": made_veil(epsilon=30.0, shape=DENSE),
    "unreleased": made_veil(epsilon=30.0, shape=rotated_shape()),
    "few axes": made_veil(epsilon=30.0, shape=_few_axes()),
}
"""A veil for each way that a release can take."""


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("grid", ["float32", "float16", "int8"])
def test_a_record_gets_the_same_bytes_in_any_batch(monkeypatch: pytest.MonkeyPatch, way: str, grid: str) -> None:
    release = WAYS[way].release(key=KEY, grid=grid)
    whole = release.protect_vectors(VECTORS)
    for size in (1, 3, 16):
        parts = [release.protect_vectors(VECTORS[at : at + size]) for at in range(0, len(VECTORS), size)]
        assert np.concatenate(parts).tobytes() == whole.tobytes()
    assert release.protect_vectors(VECTORS[::-1])[::-1].tobytes() == whole.tobytes()
    for rows in (1, 7, 1000):
        monkeypatch.setattr("vecveil.veil.release.CHUNK_NUMBERS", 8 * rows)
        assert release.protect_vectors(VECTORS).tobytes() == whole.tobytes()


def test_vectors_that_round_alike_get_the_same_bytes() -> None:
    """The last bits of a vector depend on the processor and on the batch, and must not matter."""
    release = made_veil(epsilon=30.0).release(key=KEY)
    rounded = np.rint(VECTORS / STEP) * STEP
    jitter = np.random.default_rng(0).uniform(-0.45, 0.45, VECTORS.shape) * STEP
    wanted = release.protect_vectors(rounded).tobytes()
    assert release.protect_vectors(rounded + jitter).tobytes() == wanted
    assert release.protect_vectors(VECTORS).tobytes() == wanted
    assert release.protect_vectors(VECTORS.astype(np.float64)).tobytes() == wanted


def test_a_vector_that_rounds_differently_gets_unrelated_noise() -> None:
    """Under the same noise, the difference of two releases would be that of the clean vectors."""
    release = made_veil(epsilon=30.0).release(key=KEY)
    rounded = np.rint(VECTORS / STEP) * STEP
    moved = rounded.copy()
    moved[:, 3] += STEP
    noise, other = release.protect_vectors(rounded) - rounded, release.protect_vectors(moved) - moved
    assert np.linalg.norm(noise - other, axis=1).min() > 0.01
    cosines = np.vecdot(noise, other) / np.linalg.norm(noise, axis=1) / np.linalg.norm(other, axis=1)
    assert abs(float(cosines.mean())) < 0.2


def test_the_rounded_vector_is_what_gets_the_noise() -> None:
    # So little noise that the release shows what it was added to.
    veil = made_veil(epsilon=1e6)
    released = veil.release(rng=np.random.default_rng(0)).protect_vectors(VECTORS)
    np.testing.assert_allclose(released, np.rint(VECTORS / STEP) * STEP, atol=STEP / 8)


def test_numbers_are_the_same_record_in_any_type_order_and_sign_of_zero(ledger: Ledger) -> None:
    veil, single = made_veil(epsilon=20.0), unit_vectors(5)
    single[:, 0] = 0.0
    single /= np.linalg.norm(single, axis=1, keepdims=True)
    negative = single.copy()
    negative[:, 0] = -0.0
    release = veil.release(key=KEY, ledger=ledger)
    wanted = release.protect_vectors(single)
    for same in (single.astype(np.float64), negative, single.astype(">f4"), np.asfortranarray(single)):
        np.testing.assert_array_equal(release.protect_vectors(same), wanted)
    assert ledger.totals().records == 5
    assert ledger.totals().highest == pytest.approx(veil.mechanism_at(20.0).euclidean_loss())


def test_another_key_veil_budget_or_id_gives_other_noise() -> None:
    veil = made_veil(epsilon=30.0)
    base = veil.release(key=KEY).protect_vectors(VECTORS)
    ids = [f"note {number}" for number in range(len(VECTORS))]
    others = [
        veil.release(key=Key.new()).protect_vectors(VECTORS),
        made_veil(epsilon=31.0).release(key=KEY, epsilon=30.0).protect_vectors(VECTORS),
        veil.release(key=KEY, epsilon=30.000001).protect_vectors(VECTORS),
        veil.release(key=KEY).protect_vectors(VECTORS, ids=ids),
        veil.release(key=KEY).protect_vectors(VECTORS, ids=ids[::-1]),
        veil.release().protect_vectors(VECTORS),
    ]
    for place, other in enumerate(others):
        for another in [base, *others[:place]]:
            assert not np.isclose(other, another, atol=1e-6).all(axis=1).any()


def test_a_changed_vector_under_the_same_id_does_not_show_what_changed() -> None:
    release, ids = made_veil(epsilon=30.0).release(key=KEY), list(range(len(VECTORS)))
    other = unit_vectors(len(VECTORS), seed=7)
    difference = release.protect_vectors(VECTORS, ids=ids) - release.protect_vectors(other, ids=ids)
    assert np.linalg.norm(difference - (VECTORS - other), axis=1).min() > 0.01


def test_equal_records_are_equal_without_ids_and_not_with_them() -> None:
    release, twins = made_veil(epsilon=30.0).release(key=KEY), np.repeat(unit_vectors(1), 2, axis=0)
    same = release.protect_vectors(twins)
    np.testing.assert_array_equal(same[0], same[1])
    different = release.protect_vectors(twins, ids=["a", "b"])
    assert (different[0] != different[1]).any()


def test_a_number_is_the_same_id_as_text_and_not_the_same_as_bytes() -> None:
    alike = np.repeat(unit_vectors(1), 3, axis=0)
    released = made_veil(epsilon=30.0).release(key=KEY).protect_vectors(alike, ids=[7, "7", b"7"])
    np.testing.assert_array_equal(released[0], released[1])
    assert (released[0] != released[2]).any()


@pytest.mark.parametrize("ids", [None, ["a", "b", "c"]])
def test_a_text_and_its_vector_are_one_release(ids: list[str] | None) -> None:
    release = made_veil(epsilon=30.0).release(key=KEY)
    texts = release.protect_texts(TEXTS, WordEmbedder(), ids=ids)
    assert texts.tobytes() == release.protect_vectors(WordEmbedder().embed(TEXTS), ids=ids).tobytes()
    assert np.array_equal(texts[0], texts[2]) == (ids is None)


def test_nothing_of_the_embedder_matters_but_its_vectors() -> None:
    class Lower(WordEmbedder):
        """A model that doesn't see upper case."""

        def embed(self, texts: Sequence[str]) -> Embeddings:
            return super().embed([text.lower() for text in texts])

    release = made_veil(epsilon=30.0).release(key=KEY)
    found = release.protect_texts(["Maria has gout", "maria has gout", "MARIA HAS GOUT"], Lower())
    np.testing.assert_array_equal(found, found[[0, 0, 0]])


def test_a_text_whose_vector_was_made_anew_does_not_keep_its_noise(ledger: Ledger) -> None:
    class Remade(WordEmbedder):
        """Other vectors under the same name and revision."""

        def embed(self, texts: Sequence[str]) -> Embeddings:
            return np.ascontiguousarray(super().embed(texts)[:, ::-1])

    veil, texts = made_veil(epsilon=20.0), [f"a text with the number {number}" for number in range(30)]
    release = veil.release(key=KEY, ledger=ledger)
    first, second = (release.protect_texts(texts, model, ids=[*range(30)]) for model in (WordEmbedder(), Remade()))
    clean = WordEmbedder().embed(texts)
    assert np.linalg.norm((first - second) - (clean - clean[:, ::-1]), axis=1).min() > 0.01
    spent = read_spent(ledger, ledger.digests([f"\0s{number}".encode() for number in range(30)]))
    assert spent == pytest.approx([2 * veil.mechanism_at(20.0).euclidean_loss()] * 30)


def test_texts_are_embedded_in_one_batch_with_a_key_too() -> None:
    class Counting(WordEmbedder):
        def embed(self, texts: Sequence[str]) -> Embeddings:
            sizes.append(len(texts))
            return super().embed(texts)

    sizes: list[int] = []
    made_veil(epsilon=30.0).release(key=KEY).protect_texts(TEXTS, Counting())
    assert sizes == [3]


def test_a_ledger_knows_texts_by_their_texts_and_vectors_by_their_vectors(ledger: Ledger) -> None:
    release = made_veil(epsilon=30.0).release(ledger=ledger)
    release.protect_texts(TEXTS, WordEmbedder())
    assert ledger.totals().records == 2
    assert all(read_spent(ledger, ledger.digests([b"\0content " + text_digest(text) for text in TEXTS])))
    with pytest.warns(VecveilWarning, match="3 of these vectors by another name"):
        release.protect_vectors(WordEmbedder().embed(TEXTS))
    assert ledger.totals().records == 4
    release.protect_vectors(WordEmbedder().embed(TEXTS), contents=[text_digest(text) for text in TEXTS])
    release.protect_vectors(WordEmbedder().embed(TEXTS), ids=["a", "b", "c"])
    assert ledger.totals().records == 7


def test_a_release_is_recorded_before_it_is_returned_and_refused_over_the_limit(ledger: Ledger) -> None:
    veil = made_veil(epsilon=30.0)
    ledger.set_limit(1.5 * veil.mechanism_at(30.0).euclidean_loss())
    with veil.release(ledger=ledger) as release:
        assert release.protect_vectors(VECTORS).shape == VECTORS.shape
        assert ledger.totals().releases == len(VECTORS)
        with pytest.raises(BudgetExceededError, match="50 records"):
            release.protect_vectors(VECTORS)
    keyed = veil.release(key=KEY).record_in(ledger, collection="elsewhere")
    with pytest.raises(BudgetExceededError, match="50 records"):
        keyed.protect_vectors(VECTORS)
    for _ in range(3):
        keyed.protect_vectors(-VECTORS)
    assert ledger.totals().releases == 4 * len(VECTORS)
    assert ledger.problems() == []


def test_a_ledger_of_a_name_is_closed_with_the_release(tmp_path: Path) -> None:
    with made_veil(epsilon=30.0).release(ledger=tmp_path / "ledger.sqlite") as release:
        assert not (tmp_path / "ledger.sqlite").exists()
        release.protect_vectors(VECTORS)
        assert release.ledger is not None
        opened = release.ledger.open().ledger
    with pytest.raises(InvalidInputError, match="is closed"):
        opened.totals()


@pytest.mark.parametrize("rows", [1, 7, 1000])
@pytest.mark.filterwarnings("ignore:the ledger knows")
def test_records_are_named_as_they_are_recorded(ledger: Ledger, monkeypatch: pytest.MonkeyPatch, rows: int) -> None:
    monkeypatch.setattr("vecveil.veil.release.CHUNK_NUMBERS", 8 * rows)
    for ids in (None, [f"note {number}" for number in range(len(VECTORS))]):
        release = made_veil(epsilon=30.0).release(key=KEY, ledger=ledger)
        known, tokens = release.name_records(VECTORS, ids)
        release.protect_vectors(VECTORS, ids=ids)
        assert tokens is not None
        entries = [*ledger.releases()][-len(VECTORS) :]
        assert [entry.record for entry in entries] == ledger.digests([b"\0" + one for one in known])
        assert [entry.token for entry in entries] == ledger.digests(tokens)
    assert made_veil(epsilon=30.0).release().name_records(VECTORS, None)[1] is None


def test_records_have_an_id_and_a_key_for_their_noise() -> None:
    steps = np.rint(VECTORS[:2].astype(np.float64) / STEP) + 0.0
    digests = [hashlib.sha256(row.tobytes()).digest() for row in steps]
    assert make_records(steps) == [Record(b"content " + one, one, one) for one in digests]
    contents = [text_digest("a"), text_digest("b")]
    assert make_records(steps, contents=contents) == [
        Record(b"content " + content, one, one) for content, one in zip(contents, digests, strict=True)
    ]
    assert make_records(steps, encode_ids(["a", 7]), contents) == [
        Record(b"sa", digests[0], digests[0] + b"sa"),
        Record(b"s7", digests[1], digests[1] + b"s7"),
    ]


def test_a_content_is_never_taken_for_an_id() -> None:
    content = text_digest("a")
    assert identify_contents([content]) == [b"content " + content]
    for encoded in encode_ids(["content ", b"content ", 7, "", np.int64(7)]):
        assert encoded[:1] in {b"s", b"b"}


@pytest.mark.parametrize("value", [1.5, None, True, ["a"]])
def test_what_is_no_id_is_refused_by_its_row(value: object) -> None:
    with pytest.raises(InvalidInputError, match=f"row 11 has no id, but {type(value).__name__}"):
        encode_ids(["a", value], first_row=10)


@pytest.mark.parametrize("settings", [{}, {"key": KEY}])
def test_ids_must_fit_the_records(settings: dict[str, Key]) -> None:
    release = made_veil(epsilon=30.0).release(**settings)  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match="one id per record, got 3 ids for 50 records"):
        release.protect_vectors(VECTORS, ids=["a", "b", "c"])
    with pytest.raises(InvalidInputError, match="got 1 ids for 3 records"):
        release.protect_texts(TEXTS, WordEmbedder(), ids=["a"])


@pytest.mark.parametrize(("fault", "said"), [(np.nan, "NaN or infinite"), (0.0, "zero vector"), (2.0, "length 1")])
def test_the_first_row_at_fault_is_named(fault: float, said: str) -> None:
    broken = VECTORS.copy()
    broken[[17, 40]] *= fault
    with pytest.raises((InvalidInputError, EmbedderMismatchError), match=said) as raised:
        made_veil(epsilon=30.0).release().protect_vectors(broken, first_row=100)
    assert "row 117" in str(raised.value)


def test_a_little_off_in_length_is_still_length_one() -> None:
    release = made_veil(epsilon=30.0).release()
    for length in (0.991, 1.009):
        assert release.check(VECTORS * np.float32(length)).shape == VECTORS.shape
    for length in (0.989, 1.011):
        with pytest.raises(EmbedderMismatchError, match="row 0"):
            release.check(VECTORS * np.float32(length))


def test_no_rows_are_released_as_none(ledger: Ledger) -> None:
    release = made_veil(epsilon=30.0).release(key=KEY, ledger=ledger, grid="float16")
    for empty in (release.protect_vectors(VECTORS[:0]), release.protect_texts([], WordEmbedder())):
        assert (empty.shape, empty.dtype) == ((0, 8), np.float16)
    assert ledger.runs() == []


def test_the_label_is_json_at_any_budget_and_tells_no_secret() -> None:
    veil = made_veil(mechanism="purkayastha", dimensions=2, shape=NoiseShape(variances=np.ones(2)))
    label = veil.release(epsilon=1e-12, key=KEY).label()
    assert KEY.secret.hex() not in json.dumps(label, allow_nan=False)
    assert (label["key"], label["rounded_to"], label["noise_ratio"]) == (KEY.fingerprint, STEP, None)
    assert "key" not in made_veil(epsilon=30.0).release().label()


@pytest.mark.parametrize(("signal", "step"), [(1.0, 2.0**-10), (1.99, 2.0**-10), (0.99, 2.0**-11), (300.0, 0.25)])
def test_the_step_of_clean_vectors_is_a_power_of_two_near_a_thousandth(signal: float, step: float) -> None:
    assert clean_step(signal) == step
