from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from support.command_line import CommandLine, check_refusal
from support.veils import made_veil, rotated_shape


def test_it_shows_what_is_in_a_veil(run: CommandLine, work: Path) -> None:
    veil = made_veil(epsilon=7.5, shape=rotated_shape())
    veil.save(work / "a.veil")
    outcome = run("show", "a.veil", "--verbose")
    assert outcome.code == 0
    shown = " ".join(outcome.out.split())
    assert veil.digest() in shown
    for part in ("words, 8 dimensions, normalized", "rotated, 7 of 8 axes released", "epsilon 7.5", "20 pairs"):
        assert part in shown


def test_the_summary_is_short_and_ends_with_the_promise_and_the_next_command(run: CommandLine, work: Path) -> None:
    made_veil(epsilon=7.5, shape=rotated_shape()).save(work / "a.veil")
    outcome = run("show", "a.veil")
    assert len(outcome.out.splitlines()) <= 10
    assert "7 of 8 released" in outcome.out
    assert "next: vecveil protect a.veil" in outcome.err


def test_a_veil_that_keeps_no_budget_says_so(run: CommandLine, work: Path) -> None:
    made_veil().save(work / "a.veil")
    assert "none kept: name one at every release" in " ".join(run("show", "a.veil").out.split())


def test_square_brackets_in_a_veil_are_just_letters(run: CommandLine, work: Path) -> None:
    veil = made_veil()
    replace(veil, fingerprint=replace(veil.fingerprint, model="model[/x] [bold]")).save(work / "a.veil")
    assert "model[/x] [bold]" in run("show", "a.veil").out


@pytest.mark.parametrize(
    ("break_it", "named"),
    [
        (lambda folder: (folder / "manifest.json").write_text('{"kind": "ve'), ("manifest.json cannot be read",)),
        (lambda folder: (folder / "manifest.json").write_text("[]"), ("must hold a JSON object, got list",)),
        (lambda folder: (folder / "manifest.json").write_text("{}"), ("not a veil",)),
        (lambda folder: (folder / "manifest.json").unlink(), ("has no manifest.json",)),
        (lambda folder: (folder / "tensors.safetensors").unlink(), ("tensors.safetensors cannot be read",)),
        (lambda folder: _edit_manifest(folder, format=99), ("format 99", "install a newer vecveil")),
        (lambda folder: _edit_manifest(folder, epsilon=3.0), ("fails its own digest",)),
        (lambda folder: _edit_manifest(folder, typical=None), ("fails its own digest",)),
    ],
)
def test_a_broken_veil_is_refused(
    run: CommandLine, work: Path, break_it: Callable[[Path], object], named: tuple[str, ...]
) -> None:
    made_veil().save(work / "a.veil")
    break_it(work / "a.veil")
    check_refusal(run("show", "a.veil"), "a.veil", *named)


def test_a_veil_that_is_not_there_is_refused(run: CommandLine, work: Path) -> None:
    check_refusal(run("show", "gone.veil"), "no veil", "gone.veil")


def _edit_manifest(folder: Path, **changes: object) -> None:
    document = json.loads((folder / "manifest.json").read_text())
    document = {key: value for key, value in {**document, **changes}.items() if value is not None or key == "epsilon"}
    (folder / "manifest.json").write_text(json.dumps(document))
