from __future__ import annotations

from dataclasses import replace

from support.audits import UNDEFENDED, attack_row
from vecveil.audit.rows import AttackRow
from vecveil.reports.names import attack_names, task_names


def row(spec: str, releases: int = 1) -> AttackRow:
    return replace(attack_row(UNDEFENDED, "mlc"), attack=spec, releases=releases)


def test_an_attack_goes_by_its_kind() -> None:
    names = attack_names([row("mlc,epochs=5"), row("vec2text:priors/minilm,steps=4"), row("averaging,releases=8", 8)])
    assert list(names.values()) == ["mlc", "vec2text", "averaging, 8 releases"]


def test_two_of_a_kind_are_told_apart() -> None:
    specs = ["vec2text:priors/minilm", "vec2text:priors/mpnet", "mlc", "mlc,epochs=5"]
    names = attack_names(
        [row(spec) for spec in specs] + [row("averaging,releases=4", 4), row("averaging,releases=8", 8)]
    )
    assert list(names.values()) == [
        "vec2text:minilm",
        "vec2text:mpnet",
        "mlc",
        "mlc,epochs=5",
        "averaging,releases=4",
        "averaging,releases=8",
    ]


def test_a_task_goes_by_its_file_without_the_folders() -> None:
    specs = ["neighbors", "sts:data/pairs/sts12.parquet", "retrieval:data/nfcorpus/,protected=documents", "mteb:STS17"]
    names = task_names(specs)
    assert list(names.values()) == ["neighbors", "sts:sts12.parquet", "retrieval:nfcorpus", "mteb:STS17"]


def test_tasks_on_files_of_one_name_keep_their_folders() -> None:
    specs = ["sts:a/pairs.csv", "sts:b/pairs.csv"]
    assert list(task_names(specs).values()) == specs
