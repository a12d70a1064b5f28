from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from reproduction import Lab
from reproduction.defenses import DefenseName
from reproduction.measures import Attacked
from support.embedders import WordEmbedder
from vecveil.attacks.generation.prior import Prior
from vecveil.audit.frontier import Workbench
from vecveil.core.errors import UnknownNameError
from vecveil.veil.budget import Budget

NONE = DefenseName(name="none")
LAPLACE = DefenseName(name="laplace", budget=Budget(value=10, scale="paper"))


def test_what_was_measured_is_not_measured_again(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    first = lab.attack_dataset("sts12", NONE, "nearest", 0)
    monkeypatch.setattr(Workbench, "attack", None)
    assert lab.attack_dataset("sts12", NONE, "nearest", 0) == first
    with pytest.raises(TypeError):
        lab.attack_dataset("sts12", NONE, "nearest", 1)


def test_what_was_measured_with_another_model_or_on_other_texts_is_measured_anew(lab: Lab) -> None:
    other, fewer = replace(lab, embedder="mpnet"), lab.dataset("clinical")
    found = [
        lab.attack_dataset("sts12", NONE, "nearest", 0),
        other.attack_dataset("sts12", NONE, "nearest", 0),
        replace(lab, datasets={"sts12": fewer}).attack_dataset("sts12", NONE, "nearest", 0),
    ]
    assert len({one.confidence for one in found}) == 3


def test_what_is_kept_of_an_attack_holds_no_text(lab: Lab, tmp_path: Path) -> None:
    found = replace(lab, out=tmp_path).attack_dataset("sts12", NONE, "nearest", 0)
    assert isinstance(found, Attacked)
    assert {*found.categories} == {*found.tokens} == {"DATE", "GPE", "PERSON"}
    kept = "".join(path.read_text() for path in tmp_path.rglob("*.json"))
    assert "leakage" in kept
    assert "Merkel" not in kept
    assert "Paris" not in kept


def test_nothing_depends_on_how_a_path_is_written(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    first = lab.useful("sts12", LAPLACE, 0)
    monkeypatch.chdir(lab.data)
    other = replace(lab, data=Path(), out=lab.out.parent / "elsewhere")
    assert other.useful("sts12", LAPLACE, 0) == first


def test_noise_costs_utility_and_a_set_without_a_task_has_none(lab: Lab) -> None:
    clean, noisy = lab.useful("sts12", NONE, 0), lab.useful("sts12", LAPLACE, 0)
    assert clean is not None
    assert noisy is not None
    assert noisy.score < clean.score
    assert lab.useful("clinical", NONE, 0) is None


def test_an_attack_without_a_prior_is_small_and_one_with_a_prior_takes_its_sizes(lab: Lab, tmp_path: Path) -> None:
    assert lab.attack("vec2text") == f"vec2text,steps=0,{lab.effort.scratch}"
    assert replace(lab, priors={"vec2text": tmp_path}).attack("vec2text") == f"vec2text:{tmp_path},steps=0,epochs=1"
    assert (lab.attack("nearest"), lab.attack("mlc")) == ("nearest", lab.effort.mlc)


def test_the_papers_main_attack_is_taken_where_there_is_a_prior_of_it(lab: Lab, tmp_path: Path) -> None:
    assert lab.main_attack == "nearest"
    assert replace(lab, priors={"geia": tmp_path}).main_attack == "nearest"
    assert replace(lab, priors={"vec2text": tmp_path}).main_attack == "vec2text"


def test_an_attack_is_the_same_wherever_its_prior_lies(lab: Lab, tmp_path: Path) -> None:
    keys = []
    for name in ("one", "other"):
        words = WordEmbedder().fingerprint
        facts = {"settings": {}, "end": 0, "padding": 1, "plan": {}, "training": {}}
        Prior(folder=tmp_path / name, attack="geia", embedder=words, **facts).save()
        keys.append(replace(lab, priors={"geia": tmp_path / name}).attack_key("geia"))
    assert keys[0] == keys[1]
    assert str(tmp_path) not in keys[0]
    assert keys[0] != lab.attack_key("geia")


def test_an_unknown_data_set_is_guessed(lab: Lab) -> None:
    with pytest.raises(UnknownNameError, match=r"'sts13'.*did you mean"):
        lab.dataset("sts13")


def test_a_label_that_a_corpus_has_not_is_no_news(lab: Lab) -> None:
    # A warning would be an error here.
    assert len(replace(lab).bench("clinical").corpus) > 100
