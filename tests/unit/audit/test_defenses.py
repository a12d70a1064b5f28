from __future__ import annotations

import numpy as np
import pytest

from support.corpora import ILLNESSES, toy_concept, toy_corpus, toy_texts
from support.embedders import WordEmbedder
from support.veils import made_veil, rotated_shape, unit_vectors
from vecveil.audit.defenses import Rewritten, Undefended, Veiled, make_veil, uniform_shape
from vecveil.audit.embedding import MemoizedConcept, MemoizedEmbedder
from vecveil.concepts import Passage, Span, annotated, words
from vecveil.concepts.passage import passages
from vecveil.concepts.rewriting import build_rewriter
from vecveil.core.errors import InvalidInputError
from vecveil.core.key import Key
from vecveil.mechanisms.grid import GRIDS
from vecveil.veil import Veil, learn

DEFENSES = ("laplace", "purkayastha", "veil")
K = 16


def _rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def _veil(name: str) -> Veil:
    """Return a veil, or plain noise by the mechanism of that name."""
    if name == "veil":
        return made_veil()
    return make_veil(uniform_shape(8), toy_corpus().pairs, made_veil().fingerprint, mechanism=name)


def _defense(name: str, ratio: float, *, keyed: bool = False) -> Veiled:
    veil = _veil(name)
    return Veiled(veil=veil, epsilon=veil.epsilon_for(noise_ratio=ratio), keyed=keyed)


def test_no_defense_lets_vectors_out_as_they_are() -> None:
    clean = unit_vectors(5)
    assert not Undefended().noisy
    np.testing.assert_array_equal(Undefended().protect([], clean, _rng(), times=3), clean)


@pytest.mark.parametrize("grid", GRIDS)
@pytest.mark.parametrize("name", [*DEFENSES, "everything"])
def test_what_is_attacked_is_what_ships(name: str, grid: str) -> None:
    clean = unit_vectors(400, seed=2)
    veil = _veil(name) if name != "everything" else _veil_with_everything()
    attacked = Veiled(veil=veil, epsilon=9.0, grid=grid).protect([], clean, _rng(4))
    release = veil.release(epsilon=9.0, grid=grid, rng=_rng(4))
    np.testing.assert_array_equal(attacked, release.grid.values(release.protect_vectors(clean)))
    assert attacked.dtype == clean.dtype


def _veil_with_everything() -> Veil:
    """Return a veil with axes of its own, a center, and an axis that is not released."""
    return make_veil(rotated_shape(), toy_corpus().pairs, made_veil().fingerprint)


@pytest.mark.parametrize("grid", GRIDS)
def test_what_is_attacked_with_a_key_is_what_ships_with_that_key(grid: str) -> None:
    clean, veil = unit_vectors(50), made_veil()
    attacked = Veiled(veil=veil, epsilon=9.0, grid=grid, keyed=True).protect([], clean, _rng(4), times=3)
    release = veil.release(epsilon=9.0, grid=grid, key=Key(_rng(4).bytes(32)))
    np.testing.assert_array_equal(attacked, release.grid.values(release.protect_vectors(clean)))


@pytest.mark.parametrize("substitution", ["remove", "placeholder", "randomize"])
def test_the_audit_attacks_texts_whose_words_were_replaced_as_in_a_release(substitution: str) -> None:
    concept, texts = toy_concept(), toy_texts(40)
    veil = learn(
        concept, texts, embedder=WordEmbedder(), substitution=substitution, settings={"directions": 2}, public=True
    )
    model = WordEmbedder()
    embed, held = MemoizedEmbedder(model), passages(texts)
    defense = Veiled(veil=veil, epsilon=9.0, embed=embed, concept=MemoizedConcept(concept))
    attacked = defense.protect(held, unit_vectors(40), _rng(4))
    assert not {*model.asked} & {text for text in texts if substitution == "remove" and concept.find(text)}
    np.testing.assert_array_equal(attacked, veil.release(epsilon=9.0, rng=_rng(4)).protect_texts(texts, WordEmbedder()))


def test_vectors_without_their_texts_are_attacked_as_they_came() -> None:
    veil = learn(toy_concept(), toy_texts(40), embedder=WordEmbedder(), settings={"directions": 2}, public=True)
    clean = unit_vectors(5)
    attacked = Veiled(veil=veil, epsilon=9.0).protect([Passage("a goutosis day")] * 5, clean, _rng())
    np.testing.assert_array_equal(attacked, veil.release(epsilon=9.0, rng=_rng()).protect_vectors(clean))


