"""Loops that become machine code: compiled the first time they are loaded on a machine, and kept on disk."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
from numba import types
from numba.core import config

from vecveil.core.errors import VecveilError

if config.DISABLE_JIT:  # type: ignore[attr-defined]
    raise VecveilError("NUMBA_DISABLE_JIT is set: noise is made by compiled loops; unset it")

Loop = TypeVar("Loop", bound=Callable[..., Any])

WORD, NUMBER, COUNT = types.uint64, types.float64, types.int64
INPUTS = (types.float32, types.float64)
"""What embeddings may be made of."""


def read(kind: Any, dimensions: int) -> Any:
    """Return the type of an array in one piece that is only read."""
    return types.Array(kind, dimensions, "C", readonly=True)


def written(kind: Any, dimensions: int) -> Any:
    """Return the type of an array in one piece that is written to."""
    return types.Array(kind, dimensions, "C")


def compiled(*signatures: Any, sums_in_any_order: bool = False) -> Callable[[Loop], Loop]:
    """Return what compiles a loop for the given types of its arguments.

    Its steps are those that are written down, in their order and each rounded for itself: no two are made one. So every
    processor finds the same numbers, to the last bit. It lets other threads of Python run meanwhile.

    Args:
        signatures: What it returns and takes; several where it takes several types.
        sums_in_any_order: Whether sums may be made in another order, which is faster but ends otherwise in the last
            bits on other processors.
    """
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
    if sums_in_any_order:
        options["fastmath"] = {"reassoc"}

    def compile_loop(loop: Loop) -> Loop:
        made: Any
        try:
            made = numba.njit(list(signatures), cache=True, **options)(loop)
        except (RuntimeError, OSError):
            # There is no folder to keep it in, or no room there: it is compiled for this process alone.
            made = numba.njit(list(signatures), **options)(loop)
        return cast("Loop", made)

    return compile_loop
