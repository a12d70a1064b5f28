from __future__ import annotations

from dataclasses import replace
from io import StringIO
from typing import Any

from rich.console import Console
from support.audits import ATTACKS, DEFENCES, RATIOS, TASKS, made_audit

from vecveil.cli.audit_results import attack_table, verdict_lines
from vecveil.cli.demo_results import comparison


def _printed(*shown: Any) -> list[str]:
    console = Console(file=StringIO(), width=300)
    for one in shown:
        console.print(one)
    written = console.file
    assert isinstance(written, StringIO)
    return written.getvalue().splitlines()


def test_each_defence_is_a_line_with_every_attack_probe_and_task() -> None:
    result = made_audit()
    lines = [line.split() for line in _printed(attack_table(result)) if line.strip()]
    heading, rows = lines[0], [line for line in lines[1:] if line[0].strip("─")]
    assert heading[:2] == ["defence", "budget"]
    for name in (*ATTACKS, *TASKS, "linear", "mlp"):
        assert name in heading
    assert len(rows) == 1 + len(DEFENCES) * len(RATIOS)
    # mlc's leakage comes first: 53 % without a defence.
    assert rows[0][0] == "none"
    assert rows[0][1] in {"52%", "53%", "54%"}


def test_several_seeds_are_told_apart() -> None:
    one, several = made_audit(), made_audit(seeds=(0, 3))
    assert not any("seed" in line for line in _printed(attack_table(one), *verdict_lines(one)))
    lines = _printed(attack_table(several))
    assert sum("noise 1, seed 3" in line for line in lines) == len(DEFENCES)
    assert [line.split()[:3] for line in lines if "none" in line] == [["none", "seed", "0"], ["none", "seed", "3"]]
    verdicts = _printed(*verdict_lines(several))
    assert sum(line.startswith("veil, hard-concrete, noise 1, seed 3: ") for line in verdicts) == 1


def test_every_verdict_has_its_reasons_below_it() -> None:
    result = made_audit()
    lines = _printed(*verdict_lines(result))
    assert len(lines) == sum(1 + len(verdict.reasons) for verdict in result.verdicts)
    for verdict in result.verdicts:
        place = lines.index(f"{verdict.setting.label}, {verdict.setting.asked}: {verdict.outcome}")
        assert [line.strip() for line in lines[place + 1 :]][: len(verdict.reasons)] == list(verdict.reasons)


def test_an_audit_without_attacks_has_a_table_too() -> None:
    result = replace(made_audit(), attacks=(), verdicts=())
    assert any("linear probe" in line for line in _printed(attack_table(result)))
    assert list(verdict_lines(result)) == []


def test_the_demo_compares_the_veil_with_plain_noise_at_every_budget() -> None:
    lines = comparison(made_audit()).splitlines()
    assert [line.partition(":")[0] for line in lines] == [f"noise {ratio:g}" for ratio in RATIOS]
    for line in lines:
        assert ("reads about as much behind" in line) == (" as behind plain Laplace noise" in line)
        assert "neighbours kept" in line
    assert "mlc reads less behind the learned shape than behind plain Laplace noise" in lines[3]
