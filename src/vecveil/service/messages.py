"""Messages of the gateway: requests, answers and refusals in OpenAI's form."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping, Sequence
from secrets import token_hex
from typing import Annotated, Any, Literal, Self, TypeVar

import numpy as np
import orjson
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError, WithJsonSchema, model_validator
from starlette.responses import JSONResponse

from vecveil.veil.seal import Hit

MOST_INPUTS, MOST_TOKENS = 2048, 300_000
"""OpenAI's own limits of one request."""

_TOKENS = re.compile(rb'"input"\s*:\s*\[[\s\[]*\d')

LONGEST_TEXT = 100_000
"""Characters of a text; models read a few thousand, and split all of it into tokens before."""

Text = Annotated[str, Field(min_length=1)]
Token = Annotated[int, Field(ge=0, lt=2**31, strict=True)]
Id = Annotated[str, Field(min_length=1, max_length=1024)] | Annotated[int, Field(strict=True, ge=-(2**63), lt=2**63)]
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


class ClientRequest(BaseModel):
    """A request of a client; fields that are not known are not looked at."""

    model_config = ConfigDict(extra="ignore", hide_input_in_errors=True)

    model: str = Field(min_length=1, max_length=256)

    @property
    def texts(self) -> list[tuple[str, str]]:
        """Every text in it, each with the name of its field."""
        return []


class EmbeddingRequest(ClientRequest):
    """A request for embeddings, as OpenAI's clients send it.

    Attributes:
        input: A text, texts, one array of tokens, or several.
        model: Name of a model of the gateway.
        encoding_format: How vectors come back: lists of numbers, or the bytes of float32 in base64.
        dimensions: Their length; no other than the veil's own is possible.
        user: For the client's own bookkeeping; it is not looked at.
        seal_ids: An id for each input, where the answer shall hold seals; None for none. Not of OpenAI's API.
    """

    input: (
        Text
        | Annotated[list[Text], Field(min_length=1, max_length=MOST_INPUTS, fail_fast=True)]
        | Tokens
        | Annotated[list[Tokens], Field(min_length=1, max_length=MOST_INPUTS, fail_fast=True)]
    )
    encoding_format: Literal["float", "base64"] | None = None
    dimensions: Annotated[int, Field(ge=1, strict=True)] | None = None
    user: str | None = None
    seal_ids: Annotated[list[Id], Field(max_length=MOST_INPUTS, fail_fast=True)] | None = None

    @property
    def inputs(self) -> list[str] | list[list[int]]:
        """The inputs as a list, whatever way they were sent: texts, or arrays of tokens."""
        if isinstance(self.input, str):
            return [self.input]
        if isinstance(self.input[0], int):
            return [self.input]
        return self.input

    @property
    def texts(self) -> list[tuple[str, str]]:
        """Its texts."""
        return [("input", one) for one in self.inputs if isinstance(one, str)]


class RerankDocument(BaseModel):
    """A document to put in order: its text, or its seal and the id that it opens with.

    Attributes:
        text: The text.
        id: The record's id.
        seal: Its seal, as text.
    """

    model_config = ConfigDict(extra="ignore", hide_input_in_errors=True)

    text: Text | None = None
    id: Id | None = None
    seal: Text | None = None

    @model_validator(mode="after")
    def _require_content(self) -> Self:
        if (self.text if self.seal is None else self.id) is None:
            raise ValueError
        return self


DOCUMENT = {
    "type": "object",
    "properties": {
        "text": {"type": "string", "minLength": 1},
        "id": {"type": ["string", "integer"]},
        "seal": {"type": "string", "minLength": 1},
    },
    "anyOf": [{"required": ["text"]}, {"required": ["id", "seal"]}],
}
"""Schema of a document, written out: OpenAPI looks for definitions elsewhere than pydantic puts them."""


class RerankRequest(ClientRequest):
    """A request to put documents in order, as Cohere's and Jina's clients send it.

    Attributes:
        model: Name of a model of the gateway.
        query: The query.
        documents: What to order: texts, or objects with a text, or with an id and a seal.
        top_n: How many to return; all where None.
        return_documents: Whether they come back with their scores.
    """

    query: Text
    documents: Annotated[
        list[Text | Annotated[RerankDocument, WithJsonSchema(DOCUMENT)]],
        Field(min_length=1, max_length=MOST_INPUTS, fail_fast=True),
    ]
    top_n: Annotated[int, Field(ge=1, strict=True)] | None = None
    return_documents: bool | None = None

    @property
    def opened_documents(self) -> list[RerankDocument]:
        """The documents as objects; one with a seal is known by it alone."""
        return [RerankDocument(text=one) if isinstance(one, str) else one for one in self.documents]

    @property
    def texts(self) -> list[tuple[str, str]]:
        """The query, and the documents that are texts."""
        return [("query", self.query), *(("documents", one.text) for one in self.opened_documents if one.text)]


