"""The report: one page that opens from disk, loads nothing, and can be handed on as it is."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from vecveil.artifacts.atomic import atomic_file
from vecveil.audit.results import AttackRow, AuditResult, Example, ProbeRow, SheetRow, TaskRow
from vecveil.core.errors import MissingExtraError
from vecveil.reports.attack_tables import attacks_table, categories_table, matrix, probes_matrix, probes_table
from vecveil.reports.budget_table import budgets_table
from vecveil.reports.facts import fact_lines
from vecveil.reports.headline import chosen_ruling, headline, key_numbers
from vecveil.reports.page_data import page_data, script_json
from vecveil.reports.points import Point
from vecveil.reports.rulings import rulings
from vecveil.reports.summary import Summary
from vecveil.reports.utility_tables import tasks_table, trade_offs_table
from vecveil.reports.verdict_tables import control_table, judgements_table

SCRIPTS = ("drawing.js", "numbers.js", "frontier.js", "categories.js", "readings.js", "tables.js", "start.js")


def render_report(result: AuditResult, examples: Sequence[Example] | None, *, title: str) -> str:
    """Return the report as HTML that needs nothing beside it.

    Args:
        result: What the audit found.
        examples: Texts and what was read of them. **Private**; None leaves them out, and the page says so.
        title: Heading of the page.
    """
    try:
        from jinja2 import Environment, FunctionLoader, StrictUndefined
    except ImportError:
        raise MissingExtraError("Jinja2", "audit") from None
    environment = Environment(
        loader=FunctionLoader(_page_file),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    style, script = _page_file("report.css"), "\n".join(_page_file(name) for name in SCRIPTS)
    return environment.get_template("report.html").render(
        title=title, style=style, script=script, policy=_policy(style, script), **_content(result, examples)
    )


def write_report(result: AuditResult, examples: Sequence[Example] | None, path: Path, *, title: str) -> None:
    """Write the report to `path`, whole or not at all; with texts in it, no one but its owner may read it."""
    page = render_report(result, examples, title=title)
    with atomic_file(path, private=examples is not None) as draft:
        draft.write_text(page, encoding="utf-8", errors="replace")


def _page_file(name: str) -> str:
    return files("vecveil.reports").joinpath("page", name).read_text(encoding="utf-8")


def _policy(style: str, script: str) -> str:
    """Return a policy under which the page loads nothing, and runs nothing but its own script."""
    hashes = [base64.b64encode(hashlib.sha256(part.encode()).digest()).decode() for part in (style, script)]
    own = f"style-src 'sha256-{hashes[0]}'; script-src 'sha256-{hashes[1]}'"
    return f"default-src 'none'; {own}; base-uri 'none'; form-action 'none'"


def _content(result: AuditResult, examples: Sequence[Example] | None) -> dict[str, Any]:
    summary = Summary.of(result)
    ruled = rulings(result.verdicts)
    chosen = chosen_ruling(ruled)
    return {
        "version": result.versions.get("vecveil", ""),
        "finished": result.finished,
        "plan_digest": result.plan_digest,
        "seeds": _seeds(result),
        "headline": headline(ruled),
        "rulings": [(ruling, judgements_table(ruling)) for ruling in ruled],
        "chosen": chosen,
        "key_numbers": () if chosen is None else key_numbers(chosen.point, summary),
        "summary": summary,
        "attacks": attacks_table(summary),
        "leakage": matrix(summary, "leakage"),
        "confidence": matrix(summary, "confidence"),
        "categories": categories_table(summary),
        "control": control_table(result, summary),
        "probes_at_a_glance": probes_matrix(summary),
        "probes": probes_table(summary),
        "tasks": tasks_table(summary),
        "trade_offs": trade_offs_table(summary),
        "budgets": budgets_table(summary),
        "sheets": [_sheet_content(sheet) for sheet in result.sheets],
        "examples": examples,
        "audit": _audit_facts(result),
        "corpus": fact_lines(result.corpus),
        "veil": fact_lines(result.veil),
        "plan": fact_lines(result.plan),
        "versions": fact_lines(result.versions),
        "data": script_json(page_data(summary, examples)),
    }


def _rows(result: AuditResult) -> tuple[AttackRow | ProbeRow | TaskRow, ...]:
    return (*result.attacks, *result.probes, *result.tasks)


def _seeds(result: AuditResult) -> list[int]:
    return sorted({row.setting.seed for row in _rows(result)})


def _audit_facts(result: AuditResult) -> tuple[tuple[str, str], ...]:
    minutes = sum(row.seconds for row in _rows(result)) / 60
    return fact_lines(
        {
            "finished": result.finished,
            "plan_digest": result.plan_digest,
            "seeds": _seeds(result),
            "attacks_on_defences": len(result.attacks),
            "probes_on_defences": len(result.probes),
            "tasks_on_defences": len(result.tasks),
            "computing_time": f"{minutes:.0f} minutes",
        }
    )


def _sheet_content(sheet: SheetRow) -> dict[str, Any]:
    text = sheet.text
    for warning in sheet.warnings:
        # Warnings stand above the sheet, and once is enough.
        text = text.replace(f"Warning: {warning}.", "")
    return {"point": Point.of(sheet.setting), "text": text.strip(), "warnings": sheet.warnings}
