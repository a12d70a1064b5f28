"""Every experiment of the paper, run on data that take seconds."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from support.benchmark import write_benchmark
from support.embedders import WordEmbedder

from vecveil.audit.budgets import Budget
from vecveil.audit.defences import Defence
from vecveil.audit.frontier.bench import Bench
from vecveil.core.errors import ArtifactError, InvalidInputError, MissingExtraError
from vecveil.reproduce import EXPERIMENTS, QUICK, Finding, Lab, checked_priors
from vecveil.reproduce.datasets import Sizes
from vecveil.reproduce.defences import DefenceName
from vecveil.reproduce.finding import row_of
from vecveil.reproduce.pii_baselines import REWRITERS, rates_of
from vecveil.reproduce.published import published
from vecveil.reproduce.similar_tokens import kinds_of

pytestmark = pytest.mark.filterwarnings("ignore:the mask tells texts with the concept")
"""Masks learn little from so few texts."""

TINY = replace(
    QUICK,
    sizes=Sizes(pairs=40, queries=6, documents=60),
    mlc="mlc,epochs=4,batch_size=32,hidden=[32]",
    adapted="epochs=1",
    scratch="epochs=1,layers=1,width=32,heads=2,vocabulary=300",
    words=1,
    runs=20,
    samples=(100,),
)

WITHOUT_BUDGET = {"neuron-masks", "privacy-neurons", "overhead"}
"""Experiments on masks and on time, in which no epsilon has a part."""


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    place = tmp_path_factory.mktemp("reproduce")
    data = write_benchmark(place / "data")
    return Lab(data=data, out=place / "measured", effort=TINY, cache=place / "cache")


def _run(lab: Lab, name: str) -> Finding:
    return EXPERIMENTS.load(name)().run(lab)


def _ours(finding: Finding, metric: str, **keys: str) -> float:
    found = [
        row.ours
        for row in finding.rows
        if row.metric == metric
        and row.scale in {"", "paper"}
        and all(row.keys[key] == value for key, value in keys.items())
    ]
    assert len(found) == 1
    assert found[0] is not None
    return found[0]


def test_the_main_table_has_every_line_of_the_paper_and_noise_costs_utility(lab: Lab, tmp_path: Path) -> None:
    finding = _run(lab, "main-results")
    printed = [row for row in finding.rows if row.paper is not None]
    assert len(printed) == 96
    assert all(row.ours is not None for row in printed)
    utilities = [_ours(finding, "utility", dataset="sts12", epsilon=e, defence="laplace") for e in ("5", "40")]
    clean = _ours(finding, "utility", dataset="sts12", epsilon="inf", defence="none")
    assert utilities[0] < utilities[1] <= clean + 5
    literal = [row for row in finding.rows if row.scale == "literal"]
    assert {row.keys["epsilon"] for row in literal} == {"40"}
    assert all(row.paper is None for row in literal)
    finding.write(tmp_path)
    assert {"main-results-sts12.svg", "main-results-fiqa.png", "main-results.tex"} <= {
        path.name for path in tmp_path.iterdir()
    }


@pytest.mark.parametrize(
    ("name", "printed"),
    [("white-box", 60), ("categories", 28), ("regularisation", 40), ("more-datasets", 192)],
)
def test_tables_have_the_lines_of_the_paper(lab: Lab, name: str, printed: int) -> None:
    finding = _run(lab, name)
    known = [row for row in finding.rows if row.paper is not None]
    assert sum(row.ours is not None for row in known) == printed
    assert len(known) == len(published(name).figures)


def test_every_group_of_words_has_its_lines_beside_a_control(lab: Lab) -> None:
    finding = _run(lab, "similar-tokens")
    beside = [row for row in finding.rows if row.paper is not None]
    assert len(beside) == 15
    assert {row.keys["defence"] for row in beside} == {"sparse"}
    # A kind of word of which nothing leaks without a defence has no mitigation.
    assert sum(row.ours is not None for row in beside) >= 10
    control = [row.scale for row in finding.rows if row.keys["defence"] == "laplace"]
    assert (control.count("paper"), control.count("literal")) == (15, 15)


def test_every_installed_model_has_its_lines(lab: Lab) -> None:
    finding = _run(lab, "embedding-models")
    ours = [row for row in finding.rows if row.keys["embedder"] == "minilm" and row.paper is not None]
    assert len(ours) == 8
    assert all(row.ours is not None for row in ours)
    missing = {row.keys["embedder"] for row in finding.rows if row.ours is None}
    assert {"gtr-base", "sentence-t5"} <= missing
    assert "mpnet" in {row.keys["embedder"] for row in finding.rows} or any("mpnet was" in one for one in finding.notes)


def test_the_three_attacks_are_trained(lab: Lab) -> None:
    finding = _run(lab, "attack-models")
    assert sum(row.paper is not None and row.ours is not None for row in finding.rows) == 21


def test_rewritten_texts_are_attacked_and_have_a_rate(lab: Lab) -> None:
    finding = _run(lab, "pii-baselines")
    clean = _ours(finding, "leakage", dataset="sts12", defence="none")
    for name in REWRITERS:
        assert _ours(finding, "leakage", dataset="sts12", defence=name) < clean
    beside = {(row.keys["defence"], row.metric) for row in finding.rows if "rate" in row.metric and row.paper}
    assert beside == {("sparse", "rate"), *((name, "rate, leakage as 0") for name in REWRITERS)}


def test_the_rate_of_the_paper_s_figures_is_the_paper_s() -> None:
    keys = {"dataset": "sts12"}
    rows = [
        row_of(keys | {"defence": name}, metric, [value], scale="" if name == "none" else "paper")
        for name, leakage, utility in (("none", 60.09, 74.25), ("sparse", 36.98, 73.25))
        for metric, value in (("leakage", leakage), ("utility", utility))
    ]
    (rate,) = rates_of(Finding(name="pii-baselines", title="", rows=tuple(rows)))
    assert rate.ours == pytest.approx(23.11)
    assert rate.paper == 23.11


def test_shuffled_differences_pass_the_paper_s_test_as_well(lab: Lab) -> None:
    """Ranking and testing on the same pairs finds a difference where there is none."""
    finding = _run(lab, "privacy-neurons")
    keys = {"pairs compared": "paired, shuffled", "group": "all"}
    fooled = _ours(finding, "p-value", **keys, **{"ranked and tested on": "same pairs"})
    fair = _ours(finding, "p-value", **keys, **{"ranked and tested on": "halves"})
    assert fooled < 1e-6 < fair


def test_masks_of_words_are_learned_and_drawn(lab: Lab, tmp_path: Path) -> None:
    finding = _run(lab, "neuron-masks")
    assert {row.keys["preset"] for row in finding.rows} == {"paper", "working"}
    assert _ours(finding, "shared, %", preset="paper", **{"words of": "by chance"}) == pytest.approx(100 * 5 / 384)
    finding.write(tmp_path)
    assert (tmp_path / "neuron-masks-working.svg").stat().st_size > 1000


def test_sentences_are_read_back_without_a_defence(lab: Lab, tmp_path: Path) -> None:
    finding = _run(lab, "case-study")
    assert {row.keys["defence"] for row in finding.rows} == {"none", "laplace", "purkayastha", "sparse", "vecveil"}
    finding.write(tmp_path)
    shown = (tmp_path / "case-study-sentences.csv").read_text()
    assert "what was written" in shown
    assert "no defence" in shown


def test_times_are_measured(lab: Lab) -> None:
    finding = _run(lab, "overhead")
    assert all(row.ours is not None and row.ours > 0 for row in finding.rows)
    again = _run(lab, "overhead")
    assert [row.ours for row in again.rows] == [row.ours for row in finding.rows]


def test_a_data_set_that_can_t_be_used_is_left_out_and_named(lab: Lab, tmp_path: Path) -> None:
    finding = _run(replace(lab, data=tmp_path, out=tmp_path / "measured"), "white-box")
    assert len(finding.rows) == 60
    assert all(row.ours is None for row in finding.rows)
    assert any("sts12 was not run: --data has no sts12" in note for note in finding.notes)


def test_what_was_measured_is_not_measured_again(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    defence = DefenceName(name="none")
    first = lab.attacked("sts12", defence, "mlc", 0)
    monkeypatch.setattr("vecveil.audit.frontier.bench.Bench.attacked", None)
    assert lab.attacked("sts12", defence, "mlc", 0) == first
    with pytest.raises(TypeError):
        lab.attacked("sts12", defence, "mlc", 1)


def test_a_line_that_can_t_be_measured_does_not_stop_the_others(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = DefenceName.build

    def without_captum(self: DefenceName, bench: Bench, seed: int) -> Defence:
        if self.name == "purkayastha":
            raise MissingExtraError("captum", "audit")
        return whole(self, bench, seed)

    monkeypatch.setattr(DefenceName, "build", without_captum)
    finding = _run(replace(lab, out=lab.out / "other"), "embedding-models")
    lines = {row.keys["defence"]: row.ours for row in finding.rows if row.keys["embedder"] == "minilm"}
    assert lines["laplace"] is not None
    assert any("behind purkayastha was not run" in note and "captum" in note for note in finding.notes)


def test_nothing_depends_on_how_a_path_is_written(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    defence = DefenceName(name="laplace", budget=Budget(value=10, scale="paper"))
    first = lab.useful("sts12", defence, 0)
    monkeypatch.chdir(lab.data)
    other = replace(lab, data=Path(), out=lab.out.parent / "elsewhere")
    assert other.useful("sts12", defence, 0) == first


@pytest.mark.parametrize(
    "other",
    [
        DefenceName(name="laplace", budget=Budget(value=20, scale="paper")),
        DefenceName(name="laplace", budget=Budget(value=10, scale="literal")),
        DefenceName(name="purkayastha", budget=Budget(value=10, scale="paper")),
        DefenceName(name="sparse", budget=Budget(value=10, scale="paper"), settings=(("penalty", 0.5),)),
    ],
)
def test_different_defences_are_measured_apart(other: DefenceName) -> None:
    assert other.key() != DefenceName(name="laplace", budget=Budget(value=10, scale="paper")).key()
    assert other.key() != DefenceName(name="sparse", budget=Budget(value=10, scale="paper")).key()


@pytest.mark.parametrize(("name", "budget"), [("laplace", None), ("none", Budget(value=1, scale="paper"))])
def test_noise_needs_a_budget_and_nothing_else_takes_one(name: str, budget: Budget | None) -> None:
    with pytest.raises(InvalidInputError, match="noise needs a budget"):
        DefenceName(name=name, budget=budget)


def test_words_are_of_three_kinds() -> None:
    groups = {"days": ("Monday", "Friday"), "cities": ("London", "Paris")}
    assert kinds_of("Monday", groups, {"Monday", "Friday", "Paris"}) == {
        "target": {"Monday"},
        "similar": {"Friday"},
        "other": {"Paris"},
    }


def test_a_prior_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match="there is no prior"):
        checked_priors({"geia": tmp_path}, WordEmbedder())
    with pytest.raises(InvalidInputError, match="belongs to geia or vec2text, got 'mlc'"):
        checked_priors({"mlc": tmp_path}, WordEmbedder())


@pytest.mark.parametrize("name", sorted({*EXPERIMENTS.names()} - WITHOUT_BUDGET))
def test_every_experiment_with_a_budget_reads_it_on_both_scales(lab: Lab, name: str) -> None:
    finding = _run(lab, name)
    assert {"paper", "literal"} <= {row.scale for row in finding.rows if row.ours is not None}
    assert all(row.paper is None for row in finding.rows if row.scale == "literal")


def test_an_attack_without_a_prior_is_small_and_one_with_a_prior_takes_its_sizes(lab: Lab, tmp_path: Path) -> None:
    assert lab.attack("vec2text") == f"vec2text,steps=0,{TINY.scratch}"
    assert replace(lab, priors={"vec2text": tmp_path}).attack("vec2text") == f"vec2text:{tmp_path},steps=0,epochs=1"