Request = TypeVar("Request", bound=ClientRequest)


def read_request(body: bytes, kind: type[Request], *, longest_text: int = LONGEST_TEXT) -> Request:
    """Return the request in `body`, or refuse it with the name of the field at fault."""
    if body.count(b",") > MOST_TOKENS and _TOKENS.search(body):
        # Before it is read: millions of numbers take seconds, and memory, that others wait for.
        raise invalid("input", f"input must not hold more than {MOST_TOKENS:,} tokens")
    try:
        request = kind.model_validate_json(body)
    except ValidationError as error:
        # The details of an error show the input, so only its place and its kind are passed on.
        first = error.errors(include_input=False, include_url=False, include_context=False)[0]
        if first["type"] == "json_invalid":
            raise RefusedError(400, "the body is no valid JSON", code="invalid_json") from None
        param = str(first["loc"][0]) if first["loc"] else None
        raise invalid(param, _explain(param, first["type"], first["loc"][1:2])) from None
    for param, text in request.texts:
        check_text(text, longest=longest_text, param=param)
    return request


def check_text(text: str, *, longest: int = LONGEST_TEXT, param: str = "input") -> None:
    """Refuse a text that is empty, or longer than a model is given."""
    if len(text) > longest:
        message = f"a text of the {param} must not be longer than {longest:,} characters"
        raise RefusedError(400, message, param=param, code="string_above_max_length")
    if not text.strip():
        raise invalid(param, f"{param} must not hold an empty text")


def _explain(param: str | None, kind: str, place: Sequence[str | int]) -> str:
    if param is None:
        return "the body must be a JSON object"
    if kind == "missing":
        return f"{param} is missing"
    if param == "input":
        return f"input must be a text, up to {MOST_INPUTS} texts, or arrays of tokens, and none of them empty"
    if param == "documents":
        row = f"; document {place[0]} is something else" if place else ""
        return (
            f"documents must be up to {MOST_INPUTS} texts, objects with a text, or objects with id and seal, and none "
            f"of them empty{row}"
        )
    return f"{param} has a wrong value or type ({kind})"


def write_answer(
    rows: NDArray[Any], *, model: str, encoding: str | None, tokens: int, seals: Sequence[str] | None = None
) -> bytes:
    """Return the answer to a request, as JSON.

    Args:
        rows: Protected vectors, in the order of the inputs.
        model: What the client called the model.
        encoding: What the client asked for.
        tokens: How many tokens were read.
        seals: The seal of each input; None where none were asked for.
    """
    numbers = np.ascontiguousarray(rows, dtype="<f4")
    vectors: list[Any] = [*numbers]
    if encoding == "base64":
        vectors = [base64.b64encode(row).decode("ascii") for row in numbers]
    data = [{"object": "embedding", "index": index, "embedding": row} for index, row in enumerate(vectors)]
    if seals is not None:
        data = [{**one, "seal": seal} for one, seal in zip(data, seals, strict=True)]
    return orjson.dumps(
        {
            "object": "list",
            "data": data,
            "model": model,
            "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
        },
        option=orjson.OPT_SERIALIZE_NUMPY,
    )


def write_ranking(request: RerankRequest, hits: Sequence[Hit], *, tokens: int) -> bytes:
    """Return the answer to a request for an order, as JSON: the best document first, by its place in the request."""
    results: list[dict[str, Any]] = [{"index": hit.row, "relevance_score": hit.similarity} for hit in hits]
    if request.return_documents:
        documents = request.opened_documents
        for one in results:
            one["document"] = documents[one["index"]].model_dump(exclude_none=True, exclude={"seal"})
    usage = {"prompt_tokens": tokens, "total_tokens": tokens}
    return orjson.dumps({"id": token_hex(8), "model": request.model, "results": results, "usage": usage})


def describe_model(name: str) -> dict[str, Any]:
    """Return what a client is told of a model that it can ask for."""
    return {"id": name, "object": "model", "created": 0, "owned_by": "vecveil"}
