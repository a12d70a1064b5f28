"""The mteb package, kept from doing things to the program that it runs in."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType

from numpy.random.mtrand import get_bit_generator

from vecveil.core.errors import MissingExtraError


@contextmanager
def mteb_library() -> Iterator[ModuleType]:
    """Yield the package. What it does to the program's random numbers and terminal ends with the block."""
    torch = _imported("torch")
    numbers = get_bit_generator()
    drawn = random.getstate(), numbers.state
    try:
        # MTEB seeds every generator that it finds, and already when it is imported.
        with torch.random.fork_rng(devices=[]), _without_bars():
            yield _imported("mteb")
    finally:
        random.setstate(drawn[0])
        numbers.state = drawn[1]


@contextmanager
def _without_bars() -> Iterator[None]:
    bars = _imported("datasets.utils.tqdm")
    if bars.are_progress_bars_disabled():
        yield
        return
    bars.disable_progress_bars()
    try:
        yield
    finally:
        bars.enable_progress_bars()


def _imported(name: str) -> ModuleType:
    try:
        return import_module(name)
    except ImportError:
        raise MissingExtraError("mteb", "mteb") from None
