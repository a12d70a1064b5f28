"""Embedders by name, from functions, and from the objects that people have."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from inspect import getattr_static
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np

from vecveil.core.arrays import Embeddings
from vecveil.core.checks import rows_of
from vecveil.core.errors import InvalidInputError, UnknownNameError
from vecveil.core.registry import Registry
from vecveil.embedders.cache import CachedEmbedder
from vecveil.embedders.embedder import PROBES, Embedder, Fingerprint, have_length_one, require_unicode, sign_bits
from vecveil.embedders.precomputed import PrecomputedEmbedder
from vecveil.embedders.sentence_transformers import SentenceTransformersEmbedder

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer


EMBEDDERS: Registry[Callable[[str], Embedder]] = Registry(
    kind="embedder",
    builtin={
        "minilm": "vecveil.embedders.packaged:minilm",
        "mpnet": "vecveil.embedders.packaged:mpnet",
        "openai": "vecveil.embedders.openai:from_spec",
        "openvino": "vecveil.embedders.registry:openvino_from_spec",
        "precomputed": "vecveil.embedders.precomputed:from_spec",
        "sentence-transformers": "vecveil.embedders.sentence_transformers:from_spec",
    },
    group="vecveil.embedders",
)
"""Functions from what follows a name's colon, or the empty string, to an embedder.

