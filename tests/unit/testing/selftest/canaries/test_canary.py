from __future__ import annotations

from vecveil.core.randomness import FreshRows
from vecveil.testing.selftest.canaries import canary, samplers
from vecveil.testing.selftest.canaries.canary import canaries


def test_every_canary_has_a_name_of_its_own_and_says_what_is_wrong() -> None:
    flock = list(canaries())
    assert len({each.name for each in flock}) == len(flock)
    assert all(each.flaw.endswith(".") for each in flock)


def test_every_broken_sampler_is_among_them() -> None:
    broken = {
        kind for kind in vars(samplers).values() if isinstance(kind, type) and kind.__module__ == samplers.__name__
    }
    flock = {type(getattr(each.broken, "mechanism", None)) for each in canaries()}
    assert len(broken) == 21
    assert broken <= flock


def test_every_broken_source_is_among_them() -> None:
    kinds = {kind for kind in FreshRows.__subclasses__() if kind.__module__ == canary.__name__}
    sources = {canary.held_key, *kinds}
    assert len(sources) == 6
    assert sources == {each.broken for each in canaries() if each.name.startswith("streams")}


def test_names_are_words() -> None:
    names = [each.name for each in canaries()]
    assert "wrong gamma shape, n = 16" in names
    assert "streams, short key" in names
