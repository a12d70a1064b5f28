from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pytest

from support.command_line import listing
from support.concepts import CountingTerms
from support.embedders import DIMENSIONS, WordEmbedder
from support.veils import PRIVATE_WORD
from vecveil.concepts import Concept, Passage, Span, annotated, patterns, terms
from vecveil.core.errors import EmbedderMismatchError, InvalidInputError, UnknownNameError, VecveilError, VecveilWarning
from vecveil.ledger import open_ledger
from vecveil.veil import Veil, learn


def _learn(texts: Any, concept: Concept | None = None, **choices: Any) -> Veil:
    options = {"embedder": WordEmbedder(), "shape": "uniform", **choices}
    return learn(concept or terms(PRIVATE_WORD), texts, **options)


def test_a_learned_veil_tells_what_it_was_learned_from(private_texts: list[str]) -> None:
    veil = _learn(private_texts, epsilon=9.0, seed=3)
    assert veil.epsilon == 9.0
    assert veil.fingerprint == WordEmbedder().fingerprint
    assert (veil.provenance.pairs, veil.provenance.seed, veil.provenance.contrast) == (12, 3, "removal")
    assert veil.provenance.learner["name"] == "uniform"
    assert {"python", "vecveil", "numpy"} <= set(veil.provenance.versions)


def test_typical_lengths_are_those_of_the_pairs(private_texts: list[str]) -> None:
    veil = _learn(private_texts)
    held = [text for text in private_texts if PRIVATE_WORD in text]
    removed = [terms(PRIVATE_WORD).remove(text) for text in held]
    distances = np.linalg.norm(WordEmbedder().embed(held) - WordEmbedder().embed(removed), axis=1)
    assert veil.typical.signal == pytest.approx(1.0)
    assert veil.typical.euclidean_pair == pytest.approx(float(np.median(distances)), rel=5e-3)
    assert veil.typical.pair == pytest.approx(veil.typical.euclidean_pair)


def test_annotations_say_what_share_of_them_the_concept_finds(private_texts: list[str]) -> None:
    marked = [Passage(text, (Span(0, len(text.split()[0]), "ILLNESS"),)) for text in private_texts]
    found = [Passage(text, (_place(text),)) for text in private_texts if PRIVATE_WORD in text]
    other = [passage for passage in marked if PRIVATE_WORD not in passage.text][: len(found)]
    concept = terms(PRIVATE_WORD, label="ILLNESS")
    veil = _learn([*found, *other], concept, substitution="remove")
    assert veil.provenance.facts["concept_recall"] == 0.5
    assert veil.provenance.facts["annotated_spans"] == 2 * len(found)
    assert "recall 0.50 on" in str(veil.guarantee(epsilon=9.0))
    assert "concept_recall" not in _learn(private_texts, concept).provenance.facts
    assert (
        "concept_recall" not in _learn([*found, *marked], annotated("ILLNESS"), allow_everywhere=True).provenance.facts
    )


def _place(text: str) -> Span:
    start = text.index(PRIVATE_WORD)
    return Span(start, start + len(PRIVATE_WORD), "ILLNESS")


@pytest.mark.parametrize(
    ("concept", "private"),
    [
        (terms(PRIVATE_WORD, "quokkapox", label="ILLNESS"), (PRIVATE_WORD, "quokkapox")),
        (patterns(CODE=rf"{PRIVATE_WORD}|MRN-4711"), (PRIVATE_WORD, "MRN-4711")),
        (terms(PRIVATE_WORD) | patterns(CODE="MRN-4711"), (PRIVATE_WORD, "MRN-4711")),
    ],
    ids=["terms", "patterns", "union"],
)
@pytest.mark.filterwarnings("ignore:nothing was found for CODE")
def test_a_veil_holds_its_concept_unless_it_was_asked_not_to(
    tmp_path: Path, private_texts: list[str], concept: Concept, private: tuple[str, ...]
) -> None:
    _learn(private_texts, concept, keep_concept=False).save(tmp_path / "closed.veil")
    closed = b"".join(listing(tmp_path / "closed.veil").values())
    _learn(private_texts, concept).save(tmp_path / "open.veil")
    kept = b"".join(listing(tmp_path / "open.veil").values())
    for word in private:
        assert word.encode() not in closed
        assert word.encode() in kept
    opened, silent = Veil.load(tmp_path / "open.veil"), Veil.load(tmp_path / "closed.veil")
    assert (opened.concept, silent.concept) == (concept, None)
    assert opened.choose_concept() == silent.choose_concept(concept) == concept
    with pytest.raises(InvalidInputError, match=r"name the concept \(--concept FILE"):
        silent.choose_concept()


@pytest.mark.parametrize("keep_concept", [False, True])
def test_a_veil_never_holds_a_text(tmp_path: Path, private_texts: list[str], keep_concept: bool) -> None:
    _learn(private_texts, keep_concept=keep_concept).save(tmp_path / "a.veil")
    content = b"".join(listing(tmp_path / "a.veil").values())
    assert not any(text.encode() in content for text in private_texts)
    assert b"rests well" not in content


