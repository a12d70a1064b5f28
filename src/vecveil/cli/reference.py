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
    parts = [HEAD, _help(commands, "vecveil")]
    parts += [_help(command, f"vecveil {name}") for name, command in commands.commands.items()]
    return "\n".join(parts)


def _help(command: click.Command, name: str) -> str:
    context = click.Context(command, info_name=name, terminal_width=100, max_content_width=100)
    return f"## `{name}`\n\n```text\n{command.get_help(context)}\n```\n"


if __name__ == "__main__":
    click.echo(reference(), nl=False)
