"""MTEB: a protected encoder, to be evaluated like any model."""

from collections.abc import Iterable
from typing import Any

from numpy.typing import NDArray

from vecveil.core.errors import needs_extra
from vecveil.veil import Guard

with needs_extra("mteb", "mteb"):
    from mteb.models.abs_encoder import AbsEncoder
    from mteb.models.model_meta import ModelMeta, ScoringFunction
    from mteb.types import PromptType


class VeiledEncoder(AbsEncoder):
    """Gives MTEB protected vectors: `mteb.evaluate(VeiledEncoder(guard), tasks)`.

    Args:
        guard: The veil, its budget, its key and its ledger.
    """

    def __init__(self, guard: Guard) -> None:
        self.guard = guard
        veil = guard.opened_veil
        self.mteb_model_meta = ModelMeta.create_empty(
            {
                "name": f"vecveil/{veil.fingerprint.model.rpartition('/')[2]}",
                "revision": guard.id,
                "embed_dim": guard.dimensions,
                "similarity_fn_name": ScoringFunction.COSINE,
            }
        )

    def encode(self, inputs: Iterable[Any], *, prompt_type: PromptType | None = None, **_: Any) -> NDArray[Any]:
        """Return a protected vector for each text of the batches that MTEB makes; words of queries stay."""
        texts = [text for batch in inputs for text in batch["text"]]
        return self.guard.protect_queries(texts) if prompt_type == PromptType.query else self.guard.protect_texts(texts)
