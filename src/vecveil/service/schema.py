"""What the gateway's OpenAPI page says of its requests and answers."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

from vecveil.service.messages import EmbeddingRequest


class ErrorFacts(BaseModel):
    """What is wrong."""

    message: str
    type: str
    param: str | None
    code: str | None


class Error(BaseModel):
    """A refusal in OpenAI's form."""

    error: ErrorFacts


class Embedding(BaseModel):
    """A protected vector."""

    object: str
    index: int
    embedding: list[float] | str


class Usage(BaseModel):
    """How much the model read."""

    prompt_tokens: int
    total_tokens: int


class Embeddings(BaseModel):
    """Protected vectors, in the order of the inputs."""

    object: str
    data: list[Embedding]
    model: str
    usage: Usage


class Model(BaseModel):
    """A model that can be asked for."""

    id: str
    object: str
    created: int
    owned_by: str


class Models(BaseModel):
    """All of them."""

    object: str
    data: list[Model]


class Health(BaseModel):
    """That the gateway is up."""

    status: str = Field(examples=["ok"])


REQUEST: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {"application/json": {"schema": EmbeddingRequest.model_json_schema()}},
    },
    "security": [{"bearer": []}],
}


def errors(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return how refusals with these statuses are documented."""
    return {status: {"model": Error} for status in statuses}
