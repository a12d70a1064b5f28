"""Whether a model that is called elsewhere is the one that a veil is for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from vecveil.core.errors import EmbedderMismatchError
from vecveil.embedders.openai import PROBE
from vecveil.veil.guard import Guard

NEAR = 0.05
"""How far apart, over their length, two vectors of one sentence by one model may be: half precision and other
processors make less of a difference, and two models far more."""


def require_same_model(guard: Guard, embed: Callable[[list[str]], Any]) -> None:
    """Raise unless a model makes the vectors that the guard's veil is for.

    One public sentence is embedded by both. A veil that was learned from vectors alone names no model, and nothing can
    be compared then.

    Args:
        guard: The veil in use.
        embed: The other model: texts in, one vector for each out.
    """
    veil = guard.opened_veil
    if guard.embedder is None and veil.provenance.embedder is None:
        return
    mine = guard.model.embed([PROBE])[0]
    theirs = np.asarray(embed([PROBE]), dtype=np.float64).reshape(-1)
    name = veil.fingerprint.model
    if theirs.shape != mine.shape:
        raise EmbedderMismatchError(
            f"the veil is for {name}, with {len(mine)} dimensions; this model has {len(theirs)}"
        )
    distance = float(np.linalg.norm(theirs - mine) / np.linalg.norm(mine))
    if not distance <= NEAR:
        raise EmbedderMismatchError(
            f"the veil is for {name}; this model's vector of a public sentence is {distance:.2g} of a length away from "
            "that model's"
        )
