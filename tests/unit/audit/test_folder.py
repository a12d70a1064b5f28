from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock
from support.audit_examples import made_examples
from support.audits import made_audit
from support.command_line import listing

from vecveil.audit import AuditFolder
from vecveil.audit.estimate import Estimate
from vecveil.audit.folder import CHECKPOINTS
from vecveil.core.errors import ArtifactError, InvalidInputError

PLAN: dict[str, Any] = {"veil": "c0ffee", "attacks": ("mlc",), "budgets": [{"value": 1.0}], "seeds": (0,)}
KEY = {"kind": "ProbeRow", "name": "mlp", "setting": {"defence": "none"}}
VALUE = Estimate(value=0.5, low=0.25, high=1.0)


@pytest.fixture
def folder(tmp_path: Path) -> AuditFolder:
    return AuditFolder(tmp_path / "deep" / "audit")


def _mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_what_was_kept_comes_back(folder: AuditFolder) -> None:
    with folder.opened(PLAN):
        assert folder.cell(KEY, Estimate) is None
        folder.keep(KEY, VALUE)
        assert folder.cell(KEY, Estimate) == VALUE
        assert folder.cell({**KEY, "name": "linear"}, Estimate) is None
    with folder.opened(PLAN):
        assert folder.cell(KEY, Estimate) == VALUE


def test_no_one_but_its_owner_reads_it(folder: AuditFolder) -> None:
    previous = os.umask(0)
    try:
        with folder.opened(PLAN):
            folder.keep(KEY, VALUE)
            folder.keep_result(made_audit(), made_examples())
    finally:
        os.umask(previous)
    assert _mode(folder.path) == _mode(folder.path / "cells") == 0o700
    files = list(folder.path.rglob("*.json"))
    assert {path.name for path in files if path.parent == folder.path} == {"plan.json", "results.json", "examples.json"}
    assert {_mode(path) for path in files} == {0o600}


def test_results_and_examples_come_back_as_they_were(folder: AuditFolder) -> None:
    result, examples = made_audit(), made_examples()
    with folder.opened(PLAN):
        folder.keep_result(result, examples)
    assert folder.result() == result
    assert folder.examples() == examples
    assert not any(example.text in (folder.path / "results.json").read_text() for example in examples)


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
def test_another_plan_is_refused_and_told_what_differs(folder: AuditFolder, other: dict[str, Any], named: str) -> None:
    with folder.opened(PLAN):
        folder.keep(KEY, VALUE)
    before = listing(folder.path)
    with pytest.raises(InvalidInputError, match=f"another plan: .*{named}"), folder.opened({**PLAN, **other}):
        pass
    assert listing(folder.path) == before


def test_a_folder_with_other_things_is_refused_and_left_alone(folder: AuditFolder) -> None:
    folder.path.mkdir(parents=True)
    (folder.path / "thesis.txt").write_text("mine")
    with pytest.raises(InvalidInputError, match="holds other things than an audit"), folder.opened(PLAN):
        pass
    assert listing(folder.path) == {"thesis.txt": b"mine"}


def test_an_empty_folder_is_taken(folder: AuditFolder) -> None:
    folder.path.mkdir(parents=True)
    with folder.opened(PLAN):
        assert (folder.path / "plan.json").exists()


@pytest.mark.parametrize("left", [(".lock",), (".lock", ".plan.json.0123456789ab.draft")])
def test_a_folder_of_a_process_that_was_killed_before_it_had_a_plan_is_taken(
    folder: AuditFolder, left: tuple[str, ...]
) -> None:
    folder.path.mkdir(parents=True)
    for name in left:
        (folder.path / name).touch()
    with folder.opened(PLAN):
        assert set(listing(folder.path)) == {".lock", "plan.json"}


def test_what_a_killed_process_left_half_written_is_swept_away(folder: AuditFolder) -> None:
    with folder.opened(PLAN):
        folder.keep(KEY, VALUE)
    (folder.path / ".examples.json.0123456789ab.draft").write_text("half a pri")
    (folder.path / "cells" / ".0123.json.0123456789ab.draft").write_text("half a pri")
    with folder.opened(PLAN):
        assert not any("draft" in name for name in listing(folder.path))
        assert folder.cell(KEY, Estimate) == VALUE


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    for path in (tmp_path / "notes.txt", tmp_path / "notes.txt" / "audit" / "deep"):
        with pytest.raises(InvalidInputError, match=r"notes\.txt is a file"), AuditFolder(path).opened(PLAN):
            pass


