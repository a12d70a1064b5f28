"""The T5 models that Vec2Text's networks are built on."""

from __future__ import annotations

from typing import Any

from vecveil.attacks.generation.tokeniser import Tokeniser

START = 0.02
"""Size of the weights that an untrained T5 starts with, as in GPT-2.

T5's own start suits an optimiser whose steps grow with the weights: word vectors of size one, states that are shrunk
before the softmax, layers whose outputs are as large as the words, and attention whose scale is part of the weights.
Adam's steps don't grow with the weights. So everything starts small here, the states are not shrunk, and the scale of
the attention stands outside of the weights, as in other transformers (docs/priors.md has the figures).
"""


def small_encoder_decoder(tokeniser: Tokeniser, *, width: int, encoder_layers: int, layers: int, heads: int) -> Any:
    """Return an untrained T5 of these sizes."""
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
    _start_small(model)
    model.config.scale_decoder_outputs = False
    for module in model.modules():
        if hasattr(module, "scaling"):
            module.scaling = model.config.d_kv**-0.5
    return model


def _start_small(model: Any) -> None:
    """Draw every weight anew: what a layer adds is smaller the more layers there are, so that words come through."""
    from torch.nn import Embedding, Linear
    from torch.nn.init import normal_

    added = (2 * model.config.num_layers + 3 * model.config.num_decoder_layers) ** -0.5
    for name, module in model.named_modules():
        if isinstance(module, Embedding | Linear):
            normal_(module.weight, std=START * (added if name.endswith((".o", ".wo")) else 1.0))


def encoder_decoder(**settings: Any) -> Any:
    """Return an untrained T5 with these settings of its config."""
    from transformers import T5Config, T5ForConditionalGeneration

    architecture: Any = T5ForConditionalGeneration
    return architecture(T5Config(**settings))
