from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.corpora import ILLNESSES, QUICK, toy_concept, toy_grid, toy_plan, toy_texts
from support.embedders import WordEmbedder
from support.veils import made_veil

from vecveil.attacks.mlc import Mlc
from vecveil.attacks.priors.prior import Prior
from vecveil.audit import AuditPlan, Budget, Grid, prepare
from vecveil.audit.prepare import attack_of
from vecveil.concepts import Concept, terms
from vecveil.core.errors import (
    ArtifactError,
    EmbedderMismatchError,
    InvalidInputError,
    UnknownNameError,
    VecveilError,
    VecveilWarning,
)
from vecveil.embedders import Fingerprint
from vecveil.utility import Neighbours

PLAN = toy_plan(attacks=("mlc",), tasks=("neighbours",))


def check_refused(plan: AuditPlan, kind: type[VecveilError], match: str, **changes: Any) -> None:
    """Fail unless the plan is refused before the model is asked for anything."""
    embedder = changes.pop("embedder", WordEmbedder())
    given = {"concept": toy_concept(), "texts": toy_texts(200), **changes}
    with pytest.raises(kind, match=match) as caught:
        prepare(plan, made_veil(), **given, embedder=embedder)
    assert embedder.asked == []
    assert not any(illness in str(caught.value) for illness in ILLNESSES)


def test_a_plan_becomes_attacks_tasks_and_vectors() -> None:
    embedder = WordEmbedder()
    texts = toy_texts(200)
    plan = replace(PLAN, attacks=("mlc,epochs=3,hidden=[8, 4]", "nearest"), baselines=("remove",))
    grid = prepare(plan, made_veil(), toy_concept(), [*texts, *texts], embedder=embedder)
    assert isinstance(grid, Grid)
    assert grid.attacks["mlc,epochs=3,hidden=[8, 4]"] == Mlc(epochs=3, hidden=(8, 4))
    assert grid.tasks == {"neighbours": Neighbours(texts=tuple(texts))}
    assert set(grid.baselines) == {"remove"}
    assert grid.judge is None
    assert len(embedder.asked) == len(set(embedder.asked))


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"attacks": ("mlx",)}, "unknown attack 'mlx'; did you mean 'mlc'"),
        ({"attacks": ("mlc,epoch=3",)}, "unknown setting of the attack 'mlc' 'epoch'; did you mean 'epochs'"),
        ({"tasks": ("neighbors",)}, "unknown utility task 'neighbors'; did you mean 'neighbours'"),
        ({"baselines": ("removal",)}, "unknown rewriter 'removal'; did you mean 'remove'"),
        ({"judge": "minilmm"}, "unknown embedder 'minilmm'; did you mean 'minilm'"),
    ],
)
def test_a_wrong_name_is_guessed_before_anything_is_embedded(changes: dict[str, Any], match: str) -> None:
    check_refused(replace(PLAN, **changes), UnknownNameError, match)


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"attacks": ("mlc,epochs=0",)}, "epochs must be"),
        ({"attacks": ("mlc:prior",)}, "the attack 'mlc' takes no prior, got 'prior'"),
        ({"attacks": ("averaging,releases=1",)}, "releases must be a whole number of at least 2, got 1"),
        ({"tasks": ("sts",)}, "needs a FILE: write sts:FILE"),
        ({"budgets": (Budget(value=1e-7, scale="noise-ratio"),)}, "released in clear"),
        ({"tasks": ("neighbours", "neighbours,queries=50")}, "two tasks would both be called 'neighbours'"),
    ],
)
def test_a_plan_that_cannot_be_run_is_refused_before_anything_is_embedded(changes: dict[str, Any], match: str) -> None:
    check_refused(replace(PLAN, **changes), InvalidInputError, match)


def test_a_task_file_without_its_columns_is_refused_before_anything_is_embedded(tmp_path: Path) -> None:
    (tmp_path / "pairs.csv").write_text("sentence1,sentence2,gold\na,b,1\n")
    check_refused(
        replace(PLAN, tasks=(f"sts:{tmp_path}/pairs.csv",)), UnknownNameError, r"column of .*pairs\.csv 'score'"
    )


def test_too_few_texts_are_refused_before_anything_is_embedded() -> None:
    check_refused(PLAN, InvalidInputError, "at least 100 distinct texts", texts=toy_texts(50))


def test_the_embedder_must_be_that_of_the_veil() -> None:
    check_refused(PLAN, EmbedderMismatchError, "revision '1' against '2'", embedder=WordEmbedder(revision="2"))


