"""Options that several commands share."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from vecveil.core.errors import InvalidInputError
from vecveil.core.registry import Registry
from vecveil.mechanisms.grid import GRIDS

if TYPE_CHECKING:
    from vecveil.accounting import GuaranteeSheet
    from vecveil.veil import Guard, Veil

Command = TypeVar("Command", bound=Callable[..., Any])

FILE = click.Path(path_type=Path)
"""Existence is checked by the library, whose errors say more."""

AT_LEAST_ZERO, AT_LEAST_ONE = click.IntRange(min=0), click.IntRange(min=1)

PATHS = ("FILE", "DIR", "VEIL", "CONCEPT", "TEXTS")
"""Metavars of options that take a file or folder; an ending may follow, as in FILE.svg."""


class Stopped(click.Abort):
    """Ctrl-C, with a message on what is kept."""


@contextmanager
def stop_with(kept: str) -> Iterator[None]:
    """Turn Ctrl-C into a message on what is kept."""
    try:
        yield
    except KeyboardInterrupt:
        raise Stopped(kept) from None


class NumbersOption(click.Option):
    """An option that takes one number or several, as in `--epsilon 5 10 20`, and may be repeated."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs["multiple"] = True
        super().__init__(*args, **kwargs)


class NumbersCommand(click.Command):
    """A command that reads `--epsilon 5 10 20` as `--epsilon 5 --epsilon 10 --epsilon 20`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Repeat the option before each further number."""
        names = {name for option in self.params if isinstance(option, NumbersOption) for name in option.opts}
        return super().parse_args(ctx, list(_repeat_options(args, names)))


def option(shown: str, text: str, *, into: str | None = None, **settings: Any) -> Callable[[Command], Command]:
    """Return an option from how its help begins, as in `--out DIR`, and what follows; its default is shown, if any.

    It sets the parameter `into`, or the one of its own name.
    """
    name, _, metavar = shown.partition(" ")
    if metavar.partition(".")[0] in PATHS:
        settings["type"] = FILE
    known = settings.get("default", "") != ""
    return click.option(*filter(None, (name, into)), metavar=metavar or None, help=text, show_default=known, **settings)


def flag(name: str, text: str, *, into: str | None = None) -> Callable[[Command], Command]:
    """Return an option that is given or not."""
    return option(name, text, into=into, is_flag=True)


def add_options(*options: Callable[[Command], Command]) -> Callable[[Command], Command]:
    """Return a decorator that adds options to a command, in this order."""

    def decorate(command: Command) -> Command:
        for one in reversed(options):
            command = one(command)
        return command

    return decorate


_BUDGETS = {
    "epsilon": "Budget: privacy loss per unit of the guarantee's distance; smaller is more private.",
    "noise-ratio": "Budget: length of the noise over the length of an embedding.",
    "paper-epsilon": "Budget: an epsilon on the axis of the paper's tables (calibrated, not derived).",
}

budget_options = add_options(*(option(f"--{name} NUMBER", text, type=float) for name, text in _BUDGETS.items()))
"""The three ways to name a budget; the veil's own is taken where none is named."""

budgets_options = add_options(
    *(
        option(f"--{name} NUMBER…", text.replace("Budget:", "Budgets:"), cls=NumbersOption, type=float)
        for name, text in _BUDGETS.items()
    )
)
"""The same for commands that try several budgets."""

text_options = add_options(
    option("--text-column COLUMN", "Column of texts.", default="text"),
    option(
        "--annotations COLUMN",
        "Column of annotated spans, lists of {start, end, label}.  [default: entities, if there is one]",
        into="annotations_column",
    ),
    flag("--skip-empty", "Leave out rows that have no text."),
)

contrast_option = option(
    "--contrast",
    "Pair a text with itself without the concept, or with another of its category in its place.",
    type=click.Choice(["removal", "replacement"]),
    default="removal",
)

ledger_option = option(
    "--ledger WHERE",
    "Ledger that releases are recorded in: a file, or postgresql://…  [default: $VECVEIL_LEDGER, or one for this user]",
)

ledger_options = add_options(ledger_option, flag("--no-ledger", "Record nothing. No budget is then kept."))

grid_option = option(
    "--grid",
    "What protected vectors are rounded to, and the type they are written in.",
    type=click.Choice(GRIDS),
    default="float32",
)

