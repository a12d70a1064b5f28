"""The entry point: commands, and errors in one line."""

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any, NoReturn

import click

from vecveil.core.errors import UnknownNameError, VecveilError, VecveilWarning

STOPPED = 130
"""What a shell expects of a program that Ctrl-C ended."""

SUMMARIES = {
    "demo": "Go the whole way on the bundled sample.",
    "concept": "Show what a concept finds in texts.",
    "learn": "Learn a veil for a concept.",
    "protect": "Protect the texts or vectors of a file.",
    "guarantee": "State what a veil guarantees.",
    "audit": "Attack a veil, and measure what is left of the search.",
    "report": "Write the report of an audit again.",
    "frontier": "Compare defenses by what leaks at equal utility.",
    "serve": "Serve protected embeddings by OpenAI's API.",
    "client": "Bearer keys of the gateway's clients.",
    "migrate": "Protect a vector store, in place.",
    "prior": "Train a generative attack on public sentences, for audits to start from.",
    "show": "Show what is in a veil.",
    "sign": "Sign a veil.",
    "key": "Make a key for noise that repeats itself.",
    "ledger": "Show, check and limit what was released.",
    "selftest": "Test the installed mechanisms and their noise on this machine.",
}
"""Each command is in the module of its name, which is loaded when the command is run."""


class Commands(click.Group):
    """The commands. A misspelled one gets a guess; a reader that goes away, as `head` does, is no error."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names, in their order."""
        return list(SUMMARIES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command, or None where there is none of that name."""
        if cmd_name not in SUMMARIES:
            return None
        command: click.Command = getattr(import_module(f"vecveil.cli.{cmd_name}"), cmd_name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write what each command does, without loading any."""
        with formatter.section("Commands"):
            formatter.write_dl(list(SUMMARIES.items()))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that the first word names."""
        if args[0] not in SUMMARIES and not args[0].startswith("-"):
            raise click.UsageError(str(UnknownNameError("command", args[0], SUMMARIES)), ctx)
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            # What is still in the buffer has nowhere to go, and would fail again when Python ends.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="vecveil", message="vecveil %(version)s")
def commands() -> None:
    """Private text embeddings: name a concept, learn where it lives, protect vectors with a stated guarantee."""


def main() -> None:
    """Run `vecveil`."""
    run(commands)


def run(command: click.Command) -> NoReturn:
    """Run a command and exit; warnings, and errors that we raise on purpose, are one line each."""
    try:
        with _print_warnings():
            code = command(standalone_mode=False)
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
def _print_warnings() -> Iterator[None]:
    """Print our own warnings as lines, each once; what libraries warn of concerns their users, not ours."""
    printed: set[str] = set()

    def show(message: Warning | str, category: type[Warning], *_where: Any, **_more: Any) -> None:
        if issubclass(category, VecveilWarning) and str(message) not in printed:
            printed.add(str(message))
            click.echo(f"Warning: {message}", err=True)

    with warnings.catch_warnings():
        warnings.simplefilter("always", VecveilWarning)
        warnings.showwarning = show
        yield
