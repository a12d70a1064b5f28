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
from vecveil.core.errors import ArtifactError, BudgetExceededError, EmbedderMismatchError, InvalidInputError
from vecveil.core.key import Key
from vecveil.files.key_file import write_key
from vecveil.ledger import new_run, open_ledger
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
    found = guard.protect_texts(TEXTS)
    clean = WordEmbedder().embed(TEXTS)
    assert found.shape == (3, DIMENSIONS)
    assert (np.abs(found - clean).max(axis=1) > 0).all()


def test_fresh_noise_differs_at_every_call_and_keyed_noise_never(veil_folder: Path, key_file: Path) -> None:
    vectors = unit_vectors(4)
    fresh = Guard(veil_folder)
    assert not np.array_equal(fresh.protect_vectors(vectors), fresh.protect_vectors(vectors))
    keyed = Guard(veil_folder, key=key_file)
    again = Guard(veil_folder, key=str(key_file))
    assert np.array_equal(keyed.protect_vectors(vectors), again.protect_vectors(vectors))
    assert np.array_equal(keyed.protect_vectors(vectors)[2:3], keyed.protect_vectors(vectors[2:3]))


def test_equal_texts_of_different_ids_get_different_noise(veil_folder: Path, key_file: Path) -> None:
    guard = Guard(veil_folder, key=key_file, embedder=WordEmbedder())
    same = guard.protect_texts(TEXTS)
    assert np.array_equal(same[1], same[2])
    other = guard.protect_texts(TEXTS, ids=["a", "b", "c"])
    assert not np.array_equal(other[1], other[2])


def test_a_guard_protects_as_its_veil_does(veil_folder: Path, key_file: Path) -> None:
    guard = Guard(veil_folder, key=key_file, epsilon=40.0, grid="float16")
    vectors = unit_vectors(5)
    key = guard.release.noise.key  # type: ignore[attr-defined]
    assert np.array_equal(
        guard.protect_vectors(vectors), guard.opened_veil.perturb(vectors, epsilon=40.0, key=key, grid="float16")
    )


def test_a_noise_ratio_is_a_budget(veil_folder: Path) -> None:
    guard = Guard(veil_folder, noise_ratio=0.7)
    assert guard.release.mechanism.epsilon == pytest.approx(guard.opened_veil.epsilon_for(noise_ratio=0.7))
    with pytest.raises(InvalidInputError, match=r"give one budget, got epsilon 3 and noise_ratio 0\.7"):
        Guard(veil_folder, epsilon=3, noise_ratio=0.7)


def test_no_text_gives_no_vector_and_no_record(veil_folder: Path, tmp_path: Path) -> None:
    guard = Guard(veil_folder, ledger=tmp_path / "ledger.sqlite", embedder=WordEmbedder(), grid="float16")
    assert guard.protect_texts([]).shape == (0, DIMENSIONS)
    assert guard.protect_texts([]).dtype == np.float16
    assert guard.protect_vectors(np.empty((0, DIMENSIONS))).shape == (0, DIMENSIONS)
    assert not (tmp_path / "ledger.sqlite").exists()


def test_what_is_wrong_is_found_when_it_is_made(veil_folder: Path, tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match="missing"):
        Guard(tmp_path / "missing.veil")
    with pytest.raises(InvalidInputError, match="there is no key file"):
        Guard(veil_folder, key=tmp_path / "missing.key")
    with pytest.raises(InvalidInputError, match="a budget must be given"):
        Guard(made_veil())
    with pytest.raises(InvalidInputError, match="grid"):
        Guard(veil_folder, grid="float8")


def test_every_release_is_on_record_in_one_run(veil_folder: Path, tmp_path: Path) -> None:
    place = tmp_path / "ledger.sqlite"
    guard = Guard(veil_folder, ledger=place, embedder=WordEmbedder())
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda _: guard.protect_texts(TEXTS), range(20)))
    with open_ledger(place) as ledger:
        (run,) = ledger.runs()
        assert run.releases == 60
        assert ledger.problems() == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no forks")
