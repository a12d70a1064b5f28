"""Who may ask the gateway, and for what: bearer keys, hashed at rest, each with its own veil and budget."""

from __future__ import annotations

import hashlib
import json
import secrets
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal

from vecveil.core.checks import one_of, positive
from vecveil.core.errors import ArtifactError, InvalidInputError

Treatment = Literal["protect", "clean", "refuse"]
TREATMENTS = ("protect", "clean", "refuse")
PREFIX = "vv-"
HASH = "sha256:"


@dataclass(frozen=True, kw_only=True)
class Client:
    """One who may ask.

    Attributes:
        name: What logs and figures call it.
        key: Hash of its bearer key, "sha256:" and 64 digits; empty for the client that needs none.
        veil: Folder of its veil; None for the gateway's own.
        epsilon: Literal budget of its veil; None for the gateway's.
        noise_ratio: The same as a noise ratio.
        documents: Whether documents are protected or refused.
        queries: Whether queries are protected, returned clean or refused.
        query_epsilon: Literal budget for queries; None for that of documents.
        query_noise_ratio: The same as a noise ratio.
    """

    name: str
    key: str = ""
    veil: str | None = None
    epsilon: float | None = None
    noise_ratio: float | None = None
    documents: Treatment = "protect"
    queries: Treatment = "protect"
    query_epsilon: float | None = None
    query_noise_ratio: float | None = None

    def __post_init__(self) -> None:
        if not self.name:
            raise InvalidInputError("a client must have a name, got ''")
        for entry in fields(self):
            value = getattr(self, entry.name)
            words = entry.name in {"name", "key", "veil", "documents", "queries"}
            if value is not None and (isinstance(value, bool) or not isinstance(value, str if words else float | int)):
                # What was found is not shown: it may be a key in the wrong place.
                kind = "text" if words else "a number"
                raise InvalidInputError(f"{entry.name} of client {self.name!r} must be {kind}")
            if value is not None and not words:
                positive(value, f"{entry.name} of client {self.name!r}")
        if self.key and (not self.key.startswith(HASH) or len(self.key) != len(HASH) + 64):
            # What was found is not shown: it may be the key itself.
            raise InvalidInputError(f"the key of client {self.name!r} must be a hash, {HASH} and 64 digits")
        one_of(self.documents, ("protect", "refuse"), f"documents of client {self.name!r}")
        one_of(self.queries, TREATMENTS, f"queries of client {self.name!r}")


@dataclass(frozen=True)
class Clients:
    """All who may ask.

    Attributes:
        known: By the hash of their keys; one with an empty hash stands for everybody.
    """

    known: Mapping[str, Client]

    @classmethod
    def everybody(cls) -> Clients:
        """Return clients without keys: whoever can reach the gateway may ask."""
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
        # A lookup by hash tells nothing by the time it takes: whoever can choose its input can't choose the hash.
        return self.known.get(hashed(key.strip()))


def hashed(key: str) -> str:
    """Return the hash of a bearer key. The keys are random and long, so that a plain hash is enough."""
    return HASH + hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


def new_bearer_key() -> str:
    """Return a new bearer key, with 256 random bits."""
    return PREFIX + secrets.token_urlsafe(32)


def read_clients(path: Path) -> Clients:
    """Return the clients in a TOML file: one table each, under its name."""
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InvalidInputError(f"there is no file of clients {path}; make one with: vecveil client new") from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ArtifactError(f"{path} can't be read as TOML: {error}") from None
    clients = [_client(name, table, path) for name, table in tables.items()]
    if not clients:
        raise InvalidInputError(f"{path} names no client; add one with: vecveil client new")
    keys = [client.key for client in clients]
    if "" in keys or len({*keys}) != len(keys):
        raise InvalidInputError(f"every client in {path} must have a key of its own")
    return Clients({client.key: client for client in clients})


def add_client(path: Path, name: str, **settings: Any) -> str:
    """Add a client to a file, which is made where there is none, and return its bearer key: it is kept nowhere."""
    known = read_clients(path) if path.exists() else Clients({})
    if name in {client.name for client in known.known.values()}:
        raise InvalidInputError(f"{path} has a client {name!r} already")
    if not name.replace("-", "").replace("_", "").isalnum() or not name.isascii():
        raise InvalidInputError(f"a client's name has letters, digits, - and _, got {name!r}")
    key = new_bearer_key()
    client = Client(name=name, key=hashed(key), **settings)
    lines = [f"[{name}]"]
    for entry in fields(client):
        value = getattr(client, entry.name)
        if entry.name != "name" and value != entry.default:
            lines.append(f"{entry.name} = {value if isinstance(value, float | int) else _quoted(value)}")
    before = path.read_text(encoding="utf-8").rstrip() + "\n\n" if path.exists() else ""
    beside = path.with_name(f"{path.name}.new")
    try:
        beside.touch(mode=0o600)
        beside.write_text(before + "\n".join(lines) + "\n", encoding="utf-8")
        read_clients(beside)
        beside.replace(path)
    except OSError as error:
        raise ArtifactError(f"{path} could not be written: {error.strerror or error}") from None
    finally:
        beside.unlink(missing_ok=True)
    return key


def _quoted(value: str) -> str:
    # JSON's strings are TOML's too.
    return json.dumps(value, ensure_ascii=False)


def _client(name: str, table: Any, path: Path) -> Client:
    known = {entry.name for entry in fields(Client)} - {"name"}
    if not isinstance(table, dict) or not {*table} <= known:
        raise InvalidInputError(f"client {name!r} in {path} may have {sorted(known)}, and nothing else")
    try:
        return Client(name=name, **table)
    except TypeError as error:
        raise InvalidInputError(f"client {name!r} in {path}: {error}") from None
