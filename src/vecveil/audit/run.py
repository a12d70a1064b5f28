"""An audit from its grid to its result, cell by cell, each kept as soon as it is computed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np

from vecveil.audit.attacking import AttackCell
from vecveil.audit.folder import AuditFolder
from vecveil.audit.grid import Cell, CellResult, Grid
from vecveil.audit.results import AuditResult, Example, ProbeRow, SheetRow, TaskRow
from vecveil.audit.verdict import verdicts
from vecveil.core.digests import json_digest
from vecveil.core.progress import Progress, silent
from vecveil.veil import Veil
from vecveil.veil.provenance import installed_versions


def run_audit(
    grid: Grid, folder: AuditFolder, *, progress: Progress = silent
) -> tuple[AuditResult, tuple[Example, ...]]:
    """Compute what is missing in `folder`, write the results there and return them with the example texts."""
    identity = grid.identity()
    with folder.opened(identity):
        cells = list(grid.cells())
        found = [_computed(cell, folder, progress) for cell in progress(cells, label="auditing", total=len(cells))]
        attacked = [cell for cell in found if isinstance(cell, AttackCell)]
        attacks = tuple(cell.row for cell in attacked)
        probes = tuple(cell for cell in found if isinstance(cell, ProbeRow))
        result = AuditResult(
            plan=_as_json(grid.plan.settings()),
            plan_digest=json_digest(identity),
            veil=_as_json(_facts(grid.veil)),
            corpus=grid.corpus.facts(),
            versions=installed_versions(),
            attacks=attacks,
            probes=probes,
            tasks=tuple(cell for cell in found if isinstance(cell, TaskRow)),
            sheets=_sheets(grid),
            verdicts=verdicts(attacks, probes, tolerance=grid.plan.tolerance),
            finished=datetime.now(UTC).isoformat(timespec="seconds"),
        )
        examples = _examples(grid, attacked)
        folder.keep_result(result, examples)
    return result, examples


def _computed(cell: Cell, folder: AuditFolder, progress: Progress) -> CellResult:
    known = folder.cell(cell.key, cell.kind)
    if known is None:
        # Each cell has a generator of its own: what was computed yesterday does not move what is computed today.
        rng = np.random.default_rng(int(json_digest(cell.key)[:15], 16))
        known = cell.compute(rng, folder.checkpoints(cell.key), progress)
        folder.keep(cell.key, known)
    # Also where the cell was known: a process can be killed between the two.
    folder.forget_checkpoints(cell.key)
    return known


def _as_json(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return what JSON would bring back, so that results that were read again are equal to those that were written."""
    plain: dict[str, Any] = json.loads(json.dumps(facts))
    return plain


def _sheets(grid: Grid) -> tuple[SheetRow, ...]:
    found = []
    for setting, _ in grid.defences:
        if setting.defence == "veil" and setting.dials is not None and setting.seed == grid.plan.seeds[0]:
            sheet = grid.veil.guarantee(epsilon=setting.dials.epsilon)
            found.append(SheetRow(setting=setting, text=str(sheet), warnings=sheet.warnings))
    return tuple(found)


def _examples(grid: Grid, cells: Sequence[AttackCell]) -> tuple[Example, ...]:
    seed, corpus = grid.plan.seeds[0], grid.corpus
    kept = [cell for cell in cells if cell.row.setting.seed == seed]
    return tuple(
        Example(
            text=corpus.passages[row].text,
            spans=tuple((span.start, span.end, span.label) for span in corpus.spans[row]),
            tokens=tuple(token.word for token in corpus.tokens[row]),
            readings=tuple(cell.readings[number] for cell in kept),
        )
        for number, row in enumerate(grid.attacker.example_rows(seed))
    )


def _facts(veil: Veil) -> dict[str, Any]:
    """Return what results tell of the veil."""
    provenance = veil.provenance
    return {
        "digest": veil.digest(),
        "shape": dict(provenance.learner),
        "mechanism": veil.mechanism,
        "embedder": veil.fingerprint.settings(),
        "pairs": provenance.pairs,
        "contrast": provenance.contrast,
        "versions": dict(provenance.versions),
    }
