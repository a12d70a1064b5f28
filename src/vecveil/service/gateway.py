"""The gateway: its settings, clients, veils and models."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from vecveil.core.checks import at_least, positive
from vecveil.core.errors import InvalidInputError
from vecveil.embedders.openai import from_spec
from vecveil.service.clients import Client, Clients
from vecveil.service.handler import ClientHandler
from vecveil.service.messages import RefusedError
from vecveil.service.release_queue import ReleaseQueue
from vecveil.service.remote import RemoteUpstream
from vecveil.service.upstream import LocalUpstream, TokenReader, Upstream
from vecveil.veil import Guard

OPENAI = "https://api.openai.com/v1"
OPENAI_SPEC = "openai:"


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Settings of a gateway.

    Attributes:
        upstream: Address of an OpenAI-compatible server, up to and with `/v1`; None for the veil's own model, which is
            loaded here unless it is itself one of a service.
        upstream_model: The model's name there; None for the veil's.
        upstream_key_env: Environment variable with the bearer key for it.
        timeout: Seconds to wait for it.
        encoding: Encoding of arrays of tokens, where a model that is loaded here must read them as texts.
        body_bytes: Longest body of a request.
        held_bytes: Bodies that are read or answered at the same time, in bytes; more are turned away with 503.
    """

    upstream: str | None = None
    upstream_model: str | None = None
    upstream_key_env: str = "OPENAI_API_KEY"
    timeout: float = 60.0
    encoding: str = "cl100k_base"
    body_bytes: int = 32 * 2**20
    held_bytes: int = 256 * 2**20

    def __post_init__(self) -> None:
        at_least(self.body_bytes, 1, "body_bytes")
        if self.held_bytes < self.body_bytes:
            raise InvalidInputError(
                "held_bytes (--max-held) must be at least body_bytes (--max-body), "
                f"got {self.held_bytes:,} and {self.body_bytes:,}"
            )
        positive(self.timeout, "timeout")
        if self.upstream is not None and not self.upstream.startswith(("http://", "https://")):
            raise InvalidInputError(f"upstream must start with http:// or https://, got {self.upstream!r}")


@dataclass(frozen=True, kw_only=True, eq=False)
class Gateway:
    """Answers the requests of clients.

    Attributes:
        clients: Who may ask.
        handlers: What answers each, by its name.
        settings: How it is run.
    """

    clients: Clients
    handlers: Mapping[str, ClientHandler]
    settings: Settings = field(default_factory=Settings)

    @classmethod
    def for_clients(cls, clients: Clients, guard: Guard, settings: Settings) -> Gateway:
        """Return the gateway for some clients; the models that it needs are loaded now.

        Args:
            clients: Who may ask.
            guard: The veil, budget, key and ledger of clients that have none of their own.
            settings: How it is run.
        """
        upstreams: dict[tuple[str, str | None], Upstream] = {}
        queues: dict[tuple[str, float], ReleaseQueue] = {}
        handlers = {}
        for client in clients.known.values():
            documents = _find_queue(_client_guard(guard, client), queues)
            budget = client.query_epsilon, client.query_noise_ratio, client.query_paper_epsilon
            queries = _find_queue(_at_budget(documents.guard, *budget), queues)
            model = documents.guard.opened_veil.fingerprint
            if settings.upstream_model is not None and model != guard.opened_veil.fingerprint:
                raise InvalidInputError(
                    f"--upstream-model {settings.upstream_model!r} is one model, and the veil of client "
                    f"{client.name!r} is for another than the gateway's: run a gateway for each"
                )
            address = _address(documents.guard, settings)
            place = model.digest(), address
            if place not in upstreams:
                upstreams[place] = _open_upstream(documents.guard, address, settings)
            handlers[client.name] = ClientHandler(
                client=client,
                model=model.model,
                dimensions=model.dimensions,
                upstream=upstreams[place],
                documents=documents,
                queries=queries,
            )
        for queue in queues.values():
            queue.guard.open_ledger()
        return cls(clients=clients, handlers=handlers, settings=settings)

    def handler(self, header: str | None) -> ClientHandler:
        """Return what answers the sender of an Authorization header.

        Raises:
            RefusedError: If no client has that key.
        """
        client = self.clients.find(header)
        if client is None:
            raise RefusedError(401, "the bearer key is missing or unknown", code="invalid_api_key")
        return self.handlers[client.name]

    async def close(self) -> None:
        """Finish what is waiting, and close queues, connections and threads."""
        for handler in self.handlers.values():
            await handler.documents.close()
            await handler.queries.close()
            await handler.upstream.close()


def _client_guard(guard: Guard, client: Client) -> Guard:
    if client.veil is not None:
        guard = replace(guard, veil=client.veil, epsilon=None, noise_ratio=None, paper_epsilon=None, embedder=None)
    return _at_budget(guard, client.epsilon, client.noise_ratio, client.paper_epsilon)


def _at_budget(guard: Guard, epsilon: float | None, noise_ratio: float | None, paper_epsilon: float | None) -> Guard:
    if epsilon is None and noise_ratio is None and paper_epsilon is None:
        return guard
    return replace(guard, epsilon=epsilon, noise_ratio=noise_ratio, paper_epsilon=paper_epsilon)


def _find_queue(guard: Guard, known: dict[tuple[str, float], ReleaseQueue]) -> ReleaseQueue:
    """Return the one queue of a veil at a budget: all requests that wait for it are recorded together."""
    release = guard.release
    return known.setdefault((release.veil, release.mechanism.epsilon), ReleaseQueue(guard))


def _address(guard: Guard, settings: Settings) -> str | None:
    """Return the address of the server that makes clean vectors; None where the model is loaded here."""
    spec = guard.opened_veil.provenance.embedder or ""
    if settings.upstream is not None or guard.embedder is not None or not spec.startswith(OPENAI_SPEC):
        return settings.upstream
    # The veil's own model is one of a service: ask that, as the embedder does, and load nothing.
    named = from_spec(spec.removeprefix(OPENAI_SPEC)).base_url
    return named or os.environ.get("OPENAI_BASE_URL") or OPENAI


def _open_upstream(guard: Guard, address: str | None, settings: Settings) -> Upstream:
    if address is None:
        return LocalUpstream(guard.model, TokenReader(settings.encoding))
    return RemoteUpstream(
        url=address,
        model=settings.upstream_model or guard.opened_veil.fingerprint.model,
        key=os.environ.get(settings.upstream_key_env),
        check=guard.release.check,
        timeout=settings.timeout,
    )
