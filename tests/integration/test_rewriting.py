"""The rewriter that needs Presidio and the real spaCy pipeline."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from vecveil.concepts import terms
from vecveil.concepts.passage import Passage, passages
from vecveil.concepts.rewriting import build_rewriter
from vecveil.testing.rewriters import check_rewriter


def _rewrite(name: str, texts: list[str], **choices: Any) -> list[str]:
    return build_rewriter(name, choices).rewrite(passages(texts), terms("gout"), np.random.default_rng(0))


def test_personal_data_is_masked_word_by_word_whatever_the_concept_is() -> None:
    text = "Angela Merkel has gout and wrote to jane.doe@example.com."
    assert _rewrite("remove-pii", [text]) == ["* * has gout and wrote to *."]
    assert _rewrite("remove-pii", [text], mask="") == ["has gout and wrote to."]
    assert _rewrite("remove-pii", [text], entities=("EMAIL_ADDRESS",)) == ["Angela Merkel has gout and wrote to *."]


@pytest.mark.parametrize("choices", [{}, {"mask": ""}, {"entities": ("PERSON",), "score": 0.8, "mask": "someone"}])
def test_it_keeps_the_contract_of_rewriters(choices: dict[str, Any]) -> None:
    check_rewriter(
        build_rewriter("remove-pii", choices),
        terms("Angela Merkel", "Barack Obama"),
        positive=Passage("Angela Merkel spoke in the garden."),
        all_private=Passage("Barack Obama."),
        negative=Passage("The cat slept  again , and purred."),
    )
