from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from vecveil.core.errors import EmbedderMismatchError, InvalidInputError, MissingExtraError, UnknownNameError
from vecveil.embedders import resolve_embedder
from vecveil.embedders.sentence_model import load_sentence_model

TEXTS = ["a", "", "some words of a note", "x" * 90, "one, two, three: " * 40, "ÄÖÜ ☃"]


def test_vectors_are_those_of_torch_whatever_the_length_and_the_company(tiny_model: Path) -> None:
    plain, quick = resolve_embedder(str(tiny_model)), resolve_embedder(f"openvino:{tiny_model}")
    wanted, found = plain.embed(TEXTS), quick.embed(TEXTS)
    assert found.dtype == np.float32
    assert np.einsum("ij,ij->i", wanted, found).min() > 0.999
    for text, vector in zip(TEXTS, found, strict=True):
        assert quick.embed([text])[0] @ vector > 0.999
    # The two are not one model in disguise: what was loaded for torch still runs there.
    np.testing.assert_array_equal(plain.embed(TEXTS), wanted)


def test_a_veil_for_torch_is_not_for_openvino(tiny_model: Path) -> None:
    plain, quick = resolve_embedder(str(tiny_model)).fingerprint, resolve_embedder(f"openvino:{tiny_model}").fingerprint
    assert quick.revision == f"{plain.revision} by openvino"
    with pytest.raises(EmbedderMismatchError):
        plain.require(quick)


def test_packaged_models_take_it_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vecveil.embedders.packaged.find_package", lambda _: Path())
    embedder: Any = resolve_embedder("openvino:minilm")
    assert (embedder.model, embedder.backend) == ("all-MiniLM-L6-v2", "openvino")


@pytest.mark.parametrize("spec", ["openvino:openai:text-embedding-3-small", "openvino:minilm:large", "openvino:"])
def test_what_openvino_cannot_run_is_refused(spec: str) -> None:
    with pytest.raises((InvalidInputError, UnknownNameError)):
        resolve_embedder(spec)


def test_a_network_that_comes_out_otherwise_is_refused(tiny_model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    load_sentence_model.cache_clear()
    monkeypatch.setattr("vecveil.embedders.openvino._compile", lambda *_: _Broken())
    with pytest.raises(InvalidInputError, match="other vectors"):
        resolve_embedder(f"openvino:{tiny_model}").embed(["a"])
    load_sentence_model.cache_clear()


class _Broken:
    """Runs a network that has nothing to do with the one that was asked for."""

    data: Any = None

    def create_infer_request(self) -> _Broken:
        return self

    def infer(self, inputs: list[Any]) -> None:
        self.data = np.random.default_rng(0).standard_normal((*inputs[0].shape, 16)).astype(np.float32)

    def get_output_tensor(self, _: int) -> _Broken:
        return self


def test_threads_do_not_get_one_anothers_vectors(tiny_model: Path) -> None:
    embedder = resolve_embedder(f"openvino:{tiny_model}")
    texts = ["one text", "quite another", "and a third of them", "4"]
    wanted = {text: embedder.embed([text])[0] for text in texts}

    def work(text: str) -> bool:
        return all(embedder.embed([text])[0] @ wanted[text] > 0.9999 for _ in range(25))

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with ThreadPoolExecutor(4) as pool:
            assert all(pool.map(work, texts))
    finally:
        sys.setswitchinterval(before)


def test_it_sends_nothing_home(tiny_model: Path) -> None:
    resolve_embedder(f"openvino:{tiny_model}").embed(["a"])
    assert sys.modules["openvino_telemetry"] is None


def test_a_missing_openvino_names_its_extra(tiny_model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    load_sentence_model.cache_clear()
    monkeypatch.setitem(sys.modules, "openvino", None)
    with pytest.raises(MissingExtraError, match=r"vecveil\[openvino\]"):
        resolve_embedder(f"openvino:{tiny_model}").embed(["a"])
    load_sentence_model.cache_clear()
