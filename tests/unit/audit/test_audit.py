from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pytest

from support.command_line import listing
from support.corpora import CITIES, FILLERS, ILLNESSES, QUICK, toy_audit, toy_concept, toy_corpus, toy_plan, toy_texts
from support.embedders import WordEmbedder
from support.veils import made_veil, rotated_shape
from vecveil.attacks.generation.prior import Prior
from vecveil.attacks.mlc import Mlc
from vecveil.audit import (
    Audit,
    AuditPlan,
    AuditResult,
    Cell,
    Example,
    Experiment,
    Exposure,
    Setting,
    prepare_audit,
)
from vecveil.audit.attack_runner import PlannedAttack
from vecveil.audit.audit import attack_from_spec, noise_setting, veil_named
from vecveil.audit.defenses import Rewritten, Undefended, Veiled
from vecveil.audit.experiment import CELLS, CHECKPOINTS
from vecveil.audit.plan import ATTACKS as DEFAULT_ATTACKS
from vecveil.concepts import Concept, terms
from vecveil.core.digests import json_digest
from vecveil.core.errors import (
    ArtifactError,
    EmbedderMismatchError,
    InvalidInputError,
    UnknownNameError,
    VecveilError,
    VecveilWarning,
)
from vecveil.core.progress import silent
from vecveil.embedders import Fingerprint
from vecveil.utility import Neighbors
from vecveil.veil.budget import Budget

T = TypeVar("T")

PLAN = toy_plan(attacks=("mlc",), tasks=("neighbors",))
"""To be prepared, not to be run."""

LITERAL = tuple(Budget(value=value, scale="literal") for value in (4.0, 8.0))
GRID = AuditPlan(
    attacks=(QUICK, "nearest"),
    tasks=("neighbors", "neighbors,protected=documents"),
    budgets=LITERAL,
    baselines=("remove",),
    seeds=(3, 5),
)
"""Something of every kind."""

RUN = toy_plan(0.5, attacks=(QUICK, "nearest"), baselines=("remove",))
CELLS_OF_RUN = 3 * (2 + 1 + 1 + 2)
QUICK_RUN = toy_plan(0.5, attacks=("nearest",))


def _names(plan: AuditPlan) -> list[tuple[int, str, str]]:
    return [(setting.seed, setting.defense, setting.asked) for setting, _ in toy_audit(plan, texts=200).defenses()]


def test_no_defense_comes_first_then_rewritten_texts_then_noise_for_every_seed() -> None:
    one = [
        ("none", ""),
        ("remove", ""),
        *((name, asked) for name in ("laplace", "veil") for asked in ("ε = 4", "ε = 8")),
    ]
    assert _names(GRID) == [(seed, *point) for seed in (3, 5) for point in one]


def test_only_the_named_defenses_are_there_beside_none() -> None:
    assert _names(replace(GRID, defenses=("veil",), baselines=(), seeds=(0,))) == [
        (0, "none", ""),
        (0, "veil", "ε = 4"),
        (0, "veil", "ε = 8"),
    ]
    assert _names(replace(GRID, defenses=(), baselines=(), seeds=(0,))) == [(0, "none", "")]


def test_every_probe_task_and_attack_meets_every_defense_once() -> None:
    audit = toy_audit(GRID, texts=200)
    cells = list(audit.cells())
    assert len(cells) == 2 * 6 * (2 + 2 + 1 + 2)
    assert len({json_digest(cell.key) for cell in cells}) == len(cells)
    for setting, _ in audit.defenses():
        names = [cell.key["name"] for cell in cells if cell.key["setting"] == asdict(setting)]
        assert names == ["linear", "mlp", *GRID.tasks, "fill-in-the-blank", *GRID.attacks]


def test_the_control_of_a_seed_is_computed_before_anything_else_of_it() -> None:
    settings = [cell.key["setting"] for cell in toy_audit(GRID, texts=200).cells()]
    for seed in (3, 5):
        defenses = [setting["defense"] for setting in settings if setting["seed"] == seed]
        assert defenses[:7] == ["none"] * 7
        assert "none" not in defenses[7:]


