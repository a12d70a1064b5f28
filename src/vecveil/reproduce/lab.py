"""Where experiments are run: data, models, and a store of what was measured already."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from vecveil.attacks.priors.prior import MANIFEST
from vecveil.audit.encoding import DefendedEncoder
from vecveil.audit.folder import AuditFolder
from vecveil.audit.frontier.bench import Bench
from vecveil.audit.frontier.plan import GUIDE
from vecveil.audit.frontier.prepare import make_bench
from vecveil.audit.results import AttackRow
from vecveil.audit.tasks import build_task
from vecveil.core.arrays import evenly
from vecveil.core.digests import file_digest, json_digest
from vecveil.core.errors import InvalidInputError, VecveilWarning
from vecveil.core.progress import Progress, silent
from vecveil.reproduce.datasets import Sizes, dataset
from vecveil.reproduce.defences import DefenceName
from vecveil.utility import UtilityTask
from vecveil.veil.provenance import installed_versions

T = TypeVar("T")

NEAREST = "nearest"
"""The attack that stands in for the paper's Vec2Text where no prior of that is given."""


@dataclass(frozen=True, kw_only=True)
class Effort:
    """How much work goes into an experiment.

    Attributes:
        name: Of the effort.
        sizes: How much of each data set is used.
        seeds: Repetitions, each with its own split, shapes, noise and attackers.
        mlc: The attack MLC with its settings.
        generative: Settings of the generative attacks.
        literal: Epsilons for which the literal scale is run too.
        words: Words of a group that are looked at one by one; None for all.
        runs: Vectors that are protected one by one to take the time of.
        samples: Numbers of contrast pairs for which learning is timed.
    """

    name: str
    sizes: Sizes
    seeds: tuple[int, ...]
    mlc: str
    generative: str
    literal: tuple[float, ...]
    words: int | None
    runs: int
    samples: tuple[int, ...]


FULL = Effort(
    name="full",
    sizes=Sizes(),
    seeds=(0, 1, 2, 3, 4),
    mlc="mlc,batch_size=256,epochs=60,patience=8",
    generative="epochs=4",
    literal=(5, 10, 20, 30, 40),
    words=None,
    runs=10_000,
    samples=(1000, 2000, 5000, 10_000, 20_000),
)
QUICK = Effort(
    name="quick",
    sizes=Sizes(texts=1500, pairs=1000, queries=100, documents=800),
    seeds=(0,),
    mlc=GUIDE,
    generative="epochs=2",
    literal=(10,),
    words=2,
    runs=1000,
    samples=(1000, 2000),
)


@dataclass(frozen=True, kw_only=True)
class Attacked:
    """What an attack read, in shares.

    Attributes:
        leakage: The paper's Leakage.
        chance: The same by guessing.
        confidence: The paper's Confidence.
        categories: Leakage by category of the concept.
        tokens: Sensitive tokens of each category that it was tested on.
    """

    leakage: float
    chance: float
    confidence: float
    categories: Mapping[str, float]
    tokens: Mapping[str, int]


