"""The gateway: its settings, clients, veils and models."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from vecveil.core.checks import at_least, positive
from vecveil.core.errors import InvalidInputError
from vecveil.core.key import Key
from vecveil.embedders.openai import from_spec
from vecveil.ledger import new_run
from vecveil.service.clients import Client, Clients
from vecveil.service.handler import ClientHandler
from vecveil.service.limits import TextRate
from vecveil.service.messages import LONGEST_TEXT, RefusedError
from vecveil.service.release_queue import ReleaseQueue
from vecveil.service.remote import RemoteUpstream
from vecveil.service.turns import ClientTurns
from vecveil.service.upstream import LocalUpstream, TokenReader, Upstream
from vecveil.veil import Guard, Veil
from vecveil.veil.ledger_run import LedgerRun
from vecveil.veil.noise import KeyedNoise
from vecveil.veil.release import Release
from vecveil.veil.seal import Sealer

OPENAI = "https://api.openai.com/v1"
OPENAI_SPEC = "openai:"

REWRITTEN_CHARACTERS = 20_000
"""Most of a request in which private words are replaced before it is another client's turn."""


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
        held_bytes: Bodies that are read or answered at the same time, in bytes, shared among clients.
        text_characters: Longest text.
        texts_per_minute: Texts that a client may send in a minute, where it has no limit of its own.
        metrics_clients: Whether metrics name clients; then they are shown to clients alone.
    """

    upstream: str | None = None
    upstream_model: str | None = None
    upstream_key_env: str = "OPENAI_API_KEY"
    timeout: float = 60.0
    encoding: str = "cl100k_base"
    body_bytes: int = 32 * 2**20
    held_bytes: int = 256 * 2**20
    text_characters: int = LONGEST_TEXT
    texts_per_minute: float = 10_000
    metrics_clients: bool = False

    def __post_init__(self) -> None:
        at_least(self.body_bytes, 1, "body_bytes")
        at_least(self.text_characters, 1, "text_characters")
        positive(self.texts_per_minute, "texts_per_minute")
        if self.held_bytes < 2 * self.body_bytes:
            raise InvalidInputError(
                "held_bytes (--max-held) must be at least twice body_bytes (--max-body), since a client may hold half, "
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
        # Opened now, and once for all: whoever has a broken ledger should hear of it before the first request.
        ledger = "none" if guard.release.ledger is None else guard.release.ledger.open().ledger
        guard = replace(guard, veil=guard.opened_veil, ledger=ledger)
        tokens = TokenReader(settings.encoding, longest_text=settings.text_characters)
        rewriting = ClientTurns("words", characters=REWRITTEN_CHARACTERS)
        upstreams: dict[tuple[str, str | None], Upstream] = {}
        handlers = {}
        for client in clients.known.values():
            own = _client_guard(guard, client)
            documents = ReleaseQueue(_client_release(own, client, "documents"))
            budget = client.query_epsilon, client.query_noise_ratio, client.query_paper_epsilon
            queries = ReleaseQueue(_client_release(_at_budget(own, *budget), client, "queries"))
            model = own.opened_veil.fingerprint
            if (words := own.release.words) is not None and words.concept is None:
                raise InvalidInputError(
                    f"the veil of client {client.name!r} replaces private words and does not tell which: name the "
                    "concept with --concept, or learn the veil so that it keeps it"
                )
            if settings.upstream_model is not None and model != guard.opened_veil.fingerprint:
                raise InvalidInputError(
                    f"--upstream-model {settings.upstream_model!r} is one model, and the veil of client "
                    f"{client.name!r} is for another than the gateway's: run a gateway for each"
                )
            address = _address(own, settings)
            place = model.digest(), address
            if place not in upstreams:
                upstreams[place] = _open_upstream(own, address, tokens, settings)
            handlers[client.name] = ClientHandler(
                client=client,
                model=model.model,
                dimensions=model.dimensions,
                upstream=upstreams[place],
                documents=documents,
                queries=queries,
                tokens=tokens,
                rewriting=rewriting,
                rate=TextRate(per_minute=client.texts_per_minute or settings.texts_per_minute),
                sealer=_make_sealer(own),
            )
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
            handler.rewriting.close()


def _client_guard(guard: Guard, client: Client) -> Guard:
    if client.veil is not None:
        veil = Veil.load(client.veil, signed_by=guard.signed_by)
        guard = replace(guard, veil=veil, embedder=client.embedder, epsilon=None, noise_ratio=None, paper_epsilon=None)
    return _at_budget(guard, client.epsilon, client.noise_ratio, client.paper_epsilon)


def _at_budget(guard: Guard, epsilon: float | None, noise_ratio: float | None, paper_epsilon: float | None) -> Guard:
    if epsilon is None and noise_ratio is None and paper_epsilon is None:
        return guard
    return replace(guard, epsilon=epsilon, noise_ratio=noise_ratio, paper_epsilon=paper_epsilon)


def _make_sealer(guard: Guard) -> Sealer | None:
    """Return what seals for the owner; no client can test a guess by comparing its seal with others."""
    if guard.key is None and guard.seal_key is None:
        return None
    return replace(guard.sealer, repeatable=False)


class ClientRun(LedgerRun):
    """The releases to one client: what others were given costs it nothing, or a refusal would tell it of that."""

    def spend(
        self,
        ids: Sequence[bytes],
        tokens: Sequence[bytes] | None,
        vectors: Sequence[bytes] | None = None,
        words: Sequence[int] | None = None,
    ) -> None:
        """Put releases on record; vectors, which a ledger counts over all collections otherwise, are its own too."""
        super().spend(ids, tokens, vectors and [self._scope + one for one in vectors], words)


def _client_release(guard: Guard, client: Client, side: Literal["documents", "queries"]) -> Release:
    """Return a release with the noise of one client and side, and with the client's own records.

    What others get can't be tested against it.
    """
    noise = guard.release.noise
    if isinstance(noise, KeyedNoise):
        guard = replace(guard, key=Key(noise.key.derive(b"vecveil client", f"{client.name}\0{side}".encode())))
    release = guard.release if side == "documents" else guard.vector_release
    if release.ledger is None:
        return release
    collection = client.name if client.collection is None else client.collection
    run = ClientRun(release.ledger.open().ledger, release.charge(new_run()), collection=collection)
    return replace(release, ledger=run)


def _address(guard: Guard, settings: Settings) -> str | None:
    """Return the address of the server that makes clean vectors; None where the model is loaded here."""
    if settings.upstream is not None:
        return settings.upstream
    spec = guard.opened_veil.choose_embedder(guard.embedder)
    if not isinstance(spec, str) or not spec.startswith(OPENAI_SPEC):
        return None
    # The model is one of a service: ask that, as the embedder does, and load nothing.
    named = from_spec(spec.removeprefix(OPENAI_SPEC)).base_url
    return named or os.environ.get("OPENAI_BASE_URL") or OPENAI


def _open_upstream(guard: Guard, address: str | None, tokens: TokenReader, settings: Settings) -> Upstream:
    if address is None:
        return LocalUpstream(guard.model, tokens)
    return RemoteUpstream(
        url=address,
        model=settings.upstream_model or guard.opened_veil.fingerprint.model,
        key=os.environ.get(settings.upstream_key_env),
        check=guard.release.check,
        timeout=settings.timeout,
    )
