from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from vecveil import concepts
from vecveil.concepts import CONCEPTS, annotated, entities, load_concept, patterns, presidio, terms
from vecveil.concepts.annotated import Annotated
from vecveil.concepts.entities import Entities
from vecveil.concepts.patterns import Patterns
from vecveil.concepts.presidio import Presidio
from vecveil.concepts.terms import Terms
from vecveil.concepts.token_classification import TokenClassification
from vecveil.core.errors import InvalidInputError, UnknownNameError

_HEAVY = ("torch", "transformers", "spacy", "presidio_analyzer", "tldextract", "pyarrow")


def test_functions_make_the_concepts_they_are_named_after(tmp_path: Path) -> None:
    assert terms("gout", label="DISEASE") == Terms(terms=("gout",), label="DISEASE")
    assert patterns({"AN AGE": "a"}, ID="b", timeout=2) == Patterns(patterns={"AN AGE": "a", "ID": "b"}, timeout=2)
    assert entities("PERSON") == Entities(labels=("PERSON",))
    assert entities("PERSON", model="xx") == Entities(labels=("PERSON",), model="xx")
    assert entities("Age", model="m", backend="transformers") == TokenClassification(labels=("Age",), model="m")
    assert presidio("PERSON", score=0.4) == Presidio(entities=("PERSON",), score=0.4)
    assert annotated("Age") == Annotated(labels=("Age",))
    (tmp_path / "concept.toml").write_text('[[part]]\nkind = "annotated"\nlabels = ["Age"]\n', encoding="utf-8")
    assert load_concept(tmp_path / "concept.toml") == annotated("Age")


def test_loading_the_kinds_does_not_put_modules_over_the_functions() -> None:
    for name in CONCEPTS.names():
        CONCEPTS.load(name)
    assert all(callable(getattr(concepts, name)) for name in ("terms", "patterns", "entities", "presidio", "annotated"))


def test_every_export_is_there() -> None:
    assert [name for name in concepts.__all__ if not hasattr(concepts, name)] == []


def test_a_token_classifier_needs_a_model() -> None:
    with pytest.raises(InvalidInputError, match="needs a model"):
        entities("Age", backend="transformers")


def test_an_unknown_backend_gets_a_guess() -> None:
    backend: Any = "spaci"
    with pytest.raises(UnknownNameError, match="did you mean 'spacy'"):
        entities("PERSON", backend=backend)


def test_importing_concepts_loads_no_heavy_library() -> None:
    code = f"import sys, vecveil.concepts; print([name for name in {_HEAVY} if name in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
