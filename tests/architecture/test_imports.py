"""What must not be loaded, and what must not be in the tree."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import vecveil

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "src" / "vecveil").rglob("*.py"))
HEAVY = ("torch", "transformers", "sentence_transformers", "spacy", "presidio_analyzer", "pyarrow", "sklearn", "scipy")
HEAVY += ("captum", "dp_accounting", "jinja2", "msgspec", "mteb", "playwright", "psycopg", "sqlite3")


def loaded_by(statement: str) -> set[str]:
    code = f"import sys; {statement}; print(*{{name.split('.')[0] for name in sys.modules}})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@pytest.mark.parametrize(
    "statement",
    [
        "import vecveil",
        "import vecveil.cli.main",
        "import vecveil.mechanisms.mahalanobis, vecveil.mechanisms.purkayastha, vecveil.artifacts, vecveil.accounting",
        "import vecveil, numpy; vecveil.terms('x').find('x')",
    ],
)
def test_nothing_heavy_is_loaded_before_it_is_used(statement: str) -> None:
    assert loaded_by(statement).isdisjoint(HEAVY)


@pytest.mark.parametrize("statement", ["import vecveil", "import vecveil.cli.main"])
def test_a_start_loads_no_numpy(statement: str) -> None:
    assert "numpy" not in loaded_by(statement)


@pytest.mark.parametrize(
    "statement",
    [
        "import vecveil; vecveil.core; vecveil.veil.Veil",
        "import vecveil; vecveil.shapes.NoiseShape",
        "import vecveil; from vecveil import *; assert learn is vecveil.learn is not None",
        "import vecveil; assert set(vecveil.__all__) <= set(dir(vecveil))",
    ],
)
def test_names_and_parts_of_the_package_are_found_when_asked_for(statement: str) -> None:
    assert "vecveil" in loaded_by(statement)


def test_a_name_that_the_package_has_not_is_refused() -> None:
    with pytest.raises(AttributeError, match="no attribute 'anythin'"):
        vecveil.anythin  # type: ignore[attr-defined]  # noqa: B018


def test_perturbing_vectors_loads_no_torch() -> None:
    statement = (
        "import numpy as np; from vecveil.mechanisms import MECHANISMS; "
        "from vecveil.mechanisms.draws import fresh_draws; "
        "mechanism = MECHANISMS.load('mahalanobis')(epsilon=1.0, variances=np.ones(3)); "
        "mechanism.release(np.ones((2, 3)), fresh_draws(mechanism, 2))"
    )
    # Numba looks for SciPy's matrix products when it is loaded.
    assert loaded_by(statement).isdisjoint({*HEAVY} - {"scipy"})


@pytest.mark.parametrize("name", vecveil.__all__)
def test_every_public_name_is_there_and_documented(name: str) -> None:
    thing = getattr(vecveil, name)
    assert name == "__version__" or thing.__doc__


def test_no_pickle_no_eval_and_no_catch_all_module() -> None:
    banned = re.compile(r"\b(import pickle|pickle\.|(?<!\.)eval\(|exec\(|torch\.load\()")
    assert [path.name for path in SOURCES if banned.search(path.read_text(encoding="utf-8"))] == []
    assert {path.stem for path in SOURCES} & {"utils", "helpers", "common", "misc"} == set()


def test_numpys_own_generators_never_make_noise() -> None:
    """`default_rng` is for learners, splits and audits; only secure streams feed a release."""
    users = {
        path.relative_to(ROOT / "src" / "vecveil").as_posix() for path in SOURCES if "default_rng" in path.read_text()
    }
    allowed = {
        "audit/frontier/bench.py",
        "audit/frontier/level.py",
        "audit/frontier/run.py",
        "audit/frontier/yardstick.py",
        "attacks/priors/training.py",
        "attacks/probe.py",
        "attacks/priors/lesson.py",
        "attacks/generation/token_rows.py",
        "attacks/training/loop.py",
        "bench/learning.py",
        "bench/noise.py",
        "bench/subjects.py",
        "audit/corpus.py",
        "audit/defences.py",
        "audit/estimate.py",
        "audit/run.py",
        "concepts/contrast.py",
        "core/checks.py",
        "reproduce/case_study.py",
        "reproduce/lab.py",
        "reproduce/neuron_masks.py",
        "reproduce/overhead.py",
        "reproduce/privacy_neurons.py",
        "reproduce/similar_tokens.py",
        "testing/attacks.py",
        "testing/mechanisms.py",
        "testing/rewriters.py",
        "testing/samplers.py",
        "testing/shapes.py",
        "testing/tasks.py",
        "testing/toy_notes.py",
        "veil/learn.py",
        "veil/noise.py",
    }
    assert users <= allowed
