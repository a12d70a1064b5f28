from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

from support.guards import TEXTS
from support.veils import unit_vectors
from vecveil.core.errors import InvalidInputError
from vecveil.integrations.sklearn import VeilTransformer
from vecveil.veil import Guard


def test_texts_and_vectors_are_protected(guard: Guard) -> None:
    transformer = VeilTransformer(guard)
    assert np.array_equal(transformer.fit_transform(TEXTS), guard.protect_texts(TEXTS))
    assert np.array_equal(transformer.transform(np.array(TEXTS, dtype=object)), guard.protect_texts(TEXTS))
    vectors = unit_vectors(4, 16)
    assert np.array_equal(transformer.transform(vectors), guard.protect_vectors(vectors))
    assert transformer.get_feature_names_out()[15] == "veiled15"


def test_it_takes_its_place_in_a_pipeline(guard: Guard) -> None:
    pipeline = make_pipeline(VeilTransformer(guard), LogisticRegression())
    pipeline.fit(TEXTS * 4, [0, 1, 0] * 4)
    assert pipeline.predict(TEXTS).shape == (3,)


def test_a_clone_is_the_same_guard(guard: Guard) -> None:
    assert clone(VeilTransformer(guard)).guard is guard


def test_what_is_neither_text_nor_vector_is_refused(guard: Guard) -> None:
    with pytest.raises(InvalidInputError, match="row 1 has no text, but int"):
        VeilTransformer(guard).transform(np.array(["a", 7], dtype=object))
    with pytest.raises(InvalidInputError, match="one column"):
        VeilTransformer(guard).transform(np.array([["a", "b"], ["c", "d"]], dtype=object))
    with pytest.raises(InvalidInputError, match="dimensions"):
        VeilTransformer(guard).transform(unit_vectors(2, 5))


def test_the_checks_of_scikit_learn_that_need_no_vectors_of_their_own_pass(guard: Guard) -> None:
    # Its checks fit on random numbers of any width, which no embedder made; those fail by design, the others must not.
    outcomes = check_estimator(VeilTransformer(guard), on_fail=None, on_skip=None)
    passed = {one["check_name"] for one in outcomes if one["status"] == "passed"}
    assert {
        "check_no_attributes_set_in_init",
        "check_get_params_invariance",
        "check_set_params",
        "check_parameters_default_constructible",
        "check_estimator_cloneable",
        "check_estimator_repr",
        "check_estimator_tags_renamed",
        "check_valid_tag_types",
    } <= passed
