"""Services that speak OpenAI's embeddings API."""

from __future__ import annotations

import base64
import os
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from vecveil.core.arrays import Embeddings
from vecveil.core.checks import at_least, positive
from vecveil.core.errors import EndpointError, InvalidInputError, InvalidRowError, needs_extra
from vecveil.embedders.embedder import PROBE, Fingerprint, have_length_one, require_unicode

if TYPE_CHECKING:
    from openai import OpenAI


@dataclass(frozen=True)
class OpenAIEmbedder:
    """A remote model. Texts leave the machine, unprotected, for the service that is named here.

    Attributes:
        model: The model's name at the service.
        base_url: Address of the service, up to and with `/v1`; None is OpenAI's own, or `OPENAI_BASE_URL`.
        api_key_env: Environment variable that holds the key; a server of yours may need none.
        dimensions: Length to ask for, where the model can shorten its vectors; None is the model's own.
        revision: What tells versions of the model apart, as far as you know; a service does not say.
        batch_size: Texts per request.
        timeout: Seconds to wait for an answer.
        max_retries: How often to ask again after a refusal or a lost connection.
    """

    model: str
    _: KW_ONLY
    base_url: str | None = None
    api_key_env: str = "OPENAI_API_KEY"
    dimensions: int | None = None
    revision: str = "unversioned"
    batch_size: int = 128
    timeout: float = 60.0
    max_retries: int = 5

    def __post_init__(self) -> None:
        if not self.model:
            raise InvalidInputError("model must name a model of the service, got ''")
        if self.base_url is not None:
            _check_address(self.base_url)
        if self.dimensions is not None:
            at_least(self.dimensions, 1, "dimensions")
        at_least(self.batch_size, 1, "batch_size")
        positive(self.timeout, "timeout")
        at_least(self.max_retries, 0, "max_retries")

    @cached_property
    def fingerprint(self) -> Fingerprint:
        """The model's name, and what its vectors look like; the first use asks the service for one probe."""
        probe = self._request([PROBE])
        return Fingerprint(
            model=self.model,
            revision=self.revision,
            dimensions=probe.shape[1],
            normalized=have_length_one(probe),
        )

    def embed(self, texts: Sequence[str]) -> Embeddings:
        """Return one float32 row per text, in order.

        Raises:
            InvalidInputError: With the number of the first empty text; services refuse those.
            EndpointError: If the service cannot be reached, refuses, or answers nonsense.
        """
        rows = require_unicode(texts)
        if "" in rows:
            raise InvalidRowError(rows.index(""), "is empty, and embedding services refuse empty texts")
        vectors = np.empty((len(rows), self.fingerprint.dimensions), dtype=np.float32)
        for start in range(0, len(rows), self.batch_size):
            batch = self._request(rows[start : start + self.batch_size])
            if batch.shape[1] != vectors.shape[1]:
                raise EndpointError(
                    f"{self._host} answered with {batch.shape[1]} dimensions, after {vectors.shape[1]} for the probe"
                )
            vectors[start : start + len(batch)] = batch
        return vectors

    def _request(self, texts: list[str]) -> Embeddings:
        client = self._client
        from openai import APIConnectionError, APIStatusError, APITimeoutError, OpenAIError

        options: dict[str, Any] = {} if self.dimensions is None else {"dimensions": self.dimensions}
        # What the service says may repeat the texts, so no error below carries its cause.
        try:
            answer = client.embeddings.create(input=texts, model=self.model, encoding_format="base64", **options)
        except APIStatusError as error:
            raise EndpointError(f"{self._host} refused the request with status {error.status_code}") from None
        except APITimeoutError:
            raise EndpointError(f"{self._host} did not answer within {self.timeout:g} seconds") from None
        except APIConnectionError:
            raise EndpointError(f"{self._host} cannot be reached") from None
        except (OpenAIError, ValueError):
            raise EndpointError(f"{self._host} answered with something that is no JSON") from None
        return read_answer(answer, rows=len(texts), dimensions=self.dimensions, host=self._host)

    @property
    def _host(self) -> str:
        return str(self._client.base_url.host)

    @cached_property
    def _client(self) -> OpenAI:
        with needs_extra("openai", "openai"):
            from openai import OpenAI

        key = os.environ.get(self.api_key_env)
        if not key and self.base_url is None:
            raise InvalidInputError(f"the environment variable {self.api_key_env} must hold the service's key")
        # The client refuses to be built without a key, which servers of one's own often do not ask for.
        return OpenAI(api_key=key or "none", base_url=self.base_url, timeout=self.timeout, max_retries=self.max_retries)


def from_spec(argument: str) -> OpenAIEmbedder:
    """Return the embedder for `MODEL` or `MODEL@https://host/v1`."""
    # Model names may hold an @ of their own.
    model, mark, rest = argument.partition("@http")
    if not mark and any(sign in argument.rpartition("@")[2] for sign in ":/") and "@" in argument:
        # Without this a slip in the address would send the texts to the default service.
        raise InvalidInputError(f"the address in {f'openai:{argument}'!r} must start with http:// or https://")
    return OpenAIEmbedder(model, base_url=f"http{rest}" if mark else None)


def read_answer(answer: Any, *, rows: int, dimensions: int | None, host: str) -> Embeddings:
    """Return the vectors of an answer as float32 rows, in the order of the request, trusting nothing of it.

    Args:
        answer: What the client made of the answer; anything at all where the service misbehaves.
        rows: How many texts were sent.
        dimensions: How many dimensions were asked for; None is any number.
        host: What to call the service in an error.

    Raises:
        EndpointError: If there is not one finite vector of the right length for every text.
    """
    entries = getattr(answer, "data", None)
    if not isinstance(entries, list):
        raise EndpointError(f"{host} answered with something that is no list of embeddings")
    if len(entries) != rows:
        raise EndpointError(f"{host} answered with {len(entries)} embeddings for {rows} texts")
    by_index = {getattr(entry, "index", None): entry for entry in entries}
    if set(by_index) != set(range(rows)):
        raise EndpointError(f"{host} did not number its embeddings from 0 to {rows - 1}")
    vectors = [_decode(getattr(by_index[row], "embedding", None), host) for row in range(rows)]
    lengths = {len(vector) for vector in vectors}
    if len(lengths) != 1 or lengths == {0}:
        raise EndpointError(f"{host} answered with embeddings of {sorted(lengths)} dimensions")
    if dimensions is not None and lengths != {dimensions}:
        raise EndpointError(f"{host} answered with {lengths.pop()} dimensions, asked for {dimensions}")
    stacked = np.stack(vectors)
    if not np.isfinite(stacked).all():
        raise EndpointError(f"{host} answered with NaN or infinite numbers")
    return stacked


def _decode(value: Any, host: str) -> NDArray[np.float32]:
    # Services that do not know base64 ignore the wish and send lists of numbers.
    try:
        if isinstance(value, str):
            return np.frombuffer(base64.b64decode(value, validate=True), dtype="<f4").astype(np.float32)
        with np.errstate(over="ignore"):
            vector = np.asarray(value, dtype=np.float32)
    except (ValueError, TypeError):
        raise EndpointError(f"{host} answered with an embedding that is no list of numbers") from None
    if vector.ndim != 1:
        raise EndpointError(f"{host} answered with an embedding that is no list of numbers")
    return vector


def _check_address(base_url: str) -> None:
    parts = urlsplit(base_url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise InvalidInputError("base_url must be an address such as https://host/v1")
    if parts.username or parts.password:
        raise InvalidInputError("base_url must not hold a password; put the key into the environment (api_key_env)")
