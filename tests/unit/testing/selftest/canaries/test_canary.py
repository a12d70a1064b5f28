from __future__ import annotations

from vecveil.testing.selftest.canaries import additive, directional, streams
from vecveil.testing.selftest.canaries.canary import canaries


def test_every_canary_has_a_name_of_its_own_and_says_what_is_wrong() -> None:
    flock = list(canaries())
    assert len({canary.name for canary in flock}) == len(flock)
    assert all(canary.flaw.endswith(".") for canary in flock)


def test_every_broken_sampler_is_among_them() -> None:
    broken = {
        kind
        for module in (additive, directional)
        for kind in vars(module).values()
        if isinstance(kind, type) and kind.__module__ == module.__name__
    }
    flock = {type(getattr(canary.broken, "mechanism", None)) for canary in canaries()}
    assert broken <= flock


def test_every_broken_source_is_among_them() -> None:
    sources = {
        function
        for function in vars(streams).values()
        if callable(function) and not isinstance(function, type) and function.__module__ == streams.__name__
    }
    assert len(sources) == 6
    assert sources == {canary.broken for canary in canaries() if canary.name.startswith("streams")}


def test_names_are_words() -> None:
    names = [canary.name for canary in canaries()]
    assert "wrong gamma shape, n = 16" in names
    assert "streams, short key" in names
