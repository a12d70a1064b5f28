from __future__ import annotations

from vecveil.bench.line import Line


def test_a_ratio_says_how_many_times_as_long() -> None:
    line = Line.times_slower("ours", 3.0, "s", "theirs", 2.0, most=1.6)
    assert (line.ratio, line.reached) == (1.5, True)
    assert not Line.times_slower("ours", 3.0, "s", "theirs", 2.0, most=1.4).reached


def test_a_ratio_says_how_many_times_as_fast() -> None:
    line = Line.times_faster("ours", 2.0, "s", "theirs", 10.0, least=5)
    assert (line.ratio, line.reached) == (5.0, True)
    assert not Line.times_faster("ours", 2.0, "s", "theirs", 9.0, least=5).reached


def test_a_value_is_held_against_what_is_wanted_where_nothing_is_compared() -> None:
    assert Line(what="ours", value=1.0, unit="s", wanted=2.0).reached
    assert not Line(what="ours", value=3.0, unit="s", wanted=2.0).reached
    assert Line(what="cosine", value=0.9, unit="", wanted=0.8, at_least=True).reached
    assert Line(what="ours", value=1.0, unit="s").reached is None
