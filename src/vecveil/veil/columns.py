"""The plan for the columns of a file."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

from vecveil.core.checks import one_of
from vecveil.core.errors import InvalidInputError, join_names
from vecveil.files.vectors import (
    VECTOR,
    holds_annotations,
    holds_strings,
    holds_vectors,
    is_vector_type,
    to_vector_column,
)
from vecveil.veil.passages import ANNOTATIONS
from vecveil.veil.seal import SEAL, SealedRelease
from vecveil.veil.values import PRIVATE_NAMES, SEARCHED, ConceptFinder, is_long, join_strings, reads_like_text

if TYPE_CHECKING:
    from vecveil.veil.words import WordProtection

PRIVATE_NAME = "a column with a private name"
"""In the place of a column's name in which the concept finds words."""


@dataclass(frozen=True, kw_only=True)
class ColumnPlan:
    """What happens to each column.

    Attributes:
        column: The column that is protected.
        is_text: Whether it holds texts, and not vectors.
        ids: The column that says which record a row is; None where its content does.
        groups: The column that says which texts belong together; None where there is none.
        output_column: Where the protected vectors go.
        carried: Columns that go through unchanged.
        dropped: Columns that are left out: the text and what reads like one, clean vectors and other lists of numbers,
            annotations, what the concept finds words in, or all where there is no place.
        searched: Columns that go through because the concept finds nothing in them.
        annotations: The column that marks what is private in each text; None where nobody reads it.
        seals: Whether a column of seals stands beside the protected vectors.
    """

    column: str
    is_text: bool
    ids: str | None
    groups: str | None
    output_column: str
    carried: tuple[str, ...]
    dropped: tuple[str, ...]
    searched: tuple[str, ...] = ()
    annotations: str | None = None
    seals: bool = False

    @classmethod
    def for_schema(
        cls,
        schema: Any,
        *,
        text: str | None = None,
        vectors: str | None = None,
        ids: str | None = None,
        groups: str | None = None,
        keep: tuple[str, ...] = (),
        vectors_only: bool = False,
        seals: bool = False,
        sample: Any = None,
    ) -> Self:
        """Return the plan for a table.

        Args:
            schema: Its Arrow schema.
            text: The text column, if it is named.
            vectors: The vector column, if it is named.
            ids: The column of record ids, if it is named.
            groups: The column of groups, if it is named.
            keep: Columns to carry through although they would be left out for safety.
            vectors_only: Whether the output has no place for other columns.
            seals: Whether the output gets a column of seals.
            sample: Its first rows, to see which columns read like text.
        """
        columns: list[str] = schema.names
        for name in (text, vectors, ids, groups, *keep):
            if name is not None:
                one_of(name, columns, "column")
        if text is None and vectors is None:
            text, vectors = _choose_column(schema)
        if text is not None and vectors is not None:
            raise InvalidInputError(f"name a text column or a vector column, got both {text!r} and {vectors!r}")
        if vectors in keep:
            raise InvalidInputError(f"the clean vectors of {vectors!r} can't be kept: the protected ones replace them")
        require_types(schema, text=text, vectors=vectors, ids=ids)
        require_types(schema, ids=groups)
        risky = (name for name in columns if _is_risky(schema.field(name), sample))
        unsafe = {text, vectors, *risky} - set(keep)
        carried = () if vectors_only else tuple(name for name in columns if name not in unsafe)
        output_column = VECTOR if vectors_only or vectors is None else vectors
        if output_column in carried:
            raise InvalidInputError(f"the input has a column {output_column!r}, where the protected vectors belong")
        if seals:
            _require_place_for_seals(ids, {*carried, output_column}, vectors_only=vectors_only)
        return cls(
            column=text or vectors or "",
            is_text=text is not None,
            ids=ids,
            groups=groups,
            output_column=output_column,
            carried=carried,
            dropped=tuple(name for name in columns if name not in carried and name != vectors),
            searched=tuple(
                name for name in carried if name not in keep and (name != ids or holds_strings(schema.field(name).type))
            ),
            seals=seals,
        )

    def read_annotations(self, words: WordProtection | None, schema: Any, column: str | None) -> Self:
        """Return the plan with the column of annotations, where what is private is annotated.

        Args:
            words: What becomes of private words; None where they stay.
            schema: The table's Arrow schema.
            column: The column, if it is named; "entities" where None.
        """
        concept = None if words is None else words.concept
        if not self.is_text or concept is None or not concept.reads_annotations:
            return self
        if column is None and ANNOTATIONS not in schema.names:
            raise InvalidInputError(
                "what is private is annotated: name the column of annotations (--annotations, in Python "
                f"annotations_column=); the columns are {join_names(schema.names)}"
            )
        return replace(self, annotations=one_of(column or ANNOTATIONS, schema.names, "column"))

    def leave_out(self, private: Collection[str], finder: ConceptFinder) -> Self:
        """Return the plan without columns in which the concept finds words; a name with such words is not told."""
        if self.ids in private:
            raise InvalidInputError(
                f"the concept finds words in the id column {self.ids!r}: name another, or keep it on purpose "
                f"(--keep {self.ids})"
            )
        left_out = (*self.dropped, *private)
        return replace(
            self,
            carried=tuple(name for name in self.carried if name not in private),
            dropped=tuple(PRIVATE_NAME if _finds_in_name(finder, name) else name for name in left_out),
            searched=tuple(name for name in self.searched if name not in private),
        )

    def output_schema(self, schema: Any, dimensions: int, kind: str) -> Any:
        """Return the Arrow schema of the output, with vectors of NumPy's type `kind`."""
        import pyarrow as pa

        # What someone has noted on a column is not needed to read it, and might be anything.
        fields = [schema.field(name).remove_metadata() for name in self.carried]
        vectors = pa.field(self.output_column, pa.list_(pa.from_numpy_dtype(kind), dimensions))
        return pa.schema([*fields, vectors, *([pa.field(SEAL, pa.binary())] if self.seals else [])])

    def output_batch(self, batch: Any, schema: Any, protected: SealedRelease, finder: ConceptFinder) -> Any:
        """Return the output's rows for one batch of the input, or raise where the concept is in what goes along."""
        import pyarrow as pa

        for name in find_private_columns(batch, self.searched, finder):
            shown = PRIVATE_NAME if _finds_in_name(finder, name) else f"the column {name!r}"
            raise InvalidInputError(
                f"the concept finds words in {shown}, and did not in the rows that were looked at first: leave the "
                "column out of the input, or keep it on purpose (--keep)"
            )
        columns = [*(batch.column(name) for name in self.carried), to_vector_column(protected.vectors)]
        seals = [pa.array(protected.seals, pa.binary())] if self.seals else []
        return pa.RecordBatch.from_arrays([*columns, *seals], schema=schema)


