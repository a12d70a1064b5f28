"""Candidates of frameworks, reranked on the owner's side."""

from collections.abc import Mapping, Sequence
from typing import Any

from vecveil.core.errors import InvalidRowError
from vecveil.veil.seal import SEAL, is_sealed, require_candidates

CANDIDATES, TOP = 100, 10
"""How many are fetched, and how many of them come back, where nobody says."""


def read_candidates(
    fields: Sequence[Mapping[str, Any] | None], texts: Sequence[str | None], *, seal_field: str = SEAL
) -> list[bytes | str]:
    """Return what each candidate is compared by: its seal where one of its fields holds that, or else its text.

    Args:
        fields: The fields that the store keeps of each candidate.
        texts: Their texts, where the store keeps them.
        seal_field: The field that holds a seal.
    """
    found: list[Any] = []
    for row, (kept, text) in enumerate(zip(fields, texts, strict=True)):
        seal = (kept or {}).get(seal_field)
        if seal is not None and not is_sealed(seal):
            raise InvalidRowError(row, f"has something else than a seal in its field {seal_field!r}")
        found.append(text if seal is None else seal)
    return require_candidates(found)


def drop_seal(fields: Mapping[str, Any], *, seal_field: str = SEAL) -> dict[str, Any]:
    """Return the fields of a candidate without its seal, which is of no use behind the reranking."""
    return {name: value for name, value in fields.items() if name != seal_field}
