"""The errors that vecveil raises on purpose.

    VecveilError
    ├── InvalidInputError          a value that cannot be worked with (also a ValueError)
    │   ├── InvalidRowError        one row of many is at fault; knows its number
    │   └── UnknownNameError       a name that nothing is registered under
    ├── MissingExtraError          a package that an extra brings is not installed (also an ImportError)
    ├── EmbedderMismatchError      a veil meets vectors or a model that it was not learned on
    ├── ArtifactError              a file or folder on disk cannot be read as what it should be
    ├── BudgetExceededError        a release would cost a record more than its ledger allows
    ├── ConceptTimeoutError        a pattern took longer than its time limit on one text
    └── EndpointError              a remote embedding service failed or answered nonsense

No message holds a text, a matched span or an embedding: errors end up in logs.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

LONGEST_NAME, MOST_WORDS = 64, 4
"""Characters and words of a name; what has more of them reads like text."""


MOST_LISTED = 50
"""Names in a message."""


class VecveilError(Exception):
    """Everything that vecveil raises on purpose."""


class VecveilWarning(UserWarning):
    """Something that is no error, and that the owner of the texts should know."""


class InvalidInputError(VecveilError, ValueError):
    """A value cannot be worked with; the message names it and shows it."""


class InvalidRowError(InvalidInputError):
    """One row of many is at fault. Whoever works on a part of something larger can number it anew."""

    def __init__(self, row: int, problem: str) -> None:
        super().__init__(f"row {row} {problem}")
        self.row, self.problem = row, problem

    def shift(self, first_row: int) -> InvalidRowError:
        """Return the same error for rows that are numbered from `first_row`."""
        return InvalidRowError(first_row + self.row, self.problem)


class UnknownNameError(InvalidInputError):
    """A name is not known; the message lists what is, and the nearest guess."""

    def __init__(self, kind: str, name: object, known: Iterable[str]) -> None:
        every = sorted(known)
        names = [each for each in every if _is_name(each)]
        wanted = str(name).casefold()
        near = difflib.get_close_matches(wanted, [each.casefold() for each in names], n=1)
        # EMAIL is far from EMAIL_ADDRESS by its letters, but the start of it.
        near = near or [each.casefold() for each in names if wanted and each.casefold().startswith(wanted)]
        guess = next((each for each in names if near and each.casefold() == near[0]), None)
        hint = f"; did you mean {guess!r}?" if guess else ""
        super().__init__(f"unknown {kind} {name!r}{hint} (known: {join_names(every)})")


def join_names(names: Iterable[str]) -> str:
    """Return names for a message, in their order; those that read like text are counted only.

    A table without a header line has the first of its texts for names.
    """
    given = list(names)
    shown = [name for name in given if _is_name(name)]
    listed = shown[:MOST_LISTED]
    if len(shown) > MOST_LISTED:
        listed.append(f"{len(shown) - MOST_LISTED:,} more")
    if len(given) > len(shown):
        listed.append(f"{len(given) - len(shown):,} that read like text")
    return ", ".join(listed) or "none"


def _is_name(name: str) -> bool:
    return len(name) <= LONGEST_NAME and len(name.split()) <= MOST_WORDS


class MissingExtraError(VecveilError, ImportError):
    """A package that an extra brings is not installed; the message ends in the command that installs it.

    Args:
        package: What is missing.
        extra: What brings it; "" where no extra does.
        then: Another command that is needed, such as one that fetches a model.
    """

    def __init__(self, package: str, extra: str, *, then: str = "") -> None:
        commands = [f"pip install 'vecveil[{extra}]'"] if extra else []
        where = "it comes with an extra: " if extra else "to install it: "
        super().__init__(f"{package} is not installed; {where}{' && '.join([*commands, then] if then else commands)}")


@contextmanager
def needs_extra(package: str, extra: str, *, then: str = "") -> Iterator[None]:
    """Name the extra that brings a package, and what else is needed, where an import in this block fails."""
    try:
        yield
    except ImportError:
        raise MissingExtraError(package, extra, then=then) from None


class EmbedderMismatchError(VecveilError):
    """A veil meets vectors or a model that it was not learned on."""


class ArtifactError(VecveilError):
    """A file or folder on disk cannot be read as what it should be."""


class BudgetExceededError(VecveilError):
    """A release would cost a record more than its ledger allows.

    Attributes:
        records: How many records would go over the limit.
        cost: What one release costs, in nats.
        spent: The most that any of them has lost already.
        total: The most that any of them would have lost.
        limit: The most that any may lose.
        unit: What costs and limit are in.
    """

    def __init__(
        self,
        *,
        records: int,
        cost: float,
        spent: float,
        total: float,
        limit: float,
        unit: str = "nats per unit of Euclidean distance",
    ) -> None:
        over = f"{records:,} record{'' if records == 1 else 's'} would go over the limit"
        super().__init__(
            f"refused: {over} of {limit:.6g} {unit}. One release costs {cost:.6g}; the "
            f"highest of them has spent {spent:.6g} so far and would come to {total:.6g}. A smaller epsilon costs "
            "less, keyed noise makes a repeated release free, and `vecveil ledger limit` raises the limit, on purpose"
        )
        self.records, self.cost, self.spent, self.total, self.limit = records, cost, spent, total, limit


class ConceptTimeoutError(VecveilError):
    """A pattern took longer than its time limit on one text."""


class EndpointError(VecveilError):
    """A remote embedding service failed or answered nonsense."""
