from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import pytest
from support.command_line import listing
from support.corpora import CITIES, FILLERS, ILLNESSES, QUICK, toy_corpus, toy_grid, toy_plan
from support.veils import made_veil

from vecveil.audit import AuditFolder, AuditPlan, AuditResult, Example, run_audit
from vecveil.audit import grid as grid_module
from vecveil.audit.folder import CELLS, CHECKPOINTS
from vecveil.core.errors import ArtifactError, InvalidInputError
from vecveil.core.progress import silent

T = TypeVar("T")

PLAN = toy_plan(0.5, attacks=(QUICK, "nearest"), baselines=("remove",))
CELLS_OF_PLAN = 3 * (2 + 1 + 2)
QUICK_PLAN = toy_plan(0.5, attacks=("nearest",))


def _run(folder: Path, plan: AuditPlan = PLAN, **more: Any) -> tuple[AuditResult, tuple[Example, ...]]:
    return run_audit(toy_grid(plan, texts=200), AuditFolder(folder), **more)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, AuditResult, tuple[Example, ...]]:
    """An audit that ran through, its result and its examples."""
    folder = tmp_path_factory.mktemp("audits") / "audit"
    return folder, *_run(folder)


Finished = tuple[Path, AuditResult, tuple[Example, ...]]


def _timeless(content: str) -> Any:
    """Return results without what differs from run to run: how long it took, and when that was."""

    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: plain(each) for key, each in value.items() if key not in {"seconds", "finished"}}
        return [plain(each) for each in value] if isinstance(value, list) else value

    return plain(json.loads(content))


def test_every_cell_becomes_a_row(finished: Finished) -> None:
    _, result, _ = finished
    assert [row.setting.defence for row in result.tasks] == ["none", "veil", "remove"]
    assert [(row.setting.defence, row.attack) for row in result.attacks] == [
        (defence, attack) for defence in ("none", "veil", "remove") for attack in ("mlc", "nearest")
    ]
    assert [(row.setting.defence, row.probe) for row in result.probes] == [
        (defence, probe) for defence in ("none", "veil", "remove") for probe in ("linear", "mlp")
    ]
    assert [verdict.setting.defence for verdict in result.verdicts] == ["veil"]
    assert result.tasks[0].scores["neighbours_kept"] == pytest.approx(1.0)


def test_results_say_what_they_are_of(finished: Finished) -> None:
    _, result, _ = finished
    assert result.plan["attacks"] == [QUICK, "nearest"]
    assert result.veil["digest"] == made_veil().digest()
    assert result.veil["embedder"] == made_veil().fingerprint.settings()
    assert result.corpus["digest"] == toy_corpus(200).digest()
    assert {"python", "vecveil", "numpy"} <= set(result.versions)
    assert [(sheet.setting.defence, sheet.setting.asked) for sheet in result.sheets] == [("veil", "noise 0.5")]
    assert "It holds if:" in result.sheets[0].text


def test_a_deleted_concept_cannot_be_read(finished: Finished) -> None:
    _, result, _ = finished
    leaked = {(row.setting.defence, row.attack): row.leakage.value - row.chance for row in result.attacks}
    assert leaked["none", "nearest"] > 0.3
    assert leaked["remove", "nearest"] < 0.15
    told = {(row.setting.defence, row.probe): row.auc.value for row in result.probes}
    assert told["remove", "mlp"] == pytest.approx(0.5)


def test_what_is_on_disk_is_what_was_returned(finished: Finished) -> None:
    folder, result, examples = finished
    assert AuditFolder(folder).result() == result
    assert AuditFolder(folder).examples() == examples


