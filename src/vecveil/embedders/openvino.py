"""OpenVINO as the engine of a sentence-transformers model."""

from __future__ import annotations

import sys
import warnings
from threading import local
from typing import TYPE_CHECKING, Any

import numpy as np

from vecveil.core.errors import InvalidInputError, needs_extra

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

LEAST_COSINE = 0.999
"""With the vectors of torch, that a network must keep."""

_PROBES = ["one", "two words", "a sentence of some length, as people write them", "many words " * 100]

PRECISION = "bf16"
"""Of products and of what lies between layers: vectors keep a cosine above 0.999 with those in single precision."""


def run_by_openvino(pipeline: SentenceTransformer) -> None:
    """Let OpenVINO run the network inside `pipeline`, about twice as fast; the steps around it stay as they are.

    Raises:
        InvalidInputError: If vectors come out different: a network that branches on its inputs can't be converted.
    """
    import torch

    wanted = pipeline.encode(_PROBES, show_progress_bar=False, convert_to_numpy=True)
    network: Any = pipeline[0].auto_model
    example = dict(pipeline.tokenizer(_PROBES[:2], padding=True, return_tensors="pt"))
    compiled, mine = _compile(network, example), local()

    def forward(**inputs: Any) -> Any:
        from transformers.modeling_outputs import BaseModelOutput

        # Each thread has a request of its own: one that is shared hands a thread what another asked for.
        if not hasattr(mine, "request"):
            mine.request = compiled.create_infer_request()
        mine.request.infer([inputs[name].numpy() for name in example])
        # A copy: the next call overwrites what is handed out.
        last: Any = torch.from_numpy(mine.request.get_output_tensor(0).data.copy())
        return BaseModelOutput(last_hidden_state=last)

    network.forward = forward
    found = pipeline.encode(_PROBES, show_progress_bar=False, convert_to_numpy=True)
    lengths = np.linalg.norm(wanted, axis=1) * np.linalg.norm(found, axis=1)
    cosine = float((np.vecdot(wanted, found) / lengths).min())
    if not cosine >= LEAST_COSINE:
        raise InvalidInputError(f"OpenVINO gives other vectors (cosine {cosine:.4f}); take it without `openvino:`")


def _compile(network: Any, example: dict[str, Any]) -> Any:
    """Return the network, whose requests take a list of arrays in the order of `example`."""
    import torch
    from transformers.utils import logging

    class LastLayer(torch.nn.Module):
        """Gives the last layer alone, where a network gives more."""

        def __init__(self) -> None:
            super().__init__()
            self.network = network

        def forward(self, *inputs: Any) -> Any:
            return self.network(**dict(zip(example, inputs, strict=True))).last_hidden_state

    loud: Any = logging
    engine, loudness = _import_openvino(), loud.get_verbosity()
    with warnings.catch_warnings():
        # That a trace may not hold for other inputs is looked at afterwards.
        warnings.simplefilter("ignore")
        loud.set_verbosity_error()
        try:
            converted = engine.convert_model(LastLayer().eval(), example_input=tuple(example.values()))
        finally:
            loud.set_verbosity(loudness)
    settings = {"INFERENCE_PRECISION_HINT": PRECISION, "PERFORMANCE_HINT": "LATENCY"}
    return engine.compile_model(converted, "CPU", settings)


def _import_openvino() -> Any:
    # It would tell its makers that it is used, and by which program. Without the part that sends, it sends nothing.
    sys.modules.setdefault("openvino_telemetry", None)  # type: ignore[arg-type]
    with needs_extra("openvino", "openvino"):
        import openvino
        from openvino.tools.ovc import telemetry_stub
    # An earlier import elsewhere may have brought that part along.
    for name, module in list(sys.modules.items()):
        if name.startswith("openvino.tools.ovc.") and hasattr(module, "tm"):
            vars(module)["tm"] = telemetry_stub
    return openvino
