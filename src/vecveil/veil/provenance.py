"""Provenance of a veil, without what is private."""

from __future__ import annotations

import math
import platform
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from vecveil.accounting import GaussianLoss
from vecveil.core.checks import at_least, one_line
from vecveil.core.errors import InvalidInputError

_PACKAGES = (
    "vecveil",
    "numpy",
    "cryptography",
    "scipy",
    "scikit-learn",
    "torch",
    "transformers",
    "sentence-transformers",
    "mteb",
    "pytrec-eval-terrier",
    "spacy",
    "presidio-analyzer",
)


def installed_versions() -> dict[str, str]:
    """Return the versions of Python and of those packages that are installed."""
    return dict(_find_versions())


@cache
def _find_versions() -> dict[str, str]:
    # Looking into the metadata of a dozen packages takes some 40 ms.
    found = {"python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """What was learned from what, with which settings and versions.

    Attributes:
        concept: Kinds and sizes of the concept's parts.
        contrast: How texts without the concept were made: removal or replacement.
        pairs: Number of contrast pairs.
        embedder: What the owner named the embedder by, to find it again; None where it was handed in as an object.
        learner: Name and settings of the shape learner.
        facts: What the learner noticed.
        seed: Of the learner; the noise has none.
        public: Whether the owner says that the texts are public, so that what was learned from them gives nothing away.
        losses: What parts of the veil tell of one of the texts at most, as (epsilon, delta) by part: its center, its
            axes. What is not in it is not bounded, unless the texts are public.
        measured: What the veil was measured to come to when it was learned, in a sentence; empty where nobody has.
        versions: Of Python and the packages that took part.
    """

    concept: Mapping[str, Any]
    contrast: str
    pairs: int
    embedder: str | None
    learner: Mapping[str, Any]
    facts: Mapping[str, float]
    seed: int
    public: bool = False
    losses: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    measured: str = ""
    versions: Mapping[str, str] = field(default_factory=installed_versions)

    def __post_init__(self) -> None:
        for name in ("concept", "learner", "facts", "losses", "versions"):
            if not isinstance(getattr(self, name), Mapping):
                raise InvalidInputError(f"{name} must be a table, got {type(getattr(self, name)).__name__}")
        parts = self.concept.get("parts", [])
        if not isinstance(parts, list | tuple) or not all(isinstance(part, Mapping) for part in parts):
            raise InvalidInputError("the parts of a concept must be a list of tables")
        for part in parts or filter(None, [self.concept]):
            one_line(part.get("kind"), "kind of a concept")
        one_line(self.learner.get("name"), "name of the learner")
        one_line(self.contrast, "contrast")
        one_line(self.measured, "what was measured")
        if self.embedder is not None:
            one_line(self.embedder, "name of the embedder")
        at_least(self.pairs, 0, "pairs")
        at_least(self.seed, 0, "seed")
        if not isinstance(self.public, bool):
            raise InvalidInputError(f"public must be true or false, got {self.public!r}")
        for name, value in self.facts.items():
            if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
                raise InvalidInputError(f"{name} among the facts must be a finite number, got {value!r}")
        for name, number in self.versions.items():
            one_line(number, f"version of {name!r}")
        self.bounds()

    def bounds(self) -> dict[str, GaussianLoss]:
        """Return what parts of the veil tell of one of the texts at most, by part."""
        try:
            return {one_line(part, "part of a veil"): GaussianLoss(**loss) for part, loss in self.losses.items()}
        except TypeError:
            raise InvalidInputError("losses must have an epsilon and a delta for each part") from None

    def settings(self) -> dict[str, Any]:
        """Return the fields by name, fit for JSON."""
        return asdict(self)
