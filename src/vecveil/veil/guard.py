"""A veil in use: what every way in holds, on one machine or on many."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, fields
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vecveil.accounting.ledger import Ledger, is_address, open_ledger
from vecveil.artifacts.key_file import read_key
from vecveil.core.arrays import Embeddings
from vecveil.core.checks import rows_of
from vecveil.core.digests import json_digest
from vecveil.core.errors import InvalidInputError
from vecveil.core.key import Key
from vecveil.core.progress import Progress, silent
from vecveil.embedders import Embedder
from vecveil.veil.embedding import embed_texts
from vecveil.veil.journal import Journal, recorded_release
from vecveil.veil.protection import Protection
from vecveil.veil.recording import place_of
from vecveil.veil.records import RecordBatch, id_bytes, seen_contents, text_contents, vector_contents
from vecveil.veil.veil import Veil


class _Opening:
    """Of two threads that release at once, one opens the ledger, and both record in its run."""

    lock = Lock()

    @classmethod
    def renew(cls) -> None:
        """Start anew in a fork, where the thread that held the lock is not there any more."""
        cls.lock = Lock()


os.register_at_fork(after_in_child=_Opening.renew)


@dataclass(frozen=True, eq=False)
class Guard:
    """A veil at one budget, with noise from one source, on record in one ledger.

    What is wrong with veil, budget or key is found when it is made; the model is loaded and the ledger opened when they
    are first needed. A guard that was made from names and paths can be written down (`settings`), and sent to other
    processes and machines; may be shared by threads.

    Attributes:
        veil: The veil, or its folder.
        epsilon: Literal budget; what the veil keeps where neither this nor `noise_ratio` is given.
        noise_ratio: Length of the noise over the length of an embedding, in place of `epsilon`.
        key: The key, or its file: the same text gets the same noise again. Fresh noise where None.
        ledger: Where releases are recorded: an open ledger, a path, a PostgreSQL URL, or "default" for the one of this
            user; nowhere where None.
        collection: What ids belong to, where a ledger serves several collections.
        grid: What releases are rounded to: float32, float16 or int8.
        embedder: The embedder, where it isn't to be found under the name that the veil was learned with.
    """

    veil: Veil | str | Path
    _: KW_ONLY
    epsilon: float | None = None
    noise_ratio: float | None = None
    key: Key | str | Path | None = None
    ledger: Ledger | str | Path | None = field(default=None, repr=False)
    collection: str = ""
    grid: str = "float32"
    embedder: Embedder | str | None = None

    def __post_init__(self) -> None:
        if self.epsilon is not None and self.noise_ratio is not None:
            raise InvalidInputError(
                f"give epsilon or noise_ratio, got both ({self.epsilon!r} and {self.noise_ratio!r})"
            )
        # Whoever is given a broken veil or an unreadable key should hear of it now, not at the first request.
        _ = self.protection

    @cached_property
    def opened_veil(self) -> Veil:
        """The veil itself."""
        return self.veil if isinstance(self.veil, Veil) else Veil.load(self.veil)

    @cached_property
    def protection(self) -> Protection:
        """The veil at this budget."""
        veil, epsilon = self.opened_veil, self.epsilon
        if self.noise_ratio is not None:
            epsilon = veil.epsilon_for(noise_ratio=self.noise_ratio)
        key = read_key(Path(self.key)) if isinstance(self.key, str | Path) else self.key
        return veil.protection(epsilon=epsilon, key=key, grid=self.grid)

    @cached_property
    def model(self) -> Embedder:
        """The model whose vectors the veil is for."""
        return self.opened_veil.embedder(self.embedder)

    @property
    def id(self) -> str:
        """What tells guards apart by what they release: veil, budget, grid, and the key by its fingerprint."""
        return json_digest(self.protection.label())

    @property
    def dimensions(self) -> int:
        """Length of a vector."""
        return self.opened_veil.fingerprint.dimensions

    def texts(
        self, texts: Sequence[str], *, ids: Sequence[str | int] | None = None, progress: Progress = silent
    ) -> NDArray[Any]:
        """Return protected vectors of texts, recorded before they are returned.

        Args:
            texts: What to embed.
            ids: One per text: what the ledger knows them by; with a key, equal texts of different ids get different
                noise.
            progress: Told after each chunk of texts.
        """
        # A key promises the same bytes, and a model's last bits depend on which texts it gets together.
        vectors = embed_texts(self.model, texts, alone=self.protection.keyed, progress=progress)
        names = None if ids is None else id_bytes(ids)
        seen = seen_contents(self.model, texts, vectors) if self.protection.keyed else None
        return self.release(vectors, RecordBatch.of(text_contents(texts), names, seen=seen))

    def embedded(
        self, texts: Sequence[str], vectors: Embeddings, *, ids: Sequence[str | int] | None = None
    ) -> NDArray[Any]:
        """Return protected copies of the vectors that the veil's model made of texts elsewhere, recorded.

        The ledger knows the records by their texts, though the last bits of a vector may be others each time; the noise
        depends on the vector as it came.

        Args:
            texts: What was embedded.
            vectors: Their vectors.
            ids: One per text, as for `texts`.
        """
        clean = rows_of(vectors, dimensions=self.dimensions)
        names = None if ids is None else id_bytes(ids)
        return self.release(clean, RecordBatch.of(text_contents(texts), names, seen=vector_contents(clean)))

    def vectors(self, vectors: Embeddings, *, ids: Sequence[str | int] | None = None) -> NDArray[Any]:
        """Return protected copies of vectors that the veil's model made, recorded before they are returned.

        Args:
            vectors: One row per record.
            ids: One per vector, as for `texts`.
        """
        clean = rows_of(vectors, dimensions=self.dimensions)
        names = None if ids is None else id_bytes(ids)
        return self.release(clean, RecordBatch.of(vector_contents(clean), names))

    def release(self, vectors: Embeddings, records: RecordBatch) -> NDArray[Any]:
        """Return protected copies of vectors whose records were named elsewhere, recorded before they are returned."""
        if not len(vectors):
            return np.empty((0, self.dimensions), dtype=self.grid)
        return recorded_release(self.protection, vectors, records, self._journal())

    def open_ledger(self) -> None:
        """Open the ledger now, for those who would rather hear of a broken one before the first release."""
        self._journal()

    def settings(self, *, without: Collection[str] = ()) -> dict[str, Any]:
        """Return what makes this guard, fit for JSON: names, paths and numbers, and never a key.

        Args:
            without: Settings that are kept elsewhere.

        Raises:
            InvalidInputError: If it was made from objects that have no name.
        """
        found = {}
        for entry in (one for one in fields(self) if one.name not in without):
            value = getattr(self, entry.name)
            if isinstance(value, Path):
                value = str(value)
            if value is not None and not isinstance(value, str | float | int):
                raise InvalidInputError(
                    f"this guard was made from an open {entry.name}, which can't be written down; name its path instead"
                )
            if entry.name == "ledger" and isinstance(value, str) and is_address(value):
                # It may hold a password, in more places than can be looked at.
                raise InvalidInputError(
                    'the address of a ledger is not written down; put it into $VECVEIL_LEDGER, and name "default"'
                )
            found[entry.name] = value
        return found

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> Guard:
        """Return the guard that was written down as `settings`."""
        known = {entry.name for entry in fields(cls)}
        unknown = sorted({*settings} - known)
        if unknown or "veil" not in settings:
            raise InvalidInputError(f"a guard has {sorted(known)}, got {sorted(settings)}")
        return cls(**settings)

    def __reduce__(self) -> tuple[Any, ...]:
        # An open ledger and a loaded model stay where they are, and so does a key.
        return Guard.of, (self.settings(),)

    def __deepcopy__(self, memo: dict[int, Any]) -> Guard:
        # Nothing in it changes, so a copy is the thing itself, with its open ledger.
        del memo
        return self

    def _journal(self) -> Journal | None:
        if self.ledger is None:
            return None
        with _Opening.lock:
            known: Journal | None = self.__dict__.get("_opened_journal")
            if known is None or not known.here:
                ledger = self.ledger
                if isinstance(ledger, str | Path):
                    ledger = open_ledger(place_of(ledger))
                # One that came with a fork is kept: closing its database here would close it for the parent.
                self.__dict__.setdefault("_inherited", []).append(known)
                known = Journal(ledger, self.protection, collection=self.collection)
                self.__dict__["_opened_journal"] = known
        return known
