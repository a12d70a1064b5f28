from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from filelock import FileLock

from support.audit_examples import made_examples
from support.audits import made_audit
from support.command_line import listing, start_python
from vecveil.audit.experiment import CELLS, CHECKPOINTS, Cell, Experiment, to_json
from vecveil.audit.result import AuditResult
from vecveil.audit.rows import Estimate, Example
from vecveil.core.errors import ArtifactError, InvalidInputError

PLAN: dict[str, Any] = {"veil": "c0ffee", "attacks": ("mlc",), "budgets": [{"value": 1.0}], "seeds": (0,)}
KEY = {"kind": "ProbeRow", "name": "mlp", "setting": {"defense": "none"}}
OTHER = {**KEY, "name": "linear"}
VALUE = Estimate(value=0.5, low=0.25, high=1.0)


@pytest.fixture
def experiment(tmp_path: Path) -> Experiment:
    return Experiment(tmp_path / "deep" / "audit")


def _cell(
    key: Mapping[str, Any] = KEY,
    compute: Callable[[np.random.Generator, Path], Any] = lambda *_: VALUE,
    seed: Mapping[str, Any] | None = None,
) -> Cell[Estimate]:
    return Cell(key=key, kind=Estimate, compute=compute, seed=seed)


def _unwanted(rng: np.random.Generator, folder: Path) -> Estimate:
    raise AssertionError("a finished cell was computed again")


def _drawn(rng: np.random.Generator, folder: Path) -> Estimate:
    del folder
    return Estimate(value=rng.random(), low=0.0, high=1.0)


def _kept(experiment: Experiment) -> list[Path]:
    return sorted((experiment.path / CELLS).glob("*.json"))


def _mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_a_finished_cell_is_not_computed_again(experiment: Experiment) -> None:
    with experiment.open(PLAN):
        assert experiment.run(_cell()) == VALUE
        assert experiment.run(_cell(compute=_unwanted)) == VALUE
    with Experiment(experiment.path).open(PLAN):
        assert experiment.run(_cell(compute=_unwanted)) == VALUE
        with pytest.raises(AssertionError, match="computed again"):
            experiment.run(_cell(OTHER, _unwanted))
    assert len(_kept(experiment)) == 1


def test_the_order_of_a_key_makes_no_other_cell(experiment: Experiment) -> None:
    with experiment.open(PLAN):
        experiment.run(_cell())
        assert experiment.run(_cell(dict(reversed(KEY.items())), _unwanted)) == VALUE


def test_each_cell_has_random_numbers_of_its_own_whatever_was_computed_before(tmp_path: Path) -> None:
    def run(name: str, *keys: dict[str, Any]) -> dict[str, float]:
        experiment = Experiment(tmp_path / name)
        with experiment.open(PLAN):
            return {key["name"]: experiment.run(_cell(key, _drawn)).value for key in keys}

    first, reversed_order, alone = run("a", KEY, OTHER), run("b", OTHER, KEY), run("c", OTHER)
    assert first == reversed_order
    assert first["linear"] == alone["linear"]
    assert first["mlp"] != first["linear"]


def test_cells_with_one_seed_draw_the_same_numbers(experiment: Experiment) -> None:
    with experiment.open(PLAN):
        one, same = (experiment.run(_cell(key, _drawn, {"noise": 1})) for key in (KEY, OTHER))
        assert one == same
        assert experiment.run(_cell({**KEY, "name": "third"}, _drawn, {"noise": 2})) != one


def test_a_cell_that_fails_is_not_kept_and_can_be_run_again(experiment: Experiment) -> None:
    def fail(rng: np.random.Generator, folder: Path) -> Estimate:
        folder.mkdir(parents=True)
        (folder / "last.safetensors").touch()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), experiment.open(PLAN):
        experiment.run(_cell(compute=fail))
    assert _kept(experiment) == []
    # What was trained so far is there to go on from.
    assert len(list((experiment.path / CHECKPOINTS).rglob("last.safetensors"))) == 1
    with experiment.open(PLAN):
        assert experiment.run(_cell()) == VALUE
    assert not (experiment.path / CHECKPOINTS).exists()