def find_private_columns(batch: Any, columns: Iterable[str], finder: ConceptFinder) -> list[str]:
    """Return the columns of a batch in which the concept finds words, or in the names of which it does."""
    if not finder.looks:
        return []
    return [name for name in columns if _finds_in_name(finder, name) or finder.finds(_read(batch.column(name)))]


def _finds_in_name(finder: ConceptFinder, name: str) -> bool:
    return finder.looks and finder.finds([name.replace("_", " ")])


def _read(column: Any) -> list[Any]:
    """Return the values of a column; of numbers and dates, which are alike, so many that one search is enough."""
    from pyarrow import types

    few = not holds_strings(column.type) and not types.is_nested(column.type)
    values: list[Any] = (column.unique()[:SEARCHED] if few else column).to_pylist()
    return values


def _is_risky(field: Any, sample: Any) -> bool:
    """Return whether a column would give away what is protected."""
    if field.name.casefold() in PRIVATE_NAMES or holds_vectors(field.type) or holds_annotations(field.type):
        return True
    if sample is None:
        return False
    values = [words for value in sample.column(field.name).to_pylist() if (words := join_strings(value))]
    return reads_like_text(len(values), sum(map(is_long, values)))


def _require_place_for_seals(ids: str | None, taken: set[str], *, vectors_only: bool) -> None:
    if vectors_only:
        raise InvalidInputError("a .npy file has no place for seals: write Parquet (OUTPUT.parquet)")
    if ids is None:
        raise InvalidInputError(
            "a seal opens for its record alone: name the column that says which record a row is (--id-column, in "
            "Python id_column=)"
        )
    if SEAL in taken:
        raise InvalidInputError(f"the input has a column {SEAL!r}, where the seals belong: rename it, or leave it out")


def require_types(schema: Any, *, text: str | None = None, vectors: str | None = None, ids: str | None = None) -> None:
    """Raise unless columns of an Arrow schema hold texts, vectors and ids."""
    from pyarrow import types

    def is_string(kind: Any) -> bool:
        return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))

    if text is not None and not is_string(kind := schema.field(text).type):
        raise InvalidInputError(f"the text column {text!r} must hold text, got {kind}")
    if vectors is not None and not is_vector_type(kind := schema.field(vectors).type):
        raise InvalidInputError(f"the vector column {vectors!r} must hold lists of floating-point numbers, got {kind}")
    if ids is not None and not (is_string(kind := schema.field(ids).type) or types.is_integer(kind)):
        raise InvalidInputError(f"the id column {ids!r} must hold text or whole numbers, got {kind}")


def _choose_column(schema: Any) -> tuple[str | None, str | None]:
    """Return the text column or the vector column where there is no doubt which is meant."""
    columns: list[str] = schema.names
    vectors = [field.name for field in schema if is_vector_type(field.type)]
    if "text" in columns and not vectors:
        return "text", None
    if len(vectors) == 1 and "text" not in columns:
        return None, vectors[0]
    holding = f", and these hold vectors: {join_names(vectors)}" if vectors else ""
    raise InvalidInputError(
        "name the text column or the vector column to protect (--text-column, --vector-column); "
        f"the columns are {join_names(columns)}{holding}"
    )