def test_examples_are_test_texts_with_what_every_attack_read_of_them(finished: Finished) -> None:
    _, _, examples = finished
    corpus = toy_corpus(200)
    tested = {corpus.texts[row]: row for row in corpus.split(0)[2]}
    assert len(examples) == 2
    for example in examples:
        row = tested[example.text]
        assert example.tokens == tuple(token.word for token in corpus.tokens[row])
        assert {example.text[start:end] for start, end, _ in example.spans} == set(example.tokens)
        assert [(one.setting.defence, one.attack) for one in example.readings] == [
            (defence, attack) for defence in ("none", "veil", "remove") for attack in ("mlc", "nearest")
        ]
        for reading in example.readings:
            assert set(reading.leaked) <= set(example.tokens)
            assert (reading.text is None) == (reading.attack == "mlc")


def test_no_text_and_no_private_word_is_in_results_or_plan(finished: Finished) -> None:
    folder, _, examples = finished
    for name in ("results.json", "plan.json"):
        content = (folder / name).read_text()
        assert not any(word in content for word in ILLNESSES + CITIES)
        assert not any(text in content for text in toy_corpus(200).texts)
        assert not any(f'"{word}"' in content for word in FILLERS)
    assert examples[0].text in (folder / "examples.json").read_text()


def test_only_its_owner_reads_what_is_private(finished: Finished) -> None:
    folder, _, _ = finished
    assert {path.stat().st_mode & 0o777 for path in (folder, folder / CELLS)} == {0o700}
    assert {path.stat().st_mode & 0o077 for path in folder.rglob("*.json")} == {0}


def test_no_checkpoint_outlives_its_cell(finished: Finished) -> None:
    folder, _, _ = finished
    assert not (folder / CHECKPOINTS).exists()
    assert not any("draft" in name or "safetensors" in name for name in listing(folder))


def test_the_same_plan_gives_the_same_results(finished: Finished, tmp_path: Path) -> None:
    folder, _, _ = finished
    _run(tmp_path / "again")
    for name in ("results.json", "examples.json"):
        one, other = ((place / name).read_text() for place in (folder, tmp_path / "again"))
        assert _timeless(one) == _timeless(other)


