"""The help of every command as one Markdown page, so that the page can't say anything else than the program."""

from __future__ import annotations

import click

from vecveil.cli.main import commands

HEAD = """\
# Commands

Made by `python -m vecveil.cli.reference > docs/commands.md`; a test holds the two equal.
"""


def reference() -> str:
    """Return the page."""
    top = click.Context(commands, info_name="vecveil", terminal_width=100, **commands.context_settings)
    return "\n".join([HEAD, *map(_help, _with_commands_below(top))])


def _with_commands_below(context: click.Context) -> list[click.Context]:
    """Return a command and, where it is a group, those in it, and in those."""
    below = context.command.commands.items() if isinstance(context.command, click.Group) else ()
    inner = (_with_commands_below(click.Context(command, context, name)) for name, command in below)
    return [context, *(found for part in inner for found in part)]


def _help(context: click.Context) -> str:
    return f"## `{context.command_path}`\n\n```text\n{context.get_help()}\n```\n"


if __name__ == "__main__":
    click.echo(reference(), nl=False)