def test_a_folder_that_cannot_be_written_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # The superuser may write anywhere, so that the answer of the system is made up.
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(InvalidInputError, match="can't be written to"):
        AuditFolder(tmp_path / "audit").check()


def test_looking_changes_nothing(folder: AuditFolder) -> None:
    folder.check(PLAN)
    assert not folder.path.parent.exists()


def test_another_process_at_work_is_left_to_its_work(folder: AuditFolder) -> None:
    folder.path.mkdir(parents=True)
    with FileLock(folder.path / ".lock"):
        with pytest.raises(InvalidInputError, match=r"another audit is at work in .*audit"), folder.opened(PLAN):
            pass
        assert not (folder.path / "plan.json").exists()
    with folder.opened(PLAN), pytest.raises(InvalidInputError, match="at work"), AuditFolder(folder.path).opened(PLAN):
        pass


def test_an_error_lets_the_folder_go(folder: AuditFolder) -> None:
    with pytest.raises(KeyboardInterrupt), folder.opened(PLAN):
        raise KeyboardInterrupt
    with folder.opened(PLAN):
        assert folder.cell(KEY, Estimate) is None


@pytest.mark.parametrize("content", ["", "{", '{"value": 1', '{"value": "much", "low": 0, "high": 1}', "{}", "[]"])
def test_a_broken_cell_is_named(folder: AuditFolder, content: str) -> None:
    with folder.opened(PLAN):
        folder.keep(KEY, VALUE)
        [cell] = (folder.path / "cells").iterdir()
        cell.write_text(content)
        with pytest.raises(ArtifactError, match=rf"{cell.name} does not hold what an audit writes there"):
            folder.cell(KEY, Estimate)


def test_a_number_that_json_cannot_hold_is_refused_before_it_is_kept(folder: AuditFolder) -> None:
    with folder.opened(PLAN):
        for number in (float("nan"), float("inf")):
            with pytest.raises(InvalidInputError, match="mlp gave a result that can't be kept"):
                folder.keep(KEY, Estimate(value=number, low=0.0, high=1.0))
        assert folder.cell(KEY, Estimate) is None


@pytest.mark.parametrize("content", ["", "not json", "[]", '"plan"'])
def test_a_broken_plan_is_named(folder: AuditFolder, content: str) -> None:
    with folder.opened(PLAN):
        pass
    (folder.path / "plan.json").write_text(content)
    with pytest.raises(ArtifactError, match=r"plan\.json is not"), folder.opened(PLAN):
        pass


def test_the_plan_can_be_read_by_people(folder: AuditFolder) -> None:
    with folder.opened(PLAN):
        pass
    content = (folder.path / "plan.json").read_text()
    assert json.loads(content) == {**PLAN, "attacks": ["mlc"], "seeds": [0]}
    assert content.count("\n") > 4


def test_checkpoints_go_when_their_cell_is_finished(folder: AuditFolder) -> None:
    other = {**KEY, "name": "linear"}
    with folder.opened(PLAN):
        for key in (KEY, other):
            folder.checkpoints(key).mkdir(parents=True)
            (folder.checkpoints(key) / "last.safetensors").touch()
        folder.forget_checkpoints(KEY)
        assert not folder.checkpoints(KEY).exists()
        assert folder.checkpoints(other).exists()
        folder.forget_checkpoints(other)
        folder.forget_checkpoints(other)
        assert not (folder.path / CHECKPOINTS).exists()


def test_a_folder_without_results_says_what_it_is(folder: AuditFolder, tmp_path: Path) -> None:
    with folder.opened(PLAN):
        pass
    with pytest.raises(InvalidInputError, match=r"no results\.json: the audit in it is not finished"):
        folder.result()
    assert folder.examples() == ()
    for path in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(InvalidInputError, match=r"no results\.json: it is not an audit's folder"):
            AuditFolder(path).result()
