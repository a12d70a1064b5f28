from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vecveil.concepts.annotated import Annotated
from vecveil.concepts.concept import Concept, Union
from vecveil.concepts.entities import Entities
from vecveil.concepts.passage import Passage, Span, Spans
from vecveil.concepts.patterns import Patterns
from vecveil.concepts.presidio import Presidio
from vecveil.concepts.settings import to_settings
from vecveil.concepts.terms import Terms
from vecveil.concepts.token_classification import TokenClassification
from vecveil.concepts.toml_file import dump_concept, load_concept, parse_concept
from vecveil.core.errors import ArtifactError, InvalidInputError
from vecveil.core.texts import strip_controls

_DOCUMENT = r"""
name = "illness and age"

[[part]]
kind = "terms"
file = "diseases.txt"
label = "DISEASE"
case-sensitive = true

[[part]]
kind = "patterns"
patterns = { AGE = '\d+ years', ID = ['a', 'b'] }
timeout = 2
"""


def test_a_file_gives_a_named_union_of_its_parts(tmp_path: Path) -> None:
    (tmp_path / "diseases.txt").write_text("gout\n# a comment\nasthma\n", encoding="utf-8")
    (tmp_path / "concept.toml").write_text(_DOCUMENT, encoding="utf-8")
    assert load_concept(tmp_path / "concept.toml") == Union(
        name="illness and age",
        parts=(
            Terms(terms=("gout", "asthma"), label="DISEASE", case_sensitive=True),
            Patterns(patterns={"AGE": r"\d+ years", "ID": ["a", "b"]}, timeout=2.0),
        ),
    )


def test_one_part_without_a_name_is_the_part_itself() -> None:
    assert parse_concept('[[part]]\nkind = "annotated"', folder=Path()) == Annotated()


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match=r"no concept file .*none\.toml"):
        load_concept(tmp_path / "none.toml")


def test_a_file_that_is_not_text_is_named(tmp_path: Path) -> None:
    (tmp_path / "concept.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(ArtifactError, match=r"concept\.toml: UnicodeDecodeError"):
        load_concept(tmp_path / "concept.toml")


def test_broken_toml_is_told_with_file_and_line(tmp_path: Path) -> None:
    (tmp_path / "concept.toml").write_text('name = "x"\n[[part]\n', encoding="utf-8")
    with pytest.raises(ArtifactError, match=r"concept\.toml is not valid TOML: .*line 2"):
        load_concept(tmp_path / "concept.toml")


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ("", "no parts"),
        ("part = []", "no parts"),
        ("part = 3", "'part' must be a list of tables.*got int"),
        ("part = [3]", "part 1: setting 'part' must be a table, got int"),
        ('[part]\nkind = "terms"', r"each under \[\[part\]\], got dict"),
        ('[[parts]]\nkind = "terms"', "unknown key 'parts'; did you mean 'part'"),
        ("name = 3", "'name' must be a string, got int"),
        (
            '[[part]]\nkind = "terms"\nterms = ["a"]\nlabel = "\\u001b[2J"',
            "part 1: a name or label holds control characters",
        ),
        ("[[part]]\nterms = ['a']", "part 1: setting 'kind' is missing.*terms"),
        ("[[part]]\nkind = 'term'", "part 1: unknown concept 'term'; did you mean 'terms'"),
        ("[[part]]\nkind = 'terms'\nterm = ['a']", "unknown setting 'term'; did you mean 'terms'"),
        ("[[part]]\nkind = 'terms'", "setting 'terms' is missing"),
        ("[[part]]\nkind = 'terms'\nterms = 'a'", "'terms' must be a list of strings, got str"),
        ("[[part]]\nkind = 'terms'\nterms = ['a', 3]", "'terms' must be a list of strings, got int as item 2"),
        ("[[part]]\nkind = 'terms'\nfile = 3", "'file' must be a string, got int"),
        (
            "[[part]]\nkind = 'terms'\nterms = ['a']\ncase-sensitive = 1",
            "'case-sensitive' must be true or false, got int",
        ),
        ("[[part]]\nkind = 'presidio'\nentities = ['PERSON']\nscore = true", "'score' must be a number, got bool"),
        ("[[part]]\nkind = 'annotated'\n[[part]]\nkind = 'entities'\nlabels = []", "part 2: at least one label"),
    ],
)
def test_what_is_no_concept_is_told_by_part_and_key(document: str, message: str) -> None:
    with pytest.raises(InvalidInputError, match=f"^patients.toml: .*{message}"):
        parse_concept(document, folder=Path(), source="patients.toml")


@dataclass(frozen=True, kw_only=True)
class _Shouting(Concept):
    kind: ClassVar[str] = "shouting"

    least_letters: int = 2

    def find_all(self, passages: Sequence[Passage]) -> list[Spans]:
        pattern = re.compile(f"[A-Z]{{{self.least_letters},}}")
        return [tuple(Span(*m.span(), "SHOUT") for m in pattern.finditer(passage.text)) for passage in passages]

    def settings(self) -> dict[str, Any]:
        return to_settings(self)

    def summary(self) -> dict[str, Any]:
        return {"kind": self.kind}


def test_another_package_can_add_a_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint(name="shouting", value=f"{__name__}:_Shouting", group="vecveil.concepts")
    monkeypatch.setattr("vecveil.core.registry._points", lambda _: (point,))
    document = '[[part]]\nkind = "shouting"\nleast-letters = 3\n'
    concept = parse_concept(document, folder=Path())
    assert concept == _Shouting(least_letters=3)
    assert concept.remove("this is NOT so OK") == "this is so OK"
    assert dump_concept(concept) == document


_SIGNS = st.characters().filter(lambda sign: strip_controls(sign) == sign)
_PRINTABLE = st.text(_SIGNS)
_NAMES = st.text(_SIGNS, min_size=1).filter(lambda name: bool(name.strip()))
_LABELS = st.lists(_NAMES, min_size=1, max_size=3).map(tuple)
_PARTS: st.SearchStrategy[Concept] = st.one_of(
    st.builds(
        Terms,
        terms=st.lists(_NAMES.map(lambda name: f"x{name}"), min_size=1, max_size=3).map(tuple),
        label=_NAMES,
        case_sensitive=st.booleans(),
        inflections=st.booleans(),
        spacing=st.booleans(),
        letters=st.booleans(),
        misspellings=st.booleans(),
    ),
    st.builds(
        Patterns,
        patterns=st.dictionaries(
            _NAMES,
            st.lists(st.sampled_from([r"\d+", "\"'\\\\", "é\n", "[\x7f]"]), min_size=1),
            min_size=1,
        ),
        timeout=st.floats(1e-6, 1e6),
    ),
    st.builds(Entities, labels=_LABELS, model=_NAMES),
    st.builds(TokenClassification, labels=_LABELS, model=_NAMES, revision=st.none() | _NAMES),
    st.builds(Presidio, entities=_LABELS, score=st.floats(0, 1)),
    st.builds(Annotated, labels=_LABELS),
)


@settings(deadline=None)
@given(st.lists(_PARTS, min_size=2, max_size=3), _PRINTABLE)
def test_any_concept_survives_being_written_and_read(parts: list[Concept], name: str) -> None:
    concept = Union(parts=tuple(parts), name=name)
    assert parse_concept(dump_concept(concept), folder=Path()) == concept
    assert parse_concept(dump_concept(parts[0]), folder=Path()) == parts[0]
