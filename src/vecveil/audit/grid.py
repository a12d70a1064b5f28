"""The cells of an audit: every probe, task and attack against every defence, each computed on its own."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from vecveil.attacks import Attack
from vecveil.attacks.generation.generative import GenerativeAttack
from vecveil.attacks.priors.prior import MANIFEST
from vecveil.attacks.probe import ProbeKind
from vecveil.audit.attacking import AttackCell, Attacker
from vecveil.audit.corpus import AuditCorpus
from vecveil.audit.defences import Defence, Rewritten, Undefended, noise_defence
from vecveil.audit.encoding import DefendedEncoder, Memory
from vecveil.audit.plan import PROBES, AuditPlan
from vecveil.audit.probing import probe_row
from vecveil.audit.results import ProbeRow, Setting, TaskRow
from vecveil.core.digests import file_digest
from vecveil.core.progress import Progress
from vecveil.utility import UtilityTask
from vecveil.veil import Veil

CellResult: TypeAlias = AttackCell | ProbeRow | TaskRow
Compute: TypeAlias = Callable[[np.random.Generator, Path, Progress], CellResult]


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One measurement.

    Attributes:
        kind: Class of its result.
        name: Spec of the attack or task, or name of the probe.
        setting: The defence.
        compute: Takes a generator, a folder for checkpoints and a progress, and returns the result.
    """

    kind: type[CellResult]
    name: str
    setting: Setting
    compute: Compute

    @property
    def key(self) -> dict[str, Any]:
        """What tells this cell from all others of the audit."""
        return {"kind": self.kind.__name__, "name": self.name, "setting": asdict(self.setting)}


@dataclass(frozen=True, kw_only=True, eq=False)
class Grid:
    """Everything that the cells are computed from.

    Attributes:
        plan: What is run.
        veil: What is audited.
        corpus: The owner's texts.
        embed: The veil's embedder.
        attacks: The plan's attacks, by spec.
        tasks: The plan's tasks, by spec.
        baselines: The plan's text-level baselines, by name.
        judge: The embedder that compares reconstructions with texts; None for none.
    """

    plan: AuditPlan
    veil: Veil
    corpus: AuditCorpus
    embed: Memory
    attacks: Mapping[str, Attack]
    tasks: Mapping[str, UtilityTask]
    baselines: Mapping[str, Rewritten]
    judge: Memory | None = None

    @cached_property
    def defences(self) -> tuple[tuple[Setting, Defence], ...]:
        """No defence first, then plain noise and the veil at each budget, then rewritten texts; for every seed."""
        found: list[tuple[Setting, Defence]] = []
        for seed in self.plan.seeds:
            found.append((_plain("none", seed), Undefended()))
            found += [
                noise_defence(name, budget, veil=self.veil, pairs=self.corpus.pairs, seed=seed, keyed=self.plan.keyed)
                for name in self.plan.defences
                for budget in self.plan.budgets
            ]
            found += [(_plain(name, seed), baseline) for name, baseline in self.baselines.items()]
        return tuple(found)

    @cached_property
    def attacker(self) -> Attacker:
        """Runs the attacks."""
        return Attacker(
            corpus=self.corpus,
            embed=self.embed,
            judge=self.judge,
            copies=self.plan.copies,
            examples=self.plan.examples,
        )

    def cells(self) -> Iterator[Cell]:
        """Yield the cells, those of no defence first: an attack that fails there need not be waited for."""
        for setting, defence in self.defences:
            for probe in PROBES:
                yield Cell(kind=ProbeRow, name=probe, setting=setting, compute=self._probe(probe, setting, defence))
            for spec, task in self.tasks.items():
                yield Cell(kind=TaskRow, name=spec, setting=setting, compute=self._task(task, setting, defence))
            for spec in self.attacks:
                yield Cell(kind=AttackCell, name=spec, setting=setting, compute=self._attack(spec, setting, defence))

    def identity(self) -> dict[str, Any]:
        """Return what makes two audits the same: nothing that was computed for one may end up in another."""
        return {
            "veil": self.veil.digest(),
            "texts": self.corpus.digest(),
            **self.plan.settings(),
            "tasks": {spec: task_digest(task) for spec, task in self.tasks.items()},
            "priors": {
                spec: file_digest(Path(attack.prior).expanduser() / MANIFEST)
                for spec, attack in self.attacks.items()
                if isinstance(attack, GenerativeAttack) and attack.prior
            },
        }

    def _probe(self, kind: ProbeKind, setting: Setting, defence: Defence) -> Compute:
        return lambda rng, *_: probe_row(kind, self.corpus, setting, defence, rng)

    def _attack(self, spec: str, setting: Setting, defence: Defence) -> Compute:
        return lambda rng, folder, progress: self.attacker.attack(
            self.plan.attack_labels[spec], self.attacks[spec], setting, defence, rng, folder=folder, progress=progress
        )

    def _task(self, task: UtilityTask, setting: Setting, defence: Defence) -> Compute:
        def measured(rng: np.random.Generator, folder: Path, progress: Progress) -> TaskRow:
            del folder, progress
            started = time.monotonic()
            scores = task.score(DefendedEncoder(embed=self.embed, defence=defence, rng=rng))
            return TaskRow(
                setting=setting,
                task=task.label,
                main=scores.main,
                scores=dict(scores.scores),
                protected=scores.protected,
                cases=scores.cases,
                seconds=time.monotonic() - started,
            )

        return measured


def _plain(name: str, seed: int) -> Setting:
    return Setting(defence=name, label=name, asked="", dials=None, seed=seed)


def task_digest(task: Any) -> str:
    """Return the SHA-256 of a task's texts and settings, which stands in the plan in their place."""
    held = {field.name: getattr(task, field.name) for field in fields(task)}
    plain = {name: value for name, value in held.items() if isinstance(value, str | int | float | tuple | Mapping)}
    return hashlib.sha256(repr(plain).encode("utf-8", "surrogatepass")).hexdigest()
