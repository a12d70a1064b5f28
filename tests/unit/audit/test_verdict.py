from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from support.audits import UNDEFENDED, VEIL, attack_row, blank_row, probe_row, setting
from support.corpora import QUICK, toy_audit, toy_plan
from vecveil.audit import AttackRow, BlankRow, Estimate, Experiment, ProbeRow, Setting, Tolerance, Verdict
from vecveil.audit.verdict import reach_verdicts
from vecveil.core.errors import InvalidInputError

BEHIND = setting(VEIL, 1.0)
LAPLACE = setting("laplace", 1.0)
TWENTY = Tolerance(words=0.2, presence=0.2, blank=0.2)


def _attack(
    where: Setting, leakage: float, *, chance: float = 0.0, spread: float = 0.02, name: str = "mlc"
) -> AttackRow:
    found = Estimate(value=leakage, low=leakage - spread, high=leakage + spread)
    return replace(attack_row(where, name), r_precision=found, r_chance=chance)


def _probe(where: Setting, auc: float, spread: float = 0.01) -> ProbeRow:
    return replace(probe_row(where, "mlp"), auc=Estimate(value=auc, low=auc - spread, high=auc + spread))


def _blank(where: Setting, right: float, *, chance: float = 0.04, spread: float = 0.01) -> BlankRow:
    found = Estimate(value=right, low=right - spread, high=right + spread)
    return replace(blank_row(where), right=found, chance=chance)


def _ruled(*rows: AttackRow, probes: tuple[ProbeRow, ...] = (), blanks: tuple[BlankRow, ...] = ()) -> Verdict:
    [verdict] = reach_verdicts(rows, probes, blanks, tolerance=Tolerance(words=0.2, presence=0.2, blank=0.2))
    return verdict


def test_an_attack_that_still_reads_fails_the_veil() -> None:
    verdict = _ruled(_attack(UNDEFENDED, 0.6), _attack(BEHIND, 0.3))
    assert (verdict.setting, verdict.outcome) == (BEHIND, "fail")
    assert verdict.reasons == (
        "mlc still reads 50 % of what it reads out of unprotected vectors (30 % of 60 % above chance); 20 % may remain",
    )


def test_a_veil_that_holds_every_working_attack_off_passes() -> None:
    verdict = _ruled(
        _attack(UNDEFENDED, 0.6),
        _attack(BEHIND, 0.03),
        probes=(_probe(UNDEFENDED, 0.95), _probe(BEHIND, 0.52)),
    )
    assert verdict.outcome == "pass"
    assert [judgment.outcome for judgment in verdict.judgments] == ["pass", "pass"]
    assert [reason.split(" still reads ")[0] for reason in verdict.reasons] == ["mlc", "mlp concept probe"]
    assert "reads 5 % of" in verdict.reasons[0]
    assert "reads 4 % of" in verdict.reasons[1]


@pytest.mark.parametrize("behind", [0.0, 0.02, 0.6])
def test_a_useless_attack_is_inconclusive_whatever_it_reads(behind: float) -> None:
    verdict = _ruled(_attack(UNDEFENDED, 0.25, chance=0.24), _attack(BEHIND, behind, chance=behind))
    assert verdict.outcome == "inconclusive"
    assert verdict.judgments[0].retained is None
    assert "mlc reads too little out of unprotected vectors to be a test" in verdict.reasons[0]
    assert "1 % above chance" in verdict.reasons[0]


def test_an_attack_whose_control_is_uncertain_is_no_control() -> None:
    # Twenty per cent on average, but perhaps nothing at all.
    verdict = _ruled(_attack(UNDEFENDED, 0.2, spread=0.18), _attack(BEHIND, 0.0))
    assert verdict.outcome == "inconclusive"
    assert verdict.judgments[0].retained is None


