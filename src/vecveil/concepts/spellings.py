"""Spellings of words: plurals, other inflections, and near misspellings."""

from collections.abc import Collection, Iterator, Sequence
from itertools import chain, combinations

from vecveil.core.errors import InvalidInputError

MOST_WORDS = 10_000
"""Different words of terms among which misspellings are looked for: all of their near forms are held in memory."""

SHORTEST, LONG, LONGEST = 7, 13, 40
"""Letters, wrong ones included, from which one may be wrong, and two; and those of a word beyond which none may."""

MOST_WRONG = 2
"""Letters of a term that may be wrong at most."""

_SHORTEST_WORD = 4
"""Letters of a word, within a phrase, from which one may be wrong; so many are left of any word whose ending goes."""

# Ending of a plural, that of its singular, and the letters that the singular has at least. The first are English and
# medical Latin, then Spanish and Portuguese, then German; accents are folded by then.
_PLURALS = (
    ("s", "", 4), ("es", "", 4), ("ies", "y", 4), ("ves", "f", 4), ("ves", "fe", 4), ("men", "man", 4),
    ("ren", "", 5), ("feet", "foot", 4), ("teeth", "tooth", 5), ("ses", "sis", 5), ("mata", "ma", 5), ("ae", "a", 5),
    ("i", "us", 5), ("a", "um", 6), ("ices", "ix", 5), ("ices", "ex", 5),
    ("ces", "z", 4), ("oes", "ao", 4), ("aes", "ao", 4), ("ns", "m", 5), ("ais", "al", 5), ("eis", "el", 5),
    ("ois", "ol", 5),
    ("e", "", 6), ("en", "", 6), ("en", "e", 6),
)  # fmt: skip
_VERBS = (("ed", "", 4), ("ed", "e", 4), ("ied", "y", 4), ("ing", "", 4), ("ing", "e", 4))
_NO_PLURALS = ("ss", "us", "is")


def strip_endings(word: str, endings: Sequence[tuple[str, str, int]] = _PLURALS) -> Iterator[str]:
    """Yield the words that a folded word may be an inflected form of; most of them are none.

    Args:
        word: The word.
        endings: Each with what stands in its place, and the letters that a word has then at least.
    """
    for ending, other, least in endings:
        if word.endswith(ending) and not (ending == "s" and word.endswith(_NO_PLURALS)):
            base = word[: len(word) - len(ending)] + other
            if len(base) >= least:
                yield base
            if ending in {"ed", "ing"} and not other and len(base) > least and base[-1] == base[-2]:
                yield base[:-1]


class Spellings:
    """Words of terms, found by their inflected and misspelled forms."""

    def __init__(
        self,
        words: Collection[str],
        *,
        joined: Collection[str] = (),
        names: Collection[str] = (),
        inflections: bool,
        misspellings: bool,
    ) -> None:
        """Index the words.

        Args:
            words: Folded words.
            joined: Several words written as one; misspelled forms of these are not found.
            names: Those that are names: they have a plural, but are none, and no verbs. "Rogers" is not "Roger".
            inflections: Whether inflected forms are found.
            misspellings: Whether misspelled forms are found.
        """
        self.words = frozenset(words) | frozenset(joined)
        self._names = frozenset(names)
        self._inflections = inflections
        self._bases: dict[str, list[str]] = {}
        self._near: dict[str, list[str]] = {}
        if inflections:
            for word in sorted(self.words - self._names):
                for base in strip_endings(word):
                    self._bases.setdefault(base, []).append(word)
        if misspellings:
            held = [word for word in sorted(words) if _can_be_misspelled(word)]
            if len(held) > MOST_WORDS:
                raise InvalidInputError(
                    f"misspellings are found for up to {MOST_WORDS:,} different words, and these terms have "
                    f"{len(held):,}; set misspellings = false"
                )
            for word in held:
                for form in _delete_letters(word, 2 if len(word) >= LONG else 1):
                    self._near.setdefault(form, []).append(word)

    def find(self, word: str) -> list[str]:
        """Return the words that a folded word is an inflected form of, itself first; a name is itself alone."""
        found = [word] if word in self.words else []
        if self._inflections and word not in self._names:
            plurals = list(strip_endings(word))
            verbs = list(strip_endings(word, _VERBS))
            found += [base for base in plurals if base in self.words]
            found += [base for base in verbs if base in self.words and base not in self._names]
            found += chain.from_iterable(self._bases.get(base, ()) for base in (word, *plurals, *verbs))
        return list(dict.fromkeys(found))

    def find_near(self, word: str) -> list[tuple[str, int]]:
        """Return the words that a folded word may be a misspelling of, each with the number of wrong letters."""
        if not self._near or not _SHORTEST_WORD <= len(word) <= LONGEST:
            return []
        forms = _delete_letters(word, 2 if len(word) >= LONG else 1)
        near = dict.fromkeys(chain.from_iterable(self._near.get(form, ()) for form in forms))
        found = ((other, count_wrong_letters(word, other)) for other in near)
        return [(other, wrong) for other, wrong in found if wrong <= (1 if len(other) < LONG else MOST_WRONG)]


def allow_wrong_letters(length: int) -> int:
    """Return how many of so many letters may be wrong."""
    return (length >= SHORTEST) + (length >= LONG)


def count_wrong_letters(one: str, other: str) -> int:
    """Return the letters to add, drop, change or swap with their neighbors until two words are the same."""
    before: list[int] = []
    last = list(range(len(other) + 1))
    for row, letter in enumerate(one, start=1):
        costs = [row]
        for column, wanted in enumerate(other, start=1):
            cost = min(last[column] + 1, costs[-1] + 1, last[column - 1] + (letter != wanted))
            if row > 1 and column > 1 and letter == other[column - 2] and one[row - 2] == wanted:
                cost = min(cost, before[column - 2] + 1)
            costs.append(cost)
        before, last = last, costs
    return last[-1]


def _can_be_misspelled(word: str) -> bool:
    # A wrong digit is another number.
    return _SHORTEST_WORD <= len(word) <= LONGEST and not any(map(str.isdigit, word))


def _delete_letters(word: str, most: int) -> set[str]:
    """Return a word and what is left of it without some letters; the first letter stays."""
    places = range(1, len(word))
    deleted = {word, *(word[:place] + word[place + 1 :] for place in places)}
    if most > 1:
        deleted.update(word[:a] + word[a + 1 : b] + word[b + 1 :] for a, b in combinations(places, 2))
    return deleted
