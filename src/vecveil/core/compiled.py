"""Loops that become machine code: compiled the first time they are loaded on a machine, and kept on disk."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar, cast

import llvmlite
import numba
from llvmlite.binding import get_host_cpu_features, get_host_cpu_name
from numba import types
from numba.core import config as numbas

from vecveil.core.errors import VecveilError

SETTINGS = cast("Any", numbas)

if SETTINGS.DISABLE_JIT:
    raise VecveilError("NUMBA_DISABLE_JIT is set: noise is made by compiled loops; unset it")

_TURN = Lock()
"""Not Numba's own: another thread may wait for that one while it holds what compiling needs."""

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

    Its steps are those that are written down, in their order and each rounded for itself: no two are made one. So a
    loop without functions of the C library finds the same numbers on every processor, to the last bit. It lets other
    threads of Python run meanwhile. Nothing looks at the sizes of arrays: whoever calls it must have.

    Args:
        signatures: What it returns and takes; several where it takes several types.
        sums_in_any_order: Whether sums may be made in another order, and a product and a sum in one step, which is
            faster but ends otherwise in the last bits on other processors.
    """
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
    if sums_in_any_order:
        options["fastmath"] = {"reassoc", "contract"}

    def compile_loop(loop: Loop) -> Loop:
        made: Any = None
        # Where Numba keeps its code is a setting of the whole process, and two threads may load loops of two files.
        with _TURN:
            folder = kept_in(Path(loop.__code__.co_filename))
            if folder is not None:
                try:
                    with _keeping_in(folder):
                        made = numba.njit(list(signatures), cache=True, **options)(loop)
                except Exception:  # noqa: BLE001 - a loop at fault fails below again
                    # What is kept is damaged, or there is no room for more: it must not be in the way the next time.
                    shutil.rmtree(folder, ignore_errors=True)
        return cast("Loop", numba.njit(list(signatures), **options)(loop) if made is None else made)

    return compile_loop


@cache
def kept_in(source: Path) -> Path | None:
    """Return the folder for the compiled loops of a file, or None where none can be written to.

    It has a name of its own for each state of the loops, of the compiler and of the processor: where Numba looks only
    at the age of a file, code of an earlier state could be taken for that of this one after a write that was cut short.
    So all that a loop is made of must stand in its own file.
    """
    state = hashlib.sha256()
    for file in (source, Path(__file__)):
        state.update(file.read_bytes())
    state.update(repr((numba.__version__, llvmlite.__version__, get_host_cpu_name())).encode())
    state.update(repr(sorted(get_host_cpu_features().items())).encode())
    told = [SETTINGS.CACHE_DIR] if SETTINGS.CACHE_DIR else []
    home = os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()
    for base in (*told, source.parent / "__pycache__", Path(home) / "vecveil"):
        folder = Path(base) / f"loops-{state.hexdigest()[:16]}"
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(folder, os.W_OK):
            return folder
    return None


@contextmanager
def _keeping_in(folder: Path) -> Iterator[None]:
    before = SETTINGS.CACHE_DIR
    SETTINGS.CACHE_DIR = str(folder)
    try:
        yield
    finally:
        SETTINGS.CACHE_DIR = before
