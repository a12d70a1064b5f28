"""The HTTP application of the gateway."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any

from fastapi import FastAPI, Request, Response
from starlette.exceptions import HTTPException

from vecveil.service.gateway import Gateway
from vecveil.service.handler import ClientHandler
from vecveil.service.messages import (
    EmbeddingList,
    EmbeddingRequest,
    Model,
    ModelList,
    RefusedError,
    document_errors,
    read_request,
)
from vecveil.service.request_log import LOGGER, Metrics, RequestLog

LARGE_BODY = 2**18
"""Bytes of a body that is parsed on another thread: that takes seconds, in which no one else would be answered."""

JSON = "application/json"
BEARER: dict[str, Any] = {"security": [{"bearer": []}]}
REQUEST = {"required": True, "content": {JSON: {"schema": EmbeddingRequest.model_json_schema()}}}


@dataclass(kw_only=True)
class BodyLimit:
    """Limits of the request bodies that are being read or answered.

    Attributes:
        longest: Bytes of one body at most.
        most: Bytes of all together at most.
        held: Bytes that are held now.
    """

    longest: int
    most: int
    held: int = field(init=False, default=0)

    @asynccontextmanager
    async def read(self, request: Request) -> AsyncIterator[bytes]:
        """Yield the body of a request, or refuse it before too much is held; it counts until the block ends."""
        too_long = RefusedError(
            413, f"the body must not be longer than {self.longest:,} bytes", code="request_too_large"
        )
        stated = request.headers.get("content-length", "")
        if stated.isdigit() and int(stated) > self.longest:
            raise too_long
        parts, length = [], 0
        try:
            async for part in request.stream():
                if self.held + len(part) > self.most:
                    again = {"Retry-After": "1"}
                    raise RefusedError(503, "too much is being worked on; ask again", code="overloaded", headers=again)
                self.held += len(part)
                length += len(part)
                if length > self.longest:
                    raise too_long
                parts.append(part)
            yield b"".join(parts)
        finally:
            self.held -= length


def create_app(gateway: Gateway) -> FastAPI:
    """Return the application."""
    metrics = Metrics()
    bodies = BodyLimit(longest=gateway.settings.body_bytes, most=gateway.settings.held_bytes)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        await gateway.close()
        LOGGER.info("stopped")

    app = FastAPI(
        title="vecveil gateway",
        version=version("vecveil"),
        lifespan=lifespan,
        # A redirect would have clients repeat texts and keys to an address that the request itself names.
        redirect_slashes=False,
        # The pages load scripts from elsewhere, to a place where keys are typed; the schema is enough.
        docs_url=None,
        redoc_url=None,
    )
    app.add_middleware(RequestLog, metrics=metrics)

    @app.exception_handler(RefusedError)
    async def answer_refusal(request: Request, error: RefusedError) -> Response:
        request.scope["facts"] = {**request.scope.get("facts", {}), "code": error.code}
        return error.response()

    @app.exception_handler(HTTPException)
    async def answer_http_error(request: Request, error: HTTPException) -> Response:
        """Return what the framework refuses, unknown paths and methods, in OpenAI's form."""
        messages = {404: "there is no such path", 405: "this path does not take that method"}
        message = messages.get(error.status_code, "the request can't be answered")
        refusal = RefusedError(error.status_code, message, code="not_found", headers=error.headers)
        return await answer_refusal(request, refusal)

    def find_handler(request: Request) -> ClientHandler:
        return gateway.handler(request.headers.get("authorization"))

    @app.post(
        "/v1/embeddings",
        response_model=EmbeddingList,
        responses=document_errors(400, 401, 403, 404, 413, 429, 502, 503, 504),
        openapi_extra={"requestBody": REQUEST, **BEARER},
    )
    async def embeddings(request: Request) -> Response:
        """Return protected vectors."""
        handler = find_handler(request)
        async with bodies.read(request) as body:
            asked = await asyncio.to_thread(read_request, body) if len(body) > LARGE_BODY else read_request(body)
            side = handler.side(asked.model)
            facts = {"client": handler.client.name, "inputs": len(asked.inputs), "treatment": side.treatment}
            request.scope["facts"] = facts
            answer = await handler.answer(asked, side)
        metrics.vectors.labels(handler.client.name, side.treatment).inc(len(asked.inputs))
        return Response(answer, media_type=JSON)

    @app.get("/v1/models", responses=document_errors(401), openapi_extra=BEARER)
    async def models(request: Request) -> ModelList:
        """Return the models that can be asked for."""
        return ModelList(data=[Model(id=name) for name in find_handler(request).sides])

    @app.get("/v1/models/{name:path}", responses=document_errors(401, 404), openapi_extra=BEARER)
    async def one_model(name: str, request: Request) -> Model:
        """Return one of them."""
        find_handler(request).side(name)
        return Model(id=name)

    @app.get("/health")
    async def health() -> dict[str, str]:
        """Return that the gateway is up."""
        return {"status": "ok"}

    @app.get("/metrics", response_class=Response)
    async def prometheus() -> Response:
        """Return metrics for Prometheus."""
        return Response(metrics.text(), media_type="text/plain; version=0.0.4")

    return app