def test_defenses_are_what_their_settings_say() -> None:
    found = {setting.defense: defense for setting, defense in toy_audit(GRID, texts=200).defenses()}
    assert isinstance(found["none"], Undefended)
    assert isinstance(found["remove"], Rewritten)
    assert all(isinstance(found[name], Veiled) for name in ("laplace", "veil"))


def test_the_papers_mask_is_a_defense_learned_on_the_audited_texts() -> None:
    plan = replace(GRID, defenses=("sparse",), baselines=(), seeds=(0,))
    defense = {setting.defense: defense for setting, defense in toy_audit(plan, texts=200).defenses()}["sparse"]
    assert isinstance(defense, Veiled)
    assert defense.veil.provenance.learner["name"] == "hard-concrete"
    assert defense.veil.substitution.name == "keep"
    assert np.ptp(defense.veil.shape.variances) > 0


@pytest.mark.parametrize(("grid", "keyed"), [("float32", False), ("int8", True)])
def test_the_veil_is_attacked_as_the_plan_says_it_ships(grid: str, keyed: bool) -> None:
    audit = toy_audit(replace(GRID, grid=grid, keyed=keyed), texts=200)
    for setting, defense in audit.defenses():
        if isinstance(defense, Veiled):
            assert (defense.grid, defense.keyed) == (grid, keyed)
            assert setting.readings is not None
            assert defense.epsilon == setting.readings.epsilon
            assert (defense.veil is audit.veil) == (setting.defense == "veil")


def _identity(**changes: Any) -> dict[str, Any]:
    plan = changes.pop("plan", toy_plan(tasks=("neighbors",)))
    given = {"veil": made_veil(), "concept": toy_concept(), "texts": toy_texts(200), **changes}
    return prepare_audit(plan, **given, embedder=WordEmbedder()).identity()


@pytest.mark.parametrize(
    ("changes", "different"),
    [
        ({}, set()),
        ({"veil": made_veil(epsilon=3.0)}, {"veil"}),
        ({"texts": toy_texts(201)}, {"texts", "tasks"}),
        ({"concept": toy_concept().parts[0]}, {"texts"}),
        ({"plan": toy_plan(2.0, tasks=("neighbors",))}, {"budgets"}),
        ({"plan": toy_plan(seeds=(1,), tasks=("neighbors",))}, {"seeds"}),
        ({"plan": replace(toy_plan(tasks=("neighbors",)), grid="int8")}, {"grid"}),
        ({"plan": replace(toy_plan(tasks=("neighbors",)), keyed=True)}, {"keyed"}),
        ({"plan": toy_plan(tasks=("neighbors,queries=20",))}, {"tasks"}),
    ],
)
def test_whatever_moves_a_number_makes_another_audit(changes: dict[str, Any], different: set[str]) -> None:
    one, other = _identity(), _identity(**changes)
    assert {name for name in one if one[name] != other[name]} == different


def test_the_identity_tells_nothing_private() -> None:
    told = repr(_identity())
    assert not any(word in told for text in toy_texts(200) for word in text.split() if len(word) > 5)


def _setting(name: str, budget: Budget, *, seed: int = 0) -> Setting:
    pairs = toy_corpus().pairs
    veil = veil_named(name, made_veil(), pairs)
    return noise_setting(name, budget, Veiled(veil=veil, epsilon=veil.epsilon_at(budget)), pairs, seed)


def test_settings_name_defense_budget_and_seed() -> None:
    setting = _setting("laplace", Budget(value=2.0, scale="noise-ratio"), seed=7)
    assert (setting.defense, setting.label, setting.asked, setting.seed) == ("laplace", "laplace", "noise 2", 7)
    setting = _setting("veil", Budget(value=2.0, scale="noise-ratio"))
    assert (setting.defense, setting.label) == ("veil", "veil, hard-concrete")


