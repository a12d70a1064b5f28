"""Where experiments are run: data, models, and a store of what was measured already."""

from __future__ import annotations

import os
import platform
import warnings
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from vecveil.audit.encoding import DefendedEncoder
from vecveil.audit.folder import AuditFolder
from vecveil.audit.frontier.bench import Bench
from vecveil.audit.frontier.prepare import make_bench
from vecveil.audit.grid import task_digest
from vecveil.audit.tasks import build_task
from vecveil.core.checks import one_of
from vecveil.core.digests import json_digest
from vecveil.core.errors import VecveilWarning
from vecveil.core.progress import Progress, silent
from vecveil.reproduce.datasets import DATASETS, Dataset
from vecveil.reproduce.defences import DefenceName
from vecveil.reproduce.effort import FULL, Effort
from vecveil.reproduce.measures import Attacked, Useful
from vecveil.reproduce.priors import prior_digest
from vecveil.utility import UtilityTask
from vecveil.veil.provenance import installed_versions

T = TypeVar("T")

REVISION = 2
"""Raised when something that was measured before would be measured differently: nothing old is taken for new."""

NEAREST = "nearest"
"""The attack that stands in for the paper's Vec2Text where no prior of that is given.

It reads as much of unprotected vectors as the paper's Vec2Text, within some points; what a classifier, or a small
network without a prior, learns from a few thousand texts is far less.
"""


@dataclass(frozen=True, kw_only=True, eq=False)
class Lab:
    """Data, models and what was measured with them.

    Whatever was measured is kept under everything that it depends on, so that a stopped experiment goes on, and two
    experiments that need the same measure it once.

    Attributes:
        data: Folder of the data sets.
        out: Folder of what was measured.
        effort: How much work goes into it.
        embedder: The embedder that stands for the paper's GTR-base.
        priors: Folders of trained priors, by the name of the generative attack.
        datasets: The data sets by name.
        cache: Folder of embeddings.
        progress: Told how far the work is.
    """

    data: Path
    out: Path
    effort: Effort = FULL
    embedder: str = "minilm"
    priors: Mapping[str, Path] = field(default_factory=dict)
    datasets: Mapping[str, Dataset] = field(default_factory=lambda: DATASETS)
    cache: Path | None = None
    progress: Progress = silent
    _benches: dict[tuple[str, str], Bench] = field(init=False, default_factory=dict, repr=False)
    _tasks: dict[str, UtilityTask] = field(init=False, default_factory=dict, repr=False)

    def dataset(self, name: str) -> Dataset:
        """Return the data set of that name."""
        return self.datasets[one_of(name, self.datasets, "data set")]

    def bench(self, name: str, embedder: str | None = None) -> Bench:
        """Return a data set with its vectors and contrast pairs."""
        key = name, embedder or self.embedder
        if key not in self._benches:
            known = self.dataset(name)
            texts = known.some_texts(self.data, self.effort.sizes)
            with warnings.catch_warnings():
                # Every label of the pipeline is asked for, and few corpora have all of them.
                warnings.filterwarnings("ignore", message="nothing was found for", category=VecveilWarning)
                self._benches[key] = make_bench(
                    known.concept,
                    texts,
                    tasks=(),
                    embedder=key[1],
                    copies=2,
                    near_copies=None,
                    cache=self.cache,
                    progress=self.progress,
                )
        return self._benches[key]

    def attack(self, name: str) -> str:
        """Return the spec of an attack, with its prior where one was given."""
        if name in {"mlc", NEAREST}:
            return self.effort.mlc if name == "mlc" else NEAREST
        prior = self.priors.get(name)
        return f"{name}{'' if prior is None else f':{prior}'},{self._settings(name)}"

    @property
    def main_attack(self) -> str:
        """The paper's Vec2Text where there is a prior of it, and otherwise what stands in for it."""
        return "vec2text" if "vec2text" in self.priors else NEAREST

    def attack_key(self, name: str) -> str:
        """Return what tells an attack from others, wherever its prior lies."""
        prior = self.priors.get(name)
        return self.attack(name) if prior is None else f"{name},{self._settings(name)} {prior_digest(prior)}"

    def attacked(
        self, name: str, defence: DefenceName, attack: str, seed: int, *, embedder: str | None = None
    ) -> Attacked:
        """Return what an attack, trained on what a defence lets out of a data set, reads of texts it has not seen."""
        bench, named = self.bench(name, embedder), self.attack_key(attack)

        def measured() -> Attacked:
            return Attacked.of(bench.attacked(self.attack(attack), defence.build(bench, seed), seed, name=named))

        return self.kept("attack", bench, seed, Attacked, measured, defence=defence.key(), attack=named)

    def useful(self, name: str, defence: DefenceName, seed: int, *, embedder: str | None = None) -> Useful | None:
        """Return how useful what a defence lets out of a data set is by its own task; None where it has none."""
        spec = self.dataset(name).task(self.data, self.effort.sizes)
        if spec is None:
            return None
        if spec not in self._tasks:
            self._tasks[spec] = build_task(spec)
        task, bench = self._tasks[spec], self.bench(name, embedder)
        facts = {"defence": defence.key(), "task": task_digest(task)}

        def measured() -> Useful:
            rng = np.random.default_rng(int(json_digest(facts | {"seed": seed})[:15], 16))
            scores = task.score(DefendedEncoder(embed=bench.embed, defence=defence.build(bench, seed), rng=rng))
            return Useful(score=float(scores.scores[scores.main]))

        return self.kept("task", bench, seed, Useful, measured, **facts)

    def kept(
        self, name: str, bench: Bench | None, seed: int, kind: type[T], measure: Callable[[], T], **facts: Any
    ) -> T:
        """Return what was measured before, or measure it.

        Args:
            name: Of what is measured.
            bench: What it is measured on; None where that is no corpus.
            seed: Of the repetition.
            kind: What it is.
            measure: Measures it.
            **facts: What else it depends on.
        """
        key = {"name": name, "revision": REVISION, "seed": seed, **facts}
        if bench is not None:
            key["texts"] = bench.corpus.digest()
            key["embedder"] = bench.embed.embedder.fingerprint.settings()
            key["split"] = [bench.copies, bench.corpus.near_copies]
        folder = AuditFolder(self.out)
        self.out.mkdir(parents=True, exist_ok=True)
        known = folder.cell(key, kind)
        if known is None:
            known = measure()
            folder.keep(key, known, kind=kind)
        return known

    def facts(self) -> dict[str, Any]:
        """Return what figures of this lab depend on beside the data, for the record."""
        return {
            "effort": asdict(self.effort),
            "embedder": self.embedder,
            "priors": {name: prior_digest(folder) for name, folder in sorted(self.priors.items())},
            "versions": installed_versions(),
            "machine": machine(),
        }

    def _settings(self, name: str) -> str:
        # The paper's Vec2Text is the inverter alone.
        settings = self.effort.adapted if name in self.priors else self.effort.scratch
        return f"steps=0,{settings}" if name == "vec2text" else settings


def machine() -> dict[str, Any]:
    """Return what kind of machine this is, by which times differ."""
    return {
        "processor": platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "system": platform.system(),
    }
