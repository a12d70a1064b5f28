"""The results of the demo in words, and as a picture."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from vecveil.cli.audit_results import attack_table

if TYPE_CHECKING:
    from vecveil.audit import AttackRow, AuditResult

ATTACK = "mlc"
"""The attack that the learned shape and plain noise are compared by."""


def comparison(result: AuditResult) -> str:
    """Return in words how the learned shape does against plain noise of the same length."""
    lines = []
    for asked in dict.fromkeys(row.setting.asked for row in result.attacks if row.setting.asked):
        one, other = (_row(result, defence, asked) for defence in ("veil", "laplace"))
        apart = one.leakage.high < other.leakage.low or other.leakage.high < one.leakage.low
        verdict = "about as much" if not apart else "more" if one.leakage.value > other.leakage.value else "less"
        lines.append(
            f"{asked}: {ATTACK} reads {verdict} behind the learned shape {'than' if apart else 'as'} behind plain "
            f"Laplace noise ({one.leakage.value:.0%}, {other.leakage.value:.0%}); neighbours kept "
            f"{_kept(result, one):.0%}, {_kept(result, other):.0%}"
        )
    return "\n".join(lines)


def _row(result: AuditResult, defence: str, asked: str) -> AttackRow:
    return next(
        row
        for row in result.attacks
        if row.attack == ATTACK and row.setting.defence == defence and row.setting.asked == asked
    )


def _kept(result: AuditResult, attacked: AttackRow) -> float:
    task = next(row for row in result.tasks if row.setting == attacked.setting)
    return task.scores[task.main]


def keep_picture(result: AuditResult, path: Path) -> None:
    """Write the table as an SVG picture that loads nothing from elsewhere."""
    import io

    from rich.console import Console

    from vecveil.artifacts.atomic import atomic_file

    console = Console(record=True, width=112, file=io.StringIO())
    console.print(attack_table(result))
    drawing = console.export_svg(title="vecveil demo", unique_id="vecveil")
    with atomic_file(path) as draft:
        draft.write_text(re.sub(r"@font-face \{.*?\}", "", drawing, flags=re.DOTALL), encoding="utf-8")