def test_an_attack_on_int8_sees_whole_steps_times_the_step() -> None:
    clean, veil = unit_vectors(300), made_veil()
    step = veil.grid_at(9.0, "int8").step
    seen = Veiled(veil=veil, epsilon=9.0, grid="int8").protect([], clean, _rng())
    steps = seen / step
    np.testing.assert_array_equal(steps, np.rint(steps))
    assert len(np.unique(steps)) > 20
    # The same noise on a finer grid: within a step of it, or brought to the edge.
    fine = Veiled(veil=veil, epsilon=9.0).protect([], clean, _rng()).clip(-127 * step, 127 * step)
    assert 0 < np.abs(seen - fine).max() <= step


def test_several_releases_are_averaged_as_they_ship() -> None:
    clean, veil = unit_vectors(20), made_veil()
    release = veil.release(epsilon=9.0, grid="int8", rng=_rng(1))
    shipped = [release.grid.values(release.protect_vectors(clean)) for _ in range(4)]
    seen = Veiled(veil=veil, epsilon=9.0, grid="int8").protect([], clean, _rng(1), times=4)
    np.testing.assert_allclose(seen, np.mean(shipped, axis=0, dtype=np.float64), rtol=1e-6)


@pytest.mark.parametrize("name", DEFENSES)
def test_noise_of_every_kind_has_the_length_that_was_asked_for(name: str) -> None:
    clean = unit_vectors(4000, seed=9)
    released = _defense(name, 0.5).protect([], clean, _rng()).astype(np.float64)
    # The part of the noise that turns a vector, which is all that purkayastha has, over the length that is left of it.
    along = np.sum(released * clean, axis=1)
    sideways = np.sqrt(np.mean(np.sum((released - along[:, None] * clean) ** 2, axis=1)))
    expected = 0.5 if name == "purkayastha" else 0.5 * np.sqrt(7 / 8)
    assert sideways / along.mean() == pytest.approx(expected, rel=0.06)


@pytest.mark.parametrize("name", DEFENSES)
def test_every_release_draws_afresh_and_a_seed_repeats_it(name: str) -> None:
    defense = Veiled(veil=_veil(name), epsilon=8.0)
    clean, rng = unit_vectors(5), _rng(1)
    assert defense.noisy
    first, second = defense.protect([], clean, rng), defense.protect([], clean, rng)
    assert (first != second).any(axis=1).all()
    np.testing.assert_array_equal(defense.protect([], clean, _rng(1)), first)


def test_no_vectors_give_no_vectors() -> None:
    assert _defense("veil", 1.0).protect([], unit_vectors(0), _rng()).shape == (0, 8)


def test_with_a_key_the_same_record_gets_the_same_release_again() -> None:
    defense, clean = _defense("veil", 1.0, keyed=True), unit_vectors(6)
    twice = defense.protect([], np.concatenate([clean, clean]), _rng())
    np.testing.assert_array_equal(twice[:6], twice[6:])
    once = defense.protect([], clean, _rng(3))
    np.testing.assert_allclose(defense.protect([], clean, _rng(3), times=K), once, rtol=1e-6)
    fresh = _defense("veil", 1.0).protect([], np.concatenate([clean, clean]), _rng())
    assert (fresh[:6] != fresh[6:]).any(axis=1).all()


def test_an_attacker_who_trains_with_other_keys_learns_other_noise() -> None:
    defense, clean, rng = _defense("veil", 1.0, keyed=True), unit_vectors(6), _rng()
    first, second = defense.protect([], clean, rng), defense.protect([], clean, rng)
    assert (first != second).any(axis=1).all()


def _error(name: str, *, keyed: bool, times: int) -> float:
    clean = unit_vectors(2000, seed=3)
    released = _defense(name, 1.0, keyed=keyed).protect([], clean, _rng(5), times=times)
    return float(np.sqrt(np.mean(np.sum((released - clean) ** 2, axis=1))))


