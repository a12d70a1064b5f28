from __future__ import annotations

from dataclasses import dataclass

import pytest

from vecveil.core.checks import positive
from vecveil.core.errors import InvalidInputError, UnknownNameError
from vecveil.core.registry import Registry, build


@dataclass(frozen=True, kw_only=True)
class Ruler:
    """A component with settings."""

    length: float = 30.0
    unit: str = "cm"

    def __post_init__(self) -> None:
        positive(self.length, "length")


NUMBERS: Registry[float] = Registry(kind="number", builtin={"pi": "math:pi"}, group="vecveil.nothing")
TOOLS: Registry[type[Ruler]] = Registry(kind="tool", builtin={"ruler": f"{__name__}:Ruler"}, group="vecveil.nothing")


def test_a_name_loads_what_it_stands_for() -> None:
    assert NUMBERS.load("pi") == pytest.approx(3.14159, abs=1e-5)


def test_an_unknown_name_is_refused_with_a_guess() -> None:
    with pytest.raises(UnknownNameError, match="unknown number 'pie'; did you mean 'pi'"):
        NUMBERS.load("pie")


def test_other_packages_add_names_by_entry_point() -> None:
    consoles: Registry[object] = Registry(kind="script", builtin={}, group="console_scripts")
    assert "vecveil" in consoles.names()
    assert callable(consoles.load("vecveil"))


def test_settings_go_over_the_defaults_of_a_component() -> None:
    assert build(TOOLS, "ruler", {}) == Ruler()
    assert build(TOOLS, "ruler", {"unit": "inch"}) == Ruler(unit="inch")


def test_an_unknown_setting_is_refused_with_a_guess() -> None:
    with pytest.raises(UnknownNameError, match="unknown setting of the tool 'ruler' 'lenght'; did you mean 'length'"):
        build(TOOLS, "ruler", {"lenght": 3.0})


def test_an_unknown_component_is_refused_before_its_settings() -> None:
    with pytest.raises(UnknownNameError, match="unknown tool 'rule'; did you mean 'ruler'"):
        build(TOOLS, "rule", {"nonsense": 1})


def test_a_bad_value_is_refused_by_the_component_itself() -> None:
    with pytest.raises(InvalidInputError, match="length must be a finite number above zero, got -1"):
        build(TOOLS, "ruler", {"length": -1})