`"openai:text-embedding-3-small"` calls the entry `openai` with `"text-embedding-3-small"`. Other packages add theirs
under the entry-point group `vecveil.embedders`.
"""

_HUB_NAME = re.compile(r"[\w-][\w.-]*/[\w.-]+(@\S+)?")
_LOCAL = frozenset({"minilm", "mpnet", "precomputed", "sentence-transformers"})
_PACKAGED = {"all-MiniLM-L6-v2": "minilm", "all-mpnet-base-v2": "mpnet"}


class _LangChainEmbeddings(Protocol):
    def embed_documents(self, texts: list[str]) -> list[list[float]]: ...


EmbedderLike: TypeAlias = "str | Embedder | SentenceTransformer | _LangChainEmbeddings | Callable[[list[str]], Any]"
"""All that `embedder=` takes."""


def embeds_any_text(embedder: Embedder) -> bool:
    """Return whether an embedder reads texts that it has not seen before, which a file of vectors does not."""
    inner = getattr(embedder, "embedder", embedder)
    return not isinstance(inner, PrecomputedEmbedder) if inner is embedder else embeds_any_text(inner)


def resolve_embedder(spec: EmbedderLike, *, cache: Path | None = None) -> Embedder:
    """Return the embedder that `spec` is, or names.

    | spec | embedder |
    | --- | --- |
    | `minilm`, `mpnet` | from a package that is installed, or else one known commit of the hub |
    | `all-MiniLM-L6-v2`, `all-mpnet-base-v2` | the same |
    | `sentence-transformers:NAME`, or a bare `ORGANIZATION/NAME`; each may end in `@REVISION` | from the hub |
    | `sentence-transformers:FOLDER`, or a bare folder | from disk |
    | `openvino:` before any of these | the same model, run by OpenVINO on a processor |
    | `openai:MODEL`, `openai:MODEL@https://host/v1` | a service that speaks OpenAI's embeddings API |
    | `precomputed:FILE.parquet@MODEL` | vectors made elsewhere |
    | `NAME`, `NAME:ARGUMENT` | one that another package registers |
    | an `Embedder` | itself |
    | a `SentenceTransformer` | that model, known by the digest of its weights |
    | LangChain `Embeddings`, or a function from texts to vectors | known by its vectors of public sentences |

    Args:
        spec: One of the above.
        cache: Folder of a cache of embeddings; it is as sensitive as the texts. None keeps nothing.

    Raises:
        UnknownNameError: If nothing is registered under the name and it is no folder and no hub name.
        InvalidInputError: If it is something else.
    """
    embedder = _find_by_name(spec) if isinstance(spec, str) else _wrap(spec)
    return embedder if cache is None else CachedEmbedder(embedder, cache)


def stays_here(spec: str) -> bool:
    """Return whether the embedder of that name runs on this machine, so that no text leaves it.

    Services don't, and of what other packages register nobody knows.
    """
    name = spec.removeprefix("openvino:").partition(":")[0]
    return name in _LOCAL if name in EMBEDDERS.names() else _names_model(spec.removeprefix("openvino:"))


def openvino_from_spec(argument: str) -> Embedder:
    """Return the embedder for `minilm`, `mpnet`, or whatever sentence-transformers can load, run by OpenVINO."""
    name = argument.partition(":")[0]
    known = name in EMBEDDERS.names() or _names_model(argument)
    inner = _find_by_name(argument if known else f"sentence-transformers:{argument}")
    if not isinstance(inner, SentenceTransformersEmbedder):
        raise InvalidInputError(f"OpenVINO runs models of sentence-transformers, got {argument!r}")
    return replace(inner, backend="openvino")


def _find_by_name(spec: str) -> Embedder:
    name, _, argument = spec.partition(":")
    if name in EMBEDDERS.names():
        return EMBEDDERS.load(name)(argument)
    if not _names_model(spec):
        raise UnknownNameError("embedder", name, EMBEDDERS.names())
    packaged = _PACKAGED.get(spec.removeprefix("sentence-transformers/"))
    if packaged is not None and not Path(spec).is_dir():
        return EMBEDDERS.load(packaged)("")
    return EMBEDDERS.load("sentence-transformers")(spec)


def _names_model(spec: str) -> bool:
    """Return whether `spec` is a folder, or the name of a model on the hub."""
    # An empty path is the working folder, which nobody means.
    return bool(spec and (spec in _PACKAGED or Path(spec).expanduser().is_dir() or _HUB_NAME.fullmatch(spec)))


def _wrap(given: Any) -> Embedder:
    if isinstance(given, type):
        raise _to_error(f"the class {given.__name__}; make an object of it")
    # An embedder is not asked for its fingerprint here: that may load a model, or call a service.
    if callable(getattr(given, "embed", None)) and getattr_static(given, "fingerprint", None) is not None:
        embedder: Embedder = given
        return embedder
    library = sys.modules.get("sentence_transformers")
    if library is not None and isinstance(given, library.SentenceTransformer):
        return SentenceTransformersEmbedder(given)
    kind = type(given).__name__
    if callable(getattr(given, "embed_documents", None)):
        return FunctionEmbedder(given.embed_documents, name=kind)
    if callable(given):
        return FunctionEmbedder(given, name=kind)
    raise _to_error(kind)


def _to_error(given: str) -> InvalidInputError:
    return InvalidInputError(
        "embedder must be a name, an Embedder, a SentenceTransformer, a LangChain Embeddings object or a function from "
        f"texts to vectors, got {given}"
    )


@dataclass(frozen=True, eq=False)
class FunctionEmbedder:
    """A function from a list of texts to one vector for each; known by its vectors of public sentences.

    Attributes:
        function: Returns anything that NumPy can read as one row per text.
        name: What the fingerprint calls the model.
    """

    function: Callable[[list[str]], Any]
    name: str

    @cached_property
    def fingerprint(self) -> Fingerprint:
        """The name, and what its vectors look like; the first use embeds four public sentences."""
        probes = self._call(list(PROBES))
        return Fingerprint(
            model=self.name,
            revision=f"probes:{sign_bits(probes)}",
            dimensions=probes.shape[1],
            normalized=have_length_one(probes),
        )

    def embed(self, texts: Sequence[str]) -> Embeddings:
        """Return one float32 row per text, in order."""
        rows, dimensions = require_unicode(texts), self.fingerprint.dimensions
        return self._call(rows, dimensions) if rows else np.empty((0, dimensions), dtype=np.float32)

    def _call(self, texts: list[str], dimensions: int | None = None) -> Embeddings:
        values = self.function(texts)
        if hasattr(values, "detach"):
            # A tensor may have a gradient, or lie on an accelerator, where NumPy can't read it.
            values = values.detach().cpu()
        vectors = rows_of(values, dimensions=dimensions, name=f"vectors of the embedder {self.name}")
        if len(vectors) != len(texts):
            raise InvalidInputError(f"the embedder {self.name} returned {len(vectors)} vectors for {len(texts)} texts")
        return vectors.astype(np.float32)
