"""Data of the page's plots, as JSON for a script element."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

from vecveil.audit.rows import AttackRow, Estimate, Example, sort_examples
from vecveil.reports.conditions import Condition
from vecveil.reports.examples import example_data
from vecveil.reports.summary import AttackSummary, Summary
from vecveil.reports.utility import TaskSummary


def page_data(summary: Summary, examples: Sequence[Example] | None) -> dict[str, Any]:
    """Return everything that the script needs; conditions are known by their place in the list."""
    names = {found.row.attack: found.name for found in summary.attacks}
    defenses = list(dict.fromkeys(condition.name for condition in summary.conditions if not condition.unprotected))
    return {
        "defenses": defenses,
        "attacks": list(summary.attack_names),
        "probes": list(dict.fromkeys(found.name for found in summary.probes)),
        "tasks": list(summary.task_names),
        "categories": list(summary.categories),
        "points": [_condition_data(condition, defenses, summary) for condition in summary.conditions],
        "examples": None if examples is None else example_data(sort_examples(examples), summary.conditions, names),
    }


def script_json(data: Any) -> str:
    """Return `data` as JSON that may stand inside a script element, whatever texts it holds.

    Signs that could end the element or start a comment are written as escapes, and so is everything beyond ASCII:
    line separators that old parsers take for line ends, and halves of characters that UTF-8 has no bytes for.
    """
    text = json.dumps(_finite(data), ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def _condition_data(condition: Condition, defenses: list[str], summary: Summary) -> dict[str, Any]:
    readings = condition.readings
    return {
        "name": condition.name,
        "series": None if condition.unprotected else defenses.index(condition.name),
        "budget": condition.budget,
        "readings": readings
        and {
            "epsilon": readings.epsilon,
            "distance": readings.distance,
            "noiseRatio": readings.noise_ratio,
            "pairLoss": readings.pair_loss,
        },
        "attacks": {found.name: _attack_data(found) for found in summary.attacks_on(condition)},
        "probes": {
            found.name: {"auc": _interval(found.row.auc), "seeds": found.seeds}
            for found in summary.probes
            if found.condition == condition
        },
        "tasks": {found.name: _task_data(found) for found in summary.tasks if found.condition == condition},
    }


def _attack_data(found: AttackSummary) -> dict[str, Any]:
    row = found.row
    return {
        "seeds": found.seeds,
        "rPrecision": _interval(row.r_precision),
        "rChance": row.r_chance,
        "leakage": _interval(row.leakage),
        "chance": row.chance,
        "confidence": _interval(row.confidence),
        "precision": _interval(row.precision),
        "topOne": _interval(row.top_one),
        "auc": {"value": row.auc},
        "similarity": _interval(row.similarity),
        "categories": _categories(row),
    }


def _categories(row: AttackRow) -> dict[str, Any]:
    return {
        category: {
            "tokens": part.tokens,
            "leakage": _interval(part.leakage),
            "confidence": _interval(part.confidence),
        }
        for category, part in row.categories.items()
    }


def _task_data(found: TaskSummary) -> dict[str, Any]:
    return {
        "kept": _interval(found.kept),
        "score": found.score.value,
        "main": found.main,
        "protected": found.protected,
        "seeds": found.seeds,
    }


def _interval(estimate: Estimate | None) -> dict[str, float] | None:
    if estimate is None or not math.isfinite(estimate.value):
        return None
    return {"value": estimate.value, "low": estimate.low, "high": estimate.high}


def _finite(value: Any) -> Any:
    """Return `value` with null for what JSON has no number for."""
    if isinstance(value, dict):
        return {key: _finite(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
