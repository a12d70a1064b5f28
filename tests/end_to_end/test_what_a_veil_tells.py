"""A known limit, held as a test: a learned shape points at its concept."""

from __future__ import annotations

import numpy as np
import pytest

from vecveil.concepts import terms
from vecveil.embedders import resolve_embedder
from vecveil.veil import learn

DISEASES = ("asthma", "epilepsy", "psoriasis", "glaucoma", "osteoporosis", "schizophrenia", "anemia", "migraine")
OWNER = ("The patient was told about {} on ward {}.", "Room {1} is for people with {0}.", "We treated {} in week {}.")
ATTACKER = ("My uncle has {}.", "She reads a book on {}.", "A talk about {} was given.", "Is {} common?")


@pytest.mark.parametrize("shape", ["neuron-sensitivity", "hard-concrete"])
def test_someone_with_the_model_can_guess_what_a_veil_protects(shape: str) -> None:
    embedder = resolve_embedder("minilm")
    secret = DISEASES[2]
    texts = [frame.format(secret, number) for frame in OWNER for number in range(15)]
    texts += [f"Visit {number} was calm and short." for number in range(10)]
    settings = {"epochs": 60} if shape == "hard-concrete" else {}
    veil = learn(terms(secret), texts, embedder=embedder, shape=shape, settings=settings)

    moved = np.stack([_moved(embedder.embed, disease) for disease in DISEASES])
    # What is common to all candidates says nothing of any one of them.
    scores = [np.corrcoef(change, veil.shape.variances)[0, 1] for change in moved - moved.mean(axis=0)]
    assert DISEASES[int(np.argmax(scores))] == secret


def _moved(embed: object, disease: str) -> np.ndarray:
    assert callable(embed)
    with_term = embed([frame.format(disease) for frame in ATTACKER])
    without = embed([" ".join(frame.format("").split()) for frame in ATTACKER])
    return np.abs(with_term - without).mean(axis=0)
