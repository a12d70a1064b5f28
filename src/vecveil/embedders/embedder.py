"""Embedders, the fingerprints of their models, and what models are known by."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from vecveil.core.arrays import Embeddings
from vecveil.core.checks import at_least, one_line
from vecveil.core.digests import json_digest
from vecveil.core.errors import EmbedderMismatchError, InvalidInputError, InvalidRowError
from vecveil.core.texts import to_texts


@dataclass(frozen=True, kw_only=True)
class Fingerprint:
    """The identity of an embedding model: two equal fingerprints give comparable vectors.

    Attributes:
        model: The name that users know.
        revision: What tells versions of that name apart: a digest of its files, a commit, or what the owner says.
        dimensions: Length of a vector.
        normalized: Whether every vector has length one.
    """

    model: str
    revision: str
    dimensions: int
    normalized: bool

    def __post_init__(self) -> None:
        one_line(self.model, "model")
        one_line(self.revision, "revision")
        at_least(self.dimensions, 1, "dimensions")
        if not isinstance(self.normalized, bool):
            raise InvalidInputError(f"normalized must be true or false, got {self.normalized!r}")

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


@runtime_checkable
class Embedder(Protocol):
    """Anything that turns texts into vectors and says which model it is."""

    @property
    def fingerprint(self) -> Fingerprint:
        """The model's identity."""

    def embed(self, texts: Sequence[str]) -> Embeddings:
        """Return one float32 row per text, in order."""


def require_unicode(texts: Iterable[str]) -> list[str]:
    """Return `texts` as a list, or raise with the number of the first row that is no Unicode text."""
    rows = to_texts(texts)
    for row, text in enumerate(rows):
        if not isinstance(text, str):
            raise InvalidRowError(row, f"must be a string, got {type(text).__name__}")
        try:
            # Tokenizers and JSON both speak UTF-8, and each fails in its own obscure way on what UTF-8 cannot write.
            text.encode()
        except UnicodeEncodeError:
            raise InvalidRowError(row, "holds half a surrogate pair, which is no Unicode text") from None
    return rows


PROBE = "The quick brown fox jumps over the lazy dog."
"""The one public sentence that is sent to a service."""

PROBES = (PROBE, "Interest rates were left unchanged.", "ZÜRICH, 3 May: snow above 1,200 metres!", "a b c " * 60)
"""What a model is known by that has no digest: plain words, signs and capitals, and a text that some cut off."""

LENGTH_TOLERANCE = 1e-3
"""Half precision and short decimals, in which many services and files hold vectors, move a length by less."""

_PLANES = 8


def have_length_one(vectors: Embeddings) -> bool:
    """Return whether every row has length one, as far as half precision can tell."""
    lengths = np.linalg.norm(vectors.astype(np.float64), axis=1)
    return bool(np.all(np.abs(lengths - 1) <= LENGTH_TOLERANCE))


def sign_bits(vectors: Embeddings) -> str:
    """Return on which side of eight fixed random planes each vector lies, as hexadecimal digits.

    Other models give other bits. The same model gives the same ones, though last digits differ from one processor to
    another: a bit would change only if a vector lay that near to a plane. Of rounded numbers, hundreds in each vector,
    some would always be near to the next step.
    """
    size = _PLANES * vectors.shape[1]
    stream = hashlib.shake_256(b"vecveil planes").digest(-(-size // 8))
    planes = 2.0 * np.unpackbits(np.frombuffer(stream, dtype=np.uint8))[:size].reshape(_PLANES, -1) - 1
    return np.packbits(vectors.astype(np.float64) @ planes.T > 0).tobytes().hex()
