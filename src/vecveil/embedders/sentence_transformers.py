"""Sentence-transformers models: from the hub, a folder, packages, or memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from vecveil.core.arrays import Embeddings
from vecveil.core.checks import at_least, one_of
from vecveil.core.errors import InvalidInputError
from vecveil.core.model_folders import digest_folder, find_snapshot
from vecveil.embedders.embedder import Fingerprint
from vecveil.embedders.published import PUBLISHED
from vecveil.embedders.sentence_model import BACKENDS, LOADING, SentenceModel, load_sentence_model

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

HUB_ORGANIZATION = "sentence-transformers"
"""Of models that are named without one."""


@dataclass(frozen=True)
class SentenceTransformersEmbedder:
    """A model of sentence-transformers; it is loaded when it is first asked for something.

    Attributes:
        model: A folder, or a name on the hub such as `sentence-transformers/gtr-t5-base`; a name without an
            organization belongs to `sentence-transformers`. Or a model in memory.
        revision: Branch, tag or commit of a hub model; None is the main branch.
        batch_size: Texts that go through the model at once.
        device: Where to run it, such as "cpu" or "cuda:1"; None takes the fastest there is.
        backend: What runs the network: torch, or openvino on a processor.
        locate: Returns the folder of a model that comes from several places; `model` is then just its name.
    """

    model: str | SentenceTransformer
    _: KW_ONLY
    revision: str | None = None
    batch_size: int = 64
    device: str | None = None
    backend: str = "torch"
    locate: Callable[[], Path] | None = None

    def __post_init__(self) -> None:
        at_least(self.batch_size, 1, "batch_size")
        one_of(self.backend, BACKENDS, "backend")
        if not isinstance(self.model, str):
            if (self.revision, self.device, self.backend) != (None, None, "torch"):
                raise InvalidInputError("revision, device and backend are for a model by name, got one in memory")
        elif not self.model:
            raise InvalidInputError("model must name a folder or a hub model, got ''")
        elif self.revision is not None and Path(self.model).expanduser().is_dir():
            raise InvalidInputError(f"a folder has no revisions, got revision {self.revision!r} for {self.model!r}")

    @property
    def fingerprint(self) -> Fingerprint:
        """The model's name, and the digest of its files, with the commit they are of where they come from the hub."""
        return self._loaded[0]

    def embed(self, texts: Sequence[str]) -> Embeddings:
        """Return one float32 row per text, in order."""
        return self._loaded[1].embed(texts, batch_size=self.batch_size)

    @property
    def pipeline(self) -> SentenceTransformer:
        """The model itself, as sentence-transformers has it."""
        return self._loaded[1].pipeline

    @cached_property
    def _loaded(self) -> tuple[Fingerprint, SentenceModel]:
        if isinstance(self.model, str):
            name, revision, loaded = self._load(self.model)
        else:
            loaded = SentenceModel.from_pipeline(self.model)
            name, revision = type(self.model).__name__, f"sha256:{loaded.digest()}"
        fingerprint = Fingerprint(
            model=name, revision=revision, dimensions=loaded.dimensions, normalized=loaded.normalized
        )
        return fingerprint, loaded

    def _load(self, given: str) -> tuple[str, str, SentenceModel]:
        """Return the name, the revision and the model itself."""
        folder, commit = Path(given).expanduser().resolve() if self.locate is None else self.locate(), ""
        if folder.is_dir():
            name = folder.name if self.locate is None else given
        else:
            name = given if "/" in given else f"{HUB_ORGANIZATION}/{given}"
            snapshot = find_snapshot(name, self.revision, cache=hub_cache())
            folder, commit = snapshot.folder, f"{snapshot.commit} "
        version = digest_folder(folder)
        # The same files are one model, whether they come from the hub, a package or a folder of any name.
        name, commit = (PUBLISHED[version], "") if version in PUBLISHED else (name, commit)
        revision = f"{commit}sha256:{version}"
        with LOADING:
            loaded = load_sentence_model(folder, name=given, version=version, device=self.device, backend=self.backend)
        # Vectors of another backend differ by more than their last bits: they are those of another model.
        return name, revision if self.backend == "torch" else f"{revision} by {self.backend}", loaded


def hub_cache() -> str | None:
    """Return the folder in which the library keeps models of the hub; None is the hub's own."""
    return os.environ.get("SENTENCE_TRANSFORMERS_HOME")


def from_spec(argument: str) -> SentenceTransformersEmbedder:
    """Return the embedder for `FOLDER`, `NAME` or `NAME@REVISION`."""
    if Path(argument).expanduser().is_dir():
        return SentenceTransformersEmbedder(argument)
    name, _, revision = argument.partition("@")
    return SentenceTransformersEmbedder(name, revision=revision or None)