def test_a_finished_audit_is_only_read_again(finished: Finished, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, result, _ = finished
    before = listing(folder / CELLS)
    counted = _counting(monkeypatch)
    again, _ = _run(folder)
    assert counted == []
    assert listing(folder / CELLS) == before
    assert replace(again, finished=result.finished) == result


def _counting(monkeypatch: pytest.MonkeyPatch, fail: Callable[[int], None] | None = None) -> list[str]:
    """Return a list that grows with every cell that is computed; `fail` may raise before one is."""
    computed: list[str] = []
    cells = grid_module.Grid.cells

    def counted(grid: grid_module.Grid) -> Iterator[grid_module.Cell]:
        for cell in cells(grid):
            yield replace(cell, compute=_noted(cell))

    def _noted(cell: grid_module.Cell) -> grid_module.Compute:
        def compute(*given: Any) -> Any:
            if fail is not None:
                fail(len(computed))
            computed.append(f"{cell.setting.defence} {cell.name}")
            return cell.compute(*given)

        return compute

    monkeypatch.setattr(grid_module.Grid, "cells", counted)
    return computed


def test_a_stopped_audit_goes_on_where_it_was(
    finished: Finished, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(cells: int) -> None:
        if cells == 7:
            raise KeyboardInterrupt

    folder = tmp_path / "audit"
    with monkeypatch.context() as patched:
        first = _counting(patched, stop)
        with pytest.raises(KeyboardInterrupt):
            _run(folder)
    assert len(list((folder / CELLS).iterdir())) == len(first) == 7
    assert not (folder / "results.json").exists()
    kept = listing(folder / CELLS)
    second = _counting(monkeypatch)
    _run(folder)
    assert len(second) == CELLS_OF_PLAN - 7
    assert not set(first) & set(second)
    assert kept.items() <= listing(folder / CELLS).items()
    whole = (finished[0] / "results.json").read_text()
    assert _timeless((folder / "results.json").read_text()) == _timeless(whole)


def test_a_training_that_was_stopped_goes_on_and_ends_in_the_same_row(finished: Finished, tmp_path: Path) -> None:
    def stopping(items: Iterable[T], *, label: str, **more: Any) -> Iterator[T]:
        for number, item in enumerate(silent(items, label=label, **more)):
            # In the middle of an epoch; those before it have left a checkpoint.
            if label == "training mlc" and number == 42:
                raise KeyboardInterrupt
            yield item

    folder = tmp_path / "audit"
    with pytest.raises(KeyboardInterrupt):
        _run(folder, progress=stopping)
    [checkpoint] = (folder / CHECKPOINTS).iterdir()
    assert {path.stat().st_mode & 0o077 for path in checkpoint.iterdir()} == {0}
    _run(folder)
    assert not (folder / CHECKPOINTS).exists()
    whole = (finished[0] / "results.json").read_text()
    assert _timeless((folder / "results.json").read_text()) == _timeless(whole)


def test_checkpoints_go_even_where_a_process_was_killed_right_after_its_cell(tmp_path: Path) -> None:
    folder = AuditFolder(tmp_path / "audit")
    _run(folder.path, QUICK_PLAN)
    cell = next(cell for cell in toy_grid(QUICK_PLAN, texts=200).cells() if cell.name == "nearest")
    folder.checkpoints(cell.key).mkdir(parents=True)
    (folder.checkpoints(cell.key) / "best.safetensors").touch()
    _run(folder.path, QUICK_PLAN)
    assert not (folder.path / CHECKPOINTS).exists()


def test_a_broken_cell_is_named_and_the_others_are_kept(tmp_path: Path) -> None:
    _run(tmp_path / "audit", QUICK_PLAN)
    cell = sorted((tmp_path / "audit" / CELLS).iterdir())[0]
    cell.write_text(f'{{"{ILLNESSES[0]}": ')
    with pytest.raises(ArtifactError, match=cell.name) as caught:
        _run(tmp_path / "audit", QUICK_PLAN)
    assert ILLNESSES[0] not in str(caught.value)
    cell.unlink()
    _run(tmp_path / "audit", QUICK_PLAN)
    assert cell.exists()


def test_another_plan_is_refused_in_the_same_folder(tmp_path: Path) -> None:
    _run(tmp_path / "audit", QUICK_PLAN)
    before = listing(tmp_path / "audit")
    with pytest.raises(InvalidInputError, match=r"another plan: attacks \[\"nearest\"\] there, \[\"mlc,epochs=15"):
        _run(tmp_path / "audit", replace(QUICK_PLAN, attacks=(QUICK,)))
    with pytest.raises(InvalidInputError, match=r"another plan: texts"):
        run_audit(toy_grid(QUICK_PLAN, texts=201), AuditFolder(tmp_path / "audit"))
    assert listing(tmp_path / "audit") == before


def test_every_seed_is_a_whole_repetition(tmp_path: Path) -> None:
    result, examples = _run(tmp_path / "audit", replace(QUICK_PLAN, seeds=(4, 7)))
    assert [row.setting.seed for row in result.attacks] == [4, 4, 7, 7]
    assert [verdict.setting.seed for verdict in result.verdicts] == [4, 7]
    assert result.attacks[0].leakage != result.attacks[2].leakage
    # Examples and sheets would be the same, or as many again, for every seed: the first stands for all.
    assert {reading.setting.seed for example in examples for reading in example.readings} == {4}
    assert [sheet.setting.seed for sheet in result.sheets] == [4]


def test_without_examples_no_text_is_anywhere(tmp_path: Path) -> None:
    _, examples = _run(tmp_path / "audit", replace(QUICK_PLAN, examples=0))
    assert examples == ()
    content = b"".join(listing(tmp_path / "audit").values()).decode()
    assert not any(word in content for word in ILLNESSES + CITIES)


def test_progress_is_told_how_many_cells_there_are(tmp_path: Path) -> None:
    told: dict[str, int | None] = {}

    def telling(items: Iterable[T], *, label: str, total: int | None = None, **more: Any) -> Iterator[T]:
        told[label] = total
        yield from items

    _run(tmp_path / "audit", QUICK_PLAN, progress=telling)
    assert told["auditing"] == 2 * (2 + 1 + 1)
