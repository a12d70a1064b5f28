from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from langchain_core.embeddings.fake import DeterministicFakeEmbedding
from pyarrow import parquet

from support.embedding_server import EmbeddingServer
from support.tiny_model import write_tiny_model
from vecveil.core.arrays import Embeddings
from vecveil.embedders import EMBEDDERS, Embedder, Fingerprint, resolve_embedder
from vecveil.testing.embedders import SENTENCES, check_embedder


@contextmanager
def _sentence_transformers(folder: Path) -> Iterator[str]:
    yield f"sentence-transformers:{write_tiny_model(folder / 'tiny')}"


@contextmanager
def _openvino(folder: Path) -> Iterator[str]:
    yield f"openvino:{write_tiny_model(folder / 'tiny')}"


@contextmanager
def _openai(_: Path) -> Iterator[str]:
    with EmbeddingServer().running() as server:
        yield f"openai:toy@{server.base_url}"


@contextmanager
def _precomputed(folder: Path) -> Iterator[str]:
    vectors = np.random.default_rng(0).standard_normal((len(SENTENCES), 6))
    path = folder / "vectors.parquet"
    parquet.write_table(pa.table({"text": list(SENTENCES), "vector": vectors.tolist()}), path)
    yield f"precomputed:{path}@toy"


IN_INTEGRATION = ["minilm", "mpnet"]
"""Embedders that need real weights."""

SPECS: dict[str, Callable[[Path], AbstractContextManager[str]]] = {
    "openai": _openai,
    "openvino": _openvino,
    "precomputed": _precomputed,
    "sentence-transformers": _sentence_transformers,
}


@pytest.fixture
def embedder(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Embedder]:
    with SPECS[request.param](tmp_path) as spec:
        yield resolve_embedder(spec)


def test_every_registered_embedder_is_checked() -> None:
    assert sorted([*SPECS, *IN_INTEGRATION]) == EMBEDDERS.names()


@pytest.mark.parametrize("embedder", SPECS, indirect=True)
def test_an_embedder_keeps_the_contract(embedder: Embedder) -> None:
    check_embedder(embedder)


@pytest.mark.parametrize("embedder", SPECS, indirect=True)
def test_a_cached_embedder_keeps_the_contract(embedder: Embedder, tmp_path: Path) -> None:
    cached = resolve_embedder(embedder, cache=tmp_path / "cache")
    check_embedder(cached)
    np.testing.assert_allclose(cached.embed(SENTENCES), embedder.embed(SENTENCES), atol=1e-5)


def test_a_model_in_memory_keeps_the_contract(tmp_path: Path) -> None:
    from sentence_transformers import SentenceTransformer

    check_embedder(resolve_embedder(SentenceTransformer(str(write_tiny_model(tmp_path / "tiny")), device="cpu")))


def test_a_langchain_object_and_a_function_keep_the_contract() -> None:
    check_embedder(resolve_embedder(DeterministicFakeEmbedding(size=8)))
    check_embedder(resolve_embedder(lambda texts: [[len(text), ord(text[0])] for text in texts]))


@dataclass
class Honest:
    """Gives a text its length and its first letter."""

    normalized: bool = False

    @property
    def fingerprint(self) -> Fingerprint:
        return Fingerprint(model="honest", revision="1", dimensions=2, normalized=self.normalized)

    def embed(self, texts: Sequence[str]) -> Embeddings:
        return np.array([[len(text), ord(text[0])] for text in texts], dtype=np.float32).reshape(-1, 2)


class DoublePrecision(Honest):
    def embed(self, texts: Sequence[str]) -> Embeddings:
        return super().embed(texts).astype(np.float64)


class WrongDimensions(Honest):
    def embed(self, texts: Sequence[str]) -> Embeddings:
        return super().embed(texts)[:, :1]


class FlatWhenEmpty(Honest):
    def embed(self, texts: Sequence[str]) -> Embeddings:
        return super().embed(texts) if len(texts) else np.empty(0, dtype=np.float32)


class Sorting(Honest):
    def embed(self, texts: Sequence[str]) -> Embeddings:
        return super().embed(sorted(texts, key=len))


class Mixing(Honest):
    def embed(self, texts: Sequence[str]) -> Embeddings:
        vectors = super().embed(texts)
        return vectors + vectors.mean(axis=0) if len(texts) else vectors


class Constant(Honest):
    def embed(self, texts: Sequence[str]) -> Embeddings:
        return np.ones((len(texts), 2), dtype=np.float32)


class NotFinite(Honest):
    def embed(self, texts: Sequence[str]) -> Embeddings:
        return super().embed(texts) * np.float32(np.nan)


class Forgetful(Honest):
    calls = 0

    def embed(self, texts: Sequence[str]) -> Embeddings:
        self.calls += 1
        return super().embed(texts) + np.float32(self.calls)


def test_the_contract_lets_an_honest_embedder_pass() -> None:
    check_embedder(Honest())


@pytest.mark.parametrize(
    ("embedder", "fact"),
    [
        (DoublePrecision(), "vectors are float32"),
        (WrongDimensions(), "as long as the fingerprint says"),
        (Honest(normalized=True), "length one as the fingerprint says"),
        (FlatWhenEmpty(), "no texts give no rows"),
        (Sorting(), "order of the texts"),
        (Mixing(), "alone and among others"),
        (Constant(), "different texts have different vectors"),
        (NotFinite(), "vectors are finite"),
        (Forgetful(), "the same texts have the same vectors again"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Honest) else "",
)
def test_the_contract_catches(embedder: Embedder, fact: str) -> None:
    with pytest.raises(AssertionError, match=fact):
        check_embedder(embedder)
