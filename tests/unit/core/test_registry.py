from __future__ import annotations

import pytest

from vecveil.core.errors import UnknownNameError
from vecveil.core.registry import Registry

NUMBERS: Registry[float] = Registry(kind="number", builtin={"pi": "math:pi"}, group="vecveil.nothing")


def test_a_name_loads_what_it_stands_for() -> None:
    assert NUMBERS.load("pi") == pytest.approx(3.14159, abs=1e-5)


def test_an_unknown_name_is_refused_with_a_guess() -> None:
    with pytest.raises(UnknownNameError, match="unknown number 'pie'; did you mean 'pi'"):
        NUMBERS.load("pie")


def test_other_packages_add_names_by_entry_point() -> None:
    consoles: Registry[object] = Registry(kind="script", builtin={}, group="console_scripts")
    assert "vecveil" in consoles.names()
    assert callable(consoles.load("vecveil"))
