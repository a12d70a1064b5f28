"""Provenance of a veil, without what is private."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

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
        concept: Kinds and sizes of the concept's parts; its terms only where the owner asked for that.
        contrast: How texts without the concept were made: removal or replacement.
        pairs: Number of contrast pairs.
        embedder: What the owner named the embedder by, to find it again; None where it was handed in as an object.
        learner: Name and settings of the shape learner.
        facts: What the learner noticed.
        seed: Of the learner; the noise has none.
        public: Whether the owner says that the texts are public, so that what was learned from them gives nothing away.
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
    versions: Mapping[str, str] = field(default_factory=installed_versions)

    def __post_init__(self) -> None:
        for name in ("concept", "learner", "facts", "versions"):
            if not isinstance(getattr(self, name), Mapping):
                raise InvalidInputError(f"{name} must be a table, got {type(getattr(self, name)).__name__}")
        if not isinstance(self.learner.get("name"), str):
            raise InvalidInputError("learner must have a name")

    def settings(self) -> dict[str, Any]:
        """Return the fields by name, fit for JSON."""
        return asdict(self)
