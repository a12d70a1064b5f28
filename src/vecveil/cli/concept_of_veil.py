"""Finding the concept that a veil was learned for: a veil tells only its kind and size."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vecveil.cli.console import notices
from vecveil.core.errors import InvalidInputError, VecveilError

if TYPE_CHECKING:
    from vecveil.concepts import Concept
    from vecveil.veil import Veil


def concept_of(veil: Veil, veil_folder: Path, named: Path | None) -> Concept:
    """Return the concept of a veil: in the file `named`, in the veil itself, or in a file beside the veil that fits.

    A file fits if its concept has the kinds and sizes that the veil keeps. Where two files fit, neither is taken.
    """
    from vecveil.concepts import load_concept
    from vecveil.concepts.toml_file import concept_from_settings

    if named is not None:
        return load_concept(named)
    try:
        # Where the owner asked for it, the veil holds the whole concept.
        return concept_from_settings(veil.provenance.concept, folder=veil_folder)
    except VecveilError:
        fitting = _beside(veil, veil_folder)
    if len(fitting) == 1:
        [(path, concept)] = fitting.items()
        notices().print(f"concept: {path.name}, which fits the veil; name another with --concept")
        return concept
    names = ", ".join(path.name for path in fitting)
    problem = f"several files beside the veil fit it ({names})" if fitting else "no file beside the veil fits it"
    raise InvalidInputError(f"name what is private with --concept FILE: the veil doesn't tell, and {problem}")


def _beside(veil: Veil, veil_folder: Path) -> dict[Path, Concept]:
    from vecveil.concepts import load_concept

    told = _plain(veil.provenance.concept)
    fitting = {}
    for folder in dict.fromkeys((veil_folder.absolute().parent.resolve(), Path.cwd())):
        for path in sorted(folder.glob("*.toml")):
            try:
                concept = load_concept(path)
            except VecveilError:
                continue
            if _plain(concept.summary()) == told:
                fitting[path] = concept
    return fitting


def _plain(summary: Mapping[str, Any]) -> Any:
    """Return a summary as JSON brings it back."""
    return json.loads(json.dumps(dict(summary)))
