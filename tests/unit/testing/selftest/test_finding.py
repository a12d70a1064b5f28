from __future__ import annotations

from collections.abc import Iterator

import pytest

from vecveil.testing.selftest.finding import BREAKDOWN, CaughtErrors, Finding, collect


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
    assert CaughtErrors().findings("laplace") == []


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
