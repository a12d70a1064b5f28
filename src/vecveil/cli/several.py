"""Options that take several numbers at once: `--epsilon 5 10 20`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click


class SeveralNumbers(click.Option):
    """An option that may be given more than once, and each time with more than one number."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs["multiple"] = True
        super().__init__(*args, **kwargs)


class CommandOfNumbers(click.Command):
    """A command that reads `--epsilon 5 10 20` as `--epsilon 5 --epsilon 10 --epsilon 20`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Repeat the option before each further number, and go on as ever."""
        names = {name for option in self.params if isinstance(option, SeveralNumbers) for name in option.opts}
        return super().parse_args(ctx, list(_repeated(args, names)))


def _repeated(args: list[str], names: set[str]) -> Iterator[str]:
    option, values = "", 0
    for number, word in enumerate(args):
        if word == "--":
            yield from args[number:]
            return
        if word.partition("=")[0] in names:
            # The first number of `--epsilon=5 10` comes with the name.
            option, values = word.partition("=")[0], int("=" in word)
        elif option and (values == 0 or _is_number(word)):
            values += 1
            if values > 1:
                yield option
        else:
            option = ""
        yield word


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True
