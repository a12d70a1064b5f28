from __future__ import annotations

import numpy as np
import pytest
from support.corpora import ILLNESSES, toy_concept, toy_corpus, toy_texts
from support.embedders import WordEmbedder
from support.veils import made_veil, rotated_shape, unit_vectors

from vecveil.audit.budgets import Budget
from vecveil.audit.defences import Rewritten, Undefended, mechanism_of, noise_defence
from vecveil.audit.encoding import Memory
from vecveil.concepts import Passage, Span, annotated, words
from vecveil.concepts.passage import passages
from vecveil.concepts.rewriting import build_rewriter
from vecveil.core.errors import InvalidInputError

DEFENCES = ("laplace", "purkayastha", "veil")


def _rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def _ratio(value: float) -> Budget:
    return Budget(value=value, scale="noise-ratio")


def test_no_defence_lets_vectors_out_as_they_are() -> None:
    clean = unit_vectors(5)
    assert not Undefended().noisy
    np.testing.assert_array_equal(Undefended().release([], clean, _rng()), clean)


@pytest.mark.parametrize("name", DEFENCES)
def test_noise_of_every_kind_has_the_length_that_was_asked_for(name: str) -> None:
    setting, defence = noise_defence(name, _ratio(0.5), veil=made_veil(), pairs=toy_corpus().pairs, seed=0)
    assert setting.dials is not None
    assert setting.dials.noise_ratio == pytest.approx(0.5)
    clean = unit_vectors(4000, seed=9)
    released = defence.release([], clean, _rng()).astype(np.float64)
    # The part of the noise that turns a vector, which is all that purkayastha has, over the length that is left of it.
    along = np.sum(released * clean, axis=1)
    sideways = np.sqrt(np.mean(np.sum((released - along[:, None] * clean) ** 2, axis=1)))
    expected = 0.5 if name == "purkayastha" else 0.5 * np.sqrt(7 / 8)
    assert sideways / along.mean() == pytest.approx(expected, rel=0.06)


@pytest.mark.parametrize("name", DEFENCES)
def test_every_release_draws_afresh_and_a_seed_repeats_it(name: str) -> None:
    budget = Budget(value=8.0, scale="literal")
    _, defence = noise_defence(name, budget, veil=made_veil(), pairs=toy_corpus().pairs, seed=0)
    clean, rng = unit_vectors(5), _rng(1)
    assert defence.noisy
    first, second = defence.release([], clean, rng), defence.release([], clean, rng)
    assert (first != second).any(axis=1).all()
    np.testing.assert_array_equal(defence.release([], clean, _rng(1)), first)
    assert first.dtype == clean.dtype


def test_settings_name_defence_budget_and_seed() -> None:
    setting, _ = noise_defence("laplace", _ratio(2.0), veil=made_veil(), pairs=toy_corpus().pairs, seed=7)
    assert (setting.defence, setting.label, setting.asked, setting.seed) == ("laplace", "laplace", "noise 2", 7)
    setting, _ = noise_defence("veil", _ratio(2.0), veil=made_veil(), pairs=toy_corpus().pairs, seed=7)
    assert (setting.defence, setting.label) == ("veil", "veil, hard-concrete")


def test_the_dials_are_those_of_the_mechanism_on_the_audited_pairs() -> None:
    pairs = toy_corpus().pairs
    setting, _ = noise_defence("laplace", Budget(value=4.0, scale="literal"), veil=made_veil(), pairs=pairs, seed=0)
    distances = np.linalg.norm(pairs.with_concept.astype(np.float64) - pairs.without_concept, axis=1)
    assert setting.dials is not None
    assert (setting.dials.epsilon, setting.dials.distance) == (4.0, "Euclidean distance")
    assert setting.dials.pair_loss == pytest.approx(4.0 * np.median(distances), rel=5e-3)
    assert setting.dials.noise_ratio == pytest.approx(np.sqrt(8 * 9) / 4)


