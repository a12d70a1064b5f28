"""Every experiment of the paper, run on data that take a moment."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from reproduction import EXPERIMENTS, Lab, PaperResult, case_study
from reproduction.pii_baselines import REWRITERS, rates_of
from reproduction.published import read_published
from reproduction.result import row_of
from reproduction.similar_tokens import kinds_of
from support import benchmark
from support.benchmark import TOY_DIMENSIONS
from vecveil.core.errors import MissingExtraError

pytestmark = pytest.mark.filterwarnings(
    "ignore:(the mask tells texts|no gate of the mask can close|the attack 'mlc' reads)"
)
"""Masks and attacks learn little from so few texts."""

WITHOUT_BUDGET = {"neuron-masks", "privacy-neurons", "overhead"}
"""Experiments on masks and on time, in which no epsilon has a part."""

MEASURED = {
    "main-results": 2 * (3 + 2 * 3 * 3),
    "attack-models": 3 * (1 + 2),
    "categories": 28,
    "white-box": 2 * 3 * 2,
    "regularization": 2 * 2 * 2,
}
"""Figures of the paper that have one of ours beside them in the part of a table that is run here."""


def _run(lab: Lab, name: str) -> PaperResult:
    return EXPERIMENTS.load(name)().run(lab)


def _ours(result: PaperResult, metric: str, **keys: str) -> float:
    found = [
        row.ours
        for row in result.rows
        if row.metric == metric
        and row.scale in {"", "paper"}
        and all(row.keys[key] == value for key, value in keys.items())
    ]
    assert len(found) == 1
    assert found[0] is not None
    return found[0]


@pytest.mark.parametrize("name", MEASURED)
def test_every_figure_of_the_paper_has_its_line(lab: Lab, name: str) -> None:
    result = _run(lab, name)
    known = [row for row in result.rows if row.paper is not None]
    assert len(known) == len(read_published(name).figures)
    assert sum(row.ours is not None for row in known) == MEASURED[name]
    assert not any("was not run" in note for note in result.notes)


@pytest.mark.parametrize("name", sorted({*EXPERIMENTS.builtin} - WITHOUT_BUDGET - {"more-datasets"}))
def test_every_experiment_with_a_budget_reads_it_on_both_scales(lab: Lab, name: str) -> None:
    result = _run(lab, name)
    assert {"paper", "literal"} <= {row.scale for row in result.rows if row.ours is not None}
    assert all(row.paper is None for row in result.rows if row.scale == "literal")


def test_noise_costs_utility_and_is_drawn(lab: Lab, tmp_path: Path) -> None:
    result = _run(lab, "main-results")
    utilities = [_ours(result, "utility", dataset="sts12", epsilon=e, defense="laplace") for e in ("5", "40")]
    clean = _ours(result, "utility", dataset="sts12", epsilon="inf", defense="none")
    assert utilities[0] < utilities[1] <= clean + 5
    assert {row.keys["epsilon"] for row in result.rows if row.scale == "literal"} == {"40"}
    result.write(tmp_path)
    assert {"main-results-sts12.svg", "main-results-fiqa.png", "main-results.tex"} <= {
        path.name for path in tmp_path.iterdir()
    }


def test_four_more_data_sets_are_asked_for(lab: Lab, tmp_path: Path) -> None:
    # What is done with a data set is what the main table does.
    result = _run(replace(lab, data=tmp_path, out=tmp_path / "measured"), "more-datasets")
    assert len(result.rows) == len(read_published("more-datasets").figures) == 192
    asked = {note.partition(" was not run")[0] for note in result.notes if "was not run" in note}
    assert asked == {row.keys["dataset"] for row in result.rows} == {"stsb", "sts14", "quora", "nfcorpus"}
    assert result.plots == {}


def test_every_group_of_words_has_its_lines_beside_a_control(lab: Lab) -> None:
    result = _run(lab, "similar-tokens")
    beside = [row for row in result.rows if row.paper is not None]
    assert len(beside) == 2 * 3
    assert {row.keys["defense"] for row in beside} == {"sparse"}
    # A kind of word of which nothing leaks without a defense has no mitigation.
    assert sum(row.ours is not None for row in beside) >= 4
    control = [row.scale for row in result.rows if row.keys["defense"] == "laplace"]
    assert (control.count("paper"), control.count("literal")) == (6, 6)


def test_every_installed_model_has_its_lines(lab: Lab) -> None:
    result = _run(lab, "embedding-models")
    for model in ("minilm", "mpnet"):
        ours = [row for row in result.rows if row.keys["embedder"] == model and row.paper is not None]
        assert len(ours) == 8
        assert all(row.ours is not None for row in ours)
    missing = {row.keys["embedder"] for row in result.rows if row.ours is None}
    assert {"gtr-base", "sentence-t5"} <= missing


def test_a_model_that_is_not_installed_is_left_out_and_named(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(_: str) -> None:
        raise MissingExtraError("the package of mpnet", "mpnet")

    monkeypatch.setattr(benchmark, "toy_mpnet", missing)
    result = _run(replace(lab), "embedding-models")
    assert all(row.ours is None for row in result.rows if row.keys["embedder"] == "mpnet")
    assert any(note.startswith("sts12 with mpnet was not run") for note in result.notes)


def test_rewritten_texts_are_attacked_and_have_a_rate(lab: Lab) -> None:
    result = _run(lab, "pii-baselines")
    clean = _ours(result, "leakage", dataset="sts12", defense="none")
    for name in REWRITERS:
        assert _ours(result, "leakage", dataset="sts12", defense=name) < clean
    printed = [row for row in result.rows if row.paper is not None]
    assert len(printed) == len(read_published("pii-baselines").figures)
    # Where nothing is lost a rate has no value.
    assert all(row.ours is not None for row in printed if "rate" not in row.metric)
    beside = {(row.keys["defense"], row.metric) for row in printed if "rate" in row.metric}
    assert beside == {("sparse", "rate"), *((name, "rate, leakage as 0") for name in REWRITERS)}


def test_the_rate_of_the_paper_s_figures_is_the_paper_s() -> None:
    keys = {"dataset": "sts12"}
    rows = [
        row_of(keys | {"defense": name}, metric, [value], scale="" if name == "none" else "paper")
        for name, leakage, utility in (("none", 60.09, 74.25), ("sparse", 36.98, 73.25))
        for metric, value in (("leakage", leakage), ("utility", utility))
    ]
    (rate,) = rates_of(PaperResult(name="pii-baselines", title="", rows=tuple(rows)))
    assert rate.ours == pytest.approx(23.11)
    assert rate.paper == 23.11


def test_shuffled_differences_pass_the_paper_s_test_as_well(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ranking and testing on the same pairs finds a difference where there is none."""
    # A tenth of a few dimensions is too little for a test.
    monkeypatch.setattr(benchmark, "toy_minilm", lambda _: benchmark.ToyModel(name="minilm", dimensions=240))
    result = _run(replace(lab), "privacy-neurons")
    keys = {"pairs compared": "paired, shuffled", "group": "all"}
    fooled = _ours(result, "p-value", **keys, **{"ranked and tested on": "same pairs"})
    fair = _ours(result, "p-value", **keys, **{"ranked and tested on": "halves"})
    assert fooled < 1e-6 < fair


