from __future__ import annotations

import copy
import os
import pickle
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from support.embedders import DIMENSIONS, WordEmbedder
from support.veils import PRIVATE_WORD, made_veil, unit_vectors

from vecveil.accounting.ledger import new_run, open_ledger
from vecveil.artifacts.key_file import write_key
from vecveil.core.errors import ArtifactError, BudgetExceededError, InvalidInputError
from vecveil.core.key import Key
from vecveil.veil import Guard

TEXTS = [f"the patient has {PRIVATE_WORD}", "a sunny day", "a sunny day"]


@pytest.fixture
def veil_folder(tmp_path: Path) -> Path:
    made_veil(epsilon=50.0).save(tmp_path / "a.veil")
    return tmp_path / "a.veil"


@pytest.fixture
def key_file(tmp_path: Path) -> Path:
    write_key(Key.new(), tmp_path / "a.key")
    return tmp_path / "a.key"


def test_texts_come_back_as_protected_vectors(veil_folder: Path) -> None:
    guard = Guard(veil_folder, embedder=WordEmbedder())
    found = guard.texts(TEXTS)
    clean = WordEmbedder().embed(TEXTS)
    assert found.shape == (3, DIMENSIONS)
    assert (np.abs(found - clean).max(axis=1) > 0).all()


def test_fresh_noise_differs_at_every_call_and_keyed_noise_never(veil_folder: Path, key_file: Path) -> None:
    vectors = unit_vectors(4)
    fresh = Guard(veil_folder)
    assert not np.array_equal(fresh.vectors(vectors), fresh.vectors(vectors))
    keyed = Guard(veil_folder, key=key_file)
    assert np.array_equal(keyed.vectors(vectors), Guard(veil_folder, key=str(key_file)).vectors(vectors))
    assert np.array_equal(keyed.vectors(vectors)[2:3], keyed.vectors(vectors[2:3]))


def test_equal_texts_of_different_ids_get_different_noise(veil_folder: Path, key_file: Path) -> None:
    guard = Guard(veil_folder, key=key_file, embedder=WordEmbedder())
    same = guard.texts(TEXTS)
    assert np.array_equal(same[1], same[2])
    other = guard.texts(TEXTS, ids=["a", "b", "c"])
    assert not np.array_equal(other[1], other[2])


def test_a_guard_protects_as_its_veil_does(veil_folder: Path, key_file: Path) -> None:
    guard = Guard(veil_folder, key=key_file, epsilon=40.0, grid="float16")
    vectors = unit_vectors(5)
    key = guard.protection.noise.key  # type: ignore[attr-defined]
    assert np.array_equal(
        guard.vectors(vectors), guard.opened_veil.perturb(vectors, epsilon=40.0, key=key, grid="float16")
    )


def test_a_noise_ratio_is_a_budget(veil_folder: Path) -> None:
    guard = Guard(veil_folder, noise_ratio=0.7)
    assert guard.protection.epsilon == pytest.approx(guard.opened_veil.epsilon_for(noise_ratio=0.7))
    with pytest.raises(InvalidInputError, match=r"got both \(3 and 0\.7\)"):
        Guard(veil_folder, epsilon=3, noise_ratio=0.7)


def test_no_text_gives_no_vector_and_no_record(veil_folder: Path, tmp_path: Path) -> None:
    guard = Guard(veil_folder, ledger=tmp_path / "ledger.sqlite", embedder=WordEmbedder(), grid="float16")
    assert guard.texts([]).shape == (0, DIMENSIONS)
    assert guard.texts([]).dtype == np.float16
    assert guard.vectors(np.empty((0, DIMENSIONS))).shape == (0, DIMENSIONS)
    assert not (tmp_path / "ledger.sqlite").exists()


def test_what_is_wrong_is_found_when_it_is_made(veil_folder: Path, tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match="missing"):
        Guard(tmp_path / "missing.veil")
    with pytest.raises(InvalidInputError, match="there is no key file"):
        Guard(veil_folder, key=tmp_path / "missing.key")
    with pytest.raises(InvalidInputError, match="epsilon"):
        Guard(made_veil())
    with pytest.raises(InvalidInputError, match="grid"):
        Guard(veil_folder, grid="float8")


def test_every_release_is_on_record_in_one_run(veil_folder: Path, tmp_path: Path) -> None:
    place = tmp_path / "ledger.sqlite"
    guard = Guard(veil_folder, ledger=place, embedder=WordEmbedder())
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda _: guard.texts(TEXTS), range(20)))
    with open_ledger(place) as ledger:
        (run,) = ledger.runs()
        assert run.releases == 60
        assert ledger.problems() == []


