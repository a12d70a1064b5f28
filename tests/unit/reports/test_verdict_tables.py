from __future__ import annotations

from dataclasses import replace

from support.audit_verdicts import blind
from support.audits import made_audit
from vecveil.reports.combined_verdict import combine_verdicts
from vecveil.reports.summary import Summary
from vecveil.reports.verdict_tables import control_table, judgments_table


def test_an_attack_without_a_positive_control_proves_nothing() -> None:
    result = made_audit()
    verdict = replace(result.verdicts[0], judgments=(blind("geia"), *result.verdicts[0].judgments))
    weak = replace(result, verdicts=(verdict,))
    says = {row[0].text: row[1].text for row in control_table(weak, Summary.from_result(weak)).rows}
    assert says["geia"] == "proves nothing"
    assert says["mlc"] == "means something"


def test_every_attack_has_its_say() -> None:
    verdict = made_audit().verdicts[3]
    rows = judgments_table(
        *combine_verdicts([replace(verdict, judgments=(blind("geia"), *verdict.judgments[:1]))])
    ).rows
    assert [[cell.text for cell in row[:3]] for row in rows] == [
        ["geia", "inconclusive", "–"],
        ["mlc", "pass", f"{100 * verdict.judgments[0].retained.value:.1f}%"],
    ]


def test_with_several_seeds_each_says_which_it_is() -> None:
    first, *_ = combine_verdicts(made_audit(seeds=(3, 8)).verdicts)
    table = judgments_table(first)
    assert [column.key for column in table.columns[:2]] == ["seed", "attack"]
    assert [row[0].text for row in table.rows] == ["3"] * 5 + ["8"] * 5
