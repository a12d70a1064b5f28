"""What was found by using keys, ledgers and grids as a stranger would."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.command_line import CommandLine, check_refusal, listing
from support.embedders import WordEmbedder
from support.veils import made_veil, unit_vectors

from vecveil.accounting.ledger import Ledger, open_ledger
from vecveil.artifacts.key_file import write_key
from vecveil.artifacts.vectors import column_of
from vecveil.core.arrays import Embeddings
from vecveil.core.digests import json_digest
from vecveil.core.errors import BudgetExceededError, InvalidInputError, VecveilError
from vecveil.core.key import Key
from vecveil.shapes import NoiseShape
from vecveil.veil import Guard, Veil, protect_file

KEY = Key(bytes(range(32)))
ROWS = 30


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with open_ledger(tmp_path / "ledger.sqlite") as found:
        yield found


def _table(path: Path, *, ids: list[Any] | None = None, vectors: Any = None) -> Path:
    names = [f"note {number}" for number in range(ROWS)] if ids is None else ids
    column = column_of(unit_vectors(ROWS) if vectors is None else vectors)
    pq.write_table(pa.table({"id": names, "vector": column}), path)
    return path


def _protect(source: Path, ledger: Ledger, name: str = "out.parquet", **options: Any) -> None:
    protect_file(
        made_veil(epsilon=20.0), source, source.with_name(name), id_column="id", ledger=ledger, batch_rows=7, **options
    )


@pytest.mark.parametrize("key", [None, KEY])
def test_a_missing_id_far_down_costs_no_one_anything(tmp_path: Path, ledger: Ledger, key: Key | None) -> None:
    ids = [None if number == 25 else f"note {number}" for number in range(ROWS)]
    source = _table(tmp_path / "in.parquet", ids=ids)
    with pytest.raises(InvalidInputError, match="row 25 has no id"):
        _protect(source, ledger, key=key)
    assert ledger.totals().releases == 0
    assert not source.with_name("out.parquet.parts").exists()


@pytest.mark.parametrize(("factor", "reason"), [(2.0, "another length"), (np.nan, "NaN"), (0.0, "zero vector")])
def test_a_bad_vector_far_down_costs_no_one_anything(
    tmp_path: Path, ledger: Ledger, factor: float, reason: str
) -> None:
    vectors = unit_vectors(ROWS)
    vectors[25] *= factor
    source = _table(tmp_path / "in.parquet", vectors=vectors)
    with pytest.raises(VecveilError, match=reason):
        _protect(source, ledger)
    assert ledger.totals().releases == 0
    assert not source.with_name("out.parquet.parts").exists()


def test_a_missing_id_is_told_by_its_row_in_the_file_and_not_missed_where_there_is_no_text(
    tmp_path: Path, ledger: Ledger
) -> None:
    rows: list[dict[str, str | None]] = [{"text": "one", "id": "a"}, {"text": " ", "id": None}, {"text": "two"}]
    source = tmp_path / "in.jsonl"
    source.write_text("\n".join(map(json.dumps, rows)))
    options: dict[str, Any] = {"embedder": WordEmbedder(), "skip_empty": True}
    with pytest.raises(InvalidInputError, match="row 2 has no id"):
        _protect(source, ledger, **options)
    source.write_text("\n".join(map(json.dumps, [*rows[:2], {"text": "two", "id": "b"}])))
    _protect(source, ledger, **options)
    assert ledger.totals().releases == 2


def test_the_same_numbers_are_the_same_record_in_any_type(tmp_path: Path, ledger: Ledger) -> None:
    veil, single = made_veil(epsilon=20.0), unit_vectors(5)
    single[:, 0] = 0.0
    single /= np.linalg.norm(single, axis=1, keepdims=True)
    negative = single.copy()
    negative[:, 0] = -0.0
    base = veil.perturb(single, key=KEY, ledger=ledger)
    for same in (single.astype(np.float64), negative, single.astype(">f4")):
        np.testing.assert_array_equal(veil.perturb(same, key=KEY, ledger=ledger), base)
    assert ledger.totals().records == 5
    assert ledger.totals().highest == pytest.approx(veil.mechanism_at(20.0).euclidean_loss())


def _tokens(ledger: Ledger) -> set[bytes]:
    return {release.token for release in ledger.releases()}


def test_two_ledgers_or_collections_do_not_tell_which_records_they_share(tmp_path: Path, ledger: Ledger) -> None:
    source = _table(tmp_path / "in.parquet")
    with open_ledger(tmp_path / "other.sqlite") as other:
        _protect(source, ledger, key=KEY)
        _protect(source, other, "two.parquet", key=KEY)
        assert not _tokens(ledger) & _tokens(other)
    before = _tokens(ledger)
    _protect(source, ledger, "three.parquet", key=KEY, collection="elsewhere")
    assert len(_tokens(ledger) - before) == ROWS


def _written_by_an_earlier_version(folder: Path) -> str:
    """Take the fields away that veils have got since, and return the digest of what is left."""
    document = json.loads((folder / "manifest.json").read_bytes())
    del document["typical"]["high_pair"], document["provenance"]["public"], document["digest"]
    document["digest"] = json_digest(document)
    (folder / "manifest.json").write_text(json.dumps(document))
    return str(document["digest"])


def test_a_veil_keeps_its_digest_and_its_keyed_noise_when_later_versions_know_more_fields(tmp_path: Path) -> None:
    made_veil(epsilon=20.0).save(tmp_path / "a.veil")
    digest = _written_by_an_earlier_version(tmp_path / "a.veil")
    assert Veil.load(tmp_path / "a.veil").digest() == digest


def test_a_changed_copy_of_a_loaded_veil_has_a_digest_of_its_own(tmp_path: Path) -> None:
    """Two veils of one digest would share their keyed noise."""
    made_veil(epsilon=20.0).save(tmp_path / "a.veil")
    loaded = Veil.load(tmp_path / "a.veil")
    changed = replace(loaded, epsilon=21.0)
    assert changed.digest() == made_veil(epsilon=21.0).digest() != loaded.digest()


def test_the_epsilon_of_a_noise_ratio_does_not_depend_on_the_last_bits_of_a_machine() -> None:
    epsilon = made_veil().epsilon_for(noise_ratio=0.7)
    assert epsilon == float(f"{epsilon:.11g}")


def test_a_ledger_in_a_file_that_others_could_read_is_closed_to_them(tmp_path: Path) -> None:
    path = tmp_path / "made.sqlite"
    path.touch(mode=0o644)
    path.chmod(0o644)
    with open_ledger(path) as ledger:
        ledger.set_limit(3.0)
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "where",
    [
        "postgresql:me:secret@host/db",
        "postgresql:/me:secret@host/db",
        "Postgres:me:secret@host",
        "host=h password=secret",
    ],
)
def test_an_address_with_a_slip_in_it_is_not_taken_for_a_file(
    run: CommandLine, work: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    monkeypatch.setenv("VECVEIL_LEDGER", where)
    before = listing(work)
    check_refusal(run("ledger", "limit", 5), "postgresql://", hidden=["secret"])
    assert listing(work) == before


def test_a_path_that_only_resembles_an_address_is_a_path(work: Path) -> None:
    for name in ("postgres.sqlite", "spread/host=a.sqlite", "hosts"):
        with open_ledger(name) as ledger:
            assert ledger.where == name


def test_a_blank_before_an_address_does_not_make_it_a_file(work: Path) -> None:
    with pytest.raises(InvalidInputError, match="starts with 'mysql://'"):
        open_ledger(" mysql://me:secret@host/db")
    assert listing(work) == {}


def test_the_label_of_an_output_is_json_at_any_budget() -> None:
    shape = NoiseShape(variances=np.ones(2))
    veil = made_veil(mechanism="purkayastha", dimensions=2, shape=shape)
    assert json.dumps(veil.protection(epsilon=1e-12).label(), allow_nan=False)


def test_no_one_is_told_to_replace_a_key(tmp_path: Path) -> None:
    write_key(KEY, tmp_path / "a.key")
    with pytest.raises(InvalidInputError, match="never replaced") as refused:
        write_key(Key.new(), tmp_path / "a.key")
    assert "overwritten" not in str(refused.value)


class Remade(WordEmbedder):
    """An embedder whose vectors are others than they were, under the same name and revision."""

    def embed(self, texts: Sequence[str]) -> Embeddings:
        return np.ascontiguousarray(super().embed(texts)[:, ::-1])


def test_a_text_whose_vector_was_made_anew_does_not_keep_its_noise(ledger: Ledger) -> None:
    veil, texts = made_veil(epsilon=20.0), [f"a text with the number {number}" for number in range(ROWS)]
    first, second = (
        veil.protect(texts, embedder=embedder, key=KEY, ids=list(range(ROWS)), ledger=ledger)
        for embedder in (WordEmbedder(), Remade())
    )
    clean = WordEmbedder().embed(texts)
    difference = (first - second) - (clean - clean[:, ::-1])
    assert np.linalg.norm(difference, axis=1).min() > 0.01
    spent = ledger.spent(ledger.digests([f"\0s{number}".encode() for number in range(ROWS)]))
    assert spent == pytest.approx([2 * veil.mechanism_at(20.0).euclidean_loss()] * ROWS)


def test_a_pinned_model_is_trusted_with_the_last_bits() -> None:
    class Pinned(WordEmbedder):
        pinned = True

    class Jittery(Pinned):
        def embed(self, texts: Sequence[str]) -> Embeddings:
            return super().embed(texts) * np.float32(1 + 1e-6)

    veil, texts = made_veil(epsilon=20.0), [f"a text with the number {number}" for number in range(ROWS)]
    one, other = (veil.protect(texts, embedder=embedder, key=KEY) for embedder in (Pinned(), Jittery()))
    np.testing.assert_allclose(one, other, atol=1e-4)


def test_ids_are_counted_without_a_key_or_a_ledger_too() -> None:
    veil = made_veil(epsilon=20.0)
    with pytest.raises(InvalidInputError, match="got 1 ids for 2 records"):
        veil.perturb(unit_vectors(2), ids=["a"])
    with pytest.raises(InvalidInputError, match="got 1 ids for 2 records"):
        veil.protect(["one text", "another text"], embedder=WordEmbedder(), ids=["a"])


class Lower(WordEmbedder):
    """A pinned model that doesn't see upper case."""

    pinned = True

    def inputs(self, texts: Sequence[str]) -> list[bytes]:
        return [hashlib.sha256(text.lower().encode()).digest() for text in texts]

    def embed(self, texts: Sequence[str]) -> Embeddings:
        return super().embed([text.lower() for text in texts])


