"""sentence-transformers: a last module that protects a model's vectors."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from threading import local
from typing import Any

import numpy as np

from vecveil.core.errors import InvalidInputError, needs_extra
from vecveil.veil import Guard

with needs_extra("sentence-transformers", "local"):
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.base.modules import Module
    from sentence_transformers.util import load_dir_path

VECTORS = "sentence_embedding"
HARMLESS = ("input_ids", "attention_mask", "token_type_ids", "modality")
"""Features that a model was given, and goes on with."""

FOLDER = "veil"
HUB = ("token", "cache_folder", "revision", "local_files_only")
KEY_VARIABLE = "VECVEIL_KEY"
"""Environment variable with the path of the key file, where a saved model needs one."""

OWN = f"{__name__}.VeilModule"
"""Name of the veil in `modules.json`."""


class VeilModule(Module):
    """Protects a model's vectors in `encode`, `encode_query` and `encode_document`; does nothing in training.

    Args:
        guard: The veil, its budget, its key and its ledger.
    """

    def __init__(self, guard: Guard) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.guard = guard
        self._batch = local()
        # A new module is in training, and would let clean vectors through until someone calls `encode`.
        self.eval()

    def forward(self, features: dict[str, Any], **_: Any) -> dict[str, Any]:
        """Return the features with protected vectors in the place of clean ones."""
        if self.training:
            return features
        if self.guard.release.words is not None and not hasattr(self._batch, "words"):
            raise InvalidInputError(
                "this veil replaces private words before the model reads them, which a plain SentenceTransformer does "
                "not do: load the model with load_veiled"
            )
        words = self._batch.__dict__.pop("words", None)
        clean = features[VECTORS]
        rows = clean.detach().to("cpu", torch.float32).numpy()
        release = self.guard.release_of(words)
        protected = release.protect_vectors(rows, contents=_digest_tokens(features), words=words)
        moved = torch.from_numpy(protected.astype(np.float32)).to(device=clean.device, dtype=clean.dtype)
        # What else a model has computed, as the vectors of single tokens, is as telling as the sentence's.
        return {**{name: value for name, value in features.items() if name in HARMLESS}, VECTORS: moved}

    def rewrite(self, texts: Sequence[Any], *, queries: bool) -> Sequence[Any]:
        """Return a batch of texts as the model may read them; the next call of `forward` is for it.

        Args:
            texts: Documents or queries.
            queries: Whether they are queries, whose words stay.

        Raises:
            InvalidInputError: If private words are to be replaced in something that is no text.
        """
        self._batch.words = None
        if queries or self.guard.release.words is None:
            return texts
        if other := next((type(text).__name__ for text in texts if not isinstance(text, str)), None):
            raise InvalidInputError(
                f"this veil replaces private words, and finds them in plain texts alone: got {other}; join the parts "
                "of each document into one text"
            )
        rewritten = self.guard.release.rewrite(list(texts))
        self._batch.words = rewritten.words
        return rewritten.texts

    def get_config_dict(self) -> dict[str, Any]:
        """Return what is written beside the veil: the budget, names, and of the key only its fingerprint."""
        kept = self.guard.settings(without=("veil", "embedder", "key", "noise_ratio", "paper_epsilon", "signed_by"))
        label = self.guard.release.label()
        return {**kept, "epsilon": label["epsilon"], "key": label.get("key")}

    def save(self, output_path: str, *args: Any, **kwargs: Any) -> None:
        """Write the veil and the budget; the key stays where it is."""
        del args, kwargs
        self.guard.opened_veil.save(Path(output_path) / FOLDER, overwrite=True)
        self.save_config(output_path)

    @classmethod
    def load(  # type: ignore[override]  # the library names what we hand on unseen
        cls, model_name_or_path: str, subfolder: str = "", **options: Any
    ) -> VeilModule:
        """Return the module of a saved model; a key is found by the path in $VECVEIL_KEY."""
        hub = {name: options[name] for name in HUB if name in options}
        config = cls.load_config(model_name_or_path, subfolder=subfolder, **hub)
        folder = load_dir_path(model_name_or_path, subfolder=str(Path(subfolder, FOLDER)), **hub)
        if folder is None:
            raise InvalidInputError(f"{model_name_or_path} holds no veil in {subfolder}")
        wanted = config.pop("key")
        guard = Guard(folder, key=None if wanted is None else _find_key_file(wanted), **config)
        if guard.release.label().get("key") != wanted:
            raise InvalidInputError(f"the model was saved with the key {wanted}; ${KEY_VARIABLE} names another")
        return cls(guard)


class VeiledSentenceTransformer(SentenceTransformer):
    """A model that gives protected vectors: private words of documents are replaced before it reads them."""

    def preprocess(self, inputs: Sequence[Any], prompt: str | None = None, **kwargs: Any) -> dict[str, Any]:
        """Replace private words of a batch, unless it is one of queries, and tokenize it."""
        module = self[-1]
        if isinstance(module, VeilModule) and not module.training:
            inputs = module.rewrite(inputs, queries=kwargs.get("task") == "query")
        return super().preprocess(inputs, prompt=prompt, **kwargs)


def veil_model(guard: Guard, model: SentenceTransformer | None = None) -> SentenceTransformer:
    """Return a model that gives protected vectors: its own modules, and the veil after them.

    Args:
        guard: The veil, its budget, its key and its ledger.
        model: The model that the veil was learned on; the veil loads it itself where None.

    Raises:
        EmbedderMismatchError: If it is another model.
    """
    if model is None:
        model = getattr(guard.model, "pipeline", None)
        if model is None:
            raise InvalidInputError(f"{guard.opened_veil.fingerprint.model} is no model of sentence-transformers")
    else:
        if any(isinstance(module, VeilModule) for module in model):
            raise InvalidInputError("the model is veiled already: noise on noise protects no better")
        guard.require_same_model(partial(model.encode, show_progress_bar=False))
    veiled = VeiledSentenceTransformer(
        modules=[*model, VeilModule(guard)],
        device=str(model.device),
        prompts={name: prompt for name, prompt in model.prompts.items() if prompt is not None},
        default_prompt_name=model.default_prompt_name,
        similarity_fn_name=model.similarity_fn_name,
    )
    return veiled.eval()


def load_veiled(folder: str | Path, **options: Any) -> SentenceTransformer:
    """Return a veiled model that was saved with `save_pretrained`.

    sentence-transformers imports no class from outside of itself without `trust_remote_code=True`, which would run code
    that lies in the folder too. Here a folder with code is refused.

    Args:
        folder: Where it was saved.
        **options: Those of SentenceTransformer, such as `device`.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise InvalidInputError(f"there is no folder {folder}")
    _require_no_code(folder)
    return VeiledSentenceTransformer(str(folder), trust_remote_code=True, **options).eval()


