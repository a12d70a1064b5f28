"""Where a word stands among the pieces of its text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from vecveil.attacks.generation.tokeniser import Tokeniser
from vecveil.concepts import words
from vecveil.concepts.folding import Folded, fold


def word_places(text: str, wanted: Sequence[str], tokeniser: Tokeniser) -> list[range]:
    """Return the pieces of the first occurrence of each wanted word; an empty range for one that isn't there.

    Args:
        text: The text as it was written.
        wanted: Words as `vecveil.concepts.words` gives them.
        tokeniser: Cuts the text into pieces.
    """
    if not wanted:
        return []
    folded = fold(text, case_sensitive=False)
    characters: dict[str, tuple[int, int]] = {}
    for word, place in _placed_words(text, folded):
        characters.setdefault(word, place)
    offsets = tokeniser.offsets(text)
    return [_pieces(characters.get(word) or _anywhere(word, folded), offsets) for word in wanted]


def _placed_words(text: str, folded: Folded) -> Iterator[tuple[str, tuple[int, int]]]:
    cursor = 0
    for word in words(text):
        first = folded.text.index(word, cursor)
        cursor = first + len(word)
        yield word, (folded.starts[first], folded.ends[cursor - 1])


def _anywhere(word: str, folded: Folded) -> tuple[int, int] | None:
    # A span may cut a word in two, as "68" in "68-year-old".
    first = folded.text.find(word)
    return None if first < 0 else (folded.starts[first], folded.ends[first + len(word) - 1])


def _pieces(characters: tuple[int, int] | None, offsets: Sequence[tuple[int, int]]) -> range:
    if characters is None:
        return range(0)
    start, stop = characters
    touched = [number for number, (first, last) in enumerate(offsets) if first < stop and last > start]
    return range(touched[0], touched[-1] + 1) if touched else range(0)