@pytest.mark.parametrize("used", [True, False])
def test_a_forked_process_has_a_run_of_its_own(veil_folder: Path, tmp_path: Path, used: bool) -> None:
    place = tmp_path / "ledger.sqlite"
    guard = Guard(veil_folder, ledger=place)
    if used:
        guard.protect_vectors(unit_vectors(1))
    child = os.fork()
    if child == 0:
        try:
            guard.protect_vectors(unit_vectors(2, seed=1))
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    guard.protect_vectors(unit_vectors(1, seed=2))
    with open_ledger(place) as ledger:
        assert sorted(run.releases for run in ledger.runs()) == [1 + used, 2]
        assert ledger.problems() == []


def test_a_guard_of_names_can_be_written_down_and_sent(veil_folder: Path, key_file: Path, tmp_path: Path) -> None:
    guard = Guard(veil_folder, key=key_file, noise_ratio=0.5, ledger=tmp_path / "ledger.sqlite", collection="notes")
    again = pickle.loads(pickle.dumps(guard))  # noqa: S301
    assert again.settings() == guard.settings() == Guard.from_settings(guard.settings()).settings()
    vectors = unit_vectors(3)
    assert np.array_equal(again.protect_vectors(vectors), guard.protect_vectors(vectors))
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
        Guard.from_settings({"veil": str(veil_folder), "secret_sauce": 1})
    with pytest.raises(InvalidInputError, match="a guard has"):
        Guard.from_settings({"epsilon": 3.0})


def test_a_text_has_one_budget_though_its_vector_differs(veil_folder: Path, tmp_path: Path) -> None:
    with open_ledger(tmp_path / "ledger.sqlite") as ledger:
        guard = Guard(veil_folder, ledger=ledger, key=Key.new())
        cost = guard.release.charge(new_run()).cost
        assert cost is not None
        ledger.set_limit(1.5 * cost)
        first = unit_vectors(1)
        guard.protect_embedded(["a text"], first)
        guard.protect_embedded(["a text"], first)
        with pytest.raises(BudgetExceededError):
            guard.protect_embedded(["a text"], first + np.float32(2e-3))


def test_guards_are_told_apart_by_what_they_release(veil_folder: Path, key_file: Path) -> None:
    made = [Guard(veil_folder), Guard(veil_folder, epsilon=3.0), Guard(veil_folder, key=key_file)]
    made.append(Guard(veil_folder, grid="int8"))
    assert len({guard.id for guard in made}) == len(made)
    assert Guard(veil_folder).id == made[0].id


def test_a_budget_may_be_on_the_papers_axis(veil_folder: Path) -> None:
    guard = Guard(veil_folder, paper_epsilon=30.0)
    assert guard.release.mechanism.epsilon == guard.opened_veil.epsilon_for(paper_epsilon=30.0)
    assert Guard.from_settings(guard.settings()).id == guard.id


def test_a_broken_ledger_can_be_heard_of_before_the_first_release(veil_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "ledger.sqlite").write_text("no database")
    with pytest.raises(ArtifactError, match=r"ledger\.sqlite"):
        Guard(veil_folder, ledger=tmp_path / "ledger.sqlite").open_ledger()
    Guard(veil_folder).open_ledger()


def test_another_model_is_refused_by_its_vector_of_one_public_sentence(veil_folder: Path) -> None:
    guard, words = Guard(veil_folder, embedder=WordEmbedder()), WordEmbedder()
    guard.require_same_model(words.embed)
    guard.require_same_model(lambda texts: (words.embed(texts) + 1e-3).tolist())
    with pytest.raises(EmbedderMismatchError, match="of a length away"):
        guard.require_same_model(lambda texts: words.embed(texts)[:, ::-1])
    with pytest.raises(EmbedderMismatchError, match="with 8 dimensions; this model has 5"):
        guard.require_same_model(lambda texts: words.embed(texts)[:, :5])
    # A veil that names no model has nothing to compare.
    Guard(veil_folder).require_same_model(lambda texts: words.embed(texts)[:, :5])
