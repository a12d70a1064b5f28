from __future__ import annotations

from vecveil.testing.selftest.canaries import directional, elliptical
from vecveil.testing.selftest.canaries.canary import canaries


def test_every_canary_has_a_name_of_its_own_and_says_what_is_wrong() -> None:
    flock = list(canaries())
    assert len({canary.name for canary in flock}) == len(flock)
    assert all(canary.flaw.endswith(".") for canary in flock)


def test_every_broken_sampler_is_among_them() -> None:
    broken = {
        kind
        for module in (elliptical, directional)
        for kind in vars(module).values()
        if isinstance(kind, type) and kind.__module__ == module.__name__
    }
    flock = {type(getattr(canary.broken, "mechanism", None)) for canary in canaries()}
    assert broken <= flock


def test_names_are_words() -> None:
    names = [canary.name for canary in canaries()]
    assert "wrong gamma shape, n = 16" in names
    assert "streams, short key" in names
