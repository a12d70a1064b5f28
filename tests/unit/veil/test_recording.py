from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.embedders import WordEmbedder
from support.veils import PRIVATE_WORD, made_veil, unit_vectors

from vecveil.accounting.ledger import Ledger, open_ledger
from vecveil.artifacts.vectors import column_of
from vecveil.concepts import terms
from vecveil.core.arrays import Embeddings
from vecveil.core.errors import BudgetExceededError, InvalidInputError
from vecveil.core.key import Key
from vecveil.veil import Veil, learn, protect_file

KEY = Key(bytes(range(32)))
ROWS = 30


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with open_ledger(tmp_path / "ledger.sqlite") as found:
        yield found


@pytest.fixture
def source(tmp_path: Path) -> Path:
    ids = [f"note {number}" for number in range(ROWS)]
    pq.write_table(pa.table({"id": ids, "vector": column_of(unit_vectors(ROWS))}), tmp_path / "in.parquet")
    return tmp_path / "in.parquet"


def _cost(veil: Veil, epsilon: float = 20.0) -> float:
    return veil.mechanism_at(epsilon).euclidean_loss()


def _spent(ledger: Ledger, *, collection: str = "") -> list[float]:
    return ledger.spent(ledger.digests([f"{collection}\0snote {number}".encode() for number in range(ROWS)]))


def _protect(source: Path, name: str, ledger: Ledger | None, **options: Any) -> dict[str, Any]:
    output = source.with_name(name)
    protect_file(made_veil(), source, output, **{"epsilon": 20.0, "id_column": "id", "ledger": ledger, **options})
    label: dict[str, Any] = json.loads(pq.read_schema(output).metadata[b"vecveil"])
    return label


def test_every_row_is_on_record_with_what_it_cost(source: Path, ledger: Ledger) -> None:
    label = _protect(source, "out.parquet", ledger, batch_rows=7)
    (run,) = ledger.runs()
    assert (run.charge.run, run.charge.veil, run.charge.epsilon) == (label["run"], made_veil().digest(), 20.0)
    assert (run.charge.mechanism, run.charge.noise, run.releases) == ("mahalanobis", "fresh", ROWS)
    assert _spent(ledger) == pytest.approx([_cost(made_veil())] * ROWS)
    assert label["ledger"] == ledger.id


def test_fresh_noise_costs_again_and_keyed_noise_does_not(source: Path, ledger: Ledger) -> None:
    once = _cost(made_veil())
    for number in range(3):
        _protect(source, f"keyed-{number}.parquet", ledger, key=KEY)
    assert _spent(ledger) == pytest.approx([once] * ROWS)
    for number in range(2):
        _protect(source, f"fresh-{number}.parquet", ledger)
    assert _spent(ledger) == pytest.approx([3 * once] * ROWS)


def test_another_grid_is_the_same_release_and_another_budget_is_not(source: Path, ledger: Ledger) -> None:
    for grid in ("float32", "float16", "int8"):
        _protect(source, f"{grid}.parquet", ledger, key=KEY, grid=grid)
    assert _spent(ledger) == pytest.approx([_cost(made_veil())] * ROWS)
    _protect(source, "more.parquet", ledger, key=KEY, epsilon=40.0)
    assert _spent(ledger) == pytest.approx([3 * _cost(made_veil())] * ROWS)


def test_a_release_over_the_limit_is_refused_before_anything_is_written(source: Path, ledger: Ledger) -> None:
    ledger.set_limit(2.5 * _cost(made_veil()))
    _protect(source, "one.parquet", ledger)
    _protect(source, "two.parquet", ledger)
    before = sorted(path.name for path in source.parent.iterdir())
    with pytest.raises(BudgetExceededError, match=r"30 records"):
        _protect(source, "three.parquet", ledger, batch_rows=7)
    assert sorted(path.name for path in source.parent.iterdir()) == before
    assert _spent(ledger) == pytest.approx([2 * _cost(made_veil())] * ROWS)


def test_one_record_over_the_limit_holds_back_the_whole_file(source: Path, ledger: Ledger) -> None:
    ledger.set_limit(1.5 * _cost(made_veil()))
    last = pq.read_table(source).slice(ROWS - 1)
    pq.write_table(last, source.with_name("last.parquet"))
    _protect(source.with_name("last.parquet"), "one.parquet", ledger)
    with pytest.raises(BudgetExceededError, match="1 record "):
        _protect(source, "all.parquet", ledger, batch_rows=7)
    assert not source.with_name("all.parquet.parts").exists()


def test_the_same_id_twice_in_a_file_is_released_twice(source: Path, ledger: Ledger) -> None:
    twice = pa.table({"id": ["a", "a"], "vector": column_of(unit_vectors(2))})
    pq.write_table(twice, source.with_name("twice.parquet"))
    ledger.set_limit(1.5 * _cost(made_veil()))
    with pytest.raises(BudgetExceededError, match="1 record "):
        _protect(source.with_name("twice.parquet"), "out.parquet", ledger)


