from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from vecveil.testing.selftest.canaries.generators import eight_rounds, fixed_key, inherited
from vecveil.testing.selftest.generators import generator_findings, keyed_findings


def failures(source: Callable[[], np.random.Generator]) -> set[str]:
    return {finding.check for finding in generator_findings(source, methods=("fork",)) if finding.pvalue == 0}


def test_the_secure_generator_is_chacha20_and_never_the_same_twice() -> None:
    found = list(generator_findings())
    assert [finding.pvalue for finding in found] == [1.0] * len(found)
    assert {"ChaCha20 key stream", "no two workers alike (fork)", "no two workers alike (spawn)"} <= {
        finding.check for finding in found
    }


def test_keyed_generators_are_chacha20_too() -> None:
    assert [finding.pvalue for finding in keyed_findings()] == [1.0]


def test_keyed_generators_that_keep_a_block_of_another_key_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "vecveil.testing.selftest.generators.keyed_generators", lambda keys: (fixed_key() for _ in keys)
    )
    assert [finding.pvalue for finding in keyed_findings()] == [0.0]


def test_a_generator_that_workers_inherit_is_caught() -> None:
    assert "no two workers alike (fork)" in failures(inherited)
    assert "no two generators alike" not in failures(inherited)


def test_fewer_rounds_are_caught_by_the_key_stream_alone() -> None:
    assert failures(eight_rounds) == {"ChaCha20 key stream"}


def test_a_key_in_the_program_is_caught_though_the_cipher_is_right() -> None:
    assert failures(fixed_key) == {"no two generators alike", "no two workers alike (fork)"}