def test_a_useless_attack_says_nothing_beside_one_that_works() -> None:
    useless = (_attack(UNDEFENDED, 0.01, name="geia"), _attack(BEHIND, 0.01, name="geia"))
    held_off = _ruled(_attack(UNDEFENDED, 0.6), _attack(BEHIND, 0.03), *useless)
    assert held_off.outcome == "pass"
    assert [judgment.outcome for judgment in held_off.judgments] == ["pass", "inconclusive"]
    broken = _ruled(_attack(UNDEFENDED, 0.6), _attack(BEHIND, 0.5), *useless)
    assert broken.outcome == "fail"
    assert [reason.split()[0] for reason in broken.reasons] == ["mlc"]


def test_every_part_must_pass() -> None:
    words = (_attack(UNDEFENDED, 0.6), _attack(BEHIND, 0.03))
    probes = (_probe(UNDEFENDED, 0.95), _probe(BEHIND, 0.52))
    told = (_blank(UNDEFENDED, 1.0), _blank(BEHIND, 0.9))
    verdict = _ruled(*words, probes=probes, blanks=told)
    assert [(part.part, part.outcome) for part in verdict.parts] == [
        ("words", "pass"),
        ("presence", "pass"),
        ("blank", "fail"),
    ]
    assert verdict.outcome == "fail"
    assert verdict.reasons[0].startswith("fill in the blank still reads 90 % of what it reads out of unprotected")
    held = _ruled(*words, probes=probes, blanks=(told[0], _blank(BEHIND, 0.04)))
    assert held.outcome == "pass"


def test_a_blank_that_unprotected_vectors_do_not_fill_is_no_test() -> None:
    verdict = _ruled(blanks=(_blank(UNDEFENDED, 0.08), _blank(BEHIND, 0.04)))
    assert verdict.outcome == "inconclusive"
    assert "too little out of unprotected vectors" in verdict.reasons[0]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ((), Tolerance()),
        (("0.4",), Tolerance(words=0.4, presence=0.4, blank=0.4)),
        (("0.4", "blank=0.1"), Tolerance(words=0.4, presence=0.4, blank=0.1)),
    ],
)
def test_a_tolerance_is_of_all_parts_or_of_one(given: tuple[str, ...], expected: Tolerance) -> None:
    assert Tolerance.parse(given) == expected


@pytest.mark.parametrize(
    ("given", "problem"),
    [("often", "'often'"), ("1.5", "'1.5'"), ("word=0.2", "did you mean 'words'"), ("blank=", "'blank='")],
)
def test_a_wrong_tolerance_is_named(given: str, problem: str) -> None:
    with pytest.raises(InvalidInputError, match=problem):
        Tolerance.parse([given])


def test_a_blind_probe_is_inconclusive() -> None:
    verdict = _ruled(probes=(_probe(UNDEFENDED, 0.58), _probe(BEHIND, 0.5)))
    assert verdict.outcome == "inconclusive"
    assert "mlp concept probe reads too little" in verdict.reasons[0]


def test_an_interval_across_the_tolerance_is_inconclusive() -> None:
    verdict = _ruled(_attack(UNDEFENDED, 0.6), _attack(BEHIND, 0.12, spread=0.05))
    assert verdict.outcome == "inconclusive"
    assert "still reads 20 % " in verdict.reasons[0]
    assert "the interval, 12 % to 28 %, reaches across the 20 %" in verdict.reasons[0]
    # The estimate lies on the tolerance itself: no number of texts would tell.
    assert verdict.judgments[0].texts_needed is None
    beside = _ruled(_attack(UNDEFENDED, 0.6), _attack(BEHIND, 0.10, spread=0.05)).judgments[0]
    assert beside.texts_needed is not None
    assert 2 * 320 < beside.texts_needed < 10 * 320
    assert f"about {beside.texts_needed:,} test texts would tell, there were 320" in beside.reason


def test_what_guessing_gives_is_nothing_that_an_attack_reads() -> None:
    verdict = _ruled(_attack(UNDEFENDED, 0.7, chance=0.3), _attack(BEHIND, 0.31, chance=0.3))
    assert verdict.outcome == "pass"
    assert verdict.judgments[0].retained is not None
    assert verdict.judgments[0].retained.value == pytest.approx(0.01 / 0.4)


