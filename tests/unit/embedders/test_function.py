from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from vecveil.concepts import terms
from vecveil.core.errors import EmbedderMismatchError, InvalidInputError
from vecveil.embedders import FunctionEmbedder, resolve_embedder
from vecveil.embedders.probes import PROBES
from vecveil.veil import learn


def _embed(texts: list[str]) -> list[list[float]]:
    return [[float(len(text)), float(text.count("e")), -1.0] for text in texts]


def test_a_function_gives_one_float32_row_per_text() -> None:
    embedder = FunctionEmbedder(_embed, name="function")
    found = embedder.embed(("see", "a"))
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, [[3, 2, -1], [1, 0, -1]])
    assert embedder.embed([]).shape == (0, 3)


def test_its_fingerprint_comes_from_public_sentences_alone() -> None:
    asked: list[str] = []

    def embed(texts: list[str]) -> Any:
        asked.extend(texts)
        return _embed(texts)

    embedder = FunctionEmbedder(embed, name="mine")
    fingerprint = embedder.fingerprint
    assert asked == list(PROBES)
    assert (fingerprint.model, fingerprint.dimensions, fingerprint.normalized) == ("mine", 3, False)
    embedder.embed(["a"])
    assert asked == [*PROBES, "a"]


def test_last_digits_do_not_change_the_fingerprint_and_another_model_does() -> None:
    rng = np.random.default_rng(0)
    clean, other = rng.standard_normal((2, len(PROBES), 64))

    def fingerprint_of(vectors: Any) -> Any:
        return FunctionEmbedder(lambda texts: vectors[: len(texts)], name="f").fingerprint

    noisy = clean * (1 + 1e-6 * rng.standard_normal(clean.shape))
    assert fingerprint_of(noisy) == fingerprint_of(clean.astype(np.float32)) == fingerprint_of(clean)
    assert fingerprint_of(other) != fingerprint_of(clean)


def test_tensors_with_a_gradient_are_read() -> None:
    import torch

    weights = torch.ones(3, requires_grad=True)
    embedder = FunctionEmbedder(lambda texts: torch.tensor(_embed(texts)) * weights, name="f")
    np.testing.assert_array_equal(embedder.embed(["see"]), [[3, 2, -1]])


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (lambda texts: [1.0] * len(texts), "vectors of the embedder f must have two dimensions"),
        (lambda texts: _embed(texts)[1:], "f returned 3 vectors for 4 texts"),
        (lambda _: None, "must be numbers"),
        (lambda texts: [["x"]] * len(texts), "must be numbers"),
        (lambda texts: [[1.0] * (number + 1) for number, _ in enumerate(texts)], "rows of equal length"),
    ],
)
def test_what_is_not_one_vector_per_text_is_refused(function: Any, reason: str) -> None:
    with pytest.raises(InvalidInputError, match=reason):
        FunctionEmbedder(function, name="f").embed(["secret"])


def test_vectors_that_change_their_length_are_refused() -> None:
    embedder = FunctionEmbedder(lambda texts: np.ones((len(texts), 3 if len(texts) == len(PROBES) else 5)), name="f")
    with pytest.raises(InvalidInputError, match="must have 3 dimensions, got 5"):
        embedder.embed(["secret"])


class _LangChainLike:
    """Has the one method that LangChain's embeddings have."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return _embed(texts)


@pytest.mark.parametrize("given", [_embed, _LangChainLike()])
def test_a_veil_is_learned_and_used_with_it(given: Any) -> None:
    texts = [f"Patient {number} has gout." if number % 2 else f"Visit {number} was calm." for number in range(8)]
    veil = learn(terms("gout"), texts, embedder=given, shape="uniform", noise_ratio=1.0)
    assert veil.fingerprint == resolve_embedder(given).fingerprint
    assert veil.protect(texts, embedder=given).shape == (8, 3)
    with pytest.raises(EmbedderMismatchError):
        veil.protect(texts, embedder=lambda texts: np.negative(_embed(texts)))
