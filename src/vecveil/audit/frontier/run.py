"""A comparison from its plan to its result, cell by cell, each kept as soon as it is computed."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from vecveil.audit.defences import Defence, Noise, Undefended
from vecveil.audit.folder import AuditFolder
from vecveil.audit.frontier.bench import Bench
from vecveil.audit.frontier.choosing import choose
from vecveil.audit.frontier.contender import Contender
from vecveil.audit.frontier.level import LEAST
from vecveil.audit.frontier.plan import FrontierPlan
from vecveil.audit.frontier.results import NO_DEFENCE, REDACTED, Choice, FrontierResult, FrontierRow
from vecveil.core.progress import Progress, silent
from vecveil.veil.provenance import installed_versions

T = TypeVar("T")

CHOOSING = 10_000
"""Added to the first seed for the split in which directions are chosen: no repetition is measured in it."""

RESULT = "frontier.json"


@dataclass(frozen=True, kw_only=True, eq=False)
class Frontier:
    """A comparison, ready to run.

    Attributes:
        plan: What is compared.
        bench: Corpus and utility.
        folder: Where finished cells are kept.
        progress: Told how far it is.
    """

    plan: FrontierPlan
    bench: Bench
    folder: AuditFolder
    progress: Progress = silent

    def run(self) -> FrontierResult:
        """Compute what is missing in the folder, and return everything."""
        with self.folder.opened(self.identity()):
            choices = tuple(self._choices())
            work = [(choice, seed) for choice in (*_REFERENCES, *choices) for seed in self.plan.seeds]
            rows = [self._rows(*one) for one in self.progress(work, label="attacking", total=len(work))]
            result = FrontierResult(
                plan=_plain(self.plan.settings()),
                utility={"measured_by": self.bench.utility.label, "undefended": list(self.bench.utility.undefended)},
                corpus=_plain(self.bench.corpus.facts()),
                embedder=_plain(self.bench.embed.embedder.fingerprint.settings()),
                versions=installed_versions(),
                choices=choices,
                rows=tuple(row for found in rows for row in found),
            )
            self.folder.keep_document(RESULT, result)
        return result

    def identity(self) -> dict[str, Any]:
        """Return what makes two comparisons the same."""
        return {
            "frontier": self.plan.settings(),
            "texts": self.bench.corpus.digest(),
            "embedder": self.bench.embed.embedder.fingerprint.settings(),
        }

    def _choices(self) -> list[Choice]:
        asked = [(Contender(spec), level) for spec in self.plan.contenders for level in self.plan.levels]
        seed = self.plan.seeds[0] + CHOOSING
        found = []
        for contender, level in self.progress(asked, label="choosing directions", total=len(asked)):
            key = {"name": "choice", "contender": contender.spec, "level": level}
            made = self._kept(key, Choice, choose, self.bench, contender, level, guides=self.plan.guides, seed=seed)
            found.append(made)
        return found

    def _rows(self, choice: Choice, seed: int) -> tuple[FrontierRow, ...]:
        key = {"name": "rows", "contender": choice.contender, "level": choice.level, "seed": seed}
        return self._kept(key, tuple[FrontierRow, ...], self._attacked, choice, seed)

    def _attacked(self, choice: Choice, seed: int) -> tuple[FrontierRow, ...]:
        bench, left_out, noise = self.bench, 0, 0.0
        defence: Defence = Undefended()
        if choice.contender == REDACTED:
            defence = bench.redacted
        elif choice.contender != NO_DEFENCE:
            if choice.noise_ratio is None:
                return ()
            fitted = bench.fitted(Contender(choice.contender), choice.directions, seed)
            noise = bench.noise_at(choice.level, fitted, seed) or LEAST
            left_out = fitted.shape.dimensions - fitted.shape.released
            defence = bench.defence(fitted, noise)
        kept = bench.utility.kept(defence, np.random.default_rng(seed))
        found = []
        for spec in self.plan.attacks:
            row = bench.attacked(spec, defence, seed)
            found.append(
                FrontierRow(
                    contender=choice.contender,
                    level=choice.level,
                    seed=seed,
                    directions=left_out,
                    noise_ratio=noise,
                    epsilon=defence.mechanism.epsilon if isinstance(defence, Noise) else None,
                    utility=kept,
                    attack=spec,
                    leakage=row.leakage.value,
                    chance=row.chance,
                    top_one=row.top_one.value,
                    auc=row.auc,
                    seconds=row.seconds,
                )
            )
        return tuple(found)

    def _kept(self, key: Mapping[str, Any], kind: Any, compute: Callable[..., T], *values: Any, **named: Any) -> T:
        known: T | None = self.folder.cell(key, kind)
        if known is None:
            known = compute(*values, **named)
            self.folder.keep(key, known, kind=kind)
        return known


_REFERENCES = tuple(
    Choice(contender=name, level=1.0, directions=None, noise_ratio=None, tried={}) for name in (NO_DEFENCE, REDACTED)
)


def _plain(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return what JSON would bring back."""
    found: dict[str, Any] = json.loads(json.dumps(facts))
    return found
