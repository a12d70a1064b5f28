from __future__ import annotations

import dataclasses
import functools
import subprocess
import sys
from collections.abc import Sequence
from contextlib import chdir
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import vecveil.embedders
from vecveil.concepts import terms
from vecveil.core.arrays import Embeddings
from vecveil.core.errors import EmbedderMismatchError, InvalidInputError, UnknownNameError
from vecveil.embedders import (
    EMBEDDERS,
    CachedEmbedder,
    Fingerprint,
    FunctionEmbedder,
    OpenAIEmbedder,
    PrecomputedEmbedder,
    SentenceTransformersEmbedder,
    resolve_embedder,
)
from vecveil.embedders.embedder import PROBES
from vecveil.embedders.packaged import minilm, mpnet
from vecveil.embedders.registry import stays_here
from vecveil.veil import learn


@pytest.mark.parametrize("name", sorted(EMBEDDERS.builtin))
def test_every_registered_name_can_be_loaded(name: str) -> None:
    assert callable(EMBEDDERS.load(name))


def test_every_export_is_there() -> None:
    assert all(hasattr(vecveil.embedders, name) for name in vecveil.embedders.__all__)


def test_importing_the_embedders_loads_nothing_heavy() -> None:
    program = "import sys, vecveil.embedders; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120)
    loaded = set(done.stdout.split())
    heavy = {"torch", "transformers", "sentence_transformers", "huggingface_hub", "pyarrow", "openai", "sqlite3"}
    assert "vecveil.embedders" in loaded
    assert not heavy & loaded


@pytest.mark.parametrize("prefix", ["", "sentence-transformers:"])
def test_a_folder_is_a_sentence_transformers_model(tmp_path: Path, prefix: str) -> None:
    assert resolve_embedder(f"{prefix}{tmp_path}") == SentenceTransformersEmbedder(str(tmp_path))


def test_a_home_folder_is_found_behind_its_tilde(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "model").mkdir()
    assert resolve_embedder("~/model") == SentenceTransformersEmbedder("~/model")


@pytest.mark.parametrize("prefix", ["", "sentence-transformers:"])
def test_a_hub_name_may_carry_a_revision(prefix: str) -> None:
    assert resolve_embedder(f"{prefix}acme/tiny") == SentenceTransformersEmbedder("acme/tiny")
    assert resolve_embedder(f"{prefix}acme/tiny@v1") == SentenceTransformersEmbedder("acme/tiny", revision="v1")


def test_a_service_may_carry_an_address() -> None:
    assert resolve_embedder("openai:toy") == OpenAIEmbedder("toy")
    assert resolve_embedder("openai:toy@https://host/v1") == OpenAIEmbedder("toy", base_url="https://host/v1")


@pytest.mark.parametrize("spec", ["minilm", "openvino:mpnet", "acme/tiny@v1", "precomputed:a.parquet@b"])
def test_models_on_this_machine_or_of_the_hub_send_no_text(spec: str) -> None:
    assert stays_here(spec)


@pytest.mark.parametrize("spec", ["openai:toy", "openai:toy@https://host/v1", "openvino:openai:toy", "mine:any", ""])
def test_services_and_what_nobody_knows_may_send_texts(spec: str) -> None:
    assert not stays_here(spec)