@pytest.mark.parametrize("name", ["laplace", "purkayastha", "veil"])
def test_a_noise_ratio_is_the_same_for_every_defense(name: str) -> None:
    readings = _setting(name, Budget(value=0.7, scale="noise-ratio")).readings
    assert readings is not None
    assert readings.noise_ratio == pytest.approx(0.7)


def test_the_readings_are_those_of_the_mechanism_on_the_audited_pairs() -> None:
    pairs = toy_corpus().pairs
    readings = _setting("laplace", Budget(value=4.0, scale="literal")).readings
    distances = np.linalg.norm(pairs.with_concept.astype(np.float64) - pairs.without_concept, axis=1)
    assert readings is not None
    assert (readings.epsilon, readings.distance) == (4.0, "Euclidean distance")
    assert readings.pair_loss == pytest.approx(4.0 * np.median(distances), rel=5e-3)
    assert readings.noise_ratio == pytest.approx(np.sqrt(8 * 9) / 4)


def test_the_readings_do_not_tell_the_exact_distance_of_one_record() -> None:
    readings = _setting("laplace", Budget(value=1.0, scale="literal")).readings
    assert readings is not None
    assert readings.pair_loss == float(f"{readings.pair_loss:.3g}")


def test_plain_noise_knows_nothing_of_the_shape() -> None:
    veil = made_veil(shape=rotated_shape())
    assert veil_named("veil", veil, toy_corpus().pairs) is veil
    plain = veil_named("purkayastha", veil, toy_corpus().pairs)
    assert (plain.mechanism, plain.shape.axes, plain.fingerprint) == ("purkayastha", None, veil.fingerprint)
    np.testing.assert_array_equal(plain.shape.variances, 1.0)


def check_refused(plan: AuditPlan, kind: type[VecveilError], match: str, **changes: Any) -> None:
    """Fail unless the plan is refused before the model is asked for anything."""
    embedder = changes.pop("embedder", WordEmbedder())
    given = {"concept": toy_concept(), "texts": toy_texts(200), **changes}
    with pytest.raises(kind, match=match) as caught:
        prepare_audit(plan, made_veil(), **given, embedder=embedder)
    assert embedder.asked == []
    assert not any(illness in str(caught.value) for illness in ILLNESSES)


def test_a_plan_becomes_attacks_tasks_and_vectors() -> None:
    embedder = WordEmbedder()
    texts = toy_texts(200)
    plan = replace(PLAN, attacks=("mlc,epochs=3,hidden=[8, 4]", "nearest"), baselines=("remove",))
    audit = prepare_audit(plan, made_veil(), toy_concept(), [*texts, *texts], embedder=embedder)
    assert isinstance(audit, Audit)
    assert audit.attacks["mlc,epochs=3,hidden=[8, 4]"] == PlannedAttack(attack=Mlc(epochs=3, hidden=(8, 4)))
    assert audit.tasks == {"neighbors": Neighbors(texts=tuple(texts))}
    assert set(audit.baselines) == {"remove"}
    assert audit.judge is None
    assert len(embedder.asked) == len(set(embedder.asked))


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"attacks": ("mlx",)}, "unknown attack 'mlx'; did you mean 'mlc'"),
        ({"attacks": ("mlc,epoch=3",)}, "unknown setting of the attack 'mlc' 'epoch'; did you mean 'epochs'"),
        ({"tasks": ("neighbours",)}, "unknown utility task 'neighbours'; did you mean 'neighbors'"),
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
        ({"budgets": (Budget(value=1e-12, scale="literal"),), "defenses": ("purkayastha",)}, "too little for purkayas"),
        ({"tasks": ("neighbors", "neighbors,queries=50")}, "two tasks would both be called 'neighbors'"),
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
        prepare_audit(PLAN, made_veil(), toy_concept(), toy_texts(200))


