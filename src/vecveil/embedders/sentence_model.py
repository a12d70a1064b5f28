"""Sentence-transformers models in memory, and the digests they are known by."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from vecveil.core.arrays import Embeddings
from vecveil.core.digests import file_digest, json_digest
from vecveil.core.errors import InvalidInputError, MissingExtraError
from vecveil.embedders.embedder import check_texts
from vecveil.embedders.probes import PROBES, sign_bits

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

BACKENDS = ("torch", "openvino")

LOADING = Lock()
"""Two threads that ask for a model at once would each load it and hold it twice."""

_NEVER_LOADED = frozenset({"onnx", "openvino"})
"""Folders of a model that hold its weights for other engines."""


@dataclass(frozen=True, kw_only=True, eq=False)
class SentenceModel:
    """A loaded model and what its vectors look like.

    Attributes:
        pipeline: The model itself.
        dimensions: Length of its vectors.
        normalized: Whether its last step gives every vector length one.
    """

    pipeline: SentenceTransformer
    dimensions: int
    normalized: bool

    @classmethod
    def from_pipeline(cls, pipeline: SentenceTransformer) -> SentenceModel:
        """Return a model, after a look at one vector."""
        probe = pipeline.encode(["probe"], show_progress_bar=False, convert_to_numpy=True)
        # The class has moved between versions of the library; its name has not.
        normalized = type(list(pipeline.children())[-1]).__name__ == "Normalize"
        return cls(pipeline=pipeline, dimensions=int(probe.shape[1]), normalized=normalized)

    def embed(self, texts: Sequence[str], *, batch_size: int) -> Embeddings:
        """Return one float32 row per text, in order."""
        rows = check_texts(texts)
        if not rows:
            return np.empty((0, self.dimensions), dtype=np.float32)
        vectors = self.pipeline.encode(rows, batch_size=batch_size, show_progress_bar=False, convert_to_numpy=True)
        return np.asarray(vectors, dtype=np.float32)

    def digest(self) -> str:
        """Return the SHA-256 of weights, vocabulary, prompts and length limit, and the sign bits of probe sentences.

        Names of weights and settings are left out, since they change from one version of the library to the next;
        what pooling and other settings do shows in the probe sentences' vectors.
        """
        pipeline: Any = self.pipeline
        tokenizer: Any = getattr(pipeline, "tokenizer", None)
        parts = {
            "weights": sorted(map(_digest_tensor, pipeline.state_dict().values())),
            "vocabulary": tokenizer.get_vocab() if hasattr(tokenizer, "get_vocab") else None,
            "prompts": [dict(pipeline.prompts), pipeline.default_prompt_name],
            "longest": pipeline.max_seq_length,
        }
        return f"{json_digest(parts)}:{sign_bits(self.embed(PROBES, batch_size=1))}"


@lru_cache(maxsize=4)
def load_sentence_model(
    source: str, *, name: str, version: str, commit: str | None, device: str | None, backend: str = "torch"
) -> SentenceModel:
    """Return the model at `source`, read from disk once per process; hold `LOADING` meanwhile.

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
    del version
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError:
        raise MissingExtraError("sentence-transformers", "models") from None

    from vecveil.embedders.openvino import run_by_openvino

    try:
        with _hide_loading_bar():
            pipeline = SentenceTransformer(source, revision=commit, device=device if backend == "torch" else "cpu")
        if backend == "openvino":
            run_by_openvino(pipeline)
        return SentenceModel.from_pipeline(pipeline)
    except MissingExtraError:
        raise
    except Exception as error:
        # Each architecture fails in its own way on files that are missing or do not fit.
        reason = next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
        raise InvalidInputError(f"cannot load the model {name!r}: {reason}") from error


def digest_folder(folder: Path) -> str:
    """Return the SHA-256 over a model's files: their names in the folder and their contents.

    That is weights, tokenizer, and the settings of every module. Hidden files, READMEs and weights for other engines
    are left out: they change nothing that the model computes.
    """
    digests = {}
    for path in sorted(folder.rglob("*")):
        relative = path.relative_to(folder)
        hidden = any(part.startswith(".") or part in _NEVER_LOADED for part in relative.parts)
        if path.is_file() and not hidden and not path.name.upper().startswith("README"):
            digests[relative.as_posix()] = digest_file(path)
    return json_digest(digests)


def digest_file(path: Path) -> str:
    """Return the SHA-256 of a file, which is read again only after it has changed."""
    state = path.stat()
    return _digest_file(path, state.st_size, state.st_mtime_ns)


@lru_cache(maxsize=256)
def _digest_file(path: Path, size: int, modified: int) -> str:
    del size, modified
    return file_digest(path)


def _digest_tensor(tensor: Any) -> str:
    import torch

    # NumPy does not know all of torch's types, but all of them are bytes.
    content = tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy()
    return hashlib.sha256(f"{tensor.dtype}{tuple(tensor.shape)}".encode() + content.tobytes()).hexdigest()


@contextmanager
def _hide_loading_bar() -> Iterator[None]:
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
