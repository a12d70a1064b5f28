"""The gateway's HTTP side."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import Any

from fastapi import FastAPI, Request, Response
from starlette.exceptions import HTTPException

from vecveil.core.late import axis_loops, fill_digests, loops
from vecveil.service.bodies import Bodies
from vecveil.service.figures import LOGGER, Figures
from vecveil.service.gateway import Gateway
from vecveil.service.messages import read_request
from vecveil.service.observed import JSON, Observed, json_answer
from vecveil.service.refusal import RefusedError
from vecveil.service.schema import REQUEST, Embeddings, Health, Model, Models, errors

LARGE = 2**18
"""Bytes of a body that is read beside the event loop."""

CREATED = 0
"""When a model was made, which nobody knows."""


def create_app(gateway: Gateway) -> FastAPI:
    """Return the application."""
    figures = Figures()
    bodies = Bodies(longest=gateway.settings.body_bytes, most=gateway.settings.held_bytes)

    @asynccontextmanager
    async def life(_: FastAPI) -> AsyncIterator[None]:
        # Loaded now, and not by the first request, which would wait for seconds.
        loops()
        axis_loops()
        fill_digests()
        yield
        await gateway.close()
        LOGGER.info("stopped")

    app = FastAPI(
        title="vecveil gateway",
        version=version("vecveil"),
        lifespan=life,
        # A redirect would have clients repeat texts and keys to an address that the request itself names.
        redirect_slashes=False,
        # The pages load scripts from elsewhere, to a place where keys are typed; the schema is enough.
        docs_url=None,
        redoc_url=None,
    )
    app.add_middleware(Observed, figures=figures)
    app.add_exception_handler(RefusedError, _refused)
    app.add_exception_handler(HTTPException, _not_there)

    @app.post(
        "/v1/embeddings",
        response_model=Embeddings,
        responses=errors(400, 401, 403, 404, 413, 429, 502, 503, 504),
        openapi_extra=REQUEST,
    )
    async def embeddings(request: Request) -> Response:
        """Return protected vectors."""
        policy = gateway.policy(request.headers.get("authorization"))
        async with bodies.of(request) as body:
            # Reading a large one takes seconds, in which no one else would be answered.
            asked = await asyncio.to_thread(read_request, body) if len(body) > LARGE else read_request(body)
            treatment = policy.treatment(asked.model)
            number = len(asked.inputs)
            request.scope["facts"] = {"client": policy.client.name, "inputs": number, "treatment": treatment}
            written = await policy.answer(asked)
        figures.vectors.labels(policy.client.name, treatment).inc(number)
        return Response(written, media_type=JSON)

    @app.get("/v1/models", response_model=Models, responses=errors(401), openapi_extra={"security": [{"bearer": []}]})
    async def models(request: Request) -> Response:
        """Return the models that can be asked for."""
        names = gateway.policy(request.headers.get("authorization")).models
        return json_answer({"object": "list", "data": [_model(name) for name in names]})

    @app.get(
        "/v1/models/{name:path}",
        response_model=Model,
        responses=errors(401, 404),
        openapi_extra={"security": [{"bearer": []}]},
    )
    async def one_model(name: str, request: Request) -> Response:
        """Return one of them."""
        if name not in gateway.policy(request.headers.get("authorization")).models:
            raise RefusedError(404, "there is no such model here for this key", param="model", code="model_not_found")
        return json_answer(_model(name))

    @app.get("/health", response_model=Health)
    async def health() -> Response:
        """Return that the gateway is up."""
        return json_answer({"status": "ok"})

    @app.get("/metrics", response_class=Response)
    async def metrics() -> Response:
        """Return figures for Prometheus."""
        return Response(figures.text(), media_type="text/plain; version=0.0.4")

    return app


def _model(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": CREATED, "owned_by": "vecveil"}


async def _refused(request: Request, error: Exception) -> Response:
    if not isinstance(error, RefusedError):
        raise error
    request.scope["facts"] = {**request.scope.get("facts", {}), "code": error.code}
    answer = json_answer(error.body, error.status)
    answer.headers.update(error.headers)
    return answer


async def _not_there(request: Request, error: Exception) -> Response:
    """Return what the framework refuses, unknown paths and methods, in OpenAI's form."""
    if not isinstance(error, HTTPException):
        raise error
    said = {404: "there is no such path", 405: "this path does not take that method"}
    failure = RefusedError(
        error.status_code, said.get(error.status_code, "the request can't be answered"), code="not_found"
    )
    answer = await _refused(request, failure)
    answer.headers.update(error.headers or {})
    return answer
