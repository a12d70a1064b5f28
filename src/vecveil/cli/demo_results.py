"""The results of the demo: as a table, in words, as a picture, and on disk."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

    from vecveil.audit import GlanceRow
    from vecveil.embedders import Embedder
    from vecveil.veil import Veil


def results_table(rows: Sequence[GlanceRow]) -> Table:
    """Return the rows as a table, the unprotected one first."""
    from rich import box
    from rich.table import Table

    table = Table("defence", "ε", "per unit of", "noise", "pair loss", "kept", "(docs)", "probe", box=box.SIMPLE_HEAD)
    for column in table.columns[1:]:
        column.justify = "right"
    for row in rows:
        budget = ["none", "", "0", "∞"]
        if row.dials is not None:
            epsilon, loss = f"{row.dials.epsilon:,.0f}", f"{row.dials.pair_loss:,.0f} nats"
            budget = [epsilon, row.dials.distance.removesuffix(" distance"), f"{row.dials.noise_ratio:.2g}", loss]
        kept = [f"{row.kept_both:.0%}", f"{row.kept_documents:.0%}"]
        table.add_row(row.defence, *budget, *kept, _graded(row.probe.auc), end_section=row.dials is None)
    return table


def _graded(auc: float) -> Text:
    """Return the probe's score in a colour from safe to seen."""
    from rich.text import Text

    return Text(f"{auc:.3f}", style="red" if auc > 0.9 else "yellow" if auc > 0.7 else "green")


def comparison(rows: Sequence[GlanceRow]) -> str:
    """Return in words how the learned shape does against plain noise of the same length."""
    learned, plain = (
        {row.dials.noise_ratio: row for row in rows if row.dials is not None and (row.defence == "laplace") == laplace}
        for laplace in (False, True)
    )
    lines = []
    for (noise, one), other in zip(learned.items(), plain.values(), strict=True):
        difference = one.probe.auc - other.probe.auc
        verdict = "as much" if abs(difference) < 0.01 else "more" if difference > 0 else "less"
        word = "as" if verdict == "as much" else "than"
        lines.append(
            f"noise {noise:.2g}: the probe finds {verdict} behind the learned shape {word} behind plain Laplace noise "
            f"({one.probe.auc:.3f}, {other.probe.auc:.3f}); neighbours kept {one.kept_both:.0%}, {other.kept_both:.0%}"
        )
    return "\n".join(lines)


def keep_picture(rows: Sequence[GlanceRow], path: Path) -> None:
    """Write the table as an SVG picture that loads nothing from elsewhere."""
    import io

    from rich.console import Console

    from vecveil.artifacts.atomic import atomic_file

    console = Console(record=True, width=88, file=io.StringIO())
    console.print(results_table(rows))
    drawing = console.export_svg(title="vecveil demo", unique_id="vecveil")
    with atomic_file(path) as draft:
        draft.write_text(re.sub(r"@font-face \{.*?\}", "", drawing, flags=re.DOTALL), encoding="utf-8")


def keep_results(
    out: Path, *, corpus: Sequence[str], concept_file: Path, veil: Veil, rows: Sequence[GlanceRow], model: Embedder
) -> None:
    """Write the folder `out`: everything that the demo used and made, to go on from."""
    from vecveil.artifacts.atomic import atomic_folder
    from vecveil.veil import protect_file

    with atomic_folder(out) as draft:
        lines = (json.dumps({"id": number, "text": text}) for number, text in enumerate(corpus))
        (draft / "texts.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
        (draft / "concept.toml").write_text(concept_file.read_text(encoding="utf-8"), encoding="utf-8")
        (draft / "results.json").write_text(
            json.dumps([asdict(row) for row in rows], indent=2) + "\n", encoding="utf-8"
        )
        veil.save(draft / "demo.veil")
        epsilon = veil.epsilon_for(noise_ratio=1.0)
        protect_file(veil, draft / "texts.jsonl", draft / "protected.parquet", epsilon=epsilon, embedder=model)