def _judge_of(monkeypatch: pytest.MonkeyPatch, judge: WordEmbedder) -> None:
    module = prepare_audit.__globals__
    resolve: Callable[..., Any] = module["resolve_embedder"]
    monkeypatch.setitem(
        module, "resolve_embedder", lambda spec, **more: judge if spec == "it" else resolve(spec, **more)
    )


def test_a_judge_is_another_model(monkeypatch: pytest.MonkeyPatch) -> None:
    _judge_of(monkeypatch, WordEmbedder(revision="2"))
    audit = toy_audit(replace(PLAN, judge="it"), texts=200)
    assert audit.judge is not None
    assert audit.judge.embedder.fingerprint.revision == "2"


def test_the_attacked_model_is_no_judge_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    _judge_of(monkeypatch, WordEmbedder())
    check_refused(replace(PLAN, judge="it"), InvalidInputError, "another model than the attacked one, got 'it'")


def _prior(folder: Path, *, attack: str = "geia", revision: str = "1") -> str:
    fingerprint = Fingerprint(model="words", revision=revision, dimensions=8, normalized=True)
    Prior(
        folder=folder, attack=attack, embedder=fingerprint, settings={}, end=0, padding=1, plan={}, training={}
    ).save()
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
    before = toy_audit(plan, texts=200).identity()
    assert before == toy_audit(plan, texts=200).identity()
    manifest = tmp_path / "prior" / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"training": {}', '"training": {"decoder": 7}'))
    after = toy_audit(plan, texts=200).identity()
    assert [name for name in before if before[name] != after[name]] == ["priors"]


def _one_word() -> Concept:
    return terms(ILLNESSES[0])


def _texts_with_one_word() -> list[str]:
    return [text for text in toy_texts(1000) if ILLNESSES[0] in text or not set(text.split()) & set(ILLNESSES)]


@pytest.mark.parametrize("spec", [QUICK, "mlc", "geia", "vec2text"])
def test_with_a_single_private_word_an_attack_that_was_asked_for_is_refused(spec: str) -> None:
    plan = replace(PLAN, attacks=(spec, "nearest"))
    with pytest.raises(InvalidInputError, match="comes down to 1 sensitive word") as caught:
        prepare_audit(plan, made_veil(), _one_word(), _texts_with_one_word(), embedder=WordEmbedder())
    assert repr(spec) in str(caught.value)
    assert ILLNESSES[0] not in str(caught.value)


def test_with_a_single_private_word_only_probes_are_run() -> None:
    plan = replace(PLAN, attacks=DEFAULT_ATTACKS)
    with pytest.warns(VecveilWarning, match="only the concept probes were run") as caught:
        audit = prepare_audit(plan, made_veil(), _one_word(), _texts_with_one_word(), embedder=WordEmbedder())
    assert ILLNESSES[0] not in str(caught[0].message)
    assert audit.attacks == {}
    assert {cell.key["name"] for cell in audit.cells()} == {"linear", "mlp", "neighbors", "fill-in-the-blank"}


def test_attacks_of_a_prior_take_it_from_after_the_colon() -> None:
    attack: Any = attack_from_spec("geia:some/folder,beams=2").attack
    assert (attack.prior, attack.beams) == ("some/folder", 2)


def test_attacks_say_what_they_are_given() -> None:
    planned = attack_from_spec("mlc,epochs=3,denoiser=none,copies=1")
    assert (planned.denoiser, planned.copies) == ("none", 1)
    assert planned.attack == Mlc(epochs=3)
    assert attack_from_spec("mlc") == PlannedAttack(attack=Mlc())
    with pytest.raises(UnknownNameError, match="unknown denoiser 'wienr'; did you mean 'wiener'"):
        attack_from_spec("mlc,denoiser=wienr")
    with pytest.raises(InvalidInputError, match="copies must be a whole number of at least 1, got 0"):
        attack_from_spec("nearest,copies=0")


