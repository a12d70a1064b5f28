"""What is asked of the gateway, and what it answers."""

from __future__ import annotations

import base64
from typing import Annotated, Any, Literal

import numpy as np
import orjson
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from vecveil.service.refusal import RefusedError

MOST_INPUTS = 2048
"""OpenAI's own limit."""

Text = Annotated[str, Field(min_length=1)]
Token = Annotated[int, Field(ge=0, lt=2**31, strict=True)]
Tokens = Annotated[list[Token], Field(min_length=1, max_length=8192, fail_fast=True)]


class EmbeddingRequest(BaseModel):
    """A request for embeddings, as OpenAI's clients send it.

    Attributes:
        input: A text, texts, one array of tokens, or several.
        model: Name of a model of the gateway.
        encoding_format: How vectors come back: lists of numbers, or the bytes of float32 in base64.
        dimensions: Their length; no other than the veil's own is possible.
        user: For the client's own bookkeeping; it is not looked at.
    """

    model_config = ConfigDict(extra="ignore", hide_input_in_errors=True)

    input: (
        Text
        | Annotated[list[Text], Field(min_length=1, max_length=MOST_INPUTS, fail_fast=True)]
        | Tokens
        | Annotated[list[Tokens], Field(min_length=1, max_length=MOST_INPUTS, fail_fast=True)]
    )
    model: str = Field(min_length=1, max_length=256)
    encoding_format: Literal["float", "base64"] | None = None
    dimensions: Annotated[int, Field(ge=1, strict=True)] | None = None
    user: str | None = None

    @property
    def inputs(self) -> list[str] | list[list[int]]:
        """The inputs as a list, whatever way they were sent: texts, or arrays of tokens."""
        if isinstance(self.input, str):
            return [self.input]
        if isinstance(self.input[0], int):
            return [self.input]
        return self.input


def read_request(body: bytes) -> EmbeddingRequest:
    """Return the request in `body`, or refuse it with the name of the field at fault."""
    try:
        found = EmbeddingRequest.model_validate_json(body)
    except ValidationError as error:
        # The details of an error show the input, so only its place and its kind are passed on.
        first = error.errors(include_input=False, include_url=False, include_context=False)[0]
        if first["type"] == "json_invalid":
            raise RefusedError(400, "the body is no valid JSON", code="invalid_json") from None
        param = str(first["loc"][0]) if first["loc"] else None
        raise RefusedError(400, _why(param, first["type"]), param=param, code="invalid_value") from None
    if any(not text.strip() for text in found.inputs if isinstance(text, str)):
        raise RefusedError(400, "input must not hold an empty text", param="input", code="invalid_value")
    return found


def _why(param: str | None, kind: str) -> str:
    if param is None:
        return "the body must be a JSON object"
    if kind == "missing":
        return f"{param} is missing"
    if param == "input":
        return f"input must be a text, up to {MOST_INPUTS} texts, or arrays of tokens, and none of them empty"
    return f"{param} has a wrong value or type ({kind})"


def answer(rows: NDArray[Any], *, model: str, encoding: str | None, tokens: int) -> bytes:
    """Return the answer to a request, as JSON.

    Args:
        rows: Protected vectors, in the order of the inputs.
        model: What the client called the model.
        encoding: What the client asked for.
        tokens: How many tokens were read.
    """
    numbers = np.ascontiguousarray(rows, dtype="<f4")
    written: list[Any] = [*numbers]
    if encoding == "base64":
        written = [base64.b64encode(row).decode("ascii") for row in numbers]
    return orjson.dumps(
        {
            "object": "list",
            "data": [{"object": "embedding", "index": place, "embedding": row} for place, row in enumerate(written)],
            "model": model,
            "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
        },
        option=orjson.OPT_SERIALIZE_NUMPY,
    )
