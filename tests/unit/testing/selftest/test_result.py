from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from vecveil.testing.selftest.privacy_loss import Loss
from vecveil.testing.selftest.result import BREAKDOWN, CanaryOutcome, Finding, SelfTestResult, catch_error, collect

RIGHT = Finding(subject="laplace, uniform, n = 2", check="radius", pvalue=0.4)
WRONG = Finding(subject="mine, uniform, n = 2", check="radius", pvalue=1e-9)
LOSS = Loss(
    subject="laplace, uniform, n = 2",
    check="privacy loss",
    pvalue=1.0,
    detail="near",
    distance=0.25,
    at=None,
    promised=1.0,
    exact=1.0,
    hits=900,
    others=400,
    trials=1000,
)
CAUGHT = CanaryOutcome(name="wrong gamma shape, n = 16", flaw="Draws wrongly.", caught_by=("radius",))
MISSED = CanaryOutcome(name="clipped tails, n = 16", flaw="Clips.", caught_by=())


def result(*findings: Finding, canaries: tuple[CanaryOutcome, ...] = (CAUGHT,)) -> SelfTestResult:
    return SelfTestResult(
        settings={"samples": 30_000}, versions={}, false_alarms=1e-6, findings=findings, canaries=canaries
    )


def test_each_pvalue_is_held_against_its_share_of_the_false_alarms() -> None:
    assert result(RIGHT, RIGHT).level == 5e-7
    assert result(*[RIGHT] * 900, WRONG).failures == (WRONG,)
    assert result(*[RIGHT] * 1100, WRONG).failures == ()


def test_a_pass_states_its_rate_and_what_it_does_not_say() -> None:
    passed = result(RIGHT)
    assert passed.passed
    assert "one of 1,000,000 runs" in passed.verdict
    assert "no proof of privacy" in passed.verdict


def test_a_failure_names_who_failed() -> None:
    failed = result(RIGHT, WRONG)
    assert not failed.passed
    assert failed.verdict.startswith("Failed: 1 of 2 checks, on mine, uniform, n = 2.")


def test_a_test_that_misses_a_canary_is_blind_though_nothing_failed() -> None:
    blind = result(RIGHT, canaries=(CAUGHT, MISSED))
    assert not blind.passed
    assert "blind" in blind.verdict
    assert "clipped tails" in blind.verdict
    assert "wrong gamma shape" not in blind.verdict
    assert "blind" in result(WRONG, canaries=(MISSED,)).verdict


def test_it_is_plain_data_with_bounds() -> None:
    data = json.loads(json.dumps(result(RIGHT, LOSS).as_dict()))
    assert data["passed"] is True
    assert data["level"] == 5e-7
    assert data["findings"][0]["passed"] is True
    assert 0 < data["findings"][1]["at_least"] < 0.8
    assert data["canaries"][0]["caught_by"] == ["radius"]


def findings(error: BaseException | None) -> Iterator[Finding]:
    yield Finding(subject="laplace", check="radius", pvalue=0.5)
    if error is not None:
        raise error


def test_what_was_found_before_an_error_is_kept_and_the_error_is_a_failure() -> None:
    found = collect("laplace", findings(ValueError("no such angle")))
    assert [finding.check for finding in found] == ["radius", BREAKDOWN]
    assert found[-1].pvalue == 0
    assert found[-1].detail == "ValueError: no such angle"


def test_where_nothing_goes_wrong_nothing_is_added() -> None:
    assert [finding.check for finding in collect("laplace", findings(None))] == ["radius"]
    assert catch_error("laplace", [1, 2]) == ([1, 2], [])


def test_ctrl_c_is_no_finding() -> None:
    with pytest.raises(KeyboardInterrupt):
        collect("laplace", findings(KeyboardInterrupt()))


def test_a_check_that_comes_to_no_number_has_failed() -> None:
    assert Finding(subject="laplace", check="radius", pvalue=float("nan")).pvalue == 0


@pytest.mark.parametrize(("right", "pvalue"), [(True, 1.0), (False, 0.0)])
def test_a_check_without_chance_is_right_or_wrong_for_sure(right: bool, pvalue: float) -> None:
    assert Finding.without_chance("streams", "cipher", right) == Finding(
        subject="streams", check="cipher", pvalue=pvalue
    )