def _run(folder: Path, plan: AuditPlan = RUN, **more: Any) -> tuple[AuditResult, tuple[Example, ...]]:
    return toy_audit(plan, texts=200).run(Experiment(folder), **more)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, AuditResult, tuple[Example, ...]]:
    """An audit that ran through, its result and its examples."""
    folder = tmp_path_factory.mktemp("audits") / "audit"
    return folder, *_run(folder)


Finished = tuple[Path, AuditResult, tuple[Example, ...]]


def _timeless(content: str) -> Any:
    """Return results without what differs from run to run: how long it took, and when that was."""

    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: plain(each) for key, each in value.items() if key not in {"seconds", "finished"}}
        return [plain(each) for each in value] if isinstance(value, list) else value

    return plain(json.loads(content))


def test_every_cell_becomes_a_row(finished: Finished) -> None:
    _, result, _ = finished
    assert [row.setting.defense for row in result.tasks] == ["none", "remove", "veil"]
    assert [(row.setting.defense, row.attack) for row in result.attacks] == [
        (defense, attack) for defense in ("none", "remove", "veil") for attack in ("mlc", "nearest")
    ]
    assert [(row.setting.defense, row.probe) for row in result.probes] == [
        (defense, probe) for defense in ("none", "remove", "veil") for probe in ("linear", "mlp")
    ]
    assert [row.setting.defense for row in result.blanks] == ["none", "remove", "veil"]
    assert [verdict.setting.defense for verdict in result.verdicts] == ["veil"]
    assert [part.part for part in result.verdicts[0].parts] == ["words", "presence", "blank"]
    assert [row.setting.own for row in result.tasks] == [False, False, True]
    assert result.tasks[0].scores["neighbors_kept"] == pytest.approx(1.0)


def test_results_say_what_they_are_of(finished: Finished) -> None:
    _, result, _ = finished
    assert result.plan["attacks"] == [QUICK, "nearest"]
    assert result.veil["digest"] == made_veil().digest()
    assert result.veil["embedder"] == made_veil().fingerprint.settings()
    assert result.corpus["digest"] == toy_corpus(200).digest()
    assert {"python", "vecveil", "numpy"} <= set(result.versions)
    assert [(sheet.setting.defense, sheet.setting.asked) for sheet in result.sheets] == [("veil", "noise 0.5")]
    assert "It holds if:" in result.sheets[0].text


def test_a_deleted_concept_cannot_be_read(finished: Finished) -> None:
    _, result, _ = finished
    leaked = {(row.setting.defense, row.attack): row.leakage.value - row.chance for row in result.attacks}
    assert leaked["none", "nearest"] > 0.3
    assert leaked["remove", "nearest"] < 0.15
    told = {(row.setting.defense, row.probe): row.auc.value for row in result.probes}
    assert told["remove", "mlp"] == pytest.approx(0.5, abs=0.01)


def test_a_redacted_text_tells_nothing_of_the_word_that_was_there(finished: Finished) -> None:
    _, result, _ = finished
    right = {row.setting.defense: row.right.value for row in result.blanks}
    assert right["none"] == 1.0
    assert right["remove"] == pytest.approx(result.blanks[1].chance)
    assert result.blanks[1].bits.value == pytest.approx(0.0)
    assert right["veil"] > 0.5


def test_the_most_exposed_records_are_named_by_their_rows_and_never_shown(finished: Finished) -> None:
    folder, result, _ = finished
    every = Experiment(folder).read("exposure.json", tuple[Exposure, ...])
    assert result.exposures == every[:10]
    tested = {str(row) for row in toy_corpus(200).split(0)[2]}
    assert {one.record for one in every} <= tested
    assert {one.attack for one in every} == {"mlc", "nearest", "fill-in-the-blank"}
    assert all(0 <= one.read <= 1 and 0 <= one.confidence <= 1 for one in every)
    worst = [one.confidence * one.read for one in every]
    assert worst == sorted(worst, reverse=True)


def test_what_is_on_disk_is_what_was_returned(finished: Finished) -> None:
    folder, result, examples = finished
    assert Experiment(folder).read("results.json", AuditResult) == result
    assert Experiment(folder).read("examples.json", tuple[Example, ...]) == examples


