"""The lab: data, models and a store of measurements."""

from __future__ import annotations

import os
import platform
import warnings
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from reproduction.datasets import DATASETS, Dataset
from reproduction.defenses import DefenseName
from reproduction.effort import FULL, Effort
from reproduction.measures import Attacked, Useful
from reproduction.priors import prior_digest
from vecveil.audit.audit import task_digest
from vecveil.audit.embedding import DefendedEncoder
from vecveil.audit.experiment import Cell, Experiment
from vecveil.audit.frontier import Workbench
from vecveil.audit.tasks import build_task
from vecveil.core.checks import one_of
from vecveil.core.errors import VecveilWarning
from vecveil.core.progress import Progress, silent
from vecveil.utility import UtilityTask
from vecveil.veil.provenance import installed_versions

T = TypeVar("T")

REVISION = 3
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
    _benches: dict[tuple[str, str], Workbench] = field(init=False, default_factory=dict, repr=False)
    _tasks: dict[str, UtilityTask] = field(init=False, default_factory=dict, repr=False)

    def dataset(self, name: str) -> Dataset:
        """Return the data set of that name."""
        return self.datasets[one_of(name, self.datasets, "data set")]

    def bench(self, name: str, embedder: str | None = None) -> Workbench:
        """Return a data set with its vectors and contrast pairs."""
        key = name, embedder or self.embedder
        if key not in self._benches:
            known = self.dataset(name)
            texts = known.some_texts(self.data, self.effort.sizes)
            with warnings.catch_warnings():
                # Every label of the pipeline is asked for, and few corpora have all of them.
                warnings.filterwarnings("ignore", message="nothing was found for", category=VecveilWarning)
                self._benches[key] = Workbench.from_texts(
                    known.concept,
                    texts,
                    embedder=key[1],
                    most_pairs=self.effort.contrast,
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

    def attack_dataset(
        self, name: str, defense: DefenseName, attack: str, seed: int, *, embedder: str | None = None
    ) -> Attacked:
        """Return what an attack, trained on what a defense lets out of a data set, reads of texts it has not seen."""
        bench, named = self.bench(name, embedder), self.attack_key(attack)

        def measure(rng: np.random.Generator, folder: Path) -> Attacked:
            built = defense.build(bench, seed)
            return Attacked.from_row(bench.attack(self.attack(attack), built, seed, rng=rng, folder=folder))

        return self.run("attack", bench, seed, Attacked, measure, defense=defense.key(), attack=named)

    def useful(self, name: str, defense: DefenseName, seed: int, *, embedder: str | None = None) -> Useful | None:
        """Return how useful what a defense lets out of a data set is by its own task; None where it has none."""
        spec = self.dataset(name).task(self.data, self.effort.sizes)
        if spec is None:
            return None
        if spec not in self._tasks:
            self._tasks[spec] = build_task(spec)
        task, bench = self._tasks[spec], self.bench(name, embedder)
        facts = {"defense": defense.key(), "task": task_digest(task)}

        def measure(rng: np.random.Generator, folder: Path) -> Useful:
            del folder
            scores = task.score(DefendedEncoder(embed=bench.embed, defense=defense.build(bench, seed), rng=rng))
            return Useful(score=float(scores.scores[scores.main]))

        return self.run("task", bench, seed, Useful, measure, **facts)

    def run(
        self,
        name: str,
        bench: Workbench | None,
        seed: int,
        kind: type[T],
        measure: Callable[[np.random.Generator, Path], T],
        **facts: Any,
    ) -> T:
        """Return what was measured before, or measure it.

        Args:
            name: Of what is measured.
            bench: What it is measured on; None where that is no corpus.
            seed: Of the repetition.
            kind: What it is.
            measure: Measures it, with a generator and a folder for checkpoints.
            **facts: What else it depends on.
        """
        key = {"name": name, "revision": REVISION, "seed": seed, **facts}
        if bench is not None:
            key["texts"] = bench.corpus.digest()
            key["embedder"] = bench.embed.embedder.fingerprint.settings()
            key["split"] = [bench.copies, bench.corpus.near_copies]
        self.out.mkdir(parents=True, exist_ok=True)
        with warnings.catch_warnings():
            # On the literal scale most noise is longer than that, which is what the tables show.
            warnings.filterwarnings("ignore", message="the noise is", category=VecveilWarning)
            return Experiment(self.out).run(Cell(key=key, kind=kind, compute=measure, seed={**facts, "seed": seed}))

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