def test_texts_that_a_model_cannot_tell_apart_have_one_noise(tmp_path: Path, ledger: Ledger) -> None:
    """With noise of their own, their mean would tell more than one release does."""
    veil, texts = made_veil(epsilon=20.0), ["Maria has diabetes", "maria has diabetes", "MARIA has diabetes"]
    found = veil.protect(texts, embedder=Lower(), key=KEY)
    np.testing.assert_array_equal(found, found[[0, 0, 0]])
    guard = Guard(veil, epsilon=20.0, key=KEY, embedder=Lower(), ledger=ledger)
    np.testing.assert_array_equal(guard.texts(texts), found)
    (tmp_path / "notes.txt").write_text("\n".join(texts))
    protect_file(veil, tmp_path / "notes.txt", tmp_path / "out.npy", key=KEY, ledger=ledger, embedder=Lower())
    np.testing.assert_array_equal(np.load(tmp_path / "out.npy"), found)
    apart = veil.protect(texts, embedder=Lower(), key=KEY, ids=[1, 2, 3])
    assert len({row.tobytes() for row in apart}) == 3


def test_fresh_noise_asks_for_nothing_that_a_model_sees(ledger: Ledger) -> None:
    class Silent(Lower):
        def inputs(self, texts: Sequence[str]) -> list[bytes]:
            raise AssertionError(f"asked for {len(texts)} texts")

    veil, texts = made_veil(epsilon=20.0), ["one text", "another text"]
    assert veil.protect(texts, embedder=Silent(), ledger=ledger).shape == (2, 8)
    assert Guard(veil, epsilon=20.0, embedder=Silent(), ledger=ledger).texts(texts).shape == (2, 8)
    with pytest.raises(AssertionError, match="asked for 2 texts"):
        veil.protect(texts, embedder=Silent(), key=KEY)


