from __future__ import annotations

from dataclasses import replace

from support.audit_verdicts import blind, judgment, made_verdict
from support.audits import made_audit
from vecveil.reports.summary import Summary
from vecveil.reports.verdict_tables import (
    control_table,
    exposures_table,
    overview_table,
    part_summaries,
    verdicts_table,
)


def test_an_attack_without_a_positive_control_proves_nothing() -> None:
    result = made_audit()
    first = result.verdicts[0]
    weak = replace(result, verdicts=(made_verdict(first.setting, (blind("geia"), *first.judgments)),))
    says = {row[0].text: row[1].text for row in control_table(weak, Summary.from_result(weak)).rows}
    assert says["geia"] == "proves nothing"
    assert says["mlc"] == "means something"


def test_every_attack_has_its_say() -> None:
    result = made_audit()
    verdict = result.verdicts[3]
    rows = verdicts_table(
        replace(result, verdicts=(made_verdict(verdict.setting, (blind("geia"), verdict.judgments[0])),))
    ).rows
    kept = verdict.judgments[0].retained
    assert kept is not None
    assert [[cell.text for cell in row[5:8]] for row in rows[1:]] == [
        ["geia", "inconclusive", "–"],
        ["mlc", "pass", f"{100 * kept.value:.1f} %"],
    ]


def test_a_part_is_summed_up_by_the_attack_that_comes_nearest_to_a_fail() -> None:
    result = made_audit()
    [part] = part_summaries(result)
    [own] = [verdict for verdict in result.verdicts if verdict.setting.own]
    assert (part.name, part.outcome) == ("private words read back", own.outcome)
    assert part.strongest == max(own.judgments, key=lambda one: one.retained.value if one.retained else -1)
    assert part.reasons == own.reasons


def test_with_several_seeds_the_worst_decides_and_says_which_it_is() -> None:
    result = made_audit(seeds=(3, 8))
    own = [verdict for verdict in result.verdicts if verdict.setting.own]
    failing = replace(own[1], parts=(replace(own[1].parts[0], outcome="fail"),))
    [part] = part_summaries(replace(result, verdicts=(own[0], failing)))
    assert part.outcome == "fail"
    [part] = part_summaries(result)
    assert all(reason.startswith(("seed 3: ", "seed 8: ")) for reason in part.reasons)


def test_intervals_over_texts_and_over_seeds_stand_apart() -> None:
    result = made_audit(seeds=(3, 8))
    own = [verdict for verdict in result.verdicts if verdict.setting.own]
    first, second = (
        replace(one, parts=made_verdict(one.setting, (judgment("mlc", left),)).parts)
        for one, left in zip(own, (0.1, 0.2), strict=True)
    )
    [part] = part_summaries(replace(result, verdicts=(first, second)))
    assert part.ranges == "16 % to 24 % over texts, 10 % to 20 % over seeds"
    [part] = part_summaries(replace(result, verdicts=(second,)))
    assert part.ranges == "16 % to 24 % over texts"


def test_the_overview_has_a_row_for_each_defense_and_what_guessing_gives() -> None:
    result = made_audit()
    table = overview_table(result)
    assert [row[0].text for row in table.rows] == [row.defense for row in result.overview]
    assert table.rows[0][1].text == "100 %"
    assert table.rows[-1][1].text == "–"


def test_exposed_records_are_named_by_their_ids() -> None:
    rows = exposures_table(made_audit()).rows
    assert [row[0].text for row in rows] == [f"note {number}" for number in range(10)]
    shown = exposures_table(made_audit(), {"note 3": "all of it"})
    assert shown.columns[-1].title == "Text"
    assert [row[-1].text for row in shown.rows] == ["all of it" if number == 3 else "–" for number in range(10)]
