"""Every experiment of the paper, run on data that take seconds."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from support.benchmark import write_benchmark

from vecveil.core.errors import InvalidInputError
from vecveil.reproduce import EXPERIMENTS, QUICK, Finding, Lab, checked_priors
from vecveil.reproduce.datasets import Sizes
from vecveil.reproduce.defences import DefenceName

pytestmark = pytest.mark.filterwarnings("ignore:the mask tells texts with the concept")
"""Masks learn little from so few texts."""

TINY = replace(
    QUICK,
    sizes=Sizes(pairs=40, queries=6, documents=60),
    mlc="mlc,epochs=4,batch_size=32,hidden=[32]",
    generative="epochs=1,layers=1,width=32,heads=2,vocabulary=300",
    words=1,
    runs=20,
    samples=(100,),
)


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
    assert {row.keys["epsilon"] for row in literal} == {"10"}
    assert all(row.paper is None for row in literal)
    finding.write(tmp_path)
    assert {"main-results-sts12.svg", "main-results-fiqa.png", "main-results.tex"} <= {
        path.name for path in tmp_path.iterdir()
    }


@pytest.mark.parametrize(
    ("name", "printed"),
    [("white-box", 60), ("categories", 28), ("regularisation", 40), ("similar-tokens", 45)],
)
def test_tables_have_the_lines_of_the_paper(lab: Lab, name: str, printed: int) -> None:
    finding = _run(lab, name)
    known = [row for row in finding.rows if row.paper is not None]
    assert len(known) == printed
    assert sum(row.ours is not None for row in known) > printed / 2


def test_every_installed_model_has_its_lines(lab: Lab) -> None:
    finding = _run(lab, "embedding-models")
    assert sum(row.paper is not None for row in finding.rows if row.keys["embedder"] == "minilm") == 8
    assert "mpnet" in {row.keys["embedder"] for row in finding.rows} or any("mpnet was" in one for one in finding.notes)


def test_the_three_attacks_are_trained(lab: Lab) -> None:
    finding = _run(lab, "attack-models")
    assert sum(row.paper is not None and row.ours is not None for row in finding.rows) == 21


def test_rewritten_texts_are_attacked_and_have_a_rate(lab: Lab) -> None:
    finding = _run(lab, "pii-baselines")
    for name in ("remove-pii", "random-replacement", "semantic-replacement"):
        assert _ours(finding, "leakage", dataset="sts12", defence=name) >= 0
    rates = [row for row in finding.rows if row.metric == "rate"]
    assert {row.keys["defence"] for row in rates if row.paper is not None} == {
        "remove-pii",
        "random-replacement",
        "semantic-replacement",
        "sparse",
    }


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


def test_a_data_set_that_can_t_be_used_is_left_out_and_named(lab: Lab, tmp_path: Path) -> None:
    other = replace(lab, data=tmp_path, out=tmp_path / "measured", _benches={})
    finding = _run(other, "white-box")
    assert finding.rows == ()
    assert any("sts12 was not run" in note and "has no sts12" in note for note in finding.notes)


def test_what_was_measured_is_not_measured_again(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    defence = DefenceName(name="none")
    first = lab.attacked("sts12", defence, "mlc", 0)
    monkeypatch.setattr("vecveil.audit.frontier.bench.Bench.attacked", None)
    assert lab.attacked("sts12", defence, "mlc", 0) == first
    with pytest.raises(TypeError):
        lab.attacked("sts12", defence, "mlc", 1)


def test_a_prior_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="holds no prior"):
        checked_priors({"geia": tmp_path})
    with pytest.raises(InvalidInputError, match="belongs to geia or to vec2text, got 'mlc'"):
        checked_priors({"mlc": tmp_path})
