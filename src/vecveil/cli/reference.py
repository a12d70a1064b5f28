"""The help of every command as one Markdown page."""

from collections.abc import Iterator

import click

from vecveil.cli.main import commands

HEAD = """\
# Commands

Made by `python -m vecveil.cli.reference > docs/commands.md`; a test holds the two equal.
"""


def write_reference() -> str:
    """Return the page."""
    top = click.Context(commands, info_name="vecveil", terminal_width=100, **commands.context_settings)
    return "\n".join([HEAD, *_list_help(top)])


def _list_help(context: click.Context) -> Iterator[str]:
    """Yield the help of a command and, where it is a group, of those in it."""
    yield f"## `{context.command_path}`\n\n```text\n{context.get_help()}\n```\n"
    group = context.command
    if isinstance(group, click.Group):
        for name in group.list_commands(context):
            command = group.get_command(context, name)
            if command is not None:
                yield from _list_help(click.Context(command, context, name))


if __name__ == "__main__":
    click.echo(write_reference(), nl=False)