def test_checkpoints_go_when_their_cell_is_finished_and_those_of_others_stay(experiment: Experiment) -> None:
    folders: list[Path] = []

    def train(rng: np.random.Generator, folder: Path) -> Estimate:
        folder.mkdir(parents=True)
        (folder / "last.safetensors").touch()
        folders.append(folder)
        return VALUE

    other = experiment.path / CHECKPOINTS / "of another cell"
    with experiment.open(PLAN):
        other.mkdir(parents=True)
        experiment.run(_cell(compute=train))
        assert not folders[0].exists()
        assert other.exists()
        other.rmdir()
        experiment.run(_cell(OTHER, train))
        assert folders[0] != folders[1]
        assert not (experiment.path / CHECKPOINTS).exists()


def test_checkpoints_go_even_where_a_process_was_killed_right_after_its_cell(experiment: Experiment) -> None:
    with experiment.open(PLAN):
        experiment.run(_cell())
        left = experiment.path / CHECKPOINTS / _kept(experiment)[0].stem
        left.mkdir(parents=True)
        (left / "best.safetensors").touch()
        experiment.run(_cell(compute=_unwanted))
    assert not (experiment.path / CHECKPOINTS).exists()


def test_no_one_but_its_owner_reads_it(experiment: Experiment) -> None:
    previous = os.umask(0)
    try:
        with experiment.open(PLAN):
            experiment.run(_cell())
            experiment.write("results.json", made_audit())
    finally:
        os.umask(previous)
    assert _mode(experiment.path) == _mode(experiment.path / CELLS) == 0o700
    files = list(experiment.path.rglob("*.json"))
    assert {path.name for path in files if path.parent == experiment.path} == {"plan.json", "results.json"}
    assert {_mode(path) for path in files} == {0o600}


def test_results_come_back_as_they_were(experiment: Experiment) -> None:
    result, examples = made_audit(), made_examples()
    with experiment.open(PLAN):
        experiment.write("results.json", result)
        experiment.write("examples.json", examples)
    assert experiment.read("results.json", AuditResult) == result
    assert experiment.read("examples.json", tuple[Example, ...]) == examples


@pytest.mark.parametrize(
    ("other", "named"),
    [
        ({"veil": "decaf"}, r'veil "c0ffee" there, "decaf" here'),
        ({"attacks": ("mlc", "nearest")}, r'attacks \["mlc"\] there, \["mlc", "nearest"\] here'),
        ({"budgets": [{"value": 2.0}]}, r"budgets"),
        ({"seeds": (0, 1)}, r"seeds \[0\] there, \[0, 1\] here"),
        ({"judge": "mpnet"}, r'judge null there, "mpnet" here'),
        ({"attacks": tuple("abcdefghijklmnopqrstuvwxyz")}, r"…"),
    ],
)
def test_another_plan_is_refused_with_the_name_of_what_differs(
    experiment: Experiment, other: dict[str, Any], named: str
) -> None:
    with experiment.open(PLAN):
        experiment.run(_cell())
    before = listing(experiment.path)
    with pytest.raises(InvalidInputError, match=f"another plan: .*{named}"), experiment.open({**PLAN, **other}):
        pass
    assert listing(experiment.path) == before


def test_a_folder_with_other_things_is_refused_and_left_alone(experiment: Experiment) -> None:
    experiment.path.mkdir(parents=True)
    (experiment.path / "thesis.txt").write_text("mine")
    with pytest.raises(InvalidInputError, match="holds other things than an audit"), experiment.open(PLAN):
        pass
    assert listing(experiment.path) == {"thesis.txt": b"mine"}


@pytest.mark.parametrize("left", [(), (".lock",), (".lock", ".plan.json.0123456789ab.draft")])
def test_an_empty_folder_and_one_of_a_process_that_was_killed_before_it_had_a_plan_are_taken(
    experiment: Experiment, left: tuple[str, ...]
) -> None:
    experiment.path.mkdir(parents=True)
    for name in left:
        (experiment.path / name).touch()
    with experiment.open(PLAN):
        assert set(listing(experiment.path)) == {".lock", "plan.json"}


def test_what_a_killed_process_left_half_written_is_swept_away(experiment: Experiment) -> None:
    with experiment.open(PLAN):
        experiment.run(_cell())
    (experiment.path / ".examples.json.0123456789ab.draft").write_text("half a pri")
    (experiment.path / CELLS / ".0123.json.0123456789ab.draft").write_text("half a pri")
    with experiment.open(PLAN):
        assert not any("draft" in name for name in listing(experiment.path))
        assert experiment.run(_cell(compute=_unwanted)) == VALUE


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    for path in (tmp_path / "notes.txt", tmp_path / "notes.txt" / "audit" / "deep"):
        with pytest.raises(InvalidInputError, match=r"notes\.txt is a file"), Experiment(path).open(PLAN):
            pass


