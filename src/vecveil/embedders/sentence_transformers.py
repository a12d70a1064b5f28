"""Any sentence-transformers model, from the hub or from a folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from vecveil.core.arrays import Embeddings
from vecveil.core.checks import at_least, one_of
from vecveil.core.digests import file_digest, json_digest
from vecveil.core.errors import InvalidInputError
from vecveil.embedders.fingerprint import Fingerprint
from vecveil.embedders.hub import find_snapshot
from vecveil.embedders.sentence_model import BACKENDS, SentenceModel, load_sentence_model, revision_by

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

_DEFAULT_ORGANISATION = "sentence-transformers"


@dataclass(frozen=True)
class SentenceTransformersEmbedder:
    """A model that sentence-transformers can load; it is loaded when it is first asked for something.

    Attributes:
        model: A folder, or a name on the hub such as `sentence-transformers/gtr-t5-base`; a name without an
            organisation belongs to `sentence-transformers`.
        revision: Branch, tag or commit of a hub model; None is the main branch.
        batch_size: Texts that go through the model at once.
        device: Where to run it, such as "cpu" or "cuda:1"; None takes the fastest there is.
        backend: What runs the network: torch, or openvino on a processor.
    """

    model: str
    _: KW_ONLY
    revision: str | None = None
    batch_size: int = 64
    device: str | None = None
    backend: str = "torch"

    def __post_init__(self) -> None:
        at_least(self.batch_size, 1, "batch_size")
        one_of(self.backend, BACKENDS, "backend")
        if not self.model:
            raise InvalidInputError("model must name a folder or a hub model, got ''")
        if self.revision is not None and self._folder is not None:
            raise InvalidInputError(f"a folder has no revisions, got revision {self.revision!r} for {self.model!r}")

    @property
    def pinned(self) -> bool:
        """Whether a text has the same vector everywhere, but for its last bits; in bfloat16, processors differ."""
        return self.backend == "torch"

    @property
    def fingerprint(self) -> Fingerprint:
        """The model's name, and the commit it was loaded from or the digest of its folder."""
        name, revision, loaded = self._loaded
        return Fingerprint(
            model=name,
            revision=revision_by(self.backend, revision),
            dimensions=loaded.dimensions,
            normalised=loaded.normalised,
        )

    def embed(self, texts: Sequence[str]) -> Embeddings:
        """Return one float32 row per text, in order."""
        return self._loaded[2].embed(texts, batch_size=self.batch_size)

    def inputs(self, texts: Sequence[str]) -> list[bytes]:
        """Return a digest of what the model sees of each text."""
        return self._loaded[2].inputs(texts)

    @property
    def pipeline(self) -> SentenceTransformer:
        """The model itself, as sentence-transformers has it."""
        return self._loaded[2].pipeline

    @property
    def _folder(self) -> Path | None:
        folder = Path(self.model).expanduser()
        return folder if folder.is_dir() else None

    @cached_property
    def _loaded(self) -> tuple[str, str, SentenceModel]:
        folder = self._folder
        if folder is not None:
            digest = folder_digest(folder)
            loaded = load_sentence_model(
                str(folder.resolve()),
                name=self.model,
                version=digest,
                commit=None,
                device=self.device,
                backend=self.backend,
            )
            return folder.resolve().name, f"sha256:{digest}", loaded
        name = self.model if "/" in self.model else f"{_DEFAULT_ORGANISATION}/{self.model}"
        snapshot = find_snapshot(name, self.revision)
        loaded = load_sentence_model(
            snapshot.source,
            name=name,
            version=snapshot.commit,
            commit=snapshot.pinned,
            device=self.device,
            backend=self.backend,
        )
        return name, snapshot.commit, loaded


def from_spec(argument: str) -> SentenceTransformersEmbedder:
    """Return the embedder for `FOLDER`, `NAME` or `NAME@REVISION`."""
    if Path(argument).expanduser().is_dir():
        return SentenceTransformersEmbedder(argument)
    name, _, revision = argument.partition("@")
    return SentenceTransformersEmbedder(name, revision=revision or None)


def folder_digest(folder: Path) -> str:
    """Return the SHA-256 over a model's files: their names in the folder and their contents.

    Hidden files and READMEs are left out: they change nothing that the model computes.
    """
    digests = {}
    for path in sorted(folder.rglob("*")):
        relative = path.relative_to(folder)
        hidden = any(part.startswith(".") for part in relative.parts)
        if path.is_file() and not hidden and not path.name.upper().startswith("README"):
            digests[relative.as_posix()] = file_digest(path)
    return json_digest(digests)