def test_the_dials_do_not_tell_the_exact_distance_of_one_record() -> None:
    setting, _ = noise_defence(
        "laplace", Budget(value=1.0, scale="literal"), veil=made_veil(), pairs=toy_corpus().pairs, seed=0
    )
    assert setting.dials is not None
    assert setting.dials.pair_loss == float(f"{setting.dials.pair_loss:.3g}")


def test_the_axes_of_a_rotated_veil_are_public() -> None:
    veil = made_veil(shape=rotated_shape())
    _, defence = noise_defence("veil", _ratio(1.0), veil=veil, pairs=toy_corpus().pairs, seed=0)
    assert defence.axes is veil.shape.axes
    _, plain = noise_defence("laplace", _ratio(1.0), veil=veil, pairs=toy_corpus().pairs, seed=0)
    assert plain.axes is None


def test_a_budget_that_the_veil_refuses_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="released in clear"):
        mechanism_of("veil", _ratio(1e-7), made_veil())


def test_a_budget_that_leaves_nothing_is_refused() -> None:
    with pytest.raises(InvalidInputError, match=r"ε = 1e-12 is too little for purkayastha"):
        mechanism_of("purkayastha", Budget(value=1e-12, scale="literal"), made_veil())


def _rewritten(name: str, texts: list[str]) -> tuple[Rewritten, WordEmbedder]:
    embedder = WordEmbedder()
    rewriter = build_rewriter(name)
    defence = Rewritten.over(passages(texts), rewriter, toy_concept(), Memory(embedder), seed=0)
    return defence, embedder


@pytest.mark.parametrize("name", ["remove", "random-replacement", "semantic-replacement"])
def test_a_rewritten_text_is_embedded_in_the_place_of_its_own(name: str) -> None:
    texts = toy_texts(60)
    defence, embedder = _rewritten(name, texts)
    released = defence.release(passages(texts), WordEmbedder().embed(texts), _rng())
    assert not defence.noisy
    assert released.shape == (60, 8)
    private = toy_concept()
    for text, rewritten in zip(texts, [defence.known[text] for text in texts], strict=True):
        own = {word for span in private.find(text) for word in words(text[span.start : span.end])}
        assert own.isdisjoint(words(rewritten))
        assert bool(own) == (text != rewritten)
    assert set(embedder.asked) == set(defence.known.values())
    np.testing.assert_array_equal(released, WordEmbedder().embed([defence.known[text] for text in texts]))


def test_a_part_of_the_corpus_is_rewritten_as_it_was_with_the_whole() -> None:
    texts = toy_texts(60)
    defence, _ = _rewritten("semantic-replacement", texts)
    clean = WordEmbedder().embed(texts)
    whole = defence.release(passages(texts), clean, _rng())
    rows = [40, 3, 17]
    part = defence.release([Passage(texts[row]) for row in rows], clean[rows], _rng(5))
    np.testing.assert_array_equal(part, whole[rows])


def test_texts_of_a_task_are_rewritten_too() -> None:
    defence, embedder = _rewritten("remove", toy_texts(60))
    other = f"she had {ILLNESSES[0]} for long"
    defence.release(passages([other, other]), WordEmbedder().embed([other, other]), _rng())
    assert embedder.asked == ["she had for long"]


def test_a_task_gets_the_rewritten_text_of_an_annotated_one() -> None:
    # A task knows texts and not their annotations, without which nothing would be removed.
    marked = Passage("he saw Xanthippe today", (Span(7, 16, "PERSON"),))
    embedder = WordEmbedder()
    defence = Rewritten.over([marked], build_rewriter("remove"), annotated(), Memory(embedder), seed=0)
    defence.release([Passage(marked.text)], WordEmbedder().embed([marked.text]), _rng())
    assert embedder.asked == ["he saw today"]


def test_personal_data_are_masked_whatever_the_concept_is() -> None:
    text = f"Please write to jane.doe@example.com about {ILLNESSES[0]}."
    defence, _ = _rewritten("remove-pii", [text])
    assert "example.com" not in defence.known[text]
    assert ILLNESSES[0] in defence.known[text]