def test_a_folder_that_cannot_be_written_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # The superuser may write anywhere, so that the answer of the system is made up.
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(InvalidInputError, match="can't be written to"):
        Experiment(tmp_path / "audit").check()


def test_looking_changes_nothing(experiment: Experiment) -> None:
    experiment.check(PLAN)
    assert not experiment.path.parent.exists()


AT_WORK = f"""
import sys, time
from pathlib import Path
from vecveil.audit.experiment import Experiment

with Experiment(Path(sys.argv[1])).open({PLAN}):
    print("at work", flush=True)
    time.sleep(300)
"""


def test_two_processes_cannot_work_in_one_folder_and_one_that_was_killed_lets_it_go(experiment: Experiment) -> None:
    other = start_python("-c", AT_WORK, experiment.path)
    try:
        assert other.stdout is not None
        assert other.stdout.readline() == "at work\n"
        before = listing(experiment.path)
        with pytest.raises(InvalidInputError, match=r"another process is at work in .*audit"), experiment.open(PLAN):
            pass
        assert listing(experiment.path) == before
    finally:
        other.kill()
        other.communicate(timeout=60)
    with experiment.open(PLAN):
        assert experiment.run(_cell()) == VALUE


def test_nothing_is_written_where_another_process_is_at_work(experiment: Experiment) -> None:
    experiment.path.mkdir(parents=True)
    with FileLock(experiment.path / ".lock"):
        with pytest.raises(InvalidInputError, match="another process is at work"), experiment.open(PLAN):
            pass
        assert not (experiment.path / "plan.json").exists()


def test_an_error_lets_the_folder_go(experiment: Experiment) -> None:
    with pytest.raises(KeyboardInterrupt), experiment.open(PLAN):
        raise KeyboardInterrupt
    with experiment.open(PLAN):
        assert experiment.run(_cell()) == VALUE


@pytest.mark.parametrize("content", ["", "{", '{"value": 1', '{"value": "much", "low": 0, "high": 1}', "{}", "[]"])
def test_a_broken_cell_is_named(experiment: Experiment, content: str) -> None:
    with experiment.open(PLAN):
        experiment.run(_cell())
        [cell] = _kept(experiment)
        cell.write_text(content)
        with pytest.raises(ArtifactError, match=rf"{cell.name} does not hold what an audit writes there"):
            experiment.run(_cell(compute=_unwanted))


@pytest.mark.parametrize("number", [float("nan"), float("inf"), "much", None])
def test_a_result_that_cannot_be_read_again_is_refused_and_not_kept(experiment: Experiment, number: Any) -> None:
    with experiment.open(PLAN):
        with pytest.raises(InvalidInputError, match="mlp gave a result that can't be kept"):
            experiment.run(_cell(compute=lambda *_: Estimate(value=number, low=0.0, high=1.0)))
        assert experiment.run(_cell()) == VALUE
    assert len(_kept(experiment)) == 1


@pytest.mark.parametrize("content", ["", "not json", "[]", '"plan"'])
def test_a_broken_plan_is_named(experiment: Experiment, content: str) -> None:
    with experiment.open(PLAN):
        pass
    (experiment.path / "plan.json").write_text(content)
    with pytest.raises(ArtifactError, match=r"plan\.json is not"), experiment.open(PLAN):
        pass


def test_the_plan_can_be_read_by_people(experiment: Experiment) -> None:
    with experiment.open(PLAN):
        pass
    content = (experiment.path / "plan.json").read_text()
    assert json.loads(content) == to_json(PLAN) == {**PLAN, "attacks": ["mlc"], "seeds": [0]}
    assert content.count("\n") > 4


def test_a_folder_without_results_says_what_it_is(experiment: Experiment, tmp_path: Path) -> None:
    with experiment.open(PLAN):
        pass
    with pytest.raises(InvalidInputError, match=r"no results\.json: the run in it is not finished"):
        experiment.read("results.json", AuditResult)
    for path in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(InvalidInputError, match=r"no results\.json: it is not an audit's folder"):
            Experiment(path).read("results.json", AuditResult)


def test_broken_results_are_named(experiment: Experiment) -> None:
    with experiment.open(PLAN):
        experiment.write("results.json", made_audit())
    (experiment.path / "results.json").write_text('{"plan": 1}')
    with pytest.raises(ArtifactError, match=r"results\.json does not hold what an audit writes there"):
        experiment.read("results.json", AuditResult)
