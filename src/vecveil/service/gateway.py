"""Clients, veils and models put together."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from vecveil.core.checks import at_least, positive
from vecveil.core.errors import InvalidInputError
from vecveil.embedders.openai import from_spec
from vecveil.service.clients import Client, Clients
from vecveil.service.local import LocalUpstream
from vecveil.service.policy import Policy
from vecveil.service.refusal import RefusedError
from vecveil.service.releasing import Releaser
from vecveil.service.remote import RemoteUpstream
from vecveil.service.tokens import TokenReader
from vecveil.service.upstream import Upstream
from vecveil.veil import Guard

OPENAI = "https://api.openai.com/v1"
OPENAI_SPEC = "openai:"


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How a gateway is run.

    Attributes:
        upstream: Address of an OpenAI-compatible server, up to and with `/v1`; None for the veil's own model, which is
            loaded here unless it is itself one of a service.
        upstream_model: The model's name there; None for the veil's.
        upstream_key_env: Environment variable with the bearer key for it.
        timeout: Seconds to wait for it.
        encoding: What arrays of tokens are encoded by, where a model here must read them as texts.
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
        at_least(self.held_bytes, at_least(self.body_bytes, 1, "body_bytes"), "held_bytes")
        positive(self.timeout, "timeout")
        if self.upstream is not None and not self.upstream.startswith(("http://", "https://")):
            raise InvalidInputError(f"upstream must start with http:// or https://, got {self.upstream!r}")


@dataclass(frozen=True, kw_only=True, eq=False)
class Gateway:
    """What answers requests.

    Attributes:
        clients: Who may ask.
        policies: What each gets, by its name.
        settings: How it is run.
    """

    clients: Clients
    policies: Mapping[str, Policy]
    settings: Settings = field(default_factory=Settings)

    @classmethod
    def of(cls, guard: Guard, clients: Clients, settings: Settings) -> Gateway:
        """Return the gateway for a veil and its clients; the models that it needs are loaded now.

        Args:
            guard: The veil, budget, key and ledger of clients that have none of their own.
            clients: Who may ask.
            settings: How it is run.
        """
        upstreams: dict[tuple[Any, ...], Upstream] = {}
        releasers: dict[tuple[Any, ...], Releaser] = {}
        policies = {}
        for client in clients.known.values():
            documents = _releaser(_guard(guard, client), releasers)
            queries = _releaser(_query_guard(documents.guard, client), releasers)
            veil = documents.guard.opened_veil
            if settings.upstream_model is not None and veil.fingerprint != guard.opened_veil.fingerprint:
                raise InvalidInputError(
                    f"--upstream-model {settings.upstream_model!r} is one model, and the veil of client "
                    f"{client.name!r} is for another than the gateway's: run a gateway for each"
                )
            address = _address(documents.guard, settings)
            place = veil.fingerprint.digest(), address, documents.guard.protection.keyed
            if place not in upstreams:
                upstreams[place] = _upstream(documents.guard, address, settings)
            policies[client.name] = Policy(
                client=client,
                model=veil.fingerprint.model,
                dimensions=veil.fingerprint.dimensions,
                upstream=upstreams[place],
                documents=documents,
                queries=queries,
            )
        for releaser in releasers.values():
            releaser.guard.open_ledger()
        return cls(clients=clients, policies=policies, settings=settings)

    def policy(self, header: str | None) -> Policy:
        """Return what the sender of an Authorization header gets.

        Raises:
            RefusedError: If no client has that key.
        """
        client = self.clients.find(header)
        if client is None:
            raise RefusedError(401, "the bearer key is missing or unknown", code="invalid_api_key")
        return self.policies[client.name]

    async def close(self) -> None:
        """Finish what is waiting, and give back what is held."""
        for policy in self.policies.values():
            await policy.documents.close()
            await policy.queries.close()
            await policy.upstream.close()


def _guard(guard: Guard, client: Client) -> Guard:
    changes: dict[str, Any] = {}
    if client.veil is not None:
        changes |= {"veil": client.veil, "epsilon": None, "noise_ratio": None, "embedder": None}
    return _at_budget(replace(guard, **changes) if changes else guard, client.epsilon, client.noise_ratio)


def _query_guard(guard: Guard, client: Client) -> Guard:
    return _at_budget(guard, client.query_epsilon, client.query_noise_ratio)


def _at_budget(guard: Guard, epsilon: float | None, noise_ratio: float | None) -> Guard:
    if epsilon is None and noise_ratio is None:
        return guard
    return replace(guard, epsilon=epsilon, noise_ratio=noise_ratio)


def _releaser(guard: Guard, known: dict[tuple[Any, ...], Releaser]) -> Releaser:
    """Return the one releaser of a veil at a budget: what waits for it is recorded together."""
    place = guard.opened_veil.digest(), guard.protection.epsilon
    if place not in known:
        known[place] = Releaser(guard)
    return known[place]


def _address(guard: Guard, settings: Settings) -> str | None:
    """Return the address of the server that makes clean vectors; None where the model is loaded here."""
    spec = guard.opened_veil.provenance.embedder or ""
    if settings.upstream is not None or guard.embedder is not None or not spec.startswith(OPENAI_SPEC):
        return settings.upstream
    # The veil's own model is one of a service: ask that, as the embedder does, and load nothing.
    named = from_spec(spec.removeprefix(OPENAI_SPEC)).base_url
    return named or os.environ.get("OPENAI_BASE_URL") or OPENAI


def _upstream(guard: Guard, address: str | None, settings: Settings) -> Upstream:
    if address is None:
        return LocalUpstream(guard.model, keyed=guard.protection.keyed, decode=TokenReader(settings.encoding))
    return RemoteUpstream(
        address,
        model=settings.upstream_model or guard.opened_veil.fingerprint.model,
        key=os.environ.get(settings.upstream_key_env),
        dimensions=guard.dimensions,
        normalised=guard.opened_veil.fingerprint.normalised,
        timeout=settings.timeout,
    )
