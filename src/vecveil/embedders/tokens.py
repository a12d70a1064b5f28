"""What a model sees of texts: their tokens, after upper case, blanks and all beyond its length are gone."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any


def token_digests(features: Mapping[str, Any]) -> list[bytes] | None:
    """Return the SHA-256 of each row's tokens, or None where a model sees something else.

    Args:
        features: What sentence-transformers hands to a model, as tensors.
    """
    if "input_ids" not in features or "attention_mask" not in features:
        return None
    tokens, there = (features[name].to("cpu").numpy() for name in ("input_ids", "attention_mask"))
    return [
        hashlib.sha256(row[mask.astype(bool)].astype("<i8").tobytes()).digest()
        for row, mask in zip(tokens, there, strict=True)
    ]
