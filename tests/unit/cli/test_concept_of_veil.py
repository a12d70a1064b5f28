from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.corpora import CITIES, ILLNESSES, TOY_CONCEPT, toml_of, toy_concept
from support.veils import made_veil

from vecveil.cli.concept_of_veil import concept_of
from vecveil.concepts import Concept, annotated, entities, patterns, presidio, terms
from vecveil.core.errors import ArtifactError, InvalidInputError
from vecveil.veil import Veil


def _veil(told: Any) -> Veil:
    veil = made_veil()
    return replace(veil, provenance=replace(veil.provenance, concept=dict(told)))


def _found(work: Path, told: Any, named: Path | None = None) -> Concept:
    veil = _veil(told)
    veil.save(work / "a.veil", overwrite=True)
    return concept_of(Veil.load(work / "a.veil"), Path("a.veil"), named)


def test_the_named_file_is_taken_whatever_the_veil_tells(work: Path) -> None:
    (work / "any.toml").write_text(toml_of(("X", ["one", "two"])))
    assert _found(work, {"kind": "terms", "terms": 1}, Path("any.toml")) == terms("one", "two", label="X")


def test_a_named_file_that_is_not_there_is_an_error(work: Path) -> None:
    (work / "concept.toml").write_text(TOY_CONCEPT)
    with pytest.raises(ArtifactError, match=r"no concept file other\.toml"):
        _found(work, toy_concept().summary(), Path("other.toml"))


@pytest.mark.parametrize(
    "concept",
    [
        toy_concept(),
        terms(*ILLNESSES),
        patterns(AGE=r"\d+ years"),
        entities("PERSON", "GPE"),
        presidio("PERSON"),
        annotated("DISEASE"),
        annotated(),
    ],
)
def test_a_veil_that_holds_its_concept_needs_no_file(work: Path, concept: Concept) -> None:
    assert _found(work, concept.settings()) == concept


@pytest.mark.parametrize("concept", [entities("PERSON", "GPE"), presidio("PERSON", score=0.7)])
def test_what_a_summary_tells_in_full_needs_no_file(work: Path, concept: Concept) -> None:
    assert _found(work, concept.summary()) == concept


def test_the_one_file_beside_the_veil_that_fits_is_taken(work: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (work / "concept.toml").write_text(TOY_CONCEPT)
    (work / "smaller.toml").write_text(toml_of(("ILLNESS", ILLNESSES[:2]), ("CITY", CITIES)))
    (work / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    (work / "broken.toml").write_text("[[part")
    (work / "folder.toml").mkdir()
    assert _found(work, toy_concept().summary()) == toy_concept()
    said = capsys.readouterr()
    assert "concept.toml, which fits the veil; name another with --concept" in said.err
    assert said.out == ""
    assert not any(word in said.err for word in ILLNESSES)


def test_a_file_in_the_working_folder_is_found_too(work: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    (work / "concept.toml").write_text(TOY_CONCEPT)
    elsewhere = tmp_path_factory.mktemp("veils")
    veil = _veil(toy_concept().summary())
    veil.save(elsewhere / "a.veil")
    assert concept_of(veil, elsewhere / "a.veil", None) == toy_concept()


def test_one_file_is_not_taken_for_two_on_a_roundabout_way(work: Path) -> None:
    (work / "concept.toml").write_text(TOY_CONCEPT)
    (work / "deep").mkdir()
    veil = _veil(toy_concept().summary())
    veil.save(work / "a.veil")
    assert concept_of(veil, Path("deep/../a.veil"), None) == toy_concept()
    assert concept_of(veil, Path(f"../{work.name}/a.veil"), None) == toy_concept()


def test_two_files_that_fit_are_both_left(work: Path) -> None:
    (work / "one.toml").write_text(TOY_CONCEPT)
    (work / "two.toml").write_text(toml_of(("A", "abcd"), ("B", "ef")))
    with pytest.raises(InvalidInputError, match=r"--concept FILE.*several files .* fit it \(one\.toml, two\.toml\)"):
        _found(work, toy_concept().summary())


@pytest.mark.parametrize("told", [{"kind": "terms", "terms": 3}, {"kind": "annotated", "labels": 0}, {"kind": "odd"}])
def test_without_a_file_that_fits_one_must_be_named(work: Path, told: Any) -> None:
    (work / "concept.toml").write_text(TOY_CONCEPT)
    with pytest.raises(InvalidInputError, match=r"private with --concept FILE: .* no file beside the veil fits it"):
        _found(work, told)
