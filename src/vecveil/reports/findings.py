"""Findings of an audit for build systems: JUnit, SARIF, exposure by record."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from vecveil.audit.result import AuditResult
from vecveil.audit.rows import PARTS, Exposure, Outcome, PartVerdict, Verdict
from vecveil.core.atomic import atomic_file

JUNIT, SARIF = "junit.xml", "audit.sarif"

EXPOSURE, GROUP_EXPOSURE = "exposure.csv", "exposure-by-group.csv"

LEVELS: dict[Outcome, str] = {"pass": "none", "fail": "error", "inconclusive": "warning"}


def write_findings(result: AuditResult, exposures: Sequence[Exposure], folder: Path) -> tuple[Path, ...]:
    """Write what build systems and spreadsheets read, each file whole or not at all. They hold no text.

    Args:
        result: What the audit found.
        exposures: How far each record and each group was read.
        folder: The audit's folder.
    """
    files = {JUNIT: junit_xml(result), SARIF: sarif_json(result)}
    files[EXPOSURE] = exposure_csv([one for one in exposures if not one.grouped], "record")
    if groups := [one for one in exposures if one.grouped]:
        files[GROUP_EXPOSURE] = exposure_csv(groups, "group")
    for name, text in files.items():
        with atomic_file(folder / name) as draft:
            draft.write_text(text, encoding="utf-8", errors="replace")
    return tuple(folder / name for name in files)


def junit_xml(result: AuditResult) -> str:
    """Return one test for each part of the verdict on the veil at its own budget; what is inconclusive is skipped."""
    parts = _own_parts(result)
    outcomes = [part.outcome for _, part in parts]
    suite = ElementTree.Element(
        "testsuite",
        name="vecveil audit",
        tests=str(len(parts)),
        failures=str(outcomes.count("fail")),
        skipped=str(outcomes.count("inconclusive")),
        errors="0",
        timestamp=result.finished.partition("+")[0],
    )
    properties = ElementTree.SubElement(suite, "properties")
    for name, value in (("sentence", result.sentence), ("veil", str(result.veil.get("digest", "")))):
        ElementTree.SubElement(properties, "property", name=name, value=value)
    for verdict, part in parts:
        name = PARTS[part.part] + (f", seed {verdict.setting.seed}" if len(parts) > len(PARTS) else "")
        case = ElementTree.SubElement(suite, "testcase", classname="vecveil.audit", name=name)
        reasons = _reasons(part)
        if part.outcome == "fail":
            ElementTree.SubElement(case, "failure", message=reasons[0]).text = "\n".join(reasons)
        elif part.outcome == "inconclusive":
            ElementTree.SubElement(case, "skipped", message=reasons[0])
    ElementTree.indent(suite)
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def sarif_json(result: AuditResult) -> str:
    """Return the verdict in SARIF 2.1.0: an error for a part that fails, a warning for one that is inconclusive."""
    veil = {"name": str(result.veil.get("digest", "")), "kind": "module"}
    findings = [
        {
            "ruleId": part.part,
            "kind": "pass" if part.outcome == "pass" else "fail",
            "level": LEVELS[part.outcome],
            "message": {"text": "; ".join(_reasons(part))},
            "locations": [{"logicalLocations": [veil]}],
            "partialFingerprints": {"veil": f"{veil['name']} {part.part} {verdict.setting.seed}"},
        }
        for verdict, part in _own_parts(result)
    ]
    driver = {
        "name": "vecveil",
        "version": result.versions.get("vecveil", ""),
        "rules": [{"id": part, "shortDescription": {"text": name}} for part, name in PARTS.items()],
    }
    document: dict[str, Any] = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": findings, "properties": {"sentence": result.sentence}}],
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def exposure_csv(exposures: Sequence[Exposure], of: str) -> str:
    """Return one line for each record or group and attack, the most exposed first."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow([of, "attack", "words", "read", "confidence"])
    for one in exposures:
        writer.writerow([one.record, one.attack, one.words, f"{one.read:.4f}", f"{one.confidence:.4f}"])
    return stream.getvalue()


def _own_parts(result: AuditResult) -> list[tuple[Verdict, PartVerdict]]:
    return [(verdict, part) for verdict in result.verdicts if verdict.setting.own for part in verdict.parts]


def _reasons(part: PartVerdict) -> list[str]:
    """Return what those attacks say that decide a part."""
    return [one.reason for one in part.judgments if one.outcome == part.outcome] or ["no attack was run"]
