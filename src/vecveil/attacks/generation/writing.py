"""How texts are written: the same rules for every network."""

from __future__ import annotations

from typing import Any

NO_REPEAT = 3
"""Pieces in a row that are not written twice: a small model goes round in circles otherwise."""


def likeliest(model: Any, *, beams: int, kept: int, longest: int, **inputs: Any) -> Any:
    """Return the likeliest pieces after `inputs`, the same every time: greedy, or the best `kept` of a beam search."""
    from transformers import LogitsProcessorList, NoRepeatNGramLogitsProcessor

    return model.generate(
        **inputs,
        max_new_tokens=longest,
        num_beams=beams,
        num_return_sequences=kept,
        do_sample=False,
        # Handed in ready-made: where vectors take the place of words, the setting of that name comes with a warning.
        logits_processor=LogitsProcessorList([NoRepeatNGramLogitsProcessor(NO_REPEAT)]),
    )
