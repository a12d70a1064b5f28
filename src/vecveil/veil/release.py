"""The one way out: clean vectors in, protected vectors out, on record."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple, TypedDict

import numpy as np
from numpy.typing import NDArray

from vecveil.concepts import Concept, Passage
from vecveil.core.arrays import Embeddings, Matrix
from vecveil.core.blas import single_threaded_blas
from vecveil.core.checks import embeddings, rows_of
from vecveil.core.digests import text_digest
from vecveil.core.errors import EmbedderMismatchError, InvalidInputError, InvalidRowError
from vecveil.core.key import Key
from vecveil.core.progress import Progress, silent
from vecveil.core.texts import to_texts
from vecveil.embedders import Embedder, Fingerprint
from vecveil.ledger import Charge, Ledger, new_run
from vecveil.mechanisms import Mechanism
from vecveil.mechanisms.grid import Grid
from vecveil.substitutions import Draw, fold_value
from vecveil.veil.embedding import check_texts, embed_texts
from vecveil.veil.ledger_run import LedgerRun
from vecveil.veil.noise import KeyedNoise, NoiseSource, token_of
from vecveil.veil.words import RewrittenTexts, WordProtection

CLEAN_BITS = 10
"""Clean vectors are rounded to 2^-10 of their typical length before they get noise."""

CHUNK_NUMBERS = 1 << 18
"""Numbers that are protected together, so that memory stays bounded."""

LENGTH_TOLERANCE = 0.01
"""How far the length of a vector of length one may be off, in numbers of whichever precision."""

TOO_LONG = 4.0
"""Vectors that are so many times as long as the veil's own are of another model, or the veil was forged."""


class Record(NamedTuple):
    """One record of a release.

    Attributes:
        id: What a ledger knows it by: the id that it came with, or else a digest of its text or vector.
        vector: Digest of the rounded vector that gets the noise: what the model saw, by whichever name.
        noise_key: What keyed noise depends on: the id that it came with, and the rounded vector that gets the noise.
            Equal keys mean equal inputs, so that the difference of two releases never is that of two clean vectors.
    """

    id: bytes
    vector: bytes
    noise_key: bytes


class ReleaseSettings(TypedDict, total=False):
    """What a release may be asked for; of the first three one at most, and the veil's own budget where none is given.

    Attributes:
        epsilon: Literal privacy loss per unit of the guarantee's distance.
        noise_ratio: Length of the noise over the length of an embedding.
        paper_epsilon: An epsilon on the axis of the paper's tables (calibrated, not derived).
        key: The key, or its file: a record gets the same noise again at each call. Fresh noise where there is none.
        grid: What releases are rounded to: float32 (where nothing is said), float16 or int8.
        concept: What is private, where the veil does not keep it.
        ledger: Where releases are recorded: an open ledger, a path, a PostgreSQL URL, "default" for the one of this
            user, or "none"; where nothing is said, $VECVEIL_LEDGER if that is set, else nowhere.
        collection: What ids belong to, where a ledger serves several collections.
        rng: For tests and published experiments only: a seeded generator makes noise that is not private.
    """

    epsilon: float | None
    noise_ratio: float | None
    paper_epsilon: float | None
    key: Key | str | Path | None
    grid: str
    concept: Concept | None
    ledger: Ledger | str | Path | None
    collection: str
    rng: np.random.Generator | None


