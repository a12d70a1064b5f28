"""`vecveil show`: show what is in a veil."""

from pathlib import Path
from typing import Any

import click
import numpy as np

from vecveil.cli.console import output, say
from vecveil.cli.options import FILE, flag
from vecveil.substitutions.plain import Keep
from vecveil.veil import Veil
from vecveil.veil.sheet import describe_learning, promise_words


@click.command(short_help="Show what is in a veil.")
@click.argument("veil_folder", metavar="VEIL", type=FILE)
@flag("--verbose", "Show all of it: settings, revisions, lengths, versions.")
def show(*, veil_folder: Path, verbose: bool) -> None:
    """Show what is in VEIL: concept, embedder, what becomes of words, directions and noise; and what it comes to."""
    show_veil(Veil.load(veil_folder), verbose=verbose)
    if not verbose:
        say(f"next: vecveil protect {veil_folder} TEXTS OUTPUT.parquet; more of this: --verbose")


def show_veil(veil: Veil, *, verbose: bool = False) -> None:
    """Print a veil's digest, in one piece to be copied, its content, and the sentence on what it comes to."""
    from rich.table import Column, Table

    click.echo(f"veil {veil.digest()}")
    names, values = Column(style="bold", no_wrap=True), Column(overflow="fold")
    table = Table(names, values, box=None, show_header=False, pad_edge=False)
    for fact in (_facts(veil) if verbose else _summarize(veil)).items():
        table.add_row(*fact)
    output().print(table)
    promise = promise_words(veil.substitution)
    if veil.provenance.measured:
        output().print(f"\n{veil.provenance.measured}", soft_wrap=True)
    elif promise is not None:
        output().print(f"\nPromised: {promise.sentence}.", soft_wrap=True)


def _summarize(veil: Veil) -> dict[str, str]:
    """Return what most people want to know of a veil."""
    origin, model = veil.provenance, veil.fingerprint
    directions = f"{veil.shape.released} of {veil.shape.dimensions} released, chosen by {origin.learner['name']}"
    law = veil.substitution
    # An address is where texts would be sent.
    found = f" ({origin.embedder})" if origin.embedder and ":" in origin.embedder else ""
    words = f"{law.name}, ε = {law.word_epsilon:g} for each different value"
    return {
        "concept": _concept(veil),
        "embedder": f"{model.model}, {model.dimensions} dimensions{found}",
        "private words": "kept: shape and noise alone protect them" if isinstance(law, Keep) else words,
        "directions": directions,
        "noise": _noise(veil),
        "learned from": f"{origin.pairs:,} pairs of {'public' if origin.public else 'private'} texts",
    }


def _noise(veil: Veil) -> str:
    if veil.epsilon is None:
        return _budget(veil)
    ratio = veil.mechanism_at(veil.epsilon).noise_ratio(veil.typical.signal)
    return f"{ratio:.2g} times as long as an embedding (epsilon {veil.epsilon:.4g})"


def _facts(veil: Veil) -> dict[str, str]:
    released = veil.shape.variances[np.isfinite(veil.shape.variances)]
    origin, model = veil.provenance, veil.fingerprint
    kind = "rotated" if veil.shape.rotated else "diagonal"
    learner = {name: value for name, value in origin.learner.items() if name != "name"}
    return {
        "embedder": f"{model.model}, {model.dimensions} dimensions, {'' if model.normalized else 'not '}normalized",
        "found as": origin.embedder or "an object in memory",
        "revision": model.revision[:23],
        "concept": _concept(veil),
        "contrast": f"{origin.contrast}, {origin.pairs:,} pairs of {'public' if origin.public else 'private'} texts",
        "tells of them": describe_learning(origin, veil.substitution),
        "shape": f"{origin.learner['name']}, {kind}, {veil.shape.released} of {veil.shape.dimensions} axes released",
        "settings": _list_values(learner) or "none",
        "learned": _list_values(origin.facts) or "nothing",
        "variances": f"smallest {released.min():.4g}, median {np.median(released):.4g}, largest {released.max():.4g}, "
        f"sum {released.sum():.4g}",
        "words": str(promise_words(veil.substitution) or "kept: shape and noise alone protect them"),
        "mechanism": veil.mechanism,
        "budget": _budget(veil),
        "typical lengths": f"embedding {veil.typical.signal:.4g}, contrast pair {veil.typical.euclidean_pair:.4g} "
        f"(Euclidean), {veil.typical.pair:.4g} (in the guarantee's distance)",
        "versions": ", ".join(f"{name} {number}" for name, number in origin.versions.items()),
    }


def _budget(veil: Veil) -> str:
    if veil.epsilon is None:
        return "none kept: name one at every release (--noise-ratio 0.5, say)"
    metric = veil.mechanism_at(veil.epsilon).guarantee().metric
    return f"epsilon {veil.epsilon:.6g} per unit of {metric} (what that promises: vecveil guarantee)"


def _concept(veil: Veil) -> str:
    """Return the kinds and sizes of a concept's parts."""
    summary: Any = veil.provenance.concept
    parts = summary.get("parts") or [summary or {"kind": "none"}]
    described = (f"{part['kind']} ({_list_values({k: v for k, v in part.items() if k != 'kind'})})" for part in parts)
    return " + ".join(described) + ("" if veil.concept else " (not kept: name it at every use)")


def _list_values(values: Any) -> str:
    return ", ".join(f"{name} {_readable(value)}" for name, value in values.items())


def _readable(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, dict):
        return f"({_list_values(value)})"
    if isinstance(value, list | tuple):
        return " + ".join(_readable(item) for item in value)
    return str(value)