def test_collections_keep_equal_ids_apart(source: Path, ledger: Ledger) -> None:
    ledger.set_limit(1.5 * _cost(made_veil()))
    _protect(source, "one.parquet", ledger, collection="ward 1")
    _protect(source, "two.parquet", ledger, collection="ward 2")
    assert _spent(ledger, collection="ward 1") == _spent(ledger, collection="ward 2") != _spent(ledger)
    with pytest.raises(BudgetExceededError):
        _protect(source, "three.parquet", ledger, collection="ward 2")


def test_without_ids_the_content_says_which_record_it_is(source: Path, ledger: Ledger) -> None:
    ledger.set_limit(1.5 * _cost(made_veil()))
    _protect(source, "one.parquet", ledger, id_column=None)
    renamed = pq.read_table(source).set_column(0, "id", pa.array([f"other {number}" for number in range(ROWS)]))
    pq.write_table(renamed, source.with_name("renamed.parquet"))
    with pytest.raises(BudgetExceededError, match="30 records"):
        _protect(source.with_name("renamed.parquet"), "two.parquet", ledger, id_column=None)


def test_a_row_without_an_id_is_refused_by_number(source: Path, ledger: Ledger) -> None:
    holes = pa.table({"id": ["a", None, "c"], "vector": column_of(unit_vectors(3))})
    pq.write_table(holes, source.with_name("holes.parquet"))
    with pytest.raises(InvalidInputError, match="row 1 has no id"):
        _protect(source.with_name("holes.parquet"), "out.parquet", ledger)
    assert not source.with_name("out.parquet").exists()


def test_seeded_noise_says_so_in_the_output_and_in_the_ledger(source: Path, ledger: Ledger) -> None:
    labels = [_protect(source, f"{number}.parquet", ledger, seed=7) for number in range(2)]
    assert {label["noise"] for label in labels} == {"seeded: not private"}
    assert {run.charge.noise for run in ledger.runs()} == {"seeded"}
    one, other = (pq.read_table(source.with_name(f"{number}.parquet"))["vector"] for number in range(2))
    assert one == other


def test_the_key_is_in_no_file_that_is_written(source: Path, ledger: Ledger) -> None:
    key = Key.new()
    label = _protect(source, "out.parquet", ledger, key=key)
    assert label["key"] == key.fingerprint
    ledger.close()
    for path in source.parent.iterdir():
        content = path.read_bytes()
        assert key.secret not in content
        assert key.secret.hex().encode() not in content


def test_no_ledger_is_said_too(source: Path, ledger: Ledger) -> None:
    assert _protect(source, "out.parquet", None)["ledger"] == "none"
    assert ledger.runs() == []


def test_calls_of_the_library_can_be_recorded(ledger: Ledger) -> None:
    veil, ids = made_veil(epsilon=20.0), [f"note {number}" for number in range(ROWS)]
    ledger.set_limit(1.5 * _cost(veil))
    first = veil.perturb(unit_vectors(ROWS), ids=ids, key=KEY, ledger=ledger)
    again = veil.perturb(unit_vectors(ROWS), ids=ids, key=KEY, ledger=ledger)
    np.testing.assert_array_equal(first, again)
    with pytest.raises(BudgetExceededError):
        veil.perturb(unit_vectors(ROWS), ids=ids, ledger=ledger)
    assert [run.releases for run in ledger.runs() if run.releases] == [ROWS, ROWS]


def test_texts_are_embedded_one_by_one_for_a_key() -> None:
    class Counting(WordEmbedder):
        def embed(self, texts: Sequence[str]) -> Embeddings:
            sizes.append(len(texts))
            return super().embed(texts)

    sizes: list[int] = []
    texts = ["one text", "another text", "one text"]
    keyed = made_veil(epsilon=20.0).protect(texts, embedder=Counting(), key=KEY)
    made_veil(epsilon=20.0).protect(texts, embedder=Counting())
    assert sizes == [1, 1, 1, 3]
    np.testing.assert_array_equal(keyed[0], keyed[2])


def _learned(texts: list[str], **options: Any) -> Veil:
    return learn(terms(PRIVATE_WORD), texts, embedder=WordEmbedder(), shape="uniform", **options)


def test_learning_on_private_texts_is_a_release_and_on_public_ones_is_none(
    ledger: Ledger, private_texts: list[str]
) -> None:
    private = _learned(private_texts, ledger=ledger)
    public = _learned(private_texts, ledger=ledger, public=True)
    (run,) = ledger.runs()
    assert (run.charge.kind, run.charge.veil, run.charge.cost) == ("shape", private.digest(), None)
    assert run.releases == len(private_texts)
    assert private.digest() != public.digest()
    assert "of private texts; that is a release of its own" in str(private.guarantee(epsilon=20.0))
    assert "calls public; the guarantee needs that to be so" in str(public.guarantee(epsilon=20.0))
