"""`vecveil frontier`, with vectors that need no model."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.command_line import CommandLine, check_refusal

EMBEDDER = ("--embedder", "precomputed:known.parquet@words")
FRONTIER = ("frontier", "concept.toml", "notes.txt", "--out", "out", *EMBEDDER)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (("--shape", "canonicle"), ("'canonicle'", "did you mean 'canonical'")),
        (("--attack", "mlk"), ("'mlk'", "did you mean 'mlc'")),
        (("--level", "97"), ("level", "97")),
        (("--task", "stss:a.parquet"), ("'stss'", "did you mean 'sts'")),
        (("--near-copies", "7"), ("near_copies", "7")),
    ],
)
def test_a_wrong_option_is_refused_at_once(
    run: CommandLine, toy_place: Path, options: tuple[str, ...], named: tuple[str, ...]
) -> None:
    check_refusal(run(*FRONTIER, *options), *named)
    assert not (toy_place / "out").exists()
