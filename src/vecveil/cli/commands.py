"""The commands and what they do, in a line each. A command's module is loaded when it is asked for, and no sooner."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from importlib import import_module

import click

SUMMARIES = {
    "demo": "Go the whole way on the bundled sample.",
    "concept": "Show what a concept finds in texts.",
    "learn": "Learn a veil for a concept.",
    "protect": "Protect the texts or vectors of a file.",
    "guarantee": "State what a veil guarantees.",
    "audit": "Attack a veil, and measure what is left of the search.",
    "report": "Write the report of an audit again.",
    "frontier": "Compare defences by what leaks at equal utility.",
    "reproduce": "Run experiments of the paper and put our figures beside the printed ones.",
    "serve": "Serve protected embeddings by OpenAI's API.",
    "client": "Bearer keys of the gateway's clients.",
    "migrate": "Protect a vector store, in place.",
    "prior": "Train a generative attack on public sentences, for audits to start from.",
    "show": "Show what is in a veil.",
    "key": "Make a key for noise that repeats itself.",
    "ledger": "Show, check and limit what was released.",
    "selftest": "Test the installed mechanisms and their noise on this machine.",
    "bench": "Time noise, files, learning, embedding and starts, each beside references in the same run.",
}

_ELSEWHERE = {"report": "audit"}
"""Commands that are in a module of another name."""


class LateCommands(MutableMapping[str, click.Command]):
    """Commands by name, each loaded when it is first taken out."""

    def __init__(self) -> None:
        self._commands: dict[str, click.Command | None] = dict.fromkeys(SUMMARIES)

    def __getitem__(self, name: str) -> click.Command:
        """Return a command."""
        command = self._commands[name]
        if command is None:
            command = getattr(import_module(f"vecveil.cli.{_ELSEWHERE.get(name, name)}"), name)
            self._commands[name] = command
        return command

    def __setitem__(self, name: str, command: click.Command) -> None:
        """Take a further command in."""
        self._commands[name] = command

    def __delitem__(self, name: str) -> None:
        """Leave a command out."""
        del self._commands[name]

    def __iter__(self) -> Iterator[str]:
        """Return the names, in their order."""
        return iter(self._commands)

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._commands)