def test_both_measurements_make_the_share_uncertain() -> None:
    control, behind = _attack(UNDEFENDED, 0.5, spread=0.1), _attack(BEHIND, 0.2, spread=0.0)
    retained = _ruled(control, behind).judgments[0].retained
    assert retained is not None
    assert retained.value == pytest.approx(0.4)
    assert (retained.low, retained.high) == (pytest.approx(0.32), pytest.approx(0.48))


def test_a_reading_below_chance_is_shown_as_nothing() -> None:
    verdict = _ruled(_attack(UNDEFENDED, 0.6), _attack(BEHIND, 0.02, chance=0.05))
    assert verdict.outcome == "pass"
    assert "still reads 0 % " in verdict.reasons[0]


def test_reasons_tell_how_many_releases_an_attack_had() -> None:
    rows = _attack(UNDEFENDED, 0.6, name="averaging"), _attack(BEHIND, 0.5, name="averaging")
    assert _ruled(*rows).reasons[0].startswith("averaging (4 releases) still reads 83 % ")


def test_the_veil_is_ruled_on_and_nothing_else_is() -> None:
    rows = (_attack(UNDEFENDED, 0.6), _attack(LAPLACE, 0.6), _attack(BEHIND, 0.0))
    assert [verdict.setting for verdict in reach_verdicts(rows, (), (), tolerance=TWENTY)] == [BEHIND]
    assert reach_verdicts(rows[:2], (), (), tolerance=TWENTY) == ()


def test_each_seed_is_held_against_its_own_control() -> None:
    rows = []
    for seed, (control, behind) in enumerate([(0.6, 0.01), (0.6, 0.5), (0.01, 0.01)]):
        rows += [_attack(replace(UNDEFENDED, seed=seed), control), _attack(replace(BEHIND, seed=seed), behind)]
    assert [one.outcome for one in reach_verdicts(rows, (), (), tolerance=TWENTY)] == ["pass", "fail", "inconclusive"]


def test_the_tolerance_is_what_may_remain() -> None:
    rows = (_attack(UNDEFENDED, 0.6), _attack(BEHIND, 0.3))
    assert reach_verdicts(rows, (), (), tolerance=Tolerance(words=0.8))[0].outcome == "pass"
    assert reach_verdicts(rows, (), (), tolerance=Tolerance(words=0.51))[0].outcome == "inconclusive"


@pytest.mark.filterwarnings("ignore:the noise is 30 times as long")
def test_a_weak_defense_fails_and_a_strong_one_passes_where_every_attack_works(tmp_path: Path) -> None:
    # With more texts the intervals would be narrow enough for the usual tolerance, and the test would take longer.
    plan = replace(toy_plan(0.01, 30.0, attacks=(QUICK, "nearest"), tasks=()), tolerance=Tolerance.parse(["0.4"]))
    result, _ = toy_audit(plan, texts=600).run(Experiment(tmp_path / "audit"))
    weak, strong = result.verdicts
    assert (weak.setting.asked, weak.outcome) == ("noise 0.01", "fail")
    assert len(weak.reasons) == 5
    assert (strong.setting.asked, strong.outcome) == ("noise 30", "pass"), strong.reasons


@pytest.mark.filterwarnings("ignore:the noise is 30 times as long")
def test_an_attack_that_learned_nothing_leaves_it_open_whether_a_strong_defense_is_one(tmp_path: Path) -> None:
    # One short step from random weights, and a threshold that nothing reaches: an attack in name only.
    useless = "mlc,epochs=1,hidden=[2],threshold=0.99"
    result, _ = toy_audit(toy_plan(30.0, attacks=(useless,), tasks=())).run(Experiment(tmp_path / "audit"))
    [verdict] = result.verdicts
    assert verdict.outcome == "inconclusive"
    assert any(reason.startswith("mlc reads too little out of unprotected vectors") for reason in verdict.reasons)
