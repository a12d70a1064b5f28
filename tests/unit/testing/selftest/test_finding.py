from __future__ import annotations

from collections.abc import Iterator

import pytest

from vecveil.testing.selftest.finding import BREAKDOWN, Finding, Mishap, collected


def findings(error: BaseException | None) -> Iterator[Finding]:
    yield Finding(subject="laplace", check="radius", pvalue=0.5)
    if error is not None:
        raise error


def test_what_was_found_before_an_error_is_kept_and_the_error_is_a_failure() -> None:
    found = collected("laplace", findings(ValueError("no such angle")))
    assert [finding.check for finding in found] == ["radius", BREAKDOWN]
    assert found[-1].pvalue == 0
    assert found[-1].detail == "ValueError: no such angle"


def test_where_nothing_goes_wrong_nothing_is_added() -> None:
    assert [finding.check for finding in collected("laplace", findings(None))] == ["radius"]
    assert Mishap().findings("laplace") == []


def test_ctrl_c_is_no_finding() -> None:
    with pytest.raises(KeyboardInterrupt):
        collected("laplace", findings(KeyboardInterrupt()))


def test_a_check_that_comes_to_no_number_has_failed() -> None:
    assert Finding(subject="laplace", check="radius", pvalue=float("nan")).pvalue == 0
