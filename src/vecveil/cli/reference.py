"""The help of every command as one Markdown page."""

from __future__ import annotations

import click

from vecveil.cli.main import commands

HEAD = """\
# Commands

Made by `python -m vecveil.cli.reference > docs/commands.md`; a test holds the two equal.
"""


def write_reference() -> str:
    """Return the page."""
    top = click.Context(commands, info_name="vecveil", terminal_width=100, **commands.context_settings)
    return "\n".join([HEAD, *map(_help, _with_subcommands(top))])


def _with_subcommands(context: click.Context) -> list[click.Context]:
    """Return a command and, where it is a group, those in it, and in those."""
    group = context.command
    if not isinstance(group, click.Group):
        return [context]
    commands = ((name, group.get_command(context, name)) for name in group.list_commands(context))
    inner = (_with_subcommands(click.Context(one, context, name)) for name, one in commands if one is not None)
    return [context, *(found for part in inner for found in part)]


def _help(context: click.Context) -> str:
    return f"## `{context.command_path}`\n\n```text\n{context.get_help()}\n```\n"


if __name__ == "__main__":
    click.echo(write_reference(), nl=False)
