from __future__ import annotations

import hashlib
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from vecveil.core.arrays import Embeddings
from vecveil.core.errors import InvalidInputError
from vecveil.embedders import CachedEmbedder, Fingerprint
from vecveil.embedders.cache import CHUNK


@dataclass
class CountingEmbedder:
    """Gives a text its length, and remembers what it was asked."""

    revision: str = "1"
    stop_after: int | None = None
    asked: list[list[str]] = field(default_factory=list)

    @property
    def fingerprint(self) -> Fingerprint:
        return Fingerprint(model="length", revision=self.revision, dimensions=2, normalised=False)

    def embed(self, texts: Sequence[str]) -> Embeddings:
        if self.stop_after is not None and len(self.asked) >= self.stop_after:
            raise KeyboardInterrupt
        self.asked.append(list(texts))
        return np.array([[len(text), 1] for text in texts], dtype=np.float32).reshape(-1, 2)


def test_a_text_goes_through_the_model_once(tmp_path: Path) -> None:
    inner = CountingEmbedder()
    cached = CachedEmbedder(inner, tmp_path)
    expected = np.array([[3, 1], [1, 1], [3, 1], [2, 1]], dtype=np.float32)
    np.testing.assert_array_equal(cached.embed(["aaa", "b", "aaa", "cc"]), expected)
    assert inner.asked == [["aaa", "b", "cc"]]
    np.testing.assert_array_equal(CachedEmbedder(inner, tmp_path).embed(["cc", "dddd", "b"])[:, 0], [2, 4, 1])
    assert inner.asked[1:] == [["dddd"]]


def test_the_fingerprint_is_that_of_the_model(tmp_path: Path) -> None:
    inner = CountingEmbedder()
    assert CachedEmbedder(inner, tmp_path).fingerprint == inner.fingerprint


def test_another_revision_has_another_file(tmp_path: Path) -> None:
    first, second = CountingEmbedder(), CountingEmbedder(revision="2")
    CachedEmbedder(first, tmp_path).embed(["a"])
    CachedEmbedder(second, tmp_path).embed(["a"])
    assert second.asked == [["a"]]
    names = {path.name for path in tmp_path.glob("*.sqlite")}
    assert names == {f"{embedder.fingerprint.digest()}.sqlite" for embedder in (first, second)}


def test_the_text_is_not_on_disk(tmp_path: Path) -> None:
    CachedEmbedder(CountingEmbedder(), tmp_path).embed(["Anna has diabetes"])
    content = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert content
    assert b"Anna" not in content


def test_a_stopped_run_goes_on_where_it_was(tmp_path: Path) -> None:
    texts = [f"text {number}" for number in range(2 * CHUNK + 1)]
    with pytest.raises(KeyboardInterrupt):
        CachedEmbedder(CountingEmbedder(stop_after=2), tmp_path).embed(texts)
    inner = CountingEmbedder()
    assert CachedEmbedder(inner, tmp_path).embed(texts).shape == (len(texts), 2)
    assert inner.asked == [texts[2 * CHUNK :]]


PROGRAM = """
import os, sys
from pathlib import Path
import numpy as np
from vecveil.embedders import CachedEmbedder, Fingerprint

class Dying:
    fingerprint = Fingerprint(model="length", revision="1", dimensions=2, normalised=False)
    calls = 0

    def embed(self, texts):
        self.calls += 1
        if self.calls == 2:
            os._exit(9)
        return np.array([[len(text), 1] for text in texts], dtype=np.float32)

CachedEmbedder(Dying(), Path(sys.argv[1])).embed([f"text {number}" for number in range(int(sys.argv[2]))])
"""


def test_a_killed_process_loses_only_the_batch_in_hand(tmp_path: Path) -> None:
    texts = [f"text {number}" for number in range(CHUNK + 3)]
    killed = subprocess.run([sys.executable, "-c", PROGRAM, str(tmp_path), str(len(texts))], check=False, timeout=120)
    assert killed.returncode == 9
    inner = CountingEmbedder()
    CachedEmbedder(inner, tmp_path).embed(texts)
    assert inner.asked == [texts[CHUNK:]]


def test_no_texts_ask_the_model_for_nothing(tmp_path: Path) -> None:
    inner = CountingEmbedder()
    assert CachedEmbedder(inner, tmp_path).embed([]).shape == (0, 2)
    assert inner.asked == []


def test_a_model_that_breaks_its_contract_does_not_reach_the_disk(tmp_path: Path) -> None:
    class Short(CountingEmbedder):
        def embed(self, texts: Sequence[str]) -> Embeddings:
            return super().embed(texts)[1:]

    with pytest.raises(InvalidInputError, match=r"must return shape \(2, 2\), got \(1, 2\)"):
        CachedEmbedder(Short(), tmp_path).embed(["a", "b"])
    inner = CountingEmbedder()
    CachedEmbedder(inner, tmp_path).embed(["a", "b"])
    assert inner.asked == [["a", "b"]]


def test_a_cache_sees_of_a_text_what_its_embedder_sees(tmp_path: Path) -> None:
    class Lower(CountingEmbedder):
        def inputs(self, texts: Sequence[str]) -> list[bytes]:
            return [text.lower().encode() for text in texts]

    assert CachedEmbedder(Lower(), tmp_path).inputs(["A", "b"]) == [b"a", b"b"]
    assert CachedEmbedder(CountingEmbedder(), tmp_path).inputs(["A"]) == [hashlib.sha256(b"A").digest()]
