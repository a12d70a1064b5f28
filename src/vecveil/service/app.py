"""The gateway's HTTP side."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import Any

import orjson
from fastapi import FastAPI, Request, Response
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from vecveil.service.figures import LOGGER, Figures
from vecveil.service.gateway import Gateway
from vecveil.service.messages import read_request
from vecveil.service.refusal import RefusedError
from vecveil.service.schema import REQUEST, Embeddings, Health, Model, Models, errors

JSON = "application/json"
PATHS = {"/v1/embeddings", "/v1/models", "/health", "/metrics"}
"""Paths that figures tell apart; what else is asked for is counted together, or a client could fill the memory."""

LARGE = 2**18
"""Bytes of a body that is read beside the event loop."""

GONE = 499
"""What is counted where a client left before it was answered."""

CREATED = 0
"""When a model was made, which nobody knows."""


def create_app(gateway: Gateway) -> FastAPI:
    """Return the application."""
    figures = Figures()

    @asynccontextmanager
    async def life(_: FastAPI) -> AsyncIterator[None]:
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
    app.add_middleware(_Observed, figures=figures)
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
        body = await _body(request, gateway.settings.body_bytes)
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
        return _json({"object": "list", "data": [_model(name) for name in names]})

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
        return _json(_model(name))

    @app.get("/health", response_model=Health)
    async def health() -> Response:
        """Return that the gateway is up."""
        return _json({"status": "ok"})

    @app.get("/metrics", response_class=Response)
    async def metrics() -> Response:
        """Return figures for Prometheus."""
        return Response(figures.text(), media_type="text/plain; version=0.0.4")

    return app


async def _body(request: Request, longest: int) -> bytes:
    """Return the body of a request, or refuse it before more than `longest` bytes are held."""
    too_long = RefusedError(413, f"the body must not be longer than {longest:,} bytes", code="request_too_large")
    stated = request.headers.get("content-length", "")
    if stated.isdigit() and int(stated) > longest:
        raise too_long
    parts, length = [], 0
    async for part in request.stream():
        length += len(part)
        if length > longest:
            raise too_long
        parts.append(part)
    return b"".join(parts)


def _json(content: dict[str, Any], status: int = 200) -> Response:
    return Response(orjson.dumps(content), status_code=status, media_type=JSON)


def _model(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": CREATED, "owned_by": "vecveil"}


async def _refused(request: Request, error: Exception) -> Response:
    if not isinstance(error, RefusedError):
        raise error
    request.scope["facts"] = {**request.scope.get("facts", {}), "code": error.code}
    answer = _json(error.body, error.status)
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


class _Observed:
    """Counts every request, writes its line, and turns what nobody expected into a plain 500."""

    def __init__(self, app: Callable[..., Awaitable[None]], *, figures: Figures) -> None:
        self._app, self._figures = app, figures

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started, status, name = time.perf_counter(), 0, secrets.token_hex(8)

        async def watched(message: MutableMapping[str, Any]) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], (b"x-request-id", name.encode())]
            await send(message)

        self._figures.running.inc()
        try:
            await self._app(scope, receive, watched)
        except ClientDisconnect:
            status = GONE
        except asyncio.CancelledError:
            if not status:
                await _json(RefusedError(503, "the gateway is being stopped", code="stopping").body, 503)(
                    scope, receive, watched
                )
            raise
        except Exception as error:
            # Neither the client nor the log is shown what it says: it may hold a text.
            LOGGER.error("failed", extra={"facts": {"request": name, "kind": type(error).__name__}})
            if status:
                raise
            answer = _json(RefusedError(500, "the gateway failed; its log has the kind of error").body, 500)
            await answer(scope, receive, watched)
        finally:
            self._figures.running.dec()
            path = scope["path"] if scope["path"] in PATHS else "other"
            self._figures.answered(path, status, started, {"request": name, **scope.get("facts", {})})