def test_examples_are_test_texts_with_what_every_attack_read_of_them(finished: Finished) -> None:
    _, _, examples = finished
    corpus = toy_corpus(200)
    tested = {corpus.texts[row]: row for row in corpus.split(0)[2]}
    assert len(examples) == 2
    for example in examples:
        row = tested[example.text]
        assert example.tokens == tuple(token.word for token in corpus.tokens[row])
        assert {example.text[start:end] for start, end, _ in example.spans} == set(example.tokens)
        assert [(one.setting.defense, one.attack) for one in example.readings] == [
            (defense, attack) for defense in ("none", "remove", "veil") for attack in ("mlc", "nearest")
        ]
        for reading in example.readings:
            assert set(reading.leaked) <= set(example.tokens)
            assert (reading.text is None) == (reading.attack == "mlc")


def test_no_text_and_no_private_word_is_in_results_or_plan(finished: Finished) -> None:
    folder, _, examples = finished
    for name in ("results.json", "plan.json"):
        content = (folder / name).read_text()
        assert not any(word in content for word in ILLNESSES + CITIES)
        assert not any(text in content for text in toy_corpus(200).texts)
        assert not any(f'"{word}"' in content for word in FILLERS)
    assert examples[0].text in (folder / "examples.json").read_text()


def test_only_its_owner_reads_what_is_private(finished: Finished) -> None:
    folder, _, _ = finished
    assert {path.stat().st_mode & 0o777 for path in (folder, folder / CELLS)} == {0o700}
    assert {path.stat().st_mode & 0o077 for path in folder.rglob("*.json")} == {0}


def test_no_checkpoint_outlives_its_cell(finished: Finished) -> None:
    folder, _, _ = finished
    assert not (folder / CHECKPOINTS).exists()
    assert not any("draft" in name or "safetensors" in name for name in listing(folder))


def test_the_same_plan_gives_the_same_results(finished: Finished, tmp_path: Path) -> None:
    folder, _, _ = finished
    _run(tmp_path / "again")
    for name in ("results.json", "examples.json"):
        one, other = ((place / name).read_text() for place in (folder, tmp_path / "again"))
        assert _timeless(one) == _timeless(other)


