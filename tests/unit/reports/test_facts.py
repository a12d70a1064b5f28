from __future__ import annotations

from vecveil.reports.facts import fact_lines


def test_nested_facts_become_lines() -> None:
    facts = {
        "noise_ratio": 0.5,
        "texts": 12000,
        "names": ["a", "b"],
        "shape": {"learner": "x", "rotated": False, "centre": None},
        "attacks": [{"name": "mlc"}, {"name": "geia"}],
        "nothing": {},
        "empty": "",
    }
    assert fact_lines(facts) == (
        ("noise ratio", "0.5"),
        ("texts", "12,000"),
        ("names", "a, b"),
        ("shape · learner", "x"),
        ("shape · rotated", "no"),
        ("shape · centre", "–"),
        ("attacks · 1 · name", "mlc"),
        ("attacks · 2 · name", "geia"),
        ("nothing", "–"),
        ("empty", "–"),
    )
