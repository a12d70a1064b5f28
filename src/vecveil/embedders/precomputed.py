"""Vectors made elsewhere, looked up by their text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from vecveil.core.arrays import Embeddings
from vecveil.core.checks import embeddings
from vecveil.core.digests import text_digest
from vecveil.core.errors import ArtifactError, InvalidInputError, InvalidRowError, UnknownNameError
from vecveil.embedders.embedder import Fingerprint, have_length_one, require_unicode


@dataclass(frozen=True, kw_only=True, eq=False)
class PrecomputedEmbedder:
    """Knows the vectors of the texts it was given, and of no others. Build one with `from_vectors` or `from_file`.

    Attributes:
        fingerprint: Which model made the vectors, as their owner says.
        rows: Digest of each text to the row of its vector; the texts themselves are not kept.
        vectors: One float32 row per vector.
    """

    fingerprint: Fingerprint
    rows: Mapping[bytes, int] = field(repr=False)
    vectors: Embeddings = field(repr=False)

    @classmethod
    def from_vectors(
        cls, texts: Sequence[str], vectors: Any, *, model: str, revision: str = "unversioned"
    ) -> PrecomputedEmbedder:
        """Return an embedder that gives each of `texts` its vector.

        Args:
            texts: The texts; one that comes twice must have the same vector both times.
            vectors: One row per text.
            model: Which model made them. Files of one model must say the same, or a veil will not take both.
            revision: Which version of that model.
        """
        names = require_unicode(texts)
        values = embeddings(vectors)
        if not model:
            raise InvalidInputError("model must name the model that made the vectors, got ''")
        if len(names) != len(values):
            raise InvalidInputError(f"there must be one vector per text, got {len(values)} for {len(names)} texts")
        if not names:
            raise InvalidInputError("there must be at least one text with its vector, got none")
        rows: dict[bytes, int] = {}
        for row, name in enumerate(names):
            first = rows.setdefault(text_digest(name), row)
            # Remote services repeat themselves to three digits or so; more than that is a file out of order.
            if first != row and not np.allclose(values[first], values[row], atol=1e-3):
                raise InvalidInputError(f"rows {first} and {row} hold the same text with different vectors")
        kept = np.array(values, dtype=np.float32)
        kept.setflags(write=False)
        identity = Fingerprint(
            model=model, revision=revision, dimensions=kept.shape[1], normalized=have_length_one(kept)
        )
        return cls(fingerprint=identity, rows=rows, vectors=kept)

    @classmethod
    def from_file(
        cls,
        path: Path | str,
        *,
        model: str,
        revision: str = "unversioned",
        text_column: str = "text",
        vector_column: str = "vector",
    ) -> PrecomputedEmbedder:
        """Return an embedder for the texts and vectors of a Parquet file.

        Args:
            path: The file.
            model: Which model made the vectors.
            revision: Which version of that model.
            text_column: Column of strings.
            vector_column: Column of lists of numbers, all of one length.
        """
        texts, vectors = _read_columns(Path(path).expanduser(), text_column, vector_column)
        return cls.from_vectors(texts, vectors, model=model, revision=revision)

    def embed(self, texts: Sequence[str]) -> Embeddings:
        """Return one float32 row per text, in order.

        Raises:
            InvalidInputError: With the number of texts that have no vector and the first row among them.
        """
        found = [self.rows.get(text_digest(text)) for text in require_unicode(texts)]
        missing = [row for row, known in enumerate(found) if known is None]
        if missing:
            raise InvalidRowError(missing[0], f"has no vector; it is the first of {len(missing)} such texts")
        return np.array(self.vectors[np.array(found, dtype=np.intp)])


def from_spec(argument: str) -> PrecomputedEmbedder:
    """Return the embedder for `FILE.parquet@MODEL` or `FILE.parquet@MODEL@REVISION`."""
    file, mark, identity = argument.rpartition(".parquet@")
    model, _, revision = identity.partition("@")
    if not mark or not model:
        raise InvalidInputError(
            "precomputed vectors are named by a Parquet file and the model that made them, as in "
            f"precomputed:FILE.parquet@MODEL, got {f'precomputed:{argument}'!r}"
        )
    return PrecomputedEmbedder.from_file(f"{file}.parquet", model=model, revision=revision or "unversioned")


def _read_columns(path: Path, text_column: str, vector_column: str) -> tuple[list[str], Embeddings]:
    from pyarrow import ArrowInvalid, parquet, types

    if not path.is_file():
        raise InvalidInputError(f"there is no file {str(path)!r}")
    try:
        known = parquet.read_schema(path).names
        for column in (text_column, vector_column):
            if column not in known:
                raise UnknownNameError(f"column of {path.name}", column, known)
        table = parquet.read_table(path, columns=[text_column, vector_column])
    except (ArrowInvalid, OSError):
        raise ArtifactError(f"{path} cannot be read as Parquet") from None
    vectors = table[vector_column].combine_chunks()
    kind = vectors.type
    if not (types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)):
        raise InvalidInputError(f"column {vector_column!r} must hold lists of numbers, got {kind}")
    if vectors.null_count or vectors.flatten().null_count:
        raise InvalidInputError(f"column {vector_column!r} must not hold nulls")
    flat = vectors.flatten().to_numpy(zero_copy_only=False)
    lengths = set(vectors.value_lengths().to_numpy(zero_copy_only=False).tolist())
    if len(lengths) > 1:
        raise InvalidInputError(f"column {vector_column!r} must hold lists of one length, got {sorted(lengths)[:5]}")
    return table[text_column].to_pylist(), flat.reshape(len(vectors), -1)