def test_masks_of_words_are_learned_and_drawn(lab: Lab, tmp_path: Path) -> None:
    result = _run(replace(lab, effort=replace(lab.effort, words=2)), "neuron-masks")
    assert {row.keys["preset"] for row in result.rows} == {"paper", "working"}
    assert {row.keys["words of"] for row in result.rows} == {
        "weekdays",
        "country",
        "two groups",
        "the same word, another seed",
        "by chance",
    }
    by_chance = _ours(result, "shared, %", preset="paper", **{"words of": "by chance"})
    assert by_chance == pytest.approx(100 * 5 / TOY_DIMENSIONS)
    result.write(tmp_path)
    assert (tmp_path / "neuron-masks-working.svg").stat().st_size > 1000


def test_sentences_are_read_back_without_a_defense(lab: Lab, tmp_path: Path) -> None:
    result = _run(lab, "case-study")
    assert {row.keys["defense"] for row in result.rows} == {"none", "laplace", "purkayastha", "sparse", "vecveil"}
    assert "similarity by mpnet" in " ".join(result.notes)
    result.write(tmp_path)
    shown = (tmp_path / "case-study-sentences.csv").read_text()
    assert "what was written" in shown
    assert "no defense" in shown


def test_without_a_second_model_sentences_have_no_similarity(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*_: object, **__: object) -> None:
        raise MissingExtraError("the package of mpnet", "mpnet")

    monkeypatch.setattr(case_study, "resolve_embedder", missing)
    result = _run(lab, "case-study")
    assert all(row.ours is None for row in result.rows)
    assert "no similarity, since mpnet can't be had" in " ".join(result.notes)


def test_times_are_measured_once(lab: Lab) -> None:
    result = _run(lab, "overhead")
    assert all(row.ours is not None and row.ours > 0 for row in result.rows)
    again = _run(lab, "overhead")
    assert [row.ours for row in again.rows] == [row.ours for row in result.rows]


def test_words_are_of_three_kinds() -> None:
    groups = {"days": ("Monday", "Friday"), "cities": ("London", "Paris")}
    assert kinds_of("Monday", groups, {"Monday", "Friday", "Paris"}) == {
        "target": {"Monday"},
        "similar": {"Friday"},
        "other": {"Paris"},
    }
