"""Clients of the gateway: hashed bearer keys, each with rules."""

from __future__ import annotations

import hashlib
import json
import secrets
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal

from vecveil.core.atomic import atomic_file
from vecveil.core.checks import positive
from vecveil.core.errors import ArtifactError, InvalidInputError

Treatment = Literal["protect", "clean", "refuse"]
TREATMENTS = ("protect", "clean", "refuse")
TEXTS = {"name", "key", "veil", "embedder", "documents", "queries", "rerank", "collection"}
PREFIX = "vv-"
HASH = "sha256:"


@dataclass(frozen=True, kw_only=True)
class Client:
    """A client, and what it gets.

    Attributes:
        name: Its name in logs and metrics, and in the derivation of its noise.
        key: Hash of its bearer key, "sha256:" and 64 digits; empty for the client that needs none.
        veil: Folder of its veil; None for the gateway's own.
        embedder: The embedder of that veil, where the veil's own word for it is not enough.
        epsilon: Literal budget; of this and the next two one at most, and its veil's own, or else the gateway's, where
            none is given.
        noise_ratio: The same as a noise ratio.
        paper_epsilon: The same on the axis of the paper's tables.
        documents: Whether documents are protected or refused.
        queries: Whether queries are protected, returned clean or refused.
        query_epsilon: Literal budget for queries; that of documents where this and the next two are None.
        query_noise_ratio: The same as a noise ratio.
        query_paper_epsilon: The same on the axis of the paper's tables.
        rerank: Whether it may have documents ordered by their clean vectors, seals of others included: whoever may can
            work out clean vectors from the scores.
        texts_per_minute: Texts that it may send in a minute, long ones counted as several; None for the gateway's own
            limit.
        collection: What its texts and their limits belong to in the ledger; None for a collection of its own name.
            Clients that share one share its limits, and a refusal tells each what the others were given.
    """

    name: str
    key: str = ""
    veil: str | None = None
    embedder: str | None = None
    epsilon: float | None = None
    noise_ratio: float | None = None
    paper_epsilon: float | None = None
    documents: Treatment = "protect"
    queries: Treatment = "protect"
    query_epsilon: float | None = None
    query_noise_ratio: float | None = None
    query_paper_epsilon: float | None = None
    rerank: Literal["allow", "refuse"] = "refuse"
    texts_per_minute: float | None = None
    collection: str | None = None

    def __post_init__(self) -> None:
        if not self.name:
            raise InvalidInputError("a client must have a name, got ''")
        for entry in fields(self):
            value = getattr(self, entry.name)
            is_text = entry.name in TEXTS
            if value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, str if is_text else float | int):
                # The value is not shown: it may be a key in the wrong place.
                kind = "text" if is_text else "a number"
                raise InvalidInputError(f"{entry.name} of client {self.name!r} must be {kind}")
            if not is_text:
                positive(value, f"{entry.name} of client {self.name!r}")
        if self.key and (not self.key.startswith(HASH) or len(self.key) != len(HASH) + 64):
            # The value is not shown: it may be the key itself.
            raise InvalidInputError(f"the key of client {self.name!r} must be a hash, {HASH} and 64 digits")
        known = {"documents": ("protect", "refuse"), "queries": TREATMENTS, "rerank": ("allow", "refuse")}
        for name, choices in known.items():
            if getattr(self, name) not in choices:
                raise InvalidInputError(f"{name} of client {self.name!r} must be one of {', '.join(choices)}")


@dataclass(frozen=True)
class Clients:
    """All clients of a gateway.

    Attributes:
        known: Clients by the hash of their keys; one with an empty hash stands for everybody.
    """

    known: Mapping[str, Client]

    @classmethod
    def everybody(cls) -> Clients:
        """Return clients without keys: everybody who can reach the gateway may ask."""
        return cls({"": Client(name="anyone")})

    @property
    def open(self) -> bool:
        """Whether no key is needed."""
        return "" in self.known

    def find(self, header: str | None) -> Client | None:
        """Return the client of an Authorization header; None where there is none."""
        if self.open:
            return self.known[""]
        scheme, _, key = (header or "").partition(" ")
        if scheme.lower() != "bearer":
            return None
        # The time of a lookup tells nothing: who chooses the key can't choose its hash.
        return self.known.get(hash_key(key.strip()))


def hash_key(key: str) -> str:
    """Return the hash of a bearer key. The keys are random and long, so that a plain hash is enough."""
    return HASH + hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


def read_clients(path: Path) -> Clients:
    """Return the clients in a TOML file: one table each, under its name."""
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InvalidInputError(f"there is no file of clients {path}; make one with: vecveil client new") from None
    except RecursionError:
        raise ArtifactError(f"{path} can't be read as TOML: it is nested too deep") from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ArtifactError(f"{path} can't be read as TOML: {error}") from None
    clients = [_build_client(name, table, path) for name, table in tables.items()]
    if not clients:
        raise InvalidInputError(f"{path} names no client; add one with: vecveil client new")
    keys = [client.key for client in clients]
    if "" in keys or len({*keys}) != len(keys):
        raise InvalidInputError(f"every client in {path} must have a key of its own")
    return Clients({client.key: client for client in clients})


def add_client(path: Path, name: str, **settings: Any) -> str:
    """Add a client to a file, which is made where there is none, and return its bearer key, kept nowhere."""
    known = read_clients(path) if path.exists() else Clients({})
    if name in {client.name for client in known.known.values()}:
        raise InvalidInputError(f"{path} has a client {name!r} already")
    if not name.replace("-", "").replace("_", "").isalnum() or not name.isascii():
        raise InvalidInputError(f"a client's name has letters, digits, - and _, got {name!r}")
    key = PREFIX + secrets.token_urlsafe(32)
    client = Client(name=name, key=hash_key(key), **settings)
    lines = [f"[{name}]"]
    for entry in fields(client):
        value = getattr(client, entry.name)
        if entry.name != "name" and value != entry.default:
            # JSON's strings and numbers are TOML's too.
            lines.append(f"{entry.name} = {json.dumps(value, ensure_ascii=False)}")
    before = path.read_text(encoding="utf-8").rstrip() + "\n\n" if path.exists() else ""
    with atomic_file(path) as draft:
        draft.write_text(before + "\n".join(lines) + "\n", encoding="utf-8")
        read_clients(draft)
    return key


def _build_client(name: str, table: Any, path: Path) -> Client:
    known = {entry.name for entry in fields(Client)} - {"name"}
    if not isinstance(table, dict) or not {*table} <= known:
        raise InvalidInputError(f"client {name!r} in {path} may have {sorted(known)}, and nothing else")
    try:
        return Client(name=name, **table)
    except TypeError as error:
        raise InvalidInputError(f"client {name!r} in {path}: {error}") from None
