from __future__ import annotations

import json
from dataclasses import replace

import pytest

from support.audit_examples import HOSTILE, hostile_example, made_examples
from support.audits import made_audit
from vecveil.audit.result import AuditResult
from vecveil.reports.page_data import page_data, script_json
from vecveil.reports.summary import Summary


@pytest.fixture(scope="module")
def result() -> AuditResult:
    return made_audit()


@pytest.mark.parametrize("text", [HOSTILE, "<!--", "]]>", "\u2028\u2029", "\ud800", "\x00\x1b", "&amp;"])
def test_no_text_breaks_out_of_the_data(text: str) -> None:
    written = script_json({"text": [text]})
    assert not set(written) & set("<>&\u2028\u2029")
    assert written.isascii()
    assert json.loads(written) == {"text": [text]}


def test_numbers_that_json_does_not_know_become_null() -> None:
    assert script_json({"a": float("nan"), "b": (float("inf"), 1.0)}) == '{"a":null,"b":[null,1.0]}'


def test_conditions_have_their_readings_attacks_probes_and_tasks(result: AuditResult) -> None:
    data = page_data(Summary.from_result(result), None)
    control, veil = data["points"][:2]
    assert (control["name"], control["series"], control["readings"]) == ("none", None, None)
    assert (veil["series"], veil["readings"]["noiseRatio"]) == (0, 0.3)
    assert set(veil["attacks"]) == set(data["attacks"])
    assert set(veil["probes"]) == {"linear", "mlp"}
    assert veil["tasks"]["neighbors"]["kept"]["value"] < 1
    assert veil["attacks"]["mlc"]["similarity"] is None
    assert data["defenses"] == ["veil", "LapMech", "PurMech"]


def test_texts_are_there_only_when_they_are_asked_for(result: AuditResult) -> None:
    summary = Summary.from_result(result)
    assert page_data(summary, None)["examples"] is None
    assert "Angela" not in script_json(page_data(summary, None))
    assert "Angela" in script_json(page_data(summary, made_examples()))


def test_undefined_estimates_are_left_out(result: AuditResult) -> None:
    nan = replace(result.attacks[0].leakage, value=float("nan"))
    rows = (replace(result.attacks[0], leakage=nan),)
    data = page_data(Summary.from_result(replace(result, attacks=rows)), [hostile_example()])
    assert data["points"][0]["attacks"]["mlc"]["leakage"] is None
