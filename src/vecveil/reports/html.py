"""The report: one HTML page that loads nothing from elsewhere."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from vecveil.audit.result import AuditResult
from vecveil.audit.rows import AttackRow, Example, ProbeRow, SheetRow, TaskRow
from vecveil.core.atomic import atomic_file
from vecveil.core.errors import MissingExtraError
from vecveil.reports.attack_tables import (
    attacks_table,
    blanks_table,
    categories_table,
    matrix,
    probes_matrix,
    probes_table,
)
from vecveil.reports.budget_table import budgets_table
from vecveil.reports.conditions import Condition
from vecveil.reports.page_data import page_data, script_json
from vecveil.reports.summary import Summary
from vecveil.reports.table import NOTHING
from vecveil.reports.utility_tables import tasks_table, trade_offs_table
from vecveil.reports.verdict_tables import (
    control_table,
    exposures_table,
    operating_point,
    overview_table,
    part_summaries,
    verdicts_table,
)

SCRIPTS = ("drawing.js", "numbers.js", "frontier.js", "categories.js", "readings.js", "tables.js", "start.js")


def render_report(
    result: AuditResult,
    examples: Sequence[Example] | None,
    *,
    title: str,
    exposed: Mapping[str, str] | None = None,
) -> str:
    """Return the report as HTML that needs nothing beside it.

    Args:
        result: What the audit found.
        examples: Texts and what was read of them. **Private**; None leaves them out, and the page says so.
        title: Heading of the page.
        exposed: Texts of records by their ids, to show those of the most exposed ones. **Private**; None shows none.
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
        title=title, style=style, script=script, policy=_policy(style, script), **_content(result, examples, exposed)
    )


def write_report(result: AuditResult, examples: Sequence[Example] | None, path: Path, **settings: Any) -> None:
    """Write the report to `path`, whole or not at all, for its owner alone to read; settings as in `render_report`."""
    page = render_report(result, examples, **settings)
    with atomic_file(path) as draft:
        draft.write_text(page, encoding="utf-8", errors="replace")


def _page_file(name: str) -> str:
    return files("vecveil.reports").joinpath("page", name).read_text(encoding="utf-8")


def _policy(style: str, script: str) -> str:
    """Return a policy under which the page loads nothing, and runs nothing but its own script."""
    hashes = [base64.b64encode(hashlib.sha256(part.encode()).digest()).decode() for part in (style, script)]
    own = f"style-src 'sha256-{hashes[0]}'; script-src 'sha256-{hashes[1]}'"
    return f"default-src 'none'; {own}; base-uri 'none'; form-action 'none'"


def _content(
    result: AuditResult, examples: Sequence[Example] | None, exposed: Mapping[str, str] | None
) -> dict[str, Any]:
    summary = Summary.from_result(result)
    return {
        "version": result.versions.get("vecveil", ""),
        "finished": result.finished,
        "plan_digest": result.plan_digest,
        "seeds": _seeds(result),
        "outcome": result.outcome if result.verdicts else "",
        "sentence": f"{result.sentence} {result.reranking_sentence}".rstrip(),
        "overview": overview_table(result),
        "operating_point": operating_point(result),
        "verdict_parts": part_summaries(result),
        "verdicts": verdicts_table(result),
        "exposures": exposures_table(result, exposed),
        "private": bool(examples or exposed),
        "blanks": blanks_table(summary),
        "summary": summary,
        "attacks": attacks_table(summary),
        "words_read": matrix(summary, "r_precision"),
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
            "attacks_on_defenses": len(result.attacks),
            "probes_on_defenses": len(result.probes),
            "tasks_on_defenses": len(result.tasks),
            "computing_time": f"{minutes:.0f} minutes",
        }
    )


def _sheet_content(sheet: SheetRow) -> dict[str, Any]:
    return {"condition": Condition.from_setting(sheet.setting), "text": sheet.text, "warnings": sheet.warnings}


def fact_lines(facts: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Return every value with the way to it: {"noise": {"seed": 0}} is ("noise · seed", "0")."""
    return tuple((" · ".join(path), shown) for path, shown in _lines(facts, ()))


def _lines(value: Any, path: tuple[str, ...]) -> list[tuple[tuple[str, ...], str]]:
    if isinstance(value, Mapping) and value:
        return [line for key, part in value.items() for line in _lines(part, (*path, _name_key(str(key))))]
    if isinstance(value, list | tuple) and any(isinstance(part, Mapping) for part in value):
        return [line for place, part in enumerate(value, start=1) for line in _lines(part, (*path, str(place)))]
    return [(path, _show(value))]


def _name_key(key: str) -> str:
    return key.replace("_", " ")


def _show(value: Any) -> str:
    match value:
        case bool():
            return "yes" if value else "no"
        case int():
            return f"{value:,}"
        case float():
            return f"{value:.6g}"
        case list() | tuple():
            return ", ".join(_show(part) for part in value) or NOTHING
        case _:
            return str(value) if value else NOTHING
