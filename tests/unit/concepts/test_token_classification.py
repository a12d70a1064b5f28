from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from support.token_classifier import write_token_classifier
from vecveil.concepts.passage import Passage, Span
from vecveil.concepts.token_classification import TokenClassification
from vecveil.core.errors import InvalidInputError, MissingExtraError, UnknownNameError

_LABELS = {
    "he": "O",
    "has": "O",
    ".": "O",
    "type": "B-Disease",
    "2": "I-Disease",
    "dia": "I-Disease",
    "##betes": "O",
    "ann": "B-Name",
}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("classifier")
    write_token_classifier(folder, labels=_LABELS, positions=16)
    return str(folder)


def test_an_entity_of_several_tokens_is_one_span_of_whole_words(model: str) -> None:
    concept = TokenClassification(labels=("Disease",), model=model)
    assert concept.find("He has Type 2 diabetes.") == (Span(7, 22, "Disease"),)


def test_only_the_named_labels_are_found(model: str) -> None:
    passages = [Passage("Ann has type 2"), Passage(""), Passage("he has")]
    assert TokenClassification(labels=("Name",), model=model).find_all(passages) == [(Span(0, 3, "Name"),), (), ()]


@pytest.mark.parametrize("place", [0, 5, 13, 14, 15, 27, 60])
def test_nothing_is_missed_in_a_text_longer_than_the_model_takes(model: str, place: int) -> None:
    words = ["he"] * 60
    words[place:place] = ["type", "2", "diabetes"]
    start = 3 * place
    concept = TokenClassification(labels=("Disease",), model=model)
    assert concept.find(" ".join(words)) == (Span(start, start + len("type 2 diabetes"), "Disease"),)


def test_an_entity_longer_than_the_model_takes_is_covered_in_whole(model: str) -> None:
    text = " ".join(["type", *["2"] * 50])
    found = TokenClassification(labels=("Disease",), model=model).find(text)
    covered = {position for span in found for position in range(span.start, span.end)}
    assert covered >= {position for position, character in enumerate(text) if character != " "}


def test_an_unknown_label_gets_a_guess(model: str) -> None:
    with pytest.raises(UnknownNameError, match=r"'Diseases'; did you mean 'Disease'\? \(known: Disease, Name\)"):
        TokenClassification(labels=("Diseases",), model=model).find("x")


def test_a_folder_without_a_model_is_an_error_of_one_line(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match=r"cannot be loaded: .") as caught:
        TokenClassification(labels=("Disease",), model=str(tmp_path)).find("x")
    assert str(tmp_path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_broken_weights_are_an_error(model: str, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    shutil.copytree(model, broken)
    (broken / "model.safetensors").write_bytes(b"rubbish")
    with pytest.raises(InvalidInputError, match=r"cannot be loaded: .*header"):
        TokenClassification(labels=("Disease",), model=str(broken)).find("x")


def test_a_model_without_a_trained_classifier_is_an_error(model: str, tmp_path: Path) -> None:
    from safetensors.numpy import load_file, save_file

    untrained = tmp_path / "untrained"
    shutil.copytree(model, untrained)
    weights = load_file(untrained / "model.safetensors")
    kept = {name: array for name, array in weights.items() if not name.startswith("classifier")}
    save_file(kept, untrained / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(InvalidInputError, match=r"no weights for classifier\.bias, classifier\.weight"):
        TokenClassification(labels=("Disease",), model=str(untrained)).find("x")


def test_without_transformers_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(MissingExtraError, match=r"vecveil\[local\]"):
        TokenClassification(labels=("Disease",), model="another model").find("x")


def test_a_model_that_neither_disk_nor_hub_has_is_refused_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def unreachable(*_: object, **__: object) -> None:
        raise ConnectionError

    monkeypatch.setattr("huggingface_hub.HfApi.model_info", unreachable)
    monkeypatch.setattr("transformers.AutoTokenizer.from_pretrained", lambda *_, **__: pytest.fail("asked the hub"))
    concept = TokenClassification(labels=("Age",), model="nobody/nothing")
    with pytest.raises(InvalidInputError, match="cannot load the model 'nobody/nothing': no such folder, no copy"):
        concept.find("68 years old")
