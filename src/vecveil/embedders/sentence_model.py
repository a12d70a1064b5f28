"""Sentence-transformers models in memory, and the digest they are known by."""

from __future__ import annotations

import hashlib
import json
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
from vecveil.core.digests import json_digest
from vecveil.core.errors import InvalidInputError, MissingExtraError, needs_extra
from vecveil.core.model_folders import require_whole
from vecveil.embedders.embedder import PROBES, require_unicode, sign_bits

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

BACKENDS = ("torch", "openvino")

LOADING = Lock()
"""Two threads that ask for a model at once would each load it and hold it twice."""


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
        rows = require_unicode(texts)
        if not rows:
            return np.empty((0, self.dimensions), dtype=np.float32)
        vectors = self.pipeline.encode(rows, batch_size=batch_size, show_progress_bar=False, convert_to_numpy=True)
        return np.asarray(vectors, dtype=np.float32)

    def digest(self) -> str:
        """Return the SHA-256 of weights, tokenizer, prompts and all settings, and the sign bits of probe sentences.

        Names of weights are left out, since they change from one version of the library to the next. What a module of
        another make does, without settings to tell, shows in the probe sentences' vectors.
        """
        pipeline: Any = self.pipeline
        parts = {
            "weights": sorted(map(_digest_tensor, pipeline.state_dict().values())),
            "tokenizer": _describe_tokenizer(getattr(pipeline, "tokenizer", None)),
            "modules": [_describe_module(module) for module in pipeline.children()],
            "prompts": [dict(pipeline.prompts), pipeline.default_prompt_name],
            "longest": pipeline.max_seq_length,
        }
        return f"{json_digest(parts)}:{sign_bits(self.embed(PROBES, batch_size=1))}"


@lru_cache(maxsize=4)
def load_sentence_model(
    folder: Path, *, name: str, version: str, device: str | None, backend: str = "torch"
) -> SentenceModel:
    """Return the model in `folder`, read from disk once per process; hold `LOADING` meanwhile.

    Args:
        folder: All of the model: nothing is loaded from elsewhere, and no code and no pickle is.
        name: What the user calls it, for errors.
        version: Digest of the folder; one whose content has changed is read again.
        device: Where to run it; None takes the fastest there is.
        backend: What runs the network: torch, or openvino on a processor.

    Raises:
        InvalidInputError: With the model's name and the reason in one line.
        MissingExtraError: If sentence-transformers is not installed.
    """
    del version
    with needs_extra("sentence-transformers", "local"):
        from sentence_transformers import SentenceTransformer

    from vecveil.embedders.openvino import run_by_openvino

    try:
        require_whole(folder)
        with _hide_loading_bar():
            pipeline = SentenceTransformer(
                str(folder),
                device=device if backend == "torch" else "cpu",
                model_kwargs={"use_safetensors": True},
                local_files_only=True,
            )
        if backend == "openvino":
            run_by_openvino(pipeline)
        return SentenceModel.from_pipeline(pipeline)
    except MissingExtraError:
        raise
    except Exception as error:
        # Each architecture fails in its own way on files that are missing or do not fit.
        reason = next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
        raise InvalidInputError(f"cannot load the model {name!r}: {reason}") from error


def _digest_tensor(tensor: Any) -> str:
    import torch

    # NumPy does not know all of torch's types, but all of them are bytes.
    content = tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy()
    return hashlib.sha256(f"{tensor.dtype}{tuple(tensor.shape)}".encode() + content.tobytes()).hexdigest()


def _describe_tokenizer(tokenizer: Any) -> Any:
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is not None:
        # All but how it cuts and pads, which each batch sets anew.
        return {**json.loads(backend.to_str()), "truncation": None, "padding": None}
    return tokenizer.get_vocab() if hasattr(tokenizer, "get_vocab") else None


def _describe_module(module: Any) -> list[Any]:
    """Return the class of a module and its settings, with those of the network inside, in JSON."""
    settings = module.get_config_dict() if hasattr(module, "get_config_dict") else {}
    network = getattr(getattr(module, "auto_model", None), "config", None)
    inner = {} if network is None else {**network.to_diff_dict(), "transformers_version": None}
    return [type(module).__name__, json.dumps([settings, inner], sort_keys=True, default=str)]


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