def test_a_file_of_texts_from_an_unpinned_embedder_keeps_its_limit(tmp_path: Path, ledger: Ledger) -> None:
    veil = made_veil(epsilon=20.0)
    (tmp_path / "notes.txt").write_text("\n".join(f"a text with the number {number}" for number in range(ROWS)))
    ledger.set_limit(1.5 * veil.mechanism_at(20.0).euclidean_loss())
    options: dict[str, Any] = {"key": KEY, "ledger": ledger, "embedder": WordEmbedder(), "batch_rows": 7}
    protect_file(veil, tmp_path / "notes.txt", tmp_path / "one.npy", **options)
    with pytest.raises(BudgetExceededError, match="30 records"):
        protect_file(veil, tmp_path / "notes.txt", tmp_path / "two.npy", **options)
    assert not (tmp_path / "two.npy.parts").exists()


def test_ids_are_the_same_in_a_format_without_numbers(tmp_path: Path, ledger: Ledger) -> None:
    texts = [f"a text with the number {number}" for number in range(ROWS)]
    lines = (json.dumps({"id": number, "text": text}) for number, text in enumerate(texts))
    (tmp_path / "notes.jsonl").write_text("\n".join(lines))
    (tmp_path / "notes.csv").write_text(
        "id,text\n" + "\n".join(f"{number},{text}" for number, text in enumerate(texts))
    )
    for name in ("notes.jsonl", "notes.csv"):
        output = tmp_path / f"{name}.npy"
        protect_file(
            made_veil(epsilon=20.0),
            tmp_path / name,
            output,
            id_column="id",
            key=KEY,
            ledger=ledger,
            embedder=WordEmbedder(),
        )
    assert (tmp_path / "notes.jsonl.npy").read_bytes() == (tmp_path / "notes.csv.npy").read_bytes()
    assert ledger.totals().records == ROWS