def test_the_same_seed_learns_the_same_veil(private_texts: list[str]) -> None:
    options: dict[str, Any] = {"shape": "neuron-sensitivity"}
    assert _learn(private_texts, **options).digest() == _learn(private_texts, **options).digest()


@pytest.mark.parametrize("shape", ["uniform", "subspace"])
def test_each_text_is_searched_once(private_texts: list[str], shape: str) -> None:
    concept = CountingTerms(terms=(PRIVATE_WORD,))
    _learn([*private_texts, f"{PRIVATE_WORD}."], concept, shape=shape, drop_empty=True)
    assert concept.searched == [*private_texts, f"{PRIVATE_WORD}."]


def test_a_column_of_texts_is_learned_from_and_a_table_is_not(private_texts: list[str]) -> None:
    table = pa.table({"text": private_texts})
    assert _learn(table["text"]).digest() == _learn(pa.array(private_texts)).digest() == _learn(private_texts).digest()
    with pytest.raises(InvalidInputError, match="one column"):
        _learn(table)


def test_an_embedder_may_be_a_model_in_memory_or_a_function(model_folder: Path, private_texts: list[str]) -> None:
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(model_folder), device="cpu")
    for embedder in (model, model.encode):
        veil = _learn(private_texts, embedder=embedder, epsilon=20.0)
        assert veil.provenance.embedder is None
        assert veil.protect(private_texts, embedder=embedder).shape == (24, 16)
    with pytest.raises(EmbedderMismatchError):
        veil.protect(private_texts, embedder=model)
    with pytest.raises(InvalidInputError, match=r"embedder must be a name, .* got int"):
        _learn(private_texts, embedder=3)


def test_annotations_that_came_with_the_texts_are_a_concept_too(private_texts: list[str]) -> None:
    passages = [
        Passage(
            text,
            (Span(text.index(PRIVATE_WORD), text.index(PRIVATE_WORD) + len(PRIVATE_WORD), "ILL"),)
            if PRIVATE_WORD in text
            else (),
        )
        for text in private_texts
    ]
    assert _learn(passages, annotated("ILL")).typical == _learn(private_texts).typical


def test_every_corpus_that_nothing_can_be_learned_from_is_refused() -> None:
    calm, ill = "All was calm today.", f"One had {PRIVATE_WORD} today."
    cases: list[tuple[list[str], str]] = [
        ([], "the corpus has no texts"),
        ([calm, calm], r"matches nothing in 2 text"),
        ([ill, ill], r"matches all 2 text"),
        ([ill, f"{PRIVATE_WORD}.", calm], "empty without the concept, first in row 1"),
        ([ill, calm], "at least 2 contrast pairs, got 1"),
    ]
    for texts, reason in cases:
        with pytest.raises(InvalidInputError, match=reason) as refused:
            _learn(texts)
        assert PRIVATE_WORD not in str(refused.value)


def test_flags_accept_what_is_refused_otherwise() -> None:
    ill = [f"Number {number} had {PRIVATE_WORD}." for number in range(4)]
    assert _learn(ill, allow_everywhere=True).provenance.pairs == 4
    assert _learn([*ill, f"{PRIVATE_WORD}.", "All was calm."], drop_empty=True).provenance.pairs == 4


@pytest.mark.parametrize(
    ("choice", "reason"),
    [
        ({"shape": "unifrom"}, "unknown shape 'unifrom'; did you mean 'uniform'"),
        ({"mechanism": "laplase"}, "unknown mechanism 'laplase'; did you mean 'laplace'"),
        ({"shape": "hard-concrete", "preset": "papr"}, "'papr'; did you mean 'paper'"),
        ({"preset": "paper"}, "has no presets"),
        ({"shape": "hard-concrete", "settings": {"epoch": 3}}, "'epoch'; did you mean 'epochs'"),
        ({"shape": "integrated-gradients", "settings": {"attack": "mcl"}}, "unknown attack 'mcl'; did you mean 'mlc'"),
        (
            {"shape": "integrated-gradients", "settings": {"attack_settings": {"epoch": 3}}},
            "setting of the attack 'mlc' 'epoch'; did you mean 'epochs'",
        ),
        ({"embedder": "minilmm"}, "unknown embedder 'minilmm'; did you mean 'minilm'"),
        ({"contrast": "replace"}, "unknown kind of contrast 'replace'"),
    ],
)
def test_a_misspelled_name_is_guessed_at_before_anything_is_embedded(
    private_texts: list[str], choice: dict[str, Any], reason: str
) -> None:
    embedder = WordEmbedder()
    with pytest.raises((UnknownNameError, InvalidInputError), match=reason):
        _learn(private_texts, **{"embedder": embedder, **choice})
    assert embedder.asked == []


@pytest.mark.parametrize("seed", [-1, "x", 1.5])
def test_a_seed_that_is_none_is_refused_before_anything_is_embedded(private_texts: list[str], seed: Any) -> None:
    embedder = WordEmbedder()
    with pytest.raises(InvalidInputError, match="seed"):
        _learn(private_texts, embedder=embedder, seed=seed)
    assert embedder.asked == []