def test_a_release_over_the_limit_is_refused_and_takes_no_number(veil_folder: Path, tmp_path: Path) -> None:
    with open_ledger(tmp_path / "ledger.sqlite") as ledger:
        guard = Guard(veil_folder, ledger=ledger)
        cost = guard.protection.charge(new_run()).cost
        assert cost is not None
        ledger.set_limit(1.5 * cost)
        guard.vectors(unit_vectors(2))
        with pytest.raises(BudgetExceededError):
            guard.vectors(unit_vectors(2))
        guard.vectors(unit_vectors(2, seed=1))
        assert ledger.runs()[0].releases == 4
        assert ledger.problems() == []


def test_a_forked_process_has_a_run_of_its_own(veil_folder: Path, tmp_path: Path) -> None:
    place = tmp_path / "ledger.sqlite"
    guard = Guard(veil_folder, ledger=place)
    guard.vectors(unit_vectors(1))
    child = os.fork()
    if child == 0:
        try:
            guard.vectors(unit_vectors(2, seed=1))
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    guard.vectors(unit_vectors(1, seed=2))
    with open_ledger(place) as ledger:
        assert sorted(run.releases for run in ledger.runs()) == [2, 2]
        assert ledger.problems() == []


def test_a_guard_of_names_can_be_written_down_and_sent(veil_folder: Path, key_file: Path, tmp_path: Path) -> None:
    guard = Guard(veil_folder, key=key_file, noise_ratio=0.5, ledger=tmp_path / "ledger.sqlite", collection="notes")
    again = pickle.loads(pickle.dumps(guard))  # noqa: S301
    assert again.settings() == guard.settings() == Guard.of(guard.settings()).settings()
    vectors = unit_vectors(3)
    assert np.array_equal(again.vectors(vectors), guard.vectors(vectors))
    assert read_secret(key_file) not in str(guard.settings()) + repr(guard)


def read_secret(key_file: Path) -> str:
    return key_file.read_text().split()[1]


@pytest.mark.parametrize("name", ["veil", "key", "embedder", "ledger"])
def test_a_guard_of_objects_is_neither_written_down_nor_sent(veil_folder: Path, tmp_path: Path, name: str) -> None:
    with open_ledger(tmp_path / "ledger.sqlite") as ledger:
        objects = {"veil": made_veil(epsilon=3.0), "key": Key.new(), "embedder": WordEmbedder(), "ledger": ledger}
        guard = Guard(**{"veil": veil_folder, name: objects[name]})
        for write in (guard.settings, lambda: pickle.dumps(guard)):
            with pytest.raises(InvalidInputError, match=f"an open {name}"):
                write()
        assert copy.deepcopy(guard) is guard


def test_a_password_is_not_written_down(veil_folder: Path) -> None:
    for where in ("postgresql://me:secret@host/db", "postgresql://host/db?password=secret", "host=x password=secret"):
        guard = Guard(veil_folder, ledger=where)
        assert "secret" not in repr(guard)
        with pytest.raises(InvalidInputError, match=r"\$VECVEIL_LEDGER") as raised:
            guard.settings()
        assert "secret" not in str(raised.value)


def test_settings_of_something_else_are_refused(veil_folder: Path) -> None:
    with pytest.raises(InvalidInputError, match="secret_sauce"):
        Guard.of({"veil": str(veil_folder), "secret_sauce": 1})
    with pytest.raises(InvalidInputError, match="a guard has"):
        Guard.of({"epsilon": 3.0})


def test_a_text_has_one_budget_though_its_vector_differs_in_the_last_bits(veil_folder: Path, tmp_path: Path) -> None:
    with open_ledger(tmp_path / "ledger.sqlite") as ledger:
        guard = Guard(veil_folder, ledger=ledger, key=Key.new())
        cost = guard.protection.charge(new_run()).cost
        assert cost is not None
        ledger.set_limit(1.5 * cost)
        first = unit_vectors(1)
        guard.embedded(["a text"], first)
        guard.embedded(["a text"], first)
        with pytest.raises(BudgetExceededError):
            guard.embedded(["a text"], first + np.float32(1e-5))


def test_a_record_that_may_have_been_written_does_not_stop_the_next(
    veil_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_ledger(tmp_path / "ledger.sqlite") as ledger:
        guard = Guard(veil_folder, ledger=ledger)
        guard.vectors(unit_vectors(2))
        spend = type(ledger).spend

        def lost(*given: object) -> None:
            spend(*given)  # type: ignore[arg-type]
            raise ArtifactError("the connection was lost")

        with monkeypatch.context() as patch:
            patch.setattr(type(ledger), "spend", lost)
            with pytest.raises(ArtifactError, match="lost"):
                guard.vectors(unit_vectors(3, seed=1))
        guard.vectors(unit_vectors(2, seed=2))
        assert ledger.totals().releases == 7
        assert ledger.problems() == []


def test_guards_are_told_apart_by_what_they_release(veil_folder: Path, key_file: Path) -> None:
    made = [Guard(veil_folder), Guard(veil_folder, epsilon=3.0), Guard(veil_folder, key=key_file)]
    made.append(Guard(veil_folder, grid="int8"))
    assert len({guard.id for guard in made}) == len(made)
    assert Guard(veil_folder).id == made[0].id
