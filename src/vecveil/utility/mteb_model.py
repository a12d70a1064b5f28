"""An encoder as a model of MTEB. Imports mteb."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mteb.models.abs_encoder import AbsEncoder
from mteb.models.model_meta import ModelMeta, ScoringFunction
from mteb.types import PromptType

from vecveil.core.arrays import Embeddings
from vecveil.core.errors import InvalidInputError
from vecveil.utility.sides import vectors_of
from vecveil.utility.task import Encoder, Protected, Side

_SIDES: dict[PromptType | None, Side] = {PromptType.query: "query", PromptType.document: "document"}


class EncoderModel(AbsEncoder):
    """Gives MTEB protected or clean vectors, by the side that it asks for, and no prompts.

    Attributes:
        mteb_model_meta: What MTEB wants to know of a model; that it is compared by cosine.
    """

    mteb_model_meta = ModelMeta.create_empty({"name": "vecveil/encoder", "similarity_fn_name": ScoringFunction.COSINE})

    def __init__(self, encoder: Encoder, protected: Protected) -> None:
        self._encoder = encoder
        self._protected = protected
        self._asked = {"query": 0, "document": 0, "either": 0}

    @property
    def cases(self) -> int:
        """The number of queries that vectors were asked for, or of texts where MTEB told no queries from documents."""
        return self._asked["query"] or self._asked["either"] or self._asked["document"]

    def encode(
        self, inputs: Iterable[Any], *, task_metadata: Any, prompt_type: PromptType | None = None, **_: Any
    ) -> Embeddings:
        """Return the vectors of the texts in `inputs`, batches that MTEB makes."""
        texts = [text for batch in inputs for text in batch["text"]]
        side = _SIDES.get(prompt_type)
        if side is None and self._protected != "both":
            raise InvalidInputError(
                f"the MTEB task {task_metadata.name} tells no queries from documents, so both are protected or none, "
                f"got protected={self._protected!r}"
            )
        self._asked[side or "either"] += len(texts)
        return vectors_of(self._encoder, texts, side=side or "query", protected=self._protected)
