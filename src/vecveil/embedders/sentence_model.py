"""A sentence-transformers model in memory."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from vecveil.core.arrays import Embeddings
from vecveil.core.digests import text_digest
from vecveil.core.errors import InvalidInputError, MissingExtraError
from vecveil.embedders.texts import checked_texts
from vecveil.embedders.tokens import token_digests

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

BACKENDS = ("torch", "openvino")

_ONE_AT_A_TIME = Lock()

_TOGETHER = 256
"""Texts whose tokens are looked at together: they are filled up to the longest."""


@dataclass(frozen=True, kw_only=True, eq=False)
class SentenceModel:
    """A loaded model and what its vectors look like.

    Attributes:
        pipeline: The model itself.
        dimensions: Length of its vectors.
        normalised: Whether its last step gives every vector length one.
    """

    pipeline: SentenceTransformer
    dimensions: int
    normalised: bool

    def embed(self, texts: Sequence[str], *, batch_size: int) -> Embeddings:
        """Return one float32 row per text, in order."""
        rows = checked_texts(texts)
        if not rows:
            return np.empty((0, self.dimensions), dtype=np.float32)
        vectors = self.pipeline.encode(rows, batch_size=batch_size, show_progress_bar=False, convert_to_numpy=True)
        return np.asarray(vectors, dtype=np.float32)

    def inputs(self, texts: Sequence[str]) -> list[bytes]:
        """Return a digest of what the model sees of each text."""
        prompt = self.pipeline.prompts.get(self.pipeline.default_prompt_name or "") or ""
        rows = [prompt + text for text in checked_texts(texts)]
        found: list[bytes] = []
        for start in range(0, len(rows), _TOGETHER):
            chunk = rows[start : start + _TOGETHER]
            found += token_digests(self.pipeline.preprocess(chunk)) or [text_digest(text) for text in chunk]
        return found


def load_sentence_model(
    source: str, *, name: str, version: str, commit: str | None, device: str | None, backend: str = "torch"
) -> SentenceModel:
    """Return the model at `source`, read from disk once per process.

    Args:
        source: A folder, or a name on the hub.
        name: What the user calls it, for errors.
        version: A digest or a commit; a folder whose content has changed is read again.
        commit: The commit to load where `source` is a name on the hub.
        device: Where to run it; None takes the fastest there is.
        backend: What runs the network: torch, or openvino on a processor.

    Raises:
        InvalidInputError: With the model's name and the reason in one line.
        MissingExtraError: If sentence-transformers is not installed.
    """
    # Two threads that ask at once would each load the model and hold it twice.
    with _ONE_AT_A_TIME:
        return _load(source, name=name, version=version, commit=commit, device=device, backend=backend)


@lru_cache(maxsize=4)
def _load(
    source: str, *, name: str, version: str, commit: str | None, device: str | None, backend: str
) -> SentenceModel:
    del version
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError:
        raise MissingExtraError("sentence-transformers", "models") from None

    from vecveil.embedders.openvino import run_by_openvino

    try:
        with _no_loading_bar():
            pipeline = SentenceTransformer(source, revision=commit, device=device if backend == "torch" else "cpu")
        if backend == "openvino":
            run_by_openvino(pipeline)
        probe = pipeline.encode(["probe"], show_progress_bar=False, convert_to_numpy=True)
    except MissingExtraError:
        raise
    except Exception as error:
        # Each architecture fails in its own way on files that are missing or do not fit.
        raise InvalidInputError(f"cannot load the model {name!r}: {one_line(error)}") from error
    # The class has moved between versions of the library; its name has not.
    normalised = type(list(pipeline.children())[-1]).__name__ == "Normalize"
    return SentenceModel(pipeline=pipeline, dimensions=int(probe.shape[1]), normalised=normalised)


def revision_by(backend: str, revision: str) -> str:
    """Return the revision of a fingerprint: vectors of another backend are those of another model.

    They differ by more than their last bits, and keyed noise for both would be the same.
    """
    return revision if backend == "torch" else f"{revision} by {backend}"


def one_line(error: Exception) -> str:
    """Return the first line of an error's message, or its kind where it has none."""
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)


@contextmanager
def _no_loading_bar() -> Iterator[None]:
    """Hide the bar that transformers draws while it reads weights, and leave the bars of downloads."""
    from huggingface_hub.utils.tqdm import are_progress_bars_disabled, disable_progress_bars, enable_progress_bars
    from transformers.utils import logging

    bars: Any = logging
    # Where the variable is set, the user has decided, and switching bars would only raise a warning.
    if "HF_HUB_DISABLE_PROGRESS_BARS" in os.environ or not bars.is_progress_bar_enabled():
        yield
        return
    downloads_hidden = are_progress_bars_disabled()
    bars.disable_progress_bar()
    # The call above hides downloads too, and those can take minutes.
    if not downloads_hidden:
        enable_progress_bars()
    try:
        yield
    finally:
        bars.enable_progress_bar()
        if downloads_hidden:
            disable_progress_bars()
