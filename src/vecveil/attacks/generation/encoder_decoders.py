"""The T5 models that Vec2Text's networks are built on."""

from __future__ import annotations

from typing import Any

from vecveil.attacks.generation.tokeniser import Tokeniser

START = 0.05
"""Size of the word vectors that an untrained T5 starts with.

T5 starts with vectors of size one and shrinks its states before the softmax, which suits an optimiser whose steps grow
with the weights. Adam's don't: with small vectors and no shrinking it learns faster (docs/priors.md has the figures).
"""


def small_encoder_decoder(tokeniser: Tokeniser, *, width: int, encoder_layers: int, layers: int, heads: int) -> Any:
    """Return an untrained T5 of these sizes."""
    import torch

    model = encoder_decoder(
        vocab_size=tokeniser.size,
        d_model=width,
        d_kv=width // heads,
        d_ff=4 * width,
        num_layers=encoder_layers,
        num_decoder_layers=layers,
        num_heads=heads,
        eos_token_id=tokeniser.end,
        pad_token_id=tokeniser.padding,
        decoder_start_token_id=tokeniser.padding,
    )
    with torch.no_grad():
        model.shared.weight.mul_(START)
    model.config.scale_decoder_outputs = False
    return model


def encoder_decoder(**settings: Any) -> Any:
    """Return an untrained T5 with these settings of its config."""
    from transformers import T5Config, T5ForConditionalGeneration

    architecture: Any = T5ForConditionalGeneration
    return architecture(T5Config(**settings))