@dataclass(frozen=True, kw_only=True, eq=False)
class Release:
    """A veil at one budget, with noise from one source, on one grid, on record in one ledger.

    Attributes:
        veil: Digest of the veil.
        mechanism: Adds the noise.
        mechanism_name: Its name.
        model: The only model whose vectors this is for.
        signal: Typical length of its vectors.
        noise: Where the noise comes from.
        grid: What releases are rounded to.
        words: What becomes of private words before the model reads them; None where they stay.
        ledger: Where releases are recorded; nowhere where None.
        texts: Whether it takes texts; not where vectors come without them.
    """

    veil: str
    mechanism: Mechanism
    mechanism_name: str
    model: Fingerprint
    signal: float
    noise: NoiseSource
    grid: Grid
    words: WordProtection | None = None
    ledger: LedgerRun | None = None
    texts: bool = True

    @property
    def is_keyed(self) -> bool:
        """Whether a record gets the same noise again."""
        return isinstance(self.noise, KeyedNoise)

    def for_vectors(self) -> Release:
        """Return the same release for vectors that come without their texts, whose words nobody can replace."""
        ledger = None if self.ledger is None else self.ledger.for_vectors()
        return replace(self, words=None, ledger=ledger, texts=False)

    def record_in(self, ledger: Ledger | str | Path, *, collection: str = "") -> Release:
        """Return the same release, recorded in a ledger; one that is named is opened when it is first needed."""
        return replace(self, ledger=LedgerRun(ledger, self.charge(new_run()), collection=collection))

    def __enter__(self) -> Release:
        return self

    def __exit__(self, *error: object) -> None:
        if self.ledger is not None:
            self.ledger.close()

    def protect_texts(
        self,
        texts: Sequence[str | Passage],
        embedder: Embedder,
        *,
        ids: Sequence[str | int] | None = None,
        groups: Sequence[str | int] | None = None,
        first_row: int = 0,
        progress: Progress = silent,
    ) -> NDArray[Any]:
        """Return protected vectors of texts: private words are replaced before the model reads them.

        Args:
            texts: What to embed.
            embedder: The veil's embedder.
            ids: One per text, as for `protect_vectors`.
            groups: One per text, as for `rewrite`.
            first_row: Number of the first text in an error, where they are a part of something larger.
            progress: Told after each chunk of texts.
        """
        plain = check_texts(texts, first_row=first_row)
        rewritten = self.rewrite(texts, ids=ids, groups=groups, first_row=first_row)
        vectors = embed_texts(embedder, rewritten.texts, first_row=first_row, progress=progress)
        contents = digest_contents(plain)
        return self.protect_vectors(vectors, ids=ids, contents=contents, words=rewritten.words, first_row=first_row)

    def rewrite(
        self,
        texts: Sequence[str | Passage],
        *,
        ids: Sequence[str | int] | None = None,
        groups: Sequence[str | int] | None = None,
        first_row: int = 0,
    ) -> RewrittenTexts:
        """Return texts as the model may read them, for models that are called elsewhere.

        Args:
            texts: What is to be embedded.
            ids: One per text; with a key, the same record is rewritten in the same way again.
            groups: One per text, such as the person it is about: with a key, a value has one outcome in all texts of a
                group, so that many texts tell no more of it than one.
            first_row: Number of the first text in an error.
        """
        plain = check_texts(texts, first_row=first_row)
        if groups is not None and not self.is_keyed:
            raise InvalidInputError("groups need a key, or each text would draw its words anew")
        if self.words is None:
            return RewrittenTexts(plain, [0] * len(plain))
        self.words.require_readable(texts)
        scopes = digest_contents(plain)
        for mark, given in ((b"id ", ids), (b"group ", groups)):
            if given is not None:
                scopes = [mark + one for one in encode_ids(given, rows=len(plain), first_row=first_row)]
        return self.words.rewrite(to_texts(texts), [self.draw_values(scope) for scope in scopes])

    def protect_vectors(
        self,
        vectors: Embeddings,
        *,
        ids: Sequence[str | int | bytes] | None = None,
        contents: Sequence[bytes] | None = None,
        words: Sequence[int] | None = None,
        first_row: int = 0,
    ) -> NDArray[Any]:
        """Return protected copies of vectors, recorded before they are returned.

        Where words were replaced, different texts may have one vector: the ledger tells those by their contents.

        Args:
            vectors: One row per record, as the veil's embedder makes them.
            ids: One per record: what the ledger knows them by; with a key, equal vectors of different ids get different
                noise.
            contents: Digests of the texts that the vectors were made of, by which the ledger knows records without
                ids; it knows them by their vectors where None.
            words: How many private values were replaced in each text; None where vectors came without their texts. It
                takes `contents`.
            first_row: Number of the first row in an error, where `vectors` are a part of something larger.
        """
        clean = self.check(vectors, first_row=first_row)
        given = None if ids is None else encode_ids(ids, rows=len(clean), first_row=first_row)
        protected, records, tokens = self._protect(clean, given, contents)
        if self.ledger is not None and records:
            known = [record.vector for record in records]
            if words is not None and contents is not None:
                known = [one + own if new else one for one, own, new in zip(known, contents, words, strict=True)]
            if tokens is not None and contents is not None and self._draws_words:
                # Two values of one record may come to the same word: each has told of itself.
                tokens = [token + content for token, content in zip(tokens, contents, strict=True)]
            self.ledger.spend([record.id for record in records], tokens, known, words)
        return protected

    def check(self, vectors: Embeddings, *, first_row: int = 0) -> Embeddings:
        """Return `vectors`, or raise with the row at fault unless the veil's model can have made them."""
        clean = embeddings(rows_of(vectors, dimensions=self.model.dimensions), first_row=first_row)
        if self.model.normalized:
            squares = np.vecdot(clean, clean)
            wrong = np.flatnonzero(~(np.abs(squares - 1) <= 2 * LENGTH_TOLERANCE))
            if wrong.size:
                raise EmbedderMismatchError(
                    f"{self.model.model} makes vectors of length 1, row {first_row + int(wrong[0])} has another "
                    "length; normalize them, or learn a veil for the model that made them"
                )
        elif len(clean) and (length := float(np.median(np.linalg.norm(clean, axis=1)))) > TOO_LONG * self.signal:
            raise EmbedderMismatchError(
                f"these vectors are {length:.3g} long, and those that the veil was learned on {self.signal:.3g}: its "
                "noise would be too little for them; learn a veil for the model that made them"
            )
        return clean

    def name_records(
        self, vectors: Embeddings, ids: Sequence[str | int | bytes] | None, *, first_row: int = 0
    ) -> tuple[list[bytes], list[bytes] | None]:
        """Return what a ledger knows the records of vectors by, and their releases where noise is keyed."""
        given = None if ids is None else encode_ids(ids, rows=len(vectors), first_row=first_row)
        if not self.is_keyed:
            return [record.id for record in make_records(self._to_steps(vectors), given)], None
        _, records, tokens = self._protect(vectors, given, None)
        return [record.id for record in records], tokens

    def label(self) -> dict[str, Any]:
        """Return what an output says of how it was made; nothing in it is secret."""
        ratio = self.mechanism.noise_ratio(self.signal)
        return {
            "vecveil": version("vecveil"),
            "veil": self.veil,
            "mechanism": self.mechanism_name,
            "epsilon": self.mechanism.epsilon,
            "distance": self.mechanism.guarantee().distance,
            # JSON has no word for a ratio without end, as that of directions of which nothing is left.
            "noise_ratio": ratio if math.isfinite(ratio) else None,
            "noise": self.noise.label,
            "rounded_to": clean_step(self.signal),
            "words": self._describe_words(),
            "grid": asdict(self.grid),
            **({"key": self.noise.key.fingerprint} if isinstance(self.noise, KeyedNoise) else {}),
        }

    def charge(self, run: str) -> Charge:
        """Return what one release costs a record."""
        return Charge(
            run=run,
            kind="release",
            veil=self.veil,
            mechanism=self.mechanism_name,
            epsilon=self.mechanism.epsilon,
            distance=self.mechanism.guarantee().metric,
            cost=self.mechanism.euclidean_loss(),
            noise=self.noise.kind,
            word_epsilon=None if self.words is None else self.words.substitution.word_epsilon,
        )

    def draw_values(self, scope: bytes) -> Draw:
        """Return what draws the random numbers of the values in one text, or in one group."""

        def draw(label: str, value: str) -> float:
            return self.noise.number(b"\0".join([scope, text_digest(label), text_digest(value)]))

        return draw

    @property
    def _draws_words(self) -> bool:
        return self.words is not None and self.words.substitution.word_epsilon > 0

    def _describe_words(self) -> str:
        if not self.texts:
            return "not covered: the vectors came without their texts"
        if self.words is None:
            return "kept"
        substitution = self.words.substitution
        return f"{substitution.name}, epsilon {substitution.word_epsilon:g} for each value that the concept finds"

    def _protect(
        self, clean: Embeddings, given: Sequence[bytes] | None, contents: Sequence[bytes] | None
    ) -> tuple[NDArray[Any], list[Record], list[bytes] | None]:
        """Return protected vectors, their records, and the tokens of their releases where noise is keyed."""
        protected = np.empty(clean.shape, dtype=self.grid.dtype)
        size = max(1, CHUNK_NUMBERS // clean.shape[1])
        records: list[Record] = []
        names: list[bytes] = []
        with single_threaded_blas():
            for start in range(0, len(clean), size):
                rows = slice(start, start + size)
                steps = self._to_steps(clean[rows])
                if self.is_keyed or self.ledger is not None:
                    records += make_records(steps, given and given[rows], contents and contents[rows])
                names += self._names(records[rows], len(steps))
                noisy = self.mechanism.perturb(steps * clean_step(self.signal), self.noise.rows(names[rows]))
                protected[rows] = self.grid.round(noisy)
        if not self.is_keyed:
            return protected, records, None
        # By what goes out, not by its name alone: where a processor's last bits move a number, it is another release.
        return protected, records, [token_of(*one) for one in zip(names, map(bytes, protected), strict=True)]

    def _names(self, records: Sequence[Record], rows: int) -> list[bytes]:
        """Return what the noise of rows is made of, which is nothing where it is fresh."""
        if isinstance(self.noise, KeyedNoise):
            return self.noise.derive([record.noise_key for record in records])
        return [b""] * rows

    def round_vectors(self, vectors: Embeddings) -> Matrix:
        """Return clean vectors as they get their noise: rounded."""
        return self._to_steps(vectors) * clean_step(self.signal)

    def _to_steps(self, vectors: Embeddings) -> Matrix:
        """Return vectors in whole steps; adding zero makes zero of minus zero."""
        return np.rint(np.asarray(vectors, dtype=np.float64) / clean_step(self.signal)) + 0.0


def clean_step(signal: float) -> float:
    """Return what clean vectors of that typical length are rounded to, a power of two."""
    return float(2.0 ** (math.floor(math.log2(signal)) - CLEAN_BITS))


def make_records(
    steps: Matrix, ids: Sequence[bytes] | None = None, contents: Sequence[bytes] | None = None
) -> list[Record]:
    """Return the records of rounded vectors.

    Args:
        steps: The vectors in whole steps.
        ids: Their encoded ids, where they have some.
        contents: Digests of their texts, where these are known.
    """
    vectors = [hashlib.sha256(row.data).digest() for row in np.ascontiguousarray(steps, dtype="<f8")]
    if ids is not None:
        return [Record(one, vector, vector + one) for one, vector in zip(ids, vectors, strict=True)]
    known = identify_contents(vectors if contents is None else contents)
    return [Record(one, vector, vector) for one, vector in zip(known, vectors, strict=True)]


def digest_contents(texts: Sequence[str]) -> list[bytes]:
    """Return what texts are known by: digests of them, the same for all ways to write one."""
    return [text_digest(fold_value(text)) for text in texts]


def identify_contents(contents: Sequence[bytes]) -> list[bytes]:
    """Return what a ledger knows records without ids by: digests of their texts or vectors."""
    # Ids begin with another letter, so that nobody takes a content for an id.
    return [b"content " + one for one in contents]


def encode_ids(ids: Sequence[object], *, rows: int | None = None, first_row: int = 0) -> list[bytes]:
    """Return ids as bytes; 7 and "7" are one id, since some formats know no numbers.

    Args:
        ids: Texts, whole numbers or bytes.
        rows: How many there must be, where that is known.
        first_row: Number of the first row in an error.
    """
    if rows is not None and len(ids) != rows:
        raise InvalidInputError(f"there must be one id per record, got {len(ids)} ids for {rows} records")
    encoded = []
    for row, value in enumerate(ids, start=first_row):
        if isinstance(value, bool) or not isinstance(value, str | int | bytes | np.integer):
            raise InvalidRowError(row, f"has no id, but {type(value).__name__}; an id is text or a whole number")
        if isinstance(value, bytes):
            encoded.append(b"b" + value)
        else:
            text = value if isinstance(value, str) else str(int(value))
            encoded.append(b"s" + text.encode("utf-8", "surrogatepass"))
    return encoded