def test_a_veil_that_names_no_embedder_needs_one() -> None:
    with pytest.raises(InvalidInputError, match="hand it in"):
        prepare(PLAN, made_veil(), toy_concept(), toy_texts(200))


def _judge_of(monkeypatch: pytest.MonkeyPatch, judge: WordEmbedder) -> None:
    module = prepare.__globals__
    resolve: Callable[..., Any] = module["resolve_embedder"]
    monkeypatch.setitem(
        module, "resolve_embedder", lambda spec, **more: judge if spec == "it" else resolve(spec, **more)
    )


def test_a_judge_is_another_model(monkeypatch: pytest.MonkeyPatch) -> None:
    _judge_of(monkeypatch, WordEmbedder(revision="2"))
    grid = toy_grid(replace(PLAN, judge="it"), texts=200)
    assert grid.judge is not None
    assert grid.judge.embedder.fingerprint.revision == "2"


def test_the_attacked_model_is_no_judge_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    _judge_of(monkeypatch, WordEmbedder())
    check_refused(replace(PLAN, judge="it"), InvalidInputError, "another model than the attacked one, got 'it'")


def _prior(folder: Path, *, attack: str = "geia", revision: str = "1") -> str:
    fingerprint = Fingerprint(model="words", revision=revision, dimensions=8, normalised=True)
    Prior(
        folder=folder, attack=attack, embedder=fingerprint, settings={}, end=0, padding=1, plan={}, training={}
    ).write()
    return f"geia:{folder}"


def test_a_prior_that_is_not_there_is_refused_before_anything_is_embedded(tmp_path: Path) -> None:
    plan = replace(PLAN, attacks=(f"geia:{tmp_path}/none",))
    check_refused(plan, ArtifactError, r"there is no prior .*none")


@pytest.mark.parametrize(
    ("settings", "kind", "match"),
    [
        ({"revision": "2"}, EmbedderMismatchError, "reads vectors of 'words' .* revision 2"),
        ({"attack": "vec2text"}, InvalidInputError, "is a prior of the attack 'vec2text', not of 'geia'"),
    ],
)
def test_a_prior_of_something_else_is_refused_before_anything_is_embedded(
    tmp_path: Path, settings: dict[str, str], kind: type[VecveilError], match: str
) -> None:
    check_refused(replace(PLAN, attacks=(_prior(tmp_path / "prior", **settings),)), kind, match)


def test_another_prior_in_its_place_makes_another_audit(tmp_path: Path) -> None:
    plan = replace(PLAN, attacks=(_prior(tmp_path / "prior"),))
    before = toy_grid(plan, texts=200).identity()
    assert before == toy_grid(plan, texts=200).identity()
    manifest = tmp_path / "prior" / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"training": {}', '"training": {"decoder": 7}'))
    after = toy_grid(plan, texts=200).identity()
    assert [name for name in before if before[name] != after[name]] == ["priors"]


def _one_word() -> Concept:
    return terms(ILLNESSES[0])


def _texts_with_one_word() -> list[str]:
    return [text for text in toy_texts(1000) if ILLNESSES[0] in text or not set(text.split()) & set(ILLNESSES)]


@pytest.mark.parametrize("spec", [QUICK, "mlc", "geia", "vec2text"])
def test_with_a_single_private_word_an_attack_that_was_asked_for_is_refused(spec: str) -> None:
    plan = replace(PLAN, attacks=(spec, "nearest"))
    with pytest.raises(InvalidInputError, match="comes down to 1 sensitive word") as caught:
        prepare(plan, made_veil(), _one_word(), _texts_with_one_word(), embedder=WordEmbedder())
    assert repr(spec) in str(caught.value)
    assert ILLNESSES[0] not in str(caught.value)


def test_with_a_single_private_word_only_probes_are_run() -> None:
    plan = replace(PLAN, attacks=("nearest", "averaging,releases=4"))
    with pytest.warns(VecveilWarning, match="only the concept probes were run") as caught:
        grid = prepare(plan, made_veil(), _one_word(), _texts_with_one_word(), embedder=WordEmbedder())
    assert ILLNESSES[0] not in str(caught[0].message)
    assert grid.attacks == {}
    assert {cell.name for cell in grid.cells()} == {"linear", "mlp", "neighbours"}


def test_attacks_of_a_prior_take_it_from_after_the_colon() -> None:
    attack: Any = attack_of("geia:some/folder,beams=2")
    assert (attack.prior, attack.beams) == ("some/folder", 2)
