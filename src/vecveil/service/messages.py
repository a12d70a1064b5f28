"""Messages of the gateway: requests, answers and refusals in OpenAI's form."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Annotated, Any, Literal

import numpy as np
import orjson
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.responses import JSONResponse

MOST_INPUTS = 2048
"""OpenAI's own limit."""

LONGEST_TEXT = 100_000
"""Characters of a text; models read a few thousand, and split all of it into tokens before."""

Text = Annotated[str, Field(min_length=1)]
Token = Annotated[int, Field(ge=0, lt=2**31, strict=True)]
Tokens = Annotated[list[Token], Field(min_length=1, max_length=8192, fail_fast=True)]


class RefusedError(Exception):
    """A request is refused; nothing of the request is repeated.

    Args:
        status: HTTP status.
        message: A sentence that names what is wrong and shows nothing of a text, a vector or a key.
        param: The field at fault.
        code: A word that programs can compare.
        headers: Further headers of the answer, such as when to ask again.
    """

    def __init__(
        self,
        status: int,
        message: str,
        *,
        param: str | None = None,
        code: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status, self.param, self.code, self.headers = status, param, code, headers or {}

    def response(self) -> JSONResponse:
        """Return the answer to the client."""
        kind = "invalid_request_error" if self.status < 500 else "api_error"
        facts = {"message": str(self), "type": kind, "param": self.param, "code": self.code}
        return JSONResponse({"error": facts}, self.status, headers=self.headers)


def invalid(param: str | None, message: str) -> RefusedError:
    """Return the refusal of a wrong value."""
    return RefusedError(400, message, param=param, code="invalid_value")


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


def read_request(body: bytes, *, longest_text: int = LONGEST_TEXT) -> EmbeddingRequest:
    """Return the request in `body`, or refuse it with the name of the field at fault."""
    try:
        request = EmbeddingRequest.model_validate_json(body)
    except ValidationError as error:
        # The details of an error show the input, so only its place and its kind are passed on.
        first = error.errors(include_input=False, include_url=False, include_context=False)[0]
        if first["type"] == "json_invalid":
            raise RefusedError(400, "the body is no valid JSON", code="invalid_json") from None
        param = str(first["loc"][0]) if first["loc"] else None
        raise invalid(param, _explain(param, first["type"])) from None
    for text in request.inputs:
        if isinstance(text, str):
            check_text(text, longest=longest_text)
    return request


def check_text(text: str, *, longest: int = LONGEST_TEXT) -> None:
    """Refuse a text that is empty, or longer than a model is given."""
    if len(text) > longest:
        message = f"a text of the input must not be longer than {longest:,} characters"
        raise RefusedError(400, message, param="input", code="string_above_max_length")
    if not text.strip():
        raise invalid("input", "input must not hold an empty text")


def _explain(param: str | None, kind: str) -> str:
    if param is None:
        return "the body must be a JSON object"
    if kind == "missing":
        return f"{param} is missing"
    if param == "input":
        return f"input must be a text, up to {MOST_INPUTS} texts, or arrays of tokens, and none of them empty"
    return f"{param} has a wrong value or type ({kind})"


def write_answer(rows: NDArray[Any], *, model: str, encoding: str | None, tokens: int) -> bytes:
    """Return the answer to a request, as JSON.

    Args:
        rows: Protected vectors, in the order of the inputs.
        model: What the client called the model.
        encoding: What the client asked for.
        tokens: How many tokens were read.
    """
    numbers = np.ascontiguousarray(rows, dtype="<f4")
    vectors: list[Any] = [*numbers]
    if encoding == "base64":
        vectors = [base64.b64encode(row).decode("ascii") for row in numbers]
    return orjson.dumps(
        {
            "object": "list",
            "data": [{"object": "embedding", "index": index, "embedding": row} for index, row in enumerate(vectors)],
            "model": model,
            "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
        },
        option=orjson.OPT_SERIALIZE_NUMPY,
    )


def describe_model(name: str) -> dict[str, Any]:
    """Return what a client is told of a model that it can ask for."""
    return {"id": name, "object": "model", "created": 0, "owned_by": "vecveil"}
