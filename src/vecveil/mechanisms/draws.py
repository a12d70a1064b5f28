"""What a release needs from chance: standard normals and one amount for each row, fresh or from keys."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from vecveil.core.arrays import Embeddings, Matrix, Vector
from vecveil.core.errors import InvalidInputError
from vecveil.core.randomness import WORDS_IN_BLOCK, RowStreams, fresh_streams, standard_normals
from vecveil.core.room import Room, new_room
from vecveil.mechanisms.chance import SPARE_BLOCKS, Chance, GeneratorChance, StreamChance


class Drawing(Protocol):
    """The part of a mechanism that says what to draw."""

    @property
    def width(self) -> int:
        """Number of standard normals of each row."""
        ...

    def amounts(self, chance: Chance) -> Vector:
        """Return how far each row is moved: a factor for its normals, or an angle."""
        ...


class Draws(NamedTuple):
    """The random numbers of some rows. Whoever releases with them uses them up: they are overwritten.

    Attributes:
        normals: Independent standard normals, which say in which direction a row is moved.
        amounts: One number for each row, which says how far.
        room: Memory for what is made with them.
    """

    normals: Matrix
    amounts: Vector
    room: Room = new_room


def require_fit(mechanism: Drawing, dimensions: int, embeddings: Embeddings, draws: Draws) -> None:
    """Raise unless there are draws for each row of `embeddings`: compiled loops don't look where arrays end."""
    rows = len(embeddings)
    if embeddings.shape != (rows, dimensions):
        raise InvalidInputError(f"vectors must have {dimensions} dimensions, got shape {embeddings.shape}")
    if draws.normals.shape != (rows, mechanism.width) or draws.amounts.shape != (rows,):
        raise InvalidInputError(
            f"{rows} vectors need {mechanism.width} normals and an amount each, got normals of shape "
            f"{draws.normals.shape} and amounts of shape {draws.amounts.shape}"
        )


def fresh_draws(mechanism: Drawing, rows: int, *, room: Room = new_room) -> Draws:
    """Return secure numbers for `rows` rows, others at each call."""
    return stream_draws(mechanism, fresh_streams(rows), room=room)


def stream_draws(mechanism: Drawing, streams: RowStreams, *, room: Room = new_room) -> Draws:
    """Return the numbers for one row per stream, each from that stream alone."""
    # With those for the amounts.
    blocks = -(-mechanism.width // WORDS_IN_BLOCK) + SPARE_BLOCKS
    normals, spare = standard_normals(streams.words(0, blocks, room=room), mechanism.width, room=room)
    chance = StreamChance(streams, first=blocks, normals=spare)
    return Draws(normals, mechanism.amounts(chance), room)


def generator_draws(mechanism: Drawing, rows: int, rng: np.random.Generator) -> Draws:
    """Return the next numbers of a generator, which can be repeated, for `rows` rows."""
    return Draws(rng.standard_normal((rows, mechanism.width)), mechanism.amounts(GeneratorChance(rng, rows)))
