"""The HTTP application of the gateway."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from importlib.metadata import version
from ipaddress import ip_address
from typing import Any, TypeVar
from urllib.parse import urlsplit

from fastapi import Depends, FastAPI, Request, Response
from pydantic import BaseModel
from starlette.exceptions import HTTPException

from vecveil.service.gateway import Gateway
from vecveil.service.handler import TEXT_CHARACTERS, ClientHandler
from vecveil.service.limits import BodyLimit, TextRate
from vecveil.service.messages import (
    ClientRequest,
    EmbeddingRequest,
    RefusedError,
    RerankRequest,
    describe_model,
    read_request,
)
from vecveil.service.request_log import LOGGER, Metrics, RequestLog

Parsed = TypeVar("Parsed", bound=ClientRequest)

LARGE_BODY = 2**18
"""Bytes of a body that is parsed on another thread: that takes seconds, in which no one else would be answered."""

JSON = "application/json"
BEARER: dict[str, Any] = {"security": [{"bearer": []}]}
STATUSES = (400, 401, 403, 404, 408, 409, 413, 429, 502, 503, 504)


def is_local(host: str) -> bool:
    """Return whether only this machine can reach an address."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


async def require_local_names(request: Request) -> None:
    """Refuse a request that a web page made, or had made for it by a name of its own for this machine."""
    host, origin = request.headers.get("host", ""), request.headers.get("origin")
    for address in (f"//{host}", *([] if origin is None else [origin])):
        try:
            name = urlsplit(address).hostname
        except ValueError:
            name = None
        if not is_local(name or ""):
            message = "without bearer keys only requests to localhost are answered, and none of web pages elsewhere"
            raise RefusedError(403, message, code="host_not_allowed")


def describe_body(kind: type[BaseModel]) -> dict[str, Any]:
    """Return what the schema says of the body of a request, and of the key that goes with it."""
    return {"requestBody": {"required": True, "content": {JSON: {"schema": kind.model_json_schema()}}}, **BEARER}


def document_errors(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return what the schema says of refusals with these statuses."""
    return {status: {"description": "Refused, in OpenAI's form."} for status in statuses}


async def parse(body: bytes, kind: type[Parsed], gateway: Gateway, rate: TextRate) -> Parsed:
    """Return the request in a body; one that can't be read counts by its length, as it took as long to read."""
    read = partial(read_request, body, kind, longest_text=gateway.settings.text_characters)
    rate.spend(0)
    try:
        return await asyncio.to_thread(read) if len(body) > LARGE_BODY else read()
    except RefusedError:
        rate.spend(math.ceil(len(body) / TEXT_CHARACTERS))
        raise


def create_app(gateway: Gateway) -> FastAPI:
    """Return the application."""
    settings = gateway.settings
    metrics = Metrics(clients=settings.metrics_clients)
    bodies = BodyLimit(longest=settings.body_bytes, most=settings.held_bytes)

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
        # A web page has no key, but may have a browser on this machine ask for it where none is needed.
        dependencies=[Depends(require_local_names)] if gateway.clients.open else [],
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
        responses=document_errors(*STATUSES),
        openapi_extra=describe_body(EmbeddingRequest),
    )
    async def embeddings(request: Request) -> Response:
        """Return protected vectors."""
        handler = find_handler(request)
        async with bodies.read(request, client=handler.client.name) as body:
            asked = await parse(body, EmbeddingRequest, gateway, handler.rate)
            side = handler.side(asked.model)
            facts = {"client": handler.client.name, "inputs": len(asked.inputs), "treatment": side.treatment}
            request.scope["facts"] = facts
            answer = await handler.answer(asked, side)
        metrics.count_vectors(len(asked.inputs), treatment=side.treatment, client=handler.client.name)
        return Response(answer, media_type=JSON)

    # Cohere's newer clients ask at /v2, for the same.
    @app.post("/v2/rerank", include_in_schema=False)
    @app.post("/v1/rerank", responses=document_errors(*STATUSES), openapi_extra=describe_body(RerankRequest))
    async def rerank(request: Request) -> Response:
        """Return documents, or sealed ones, in the order of their clean vectors."""
        handler = find_handler(request)
        async with bodies.read(request, client=handler.client.name) as body:
            asked = await parse(body, RerankRequest, gateway, handler.rate)
            facts = {"client": handler.client.name, "inputs": len(asked.documents), "treatment": "rerank"}
            request.scope["facts"] = facts
            answer = await handler.rerank(asked)
        metrics.count_vectors(len(asked.documents), treatment="rerank", client=handler.client.name)
        return Response(answer, media_type=JSON)

    @app.get("/v1/models", responses=document_errors(401), openapi_extra=BEARER)
    async def models(request: Request) -> dict[str, Any]:
        """Return the models that can be asked for."""
        return {"object": "list", "data": [describe_model(name) for name in find_handler(request).sides]}

    @app.get("/v1/models/{name:path}", responses=document_errors(401, 404), openapi_extra=BEARER)
    async def one_model(name: str, request: Request) -> dict[str, Any]:
        """Return one of them."""
        find_handler(request).side(name)
        return describe_model(name)

    @app.get("/health")
    async def health() -> dict[str, str]:
        """Return that the gateway is up."""
        return {"status": "ok"}

    @app.get("/metrics", response_class=Response)
    async def prometheus(request: Request) -> Response:
        """Return metrics for Prometheus; where they name clients, to those who have a key."""
        if settings.metrics_clients:
            find_handler(request)
        return Response(metrics.text(), media_type="text/plain; version=0.0.4")

    return app