@dataclass(frozen=True, kw_only=True)
class Useful:
    """What a task gave, in its own unit."""

    score: float


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
        cache: Folder of embeddings.
        progress: Told how far the work is.
    """

    data: Path
    out: Path
    effort: Effort = FULL
    embedder: str = "minilm"
    priors: Mapping[str, Path] = field(default_factory=dict)
    cache: Path | None = None
    progress: Progress = silent
    _benches: dict[tuple[str, str], Bench] = field(default_factory=dict, repr=False)
    _tasks: dict[str, UtilityTask] = field(default_factory=dict, repr=False)

    def bench(self, name: str, embedder: str | None = None) -> Bench:
        """Return a data set with its vectors and contrast pairs."""
        key = name, embedder or self.embedder
        if key not in self._benches:
            known = dataset(name)
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
        steps = ",steps=0" if name == "vec2text" else ""
        return f"{name}{'' if prior is None else f':{prior}'}{steps},{self.effort.generative}"

    @property
    def main_attack(self) -> str:
        """Return the paper's Vec2Text where there is a prior of it, and otherwise what stands in for it.

        The nearest known text reads as much of unprotected vectors as the paper's Vec2Text, within some points; what a
        classifier, or a small network without a prior, learns from a few thousand texts is far less.
        """
        return "vec2text" if "vec2text" in self.priors else NEAREST

    def attacked(
        self, name: str, defence: DefenceName, attack: str, seed: int, embedder: str | None = None
    ) -> Attacked:
        """Return what an attack, trained on what a defence lets out of a data set, reads of texts it has not seen."""
        bench, spec = self.bench(name, embedder), self.attack(attack)
        prior = self.priors.get(attack)
        key = self._key("attack", bench, defence, seed) | {
            "attack": spec if prior is None else f"{spec} {file_digest(prior / MANIFEST)}"
        }

        def measured() -> Attacked:
            return attacked_of(bench.attacked(spec, defence.build(bench, seed), seed))

        return self.kept(key, Attacked, measured)

    def useful(self, name: str, defence: DefenceName, seed: int, *, embedder: str | None = None) -> Useful | None:
        """Return how useful what a defence lets out of a data set is by its own task; None where it has none."""
        spec = dataset(name).task(self.data, self.effort.sizes)
        if spec is None:
            return None
        bench = self.bench(name, embedder)
        key = self._key("task", bench, defence, seed) | {"task": spec.replace(str(self.data), "")}

        def measured() -> Useful:
            if spec not in self._tasks:
                self._tasks[spec] = build_task(spec)
            rng = np.random.default_rng(int(json_digest(key)[:15], 16))
            encoder = DefendedEncoder(embed=bench.embed, defence=defence.build(bench, seed), rng=rng)
            scores = self._tasks[spec].score(encoder)
            return Useful(score=float(scores.scores[scores.main]))

        return self.kept(key, Useful, measured)

    def kept(self, key: Mapping[str, Any], kind: type[T], measure: Callable[[], T]) -> T:
        """Return what was measured under `key`, measuring it where it was not."""
        folder = AuditFolder(self.out)
        self.out.mkdir(parents=True, exist_ok=True)
        known = folder.cell(key, kind)
        if known is None:
            known = measure()
            folder.keep(key, known, kind=kind)
        return known

    def some(self, items: list[T], most: int) -> list[T]:
        """Return the items, or in a quick look at most so many of them."""
        return items if self.effort.name == FULL.name else [items[row] for row in evenly(len(items), most)]

    def facts(self) -> dict[str, Any]:
        """Return what figures of this lab depend on beside the data, for the record."""
        return {
            "effort": asdict(self.effort),
            "embedder": self.embedder,
            "priors": sorted(self.priors),
            "versions": installed_versions(),
        }

    def _key(self, name: str, bench: Bench, defence: DefenceName, seed: int) -> dict[str, Any]:
        return {
            "name": name,
            "texts": bench.corpus.digest(),
            "embedder": bench.embed.embedder.fingerprint.settings(),
            "defence": defence.key(),
            "seed": seed,
            "vecveil": installed_versions()["vecveil"],
        }


def attacked_of(row: AttackRow) -> Attacked:
    """Return what is kept of an attack."""
    return Attacked(
        leakage=row.leakage.value,
        chance=row.chance,
        confidence=row.confidence.value,
        categories={label: one.leakage.value for label, one in row.categories.items()},
        tokens={label: one.tokens for label, one in row.categories.items()},
    )


def checked_priors(priors: Mapping[str, Path]) -> dict[str, Path]:
    """Return the priors, or raise where one is for another attack or is none."""
    for name, folder in priors.items():
        if name not in {"geia", "vec2text"}:
            raise InvalidInputError(f"a prior belongs to geia or to vec2text, got {name!r}")
        if not (folder / MANIFEST).is_file():
            raise InvalidInputError(f"{folder} holds no prior; `vecveil prior` makes one")
    return dict(priors)
