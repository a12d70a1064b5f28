"""From what a user writes to an embedder."""

from __future__ import annotations

import re
from pathlib import Path

from vecveil.core.errors import UnknownNameError
from vecveil.embedders.cache import CachedEmbedder
from vecveil.embedders.embedder import Embedder
from vecveil.embedders.registry import EMBEDDERS

_HUB_NAME = re.compile(r"[\w-][\w.-]*/[\w.-]+(@\S+)?")


def resolve_embedder(spec: str | Embedder, *, cache: Path | None = None) -> Embedder:
    """Return the embedder that `spec` names.

    | spec | embedder |
    | --- | --- |
    | `minilm`, `mpnet` | a model that comes as a package |
    | `sentence-transformers:NAME`, or a bare `ORGANISATION/NAME`; each may end in `@REVISION` | from the hub |
    | `sentence-transformers:FOLDER`, or a bare folder | from disk |
    | `openvino:` before any of these | the same model, run by OpenVINO on a processor |
    | `openai:MODEL`, `openai:MODEL@https://host/v1` | a service that speaks OpenAI's embeddings API |
    | `precomputed:FILE.parquet@MODEL` | vectors made elsewhere |
    | `NAME`, `NAME:ARGUMENT` | one that another package registers |

    Args:
        spec: One of the above; an embedder is taken as it is.
        cache: Folder of a cache of embeddings; it is as sensitive as the texts. None keeps nothing.

    Raises:
        UnknownNameError: If nothing is registered under the name and it is no folder and no hub name.
    """
    embedder = _named(spec) if isinstance(spec, str) else spec
    return embedder if cache is None else CachedEmbedder(embedder, cache)


def _named(spec: str) -> Embedder:
    name, _, argument = spec.partition(":")
    # An empty path is the working folder, which nobody means.
    if name not in EMBEDDERS.names() and spec and (Path(spec).expanduser().is_dir() or _HUB_NAME.fullmatch(spec)):
        name, argument = "sentence-transformers", spec
    if name not in EMBEDDERS.names():
        raise UnknownNameError("embedder", name, EMBEDDERS.names())
    return EMBEDDERS.load(name)(argument)