embedder_option = option("--embedder", "Where to find the embedder, if not under the name the veil was learned with.")

concept_option = option("--concept CONCEPT", "What is private, where the veil does not keep it.", into="concept_file")

signed_option = option(
    "--require-signed PUBLIC_KEY",
    "Take the veil only where the owner of this key has signed it (see vecveil sign).",
    into="signed_by",
)

guard_options = add_options(budget_options, ledger_options, signed_option, concept_option, embedder_option)
"""For commands that put a veil to use with `open_guard`."""

cache_option = option("--cache DIR", "Keep clean embeddings here. As sensitive as the texts.")

seal_options = add_options(
    flag("--seal", "Store beside each protected vector the clean one, encrypted for whoever has the key (a seal)."),
    option("--seal-key FILE", "Seal with this key, for those who search.  [default: --key]"),
)
"""Off unless one of them is given."""


def list_names(what: str, registry: Registry[Any]) -> str:
    """Return the help of an option that takes a registered name."""
    return f"{what}: {', '.join(registry.names())}."


def choose_ledger(ledger: str | None, *, no_ledger: bool) -> str:
    """Return where to record: a place, "default" or "none"."""
    if no_ledger and ledger is not None:
        # The value is not shown: it may be an address with a password in it.
        raise InvalidInputError("give --ledger or --no-ledger, not both")
    unnamed = "none" if no_ledger else "default"
    return unnamed if ledger is None else ledger


def open_guard(
    folder: Path,
    key_file: Path | None,
    *,
    fresh_noise: bool,
    ledger: str | None,
    no_ledger: bool,
    signed_by: str | None,
    concept_file: Path | None,
    own_key: Callable[[Veil], Path] | None = None,
    **settings: Any,
) -> Guard:
    """Return the guard that `guard_options` and further settings describe; `own_key` makes a key where none is."""
    from vecveil.veil import Guard, Veil

    if fresh_noise and key_file is not None:
        raise InvalidInputError("noise is fresh or comes from a key: got --fresh-noise and --key")
    veil = Veil.load(folder, signed_by=signed_by)
    if own_key is not None and not fresh_noise:
        key_file = key_file or own_key(veil)
    where = choose_ledger(ledger, no_ledger=no_ledger)
    return Guard(veil, key=key_file, ledger=where, concept=concept_file, signed_by=signed_by, **settings)


def guard_sheet(guard: Guard) -> GuaranteeSheet:
    """Return what is guaranteed of all that a guard lets out."""
    return guard.opened_veil.guarantee(epsilon=guard.release.mechanism.epsilon, grid=guard.grid)


def budget_lines(sheet: GuaranteeSheet) -> list[str]:
    """Return the readings of a budget and its warnings, as commands print them that release something."""
    return [
        str(sheet.readings),
        *(f"Warning: {warning}." for warning in sheet.warnings),
        "what is promised, and under which assumptions: vecveil guarantee",
    ]


def closing_lines(sheet: GuaranteeSheet, own: float | None, following: str) -> list[str]:
    """Return what was measured at the veil's own budget, in one sentence, and the next command."""
    known = sheet.measured if own is not None and math.isclose(own, sheet.readings.epsilon) else ""
    return [known or "Nobody has measured what this budget comes to: vecveil audit does.", f"next: {following}"]


def parse_setting(text: str) -> tuple[str, Any]:
    """Return the name and the value of NAME=VALUE; the value is JSON where it can be, a word otherwise."""
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise InvalidInputError(f"--set takes NAME=VALUE, got {text!r}")
    try:
        parsed = json.loads(value)
    except ValueError:
        parsed = value
    return name.replace("-", "_"), tuple(parsed) if isinstance(parsed, list) else parsed


def _repeat_options(args: list[str], names: set[str]) -> Iterator[str]:
    name, first = "", False
    for number, word in enumerate(args):
        if word == "--":
            yield from args[number:]
            return
        if word.partition("=")[0] in names:
            # The first number of `--epsilon=5 10` comes with the name.
            name, first = word.partition("=")[0], "=" not in word
        elif first:
            first = False
        elif name and _is_number(word):
            yield name
        else:
            name = ""
        yield word


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True
