"""The embedders that can be named in a spec.

Each entry is a function that takes what follows the name's colon in a spec, the empty string where there is no colon,
and returns the embedder: `"openai:text-embedding-3-small"` calls the entry `openai` with `"text-embedding-3-small"`.
Other packages add theirs under the entry-point group `vecveil.embedders`.
"""

from __future__ import annotations

from collections.abc import Callable

from vecveil.core.registry import Registry
from vecveil.embedders.embedder import Embedder

EMBEDDERS: Registry[Callable[[str], Embedder]] = Registry(
    kind="embedder",
    builtin={
        "minilm": "vecveil.embedders.packaged:minilm",
        "mpnet": "vecveil.embedders.packaged:mpnet",
        "openai": "vecveil.embedders.openai:from_spec",
        "openvino": "vecveil.embedders.openvino:from_spec",
        "precomputed": "vecveil.embedders.precomputed:from_spec",
        "sentence-transformers": "vecveil.embedders.sentence_transformers:from_spec",
    },
    group="vecveil.embedders",
)