@pytest.mark.parametrize(
    "settings", [{"hidden": 5}, {"hidden": [0]}, {"hidden": ["a"]}, {"held_out": "some"}, {"standardize": "maybe"}]
)
def test_a_setting_of_the_wrong_kind_is_refused_before_anything_is_embedded(
    private_texts: list[str], settings: dict[str, Any]
) -> None:
    embedder = WordEmbedder()
    with pytest.raises(VecveilError, match=next(iter(settings))):
        _learn(private_texts, embedder=embedder, shape="hard-concrete", settings=settings)
    assert embedder.asked == []


def test_a_mechanism_that_cannot_follow_the_shape_is_refused(private_texts: list[str]) -> None:
    with pytest.raises(InvalidInputError, match="'laplace' adds the same noise along every axis"):
        _learn(private_texts, shape="neuron-sensitivity", mechanism="laplace")
    assert _learn(private_texts, mechanism="laplace").mechanism == "laplace"


def test_an_embedder_that_returns_nonsense_is_refused(private_texts: list[str]) -> None:
    with pytest.raises(InvalidInputError, match="NaN or infinite"):
        _learn(private_texts, embedder=WordEmbedder(spoilt="Patient"))


def test_nothing_is_cached_unless_asked(tmp_path: Path, private_texts: list[str]) -> None:
    _learn(private_texts)
    assert listing(tmp_path) == {}
    _learn(private_texts, cache=tmp_path / "cache")
    again = WordEmbedder()
    _learn(private_texts, cache=tmp_path / "cache", embedder=again)
    assert again.asked == []
    assert again.fingerprint.dimensions == DIMENSIONS


def test_a_label_that_is_found_nowhere_is_named(private_texts: list[str]) -> None:
    with pytest.warns(VecveilWarning, match="nothing was found for CODE: misspelled"):
        _learn(private_texts, terms(PRIVATE_WORD) | patterns(CODE="MRN-4711"))


def test_what_is_no_concept_is_refused(private_texts: list[str]) -> None:
    with pytest.raises(InvalidInputError, match=r"such as vv\.terms\(\.\.\.\), got str"):
        _learn(private_texts, cast(Concept, "diabetes"))


def test_a_shape_is_learned_through_an_attack_on_the_same_texts() -> None:
    illnesses = ("gout", "asthma", "zoster")
    texts = [f"Patient {n} has {illnesses[n % 3]} again." if n % 2 else f"Visit {n} was calm." for n in range(90)]
    options: dict[str, Any] = {
        "shape": "integrated-gradients",
        "substitution": "keep",
        "settings": {"steps": 8, "attack_settings": {"hidden": [16], "patience": 20, "learning_rate": 0.05}},
    }
    veil = _learn([*texts, " "], terms(*illnesses), **options)
    assert veil.provenance.facts["token_instances"] == 45
    assert veil.provenance.facts["held_out_recall"] > 0.5
    assert veil.provenance.learner["attack_settings"] == {"hidden": [16], "patience": 20, "learning_rate": 0.05}
    assert veil.shape.variances.max() > 1.5 * veil.shape.variances.min()
    assert _learn([*texts, " "], terms(*illnesses), **options).digest() == veil.digest()


def test_an_attack_needs_two_words_to_tell_apart(private_texts: list[str]) -> None:
    with pytest.raises(InvalidInputError, match="at least 2 sensitive words") as refused:
        _learn(private_texts, shape="integrated-gradients")
    assert PRIVATE_WORD not in str(refused.value)


def test_learning_on_private_texts_is_a_release_and_on_public_ones_is_none(
    tmp_path: Path, private_texts: list[str]
) -> None:
    private = _learn(private_texts, ledger=tmp_path / "ledger.sqlite")
    public = _learn(private_texts, ledger=tmp_path / "ledger.sqlite", public=True)
    with open_ledger(tmp_path / "ledger.sqlite") as ledger:
        (run,) = ledger.runs()
        assert (run.charge.kind, run.charge.veil, run.charge.cost) == ("shape", private.digest(), None)
        assert run.releases == len(private_texts)
        # The texts that are protected later are known by the same names.
        protected = _learn(private_texts).protect(private_texts, epsilon=20.0, embedder=WordEmbedder(), ledger=ledger)
        assert len(protected) == len(private_texts)
        assert ledger.totals().records == len(private_texts)
    assert private.digest() != public.digest()
    assert "of private texts, which is a release of its own" in str(private.guarantee(epsilon=20.0))
    assert "calls public; the guarantee needs that to be so" in str(public.guarantee(epsilon=20.0))


@pytest.mark.parametrize("budget", [{"epsilon": 9.0}, {"noise_ratio": 0.7}, {"paper_epsilon": 20.0}])
def test_a_budget_of_any_kind_is_kept_as_an_epsilon(private_texts: list[str], budget: dict[str, float]) -> None:
    bare, kept = _learn(private_texts), _learn(private_texts, **budget)
    assert kept.epsilon == bare.guarantee(**budget).readings.epsilon  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match="give one budget"):
        _learn(private_texts, **{"epsilon": 1.0, "noise_ratio": 1.0, **budget})
