"""Guards for the ways in: of a model that is small enough to be made on the spot, and by names alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from support.veils import made_veil, with_words
from vecveil.concepts import Concept
from vecveil.core.key import Key
from vecveil.embedders import resolve_embedder
from vecveil.files.key_file import write_key
from vecveil.veil import Guard

TEXTS = ["the patient has a cold", "a sunny day at the sea", "rain again"]


def named_guard(place: Path, model: Path, *, keyed: bool = True, **settings: Any) -> Guard:
    """Return a guard of names alone, with its veil and its key in `place`."""
    veil = made_veil(
        epsilon=2000.0, dimensions=16, embedder=str(model), fingerprint=resolve_embedder(str(model)).fingerprint
    )
    veil.save(place / "a.veil", overwrite=True)
    if keyed and not (place / "a.key").exists():
        write_key(Key.new(), place / "a.key")
    key = str(place / "a.key") if keyed else None
    return Guard(str(place / "a.veil"), key=key, embedder=str(model), **settings)


def without_words(guard: Guard, concept: Concept) -> Guard:
    """Return the guard of the same veil, which takes the concept's words out before the model reads a text."""
    return replace(guard, veil=with_words(guard.opened_veil, concept))


def secret_of(guard: Guard) -> str:
    """Return the key of a guard as it stands in its file."""
    return Path(str(guard.key)).read_text().split()[1]