def _require_no_code(folder: Path) -> None:
    """Raise where something in the folder is code, or names code that is not ours or the library's."""
    for path in sorted(folder.rglob("*")):
        if path.suffix == ".py":
            raise InvalidInputError(f"{path} is code, which a veiled model has no need of")
        if path.suffix == ".json" and path.is_file() and path.name != "tokenizer.json":
            for foreign in _find_code(json.loads(path.read_text(encoding="utf-8")), path.name):
                raise InvalidInputError(f"{path} names code that a veiled model has no need of: {foreign!r}")


def _find_code(content: Any, name: str) -> Iterator[str]:
    """Yield the code that a configuration names, however deep, apart from known modules."""
    if isinstance(content, dict):
        if "auto_map" in content:
            yield str(content["auto_map"])
        kind = content.get("type") if name == "modules.json" else None
        if kind is not None and kind != OWN and not str(kind).startswith("sentence_transformers."):
            yield str(kind)
    parts = content.values() if isinstance(content, dict) else content if isinstance(content, list) else ()
    for part in parts:
        yield from _find_code(part, name)


def _find_key_file(fingerprint: str) -> str:
    path = os.environ.get(KEY_VARIABLE)
    if not path:
        raise InvalidInputError(
            f"the model was saved with noise from the key {fingerprint}; put the path of its file into ${KEY_VARIABLE}"
        )
    return path


def _digest_tokens(features: dict[str, Any]) -> list[bytes] | None:
    """Return digests of each row's tokens, by which the ledger knows it; None where a model gets no tokens."""
    if "input_ids" not in features or "attention_mask" not in features:
        return None
    tokens, masks = (features[name].to("cpu").numpy() for name in ("input_ids", "attention_mask"))
    return [
        hashlib.sha256(row[mask.astype(bool)].astype("<i8").tobytes()).digest()
        for row, mask in zip(tokens, masks, strict=True)
    ]
