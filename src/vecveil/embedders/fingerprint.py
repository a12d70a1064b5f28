"""Which model made a vector."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from vecveil.core.checks import at_least
from vecveil.core.digests import json_digest
from vecveil.core.errors import EmbedderMismatchError


@dataclass(frozen=True, kw_only=True)
class Fingerprint:
    """The identity of an embedding model: two equal fingerprints give comparable vectors.

    Attributes:
        model: The name that users know.
        revision: What tells versions of that name apart: a digest of the weights, a commit, or what the owner says.
        dimensions: Length of a vector.
        normalised: Whether every vector has length one.
    """

    model: str
    revision: str
    dimensions: int
    normalised: bool

    def __post_init__(self) -> None:
        at_least(self.dimensions, 1, "dimensions")

    def digest(self) -> str:
        """Return the SHA-256 of the fingerprint."""
        return json_digest(self.settings())

    def settings(self) -> dict[str, Any]:
        """Return the fields by name, fit for JSON."""
        return asdict(self)

    def require(self, other: Fingerprint) -> None:
        """Raise unless `other` is the same model at the same revision."""
        mine, theirs = self.settings(), other.settings()
        differences = [f"{name} {mine[name]!r} against {theirs[name]!r}" for name in mine if mine[name] != theirs[name]]
        if differences:
            raise EmbedderMismatchError(f"the veil was learned on another embedder: {'; '.join(differences)}")