def test_a_finished_audit_is_only_read_again(finished: Finished, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, result, _ = finished
    before = listing(folder / CELLS)
    counted = _counting(monkeypatch)
    again, _ = _run(folder)
    assert counted == []
    assert listing(folder / CELLS) == before
    assert replace(again, finished=result.finished) == result


def _counting(monkeypatch: pytest.MonkeyPatch, fail: Callable[[int], None] | None = None) -> list[str]:
    """Return a list that grows with every cell that is computed; `fail` may raise before one is."""
    computed: list[str] = []
    cells = Audit.cells

    def counted(audit: Audit, *given: Any) -> Iterator[Cell[Any]]:
        for cell in cells(audit, *given):
            yield replace(cell, compute=_noted(cell))

    def _noted(cell: Cell[Any]) -> Callable[..., Any]:
        def compute(*given: Any) -> Any:
            if fail is not None:
                fail(len(computed))
            computed.append(f"{cell.key['setting']['defense']} {cell.key['name']}")
            return cell.compute(*given)

        return compute

    monkeypatch.setattr(Audit, "cells", counted)
    return computed


def test_a_stopped_audit_goes_on_where_it_was(
    finished: Finished, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(cells: int) -> None:
        if cells == 7:
            raise KeyboardInterrupt

    folder = tmp_path / "audit"
    with monkeypatch.context() as patched:
        first = _counting(patched, stop)
        with pytest.raises(KeyboardInterrupt):
            _run(folder)
    assert len(list((folder / CELLS).iterdir())) == len(first) == 7
    assert not (folder / "results.json").exists()
    kept = listing(folder / CELLS)
    second = _counting(monkeypatch)
    _run(folder)
    assert len(second) == CELLS_OF_RUN - 7
    assert not set(first) & set(second)
    assert kept.items() <= listing(folder / CELLS).items()
    whole = (finished[0] / "results.json").read_text()
    assert _timeless((folder / "results.json").read_text()) == _timeless(whole)


def test_a_training_that_was_stopped_goes_on_and_ends_in_the_same_row(finished: Finished, tmp_path: Path) -> None:
    def stopping(items: Iterable[T], *, label: str, **more: Any) -> Iterator[T]:
        for number, item in enumerate(silent(items, label=label, **more)):
            # In the middle of an epoch; those before it have left a checkpoint.
            if label == "training mlc" and number == 42:
                raise KeyboardInterrupt
            yield item

    folder = tmp_path / "audit"
    with pytest.raises(KeyboardInterrupt):
        _run(folder, progress=stopping)
    [checkpoint] = (folder / CHECKPOINTS).iterdir()
    assert {path.stat().st_mode & 0o077 for path in checkpoint.iterdir()} == {0}
    _run(folder)
    assert not (folder / CHECKPOINTS).exists()
    whole = (finished[0] / "results.json").read_text()
    assert _timeless((folder / "results.json").read_text()) == _timeless(whole)


def test_a_broken_cell_is_named_and_the_others_are_kept(tmp_path: Path) -> None:
    _run(tmp_path / "audit", QUICK_RUN)
    cell = sorted((tmp_path / "audit" / CELLS).iterdir())[0]
    cell.write_text(f'{{"{ILLNESSES[0]}": ')
    with pytest.raises(ArtifactError, match=cell.name) as caught:
        _run(tmp_path / "audit", QUICK_RUN)
    assert ILLNESSES[0] not in str(caught.value)
    cell.unlink()
    _run(tmp_path / "audit", QUICK_RUN)
    assert cell.exists()


def test_another_plan_is_refused_in_the_same_folder(tmp_path: Path) -> None:
    _run(tmp_path / "audit", QUICK_RUN)
    before = listing(tmp_path / "audit")
    with pytest.raises(InvalidInputError, match=r"another plan: attacks \[\"nearest\"\] there, \[\"mlc,epochs=15"):
        _run(tmp_path / "audit", replace(QUICK_RUN, attacks=(QUICK,)))
    with pytest.raises(InvalidInputError, match=r"another plan: texts"):
        toy_audit(QUICK_RUN, texts=201).run(Experiment(tmp_path / "audit"))
    assert listing(tmp_path / "audit") == before


def test_every_seed_is_a_whole_repetition(tmp_path: Path) -> None:
    result, examples = _run(tmp_path / "audit", replace(QUICK_RUN, seeds=(4, 7)))
    assert [row.setting.seed for row in result.attacks] == [4, 4, 7, 7]
    assert [verdict.setting.seed for verdict in result.verdicts] == [4, 7]
    assert result.attacks[0].leakage != result.attacks[2].leakage
    # Examples and sheets would be the same, or as many again, for every seed: the first stands for all.
    assert {reading.setting.seed for example in examples for reading in example.readings} == {4}
    assert [sheet.setting.seed for sheet in result.sheets] == [4]


def test_without_examples_no_text_is_anywhere(tmp_path: Path) -> None:
    _, examples = _run(tmp_path / "audit", replace(QUICK_RUN, examples=0))
    assert examples == ()
    content = b"".join(listing(tmp_path / "audit").values()).decode()
    assert not any(word in content for word in ILLNESSES + CITIES)


def test_progress_is_told_how_many_cells_there_are(tmp_path: Path) -> None:
    told: dict[str, int | None] = {}

    def telling(items: Iterable[T], *, label: str, total: int | None = None, **more: Any) -> Iterator[T]:
        told[label] = total
        yield from items

    _run(tmp_path / "audit", QUICK_RUN, progress=telling)
    assert told["auditing"] == 2 * (2 + 1 + 1 + 1)