@pytest.fixture
def packages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Packaged models are installed, as far as anyone can tell without their weights."""
    monkeypatch.setattr("vecveil.embedders.packaged.find_package", lambda _: Path())
    monkeypatch.setattr("vecveil.embedders.packaged.is_installed", lambda _: True)


@pytest.mark.usefixtures("packages")
def test_packaged_models_go_by_their_short_names() -> None:
    assert resolve_embedder("minilm") == minilm()
    assert resolve_embedder("mpnet") == mpnet()


@pytest.mark.usefixtures("packages")
@pytest.mark.parametrize("prefix", ["", "sentence-transformers/"])
def test_packaged_models_go_by_the_names_that_are_printed_too(prefix: str) -> None:
    assert resolve_embedder(f"{prefix}all-MiniLM-L6-v2") == minilm()
    assert resolve_embedder(f"{prefix}all-mpnet-base-v2") == mpnet()
    assert resolve_embedder(f"openvino:{prefix}all-MiniLM-L6-v2") == dataclasses.replace(minilm(), backend="openvino")


@pytest.mark.parametrize("prefix", ["", "sentence-transformers/"])
def test_without_their_packages_they_go_by_the_same_names(prefix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vecveil.embedders.packaged.is_installed", lambda _: False)
    assert resolve_embedder(f"{prefix}all-MiniLM-L6-v2") == minilm()
    assert resolve_embedder(f"{prefix}all-mpnet-base-v2") == mpnet()


@pytest.mark.usefixtures("packages")
def test_a_revision_or_a_folder_of_that_name_is_not_the_package(tmp_path: Path) -> None:
    revised = resolve_embedder("sentence-transformers/all-MiniLM-L6-v2@main")
    assert revised == SentenceTransformersEmbedder("sentence-transformers/all-MiniLM-L6-v2", revision="main")
    with chdir(tmp_path):
        Path("all-MiniLM-L6-v2").mkdir()
        assert resolve_embedder("all-MiniLM-L6-v2") == SentenceTransformersEmbedder("all-MiniLM-L6-v2")


def test_a_model_in_memory_is_an_embedder(tiny_model: Path) -> None:
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(tiny_model), device="cpu")
    embedder = resolve_embedder(model)
    assert embedder == SentenceTransformersEmbedder(model)
    np.testing.assert_allclose(embedder.embed(["a"]), resolve_embedder(str(tiny_model)).embed(["a"]), atol=1e-6)


def test_an_object_with_the_method_of_langchain_is_an_embedder() -> None:
    class Mine:
        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            return [[len(text), 1.0] for text in texts]

        def __call__(self, _: object) -> None:
            raise AssertionError("called for something else")

    embedder = resolve_embedder(Mine())
    assert embedder.fingerprint.model == "Mine"
    np.testing.assert_array_equal(embedder.embed(["see", "a"]), [[3, 1], [1, 1]])


def test_a_langchain_object_is_an_embedder() -> None:
    from langchain_core.embeddings.fake import DeterministicFakeEmbedding

    embeddings = DeterministicFakeEmbedding(size=12)
    embedder = resolve_embedder(embeddings)
    assert embedder.fingerprint.model == "DeterministicFakeEmbedding"
    assert embedder.fingerprint == resolve_embedder(embeddings).fingerprint
    np.testing.assert_allclose(embedder.embed(["a", "b"]), embeddings.embed_documents(["a", "b"]), rtol=1e-6)


def test_a_function_is_an_embedder() -> None:
    def embed(texts: list[str]) -> list[list[float]]:
        return [[len(text), 1.0] for text in texts]

    assert resolve_embedder(embed).fingerprint.model == "function"
    assert resolve_embedder(functools.partial(embed)).fingerprint.model == "partial"
    np.testing.assert_array_equal(resolve_embedder(embed).embed(["see"]), [[3, 1]])


@pytest.mark.parametrize(
    ("other", "got"),
    [
        (None, "NoneType"),
        (3, "int"),
        (["minilm"], "list"),
        (OpenAIEmbedder, "the class OpenAIEmbedder; make an object"),
    ],
)
def test_anything_else_is_refused_by_its_type(other: Any, got: str) -> None:
    with pytest.raises(InvalidInputError, match=f"an Embedder, a SentenceTransformer, a LangChain .* got {got}"):
        resolve_embedder(other)


def test_resolving_asks_an_embedder_for_nothing() -> None:
    class Waiting:
        @property
        def fingerprint(self) -> Fingerprint:
            raise AssertionError("asked")

        def embed(self, texts: Sequence[str]) -> Embeddings:
            raise AssertionError(f"asked for {len(texts)} texts")

    waiting = Waiting()
    assert resolve_embedder(waiting) is waiting


def test_an_embedder_is_taken_as_it_is() -> None:
    embedder = PrecomputedEmbedder.from_vectors(["a"], np.ones((1, 2)), model="toy")
    assert resolve_embedder(embedder) is embedder


def test_a_cache_is_put_in_front_only_where_one_is_asked_for(tmp_path: Path) -> None:
    embedder = PrecomputedEmbedder.from_vectors(["a"], np.ones((1, 2)), model="toy")
    cached = resolve_embedder(embedder, cache=tmp_path)
    assert isinstance(cached, CachedEmbedder)
    assert cached.embedder is embedder
    assert cached.folder == tmp_path
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("spec", "guess"), [("minlm", "minilm"), ("opnai:toy", "openai"), ("MPNet", "mpnet")])
def test_a_misspelled_name_gets_a_guess(spec: str, guess: str) -> None:
    with pytest.raises(UnknownNameError, match=f"unknown embedder .*did you mean '{guess}'"):
        resolve_embedder(spec)


@pytest.mark.parametrize("spec", ["", "/no/such/folder", "a b/c", ":"])
def test_what_is_no_spec_is_an_unknown_name(spec: str) -> None:
    with pytest.raises(
        UnknownNameError, match=r"known: minilm, mpnet, openai, openvino, precomputed, sentence-transformers"
    ):
        resolve_embedder(spec)


@pytest.mark.parametrize("spec", ["openai", "sentence-transformers", "precomputed:", "minilm:large"])
def test_a_name_without_what_it_needs_is_refused(spec: str) -> None:
    with pytest.raises(InvalidInputError):
        resolve_embedder(spec)


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
