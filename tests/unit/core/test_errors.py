from __future__ import annotations

import inspect
from importlib import import_module

import pytest

from vecveil.core import errors
from vecveil.core.errors import (
    BudgetExceededError,
    InvalidInputError,
    InvalidRowError,
    MissingExtraError,
    UnknownNameError,
    VecveilError,
    join_names,
    needs_extra,
)


def test_every_error_is_one_of_ours_and_drawn_in_the_tree() -> None:
    found = [
        kind
        for kind in vars(errors).values()
        if inspect.isclass(kind) and issubclass(kind, Exception) and not issubclass(kind, Warning)
    ]
    assert len(found) >= 10
    for kind in found:
        assert issubclass(kind, VecveilError)
        assert kind.__name__ in (errors.__doc__ or "")


def test_errors_are_also_what_python_calls_them() -> None:
    assert issubclass(InvalidInputError, ValueError)
    assert issubclass(MissingExtraError, ImportError)


def test_a_row_at_fault_can_be_numbered_anew() -> None:
    error = InvalidRowError(3, "is empty").shift(100)
    assert (error.row, str(error)) == (103, "row 103 is empty")


@pytest.mark.parametrize("name", ["EMAIL", "email_adress", "Email_Address"])
def test_a_guess_takes_no_notice_of_case_and_knows_beginnings(name: str) -> None:
    assert "did you mean 'EMAIL_ADDRESS'?" in str(UnknownNameError("entity", name, ["PERSON", "EMAIL_ADDRESS"]))


def test_where_nothing_is_known_that_is_said() -> None:
    assert str(UnknownNameError("shape", "", [])) == "unknown shape '' (known: none)"


def test_names_that_read_like_text_are_counted_and_not_shown() -> None:
    names = ["id", "Anna has asthma and was told", "x" * 65]
    assert join_names(names) == "id, 2 that read like text"
    assert join_names(names[1:]) == "2 that read like text"
    message = str(UnknownNameError("column", "txt", [*names, "text"]))
    assert message == "unknown column 'txt'; did you mean 'text'? (known: id, text, 2 that read like text)"


def test_of_many_names_some_are_listed() -> None:
    listed = join_names(f"n{number}" for number in range(1050))
    assert listed.endswith("n49, 1,000 more")


def test_a_missing_package_comes_with_the_command_that_brings_it() -> None:
    assert "pip install 'vecveil[audit]'" in str(MissingExtraError("scipy", "audit"))


def test_a_budget_that_is_used_up_says_what_was_spent() -> None:
    error = BudgetExceededError(records=1, cost=5.0, spent=8.0, total=13.0, limit=10.0)
    assert str(error).startswith("refused: 1 record would go over the limit of 10 nats")
    assert "has spent 8 so far and would come to 13" in str(error)
    assert "1,200 records" in str(BudgetExceededError(records=1200, cost=5.0, spent=8.0, total=13.0, limit=10.0))


def test_a_failed_import_names_the_extra() -> None:
    with (
        pytest.raises(MissingExtraError, match=r"no-such-package is not installed; .*vecveil\[demo\]"),
        needs_extra("no-such-package", "demo"),
    ):
        import_module("no_such_package")
