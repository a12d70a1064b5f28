"""The entry point: commands, and errors in one line."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from vecveil.cli.commands import SUMMARIES, LateCommands
from vecveil.core.errors import UnknownNameError, VecveilError, VecveilWarning

STOPPED = 130
"""What a shell expects of a program that Ctrl-C ended."""


class Commands(click.Group):
    """A group that guesses what a misspelt command was meant to be, and stops quietly when no one reads on."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; that the reader of our output went away, as `head` does, is no error."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            # What is still in the buffer has nowhere to go, and would fail again when Python ends.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write what each command does, without loading any."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, self._summary(name)) for name in self.list_commands(ctx)])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that the first word names."""
        if self.get_command(ctx, args[0]) is None and not args[0].startswith("-"):
            raise click.UsageError(str(UnknownNameError("command", args[0], self.commands)), ctx)
        return super().resolve_command(ctx, args)

    def _summary(self, name: str) -> str:
        known = SUMMARIES.get(name)
        return self.commands[name].get_short_help_str() if known is None else known


@click.group(cls=Commands, commands=LateCommands(), context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="vecveil", message="vecveil %(version)s")
def commands() -> None:
    """Private text embeddings: name a concept, learn where it lives, protect vectors with a stated guarantee."""


def main() -> None:
    """Run the command line; a warning is one line, and an error that we raise on purpose is one too."""
    try:
        with _warnings_in_one_line():
            code = commands(standalone_mode=False)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except VecveilError as error:
        click.echo(f"Error: {error}", err=True)
        sys.exit(1)
    except (KeyboardInterrupt, click.Abort) as stop:
        click.echo(f"Stopped. {stop}".strip(), err=True)
        sys.exit(STOPPED)
    except OSError as error:
        click.echo(f"Error: {error.filename or 'a file'}: {error.strerror or error}", err=True)
        sys.exit(1)
    sys.exit(code if isinstance(code, int) else 0)


@contextmanager
def _warnings_in_one_line() -> Iterator[None]:
    """Show our own warnings as lines, each once; what libraries warn of concerns their users, not ours."""
    shown: set[str] = set()

    def show(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
        del where, more
        if issubclass(category, VecveilWarning) and str(message) not in shown:
            shown.add(str(message))
            click.echo(f"Warning: {message}", err=True)

    with warnings.catch_warnings():
        warnings.simplefilter("always", VecveilWarning)
        warnings.showwarning = show
        yield
