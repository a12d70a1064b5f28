"""Priors of the generative attacks, checked before anything long begins."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from vecveil.attacks.generation.prior import MANIFEST, load_prior
from vecveil.core.digests import file_digest
from vecveil.core.errors import InvalidInputError
from vecveil.embedders import Embedder

GENERATIVE = ("geia", "vec2text")


def check_priors(priors: Mapping[str, Path], embedder: Embedder) -> dict[str, Path]:
    """Return the priors, or raise where one is of another attack or reads vectors of another embedder."""
    for name, folder in priors.items():
        if name not in GENERATIVE:
            raise InvalidInputError(f"a prior belongs to {' or '.join(GENERATIVE)}, got {name!r}")
        load_prior(folder).require(name, embedder.fingerprint, embedder.fingerprint.dimensions)
    return dict(priors)


def prior_digest(folder: Path) -> str:
    """Return what tells a prior from others, wherever it lies."""
    return file_digest(folder / MANIFEST)