@pytest.mark.parametrize("name", ["laplace", "veil"])
def test_fresh_noise_averages_away_as_the_root_of_k_and_keyed_noise_stays(name: str) -> None:
    fresh = _error(name, keyed=False, times=1) / _error(name, keyed=False, times=K)
    keyed = _error(name, keyed=True, times=1) / _error(name, keyed=True, times=K)
    # 2,000 rows of a length whose spread is a third of it: the ratio is known to about 1 %.
    assert fresh == pytest.approx(np.sqrt(K), rel=0.05)
    assert keyed == pytest.approx(1.0, rel=1e-6)


def test_the_axes_of_a_rotated_veil_are_public() -> None:
    veil = made_veil(shape=rotated_shape())
    assert Veiled(veil=veil, epsilon=8.0).axes is veil.shape.axes
    assert _defense("laplace", 1.0).axes is None


def test_a_budget_that_the_veil_refuses_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="released in clear"):
        _defense("veil", 1e-7).protect([], unit_vectors(3), _rng())


def test_a_veil_for_a_comparison_says_what_it_is_made_of() -> None:
    pairs, model = toy_corpus().pairs, made_veil().fingerprint
    veil = make_veil(rotated_shape(), pairs, model, learner="canonical", facts={"directions": 1.0})
    assert (veil.mechanism, veil.provenance.learner["name"], veil.provenance.pairs) == (
        "mahalanobis",
        "canonical",
        len(pairs),
    )
    assert veil.provenance.facts == {"directions": 1.0}
    lengths = np.linalg.norm(pairs.with_concept.astype(np.float64) - pairs.without_concept, axis=1)
    plain = make_veil(uniform_shape(8), pairs, model, mechanism="laplace")
    assert plain.typical.pair == pytest.approx(np.median(lengths), rel=0.01)
    assert plain.shape.axes is None


def _rewritten(name: str, texts: list[str]) -> tuple[Rewritten, WordEmbedder]:
    embedder = WordEmbedder()
    rewriter = build_rewriter(name)
    defense = Rewritten.over_corpus(passages(texts), rewriter, toy_concept(), MemoizedEmbedder(embedder), seed=0)
    return defense, embedder


@pytest.mark.parametrize("name", ["remove", "random-replacement", "semantic-replacement"])
def test_a_rewritten_text_is_embedded_in_the_place_of_its_own(name: str) -> None:
    texts = toy_texts(60)
    defense, embedder = _rewritten(name, texts)
    released = defense.protect(passages(texts), WordEmbedder().embed(texts), _rng())
    assert not defense.noisy
    assert released.shape == (60, 8)
    private = toy_concept()
    for text, rewritten in zip(texts, [defense.known[text] for text in texts], strict=True):
        own = {word for span in private.find(text) for word in words(text[span.start : span.end])}
        assert own.isdisjoint(words(rewritten))
        assert bool(own) == (text != rewritten)
    assert set(embedder.asked) == set(defense.known.values())
    np.testing.assert_array_equal(released, WordEmbedder().embed([defense.known[text] for text in texts]))


def test_a_part_of_the_corpus_is_rewritten_as_it_was_with_the_whole() -> None:
    texts = toy_texts(60)
    defense, _ = _rewritten("semantic-replacement", texts)
    clean = WordEmbedder().embed(texts)
    whole = defense.protect(passages(texts), clean, _rng())
    rows = [40, 3, 17]
    part = defense.protect([Passage(texts[row]) for row in rows], clean[rows], _rng(5))
    np.testing.assert_array_equal(part, whole[rows])


def test_texts_of_a_task_are_rewritten_too() -> None:
    defense, embedder = _rewritten("remove", toy_texts(60))
    other = f"she had {ILLNESSES[0]} for long"
    defense.protect(passages([other, other]), WordEmbedder().embed([other, other]), _rng())
    assert embedder.asked == ["she had for long"]


def test_a_task_gets_the_rewritten_text_of_an_annotated_one() -> None:
    # A task knows texts and not their annotations, without which nothing would be removed.
    marked = Passage("he saw Xanthippe today", (Span(7, 16, "PERSON"),))
    embedder = WordEmbedder()
    defense = Rewritten.over_corpus([marked], build_rewriter("remove"), annotated(), MemoizedEmbedder(embedder), seed=0)
    defense.protect([Passage(marked.text)], WordEmbedder().embed([marked.text]), _rng())
    assert embedder.asked == ["he saw today"]
