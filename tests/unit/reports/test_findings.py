from __future__ import annotations

import csv
import json
from dataclasses import replace
from io import StringIO
from pathlib import Path
from xml.etree import ElementTree

import pytest

from support.audits import made_audit
from vecveil.audit.result import AuditResult
from vecveil.audit.rows import Exposure, Outcome
from vecveil.reports import write_findings
from vecveil.reports.findings import exposure_csv, junit_xml, sarif_json


def _judged(outcome: Outcome, *, seeds: tuple[int, ...] = (0,)) -> AuditResult:
    """Return an audit whose veil, at its own budget, comes to this verdict."""
    result = made_audit(seeds=seeds)
    verdicts = []
    for verdict in result.verdicts:
        judgments = tuple(replace(one, outcome=outcome) for one in verdict.judgments)
        verdicts.append(replace(verdict, parts=(replace(verdict.parts[0], outcome=outcome, judgments=judgments),)))
    return replace(result, verdicts=tuple(verdicts))


@pytest.mark.parametrize(("outcome", "tag"), [("pass", None), ("fail", "failure"), ("inconclusive", "skipped")])
def test_a_build_system_reads_each_part_as_a_test(outcome: Outcome, tag: str | None) -> None:
    result = _judged(outcome)
    suite = ElementTree.fromstring(junit_xml(result))  # noqa: S314
    [case] = suite.iter("testcase")
    assert case.get("name") == "private words read back"
    assert [child.tag for child in case] == ([] if tag is None else [tag])
    assert (suite.get("tests"), suite.get("failures")) == ("1", str(int(outcome == "fail")))
    assert suite.find("properties/property[@name='sentence']").get("value") == result.sentence  # type: ignore[union-attr]


def test_each_seed_is_a_test_of_its_own() -> None:
    suite = ElementTree.fromstring(junit_xml(_judged("fail", seeds=(2, 7, 8, 9))))  # noqa: S314
    assert [case.get("name") for case in suite.iter("testcase")] == [
        f"private words read back, seed {seed}" for seed in (2, 7, 8, 9)
    ]


@pytest.mark.parametrize(("outcome", "level"), [("pass", "none"), ("fail", "error"), ("inconclusive", "warning")])
def test_a_scanner_reads_each_part_as_a_result(outcome: Outcome, level: str) -> None:
    run = json.loads(sarif_json(_judged(outcome)))["runs"][0]
    [found] = run["results"]
    assert (found["ruleId"], found["level"]) == ("words", level)
    assert found["ruleId"] in {rule["id"] for rule in run["tool"]["driver"]["rules"]}
    assert found["message"]["text"]


def test_exposures_can_be_joined_back_by_their_ids() -> None:
    rows = list(csv.DictReader(StringIO(exposure_csv(made_audit().exposures, "record"))))
    assert [row["record"] for row in rows] == [f"note {number}" for number in range(10)]
    assert set(rows[0]) == {"record", "attack", "words", "read", "confidence"}


def test_groups_have_a_table_of_their_own(tmp_path: Path) -> None:
    result = made_audit()
    whole = Exposure(record="Ann", attack="mlc, whole groups", words=4, read=0.5, confidence=0.9, grouped=True)
    write_findings(result, (whole, *result.exposures), tmp_path)
    groups = list(csv.DictReader(StringIO((tmp_path / "exposure-by-group.csv").read_text())))
    assert [(row["group"], row["attack"], row["words"]) for row in groups] == [("Ann", "mlc, whole groups", "4")]
    assert "Ann" not in (tmp_path / "exposure.csv").read_text()


def test_findings_are_their_owners_alone(tmp_path: Path) -> None:
    result = made_audit()
    paths = write_findings(result, result.exposures, tmp_path)
    assert {path.name for path in paths} == {"junit.xml", "audit.sarif", "exposure.csv"}
    assert {path.stat().st_mode & 0o777 for path in paths} == {0o600}
