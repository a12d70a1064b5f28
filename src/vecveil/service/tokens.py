"""Arrays of tokens as the texts that they stand for."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Any

from vecveil.service.refusal import RefusedError

PATIENCE = 20.0
"""Seconds to wait for the table of an encoding, which is fetched from the network once."""


class TokenReader:
    """Turns arrays of tokens into texts.

    Args:
        encoding: What they are encoded by, as tiktoken calls it.
    """

    def __init__(self, encoding: str) -> None:
        self._name = encoding

    def __call__(self, tokens: list[int]) -> str:
        """Return the text of some tokens.

        Raises:
            RefusedError: If they are none, or the table can't be had.
        """
        if self._encoding is None:
            why = f"the gateway could not get the table of {self._name} to read tokens by: send texts"
            raise RefusedError(400, why, param="input", code="tokens_unsupported")
        try:
            text: str = self._encoding.decode(tokens)
        except (KeyError, ValueError, OverflowError):
            raise RefusedError(400, "input holds tokens that are none", param="input", code="invalid_value") from None
        return text

    @cached_property
    def _encoding(self) -> Any:
        """The table; None where it can't be had, which is tried once: whoever waits for it holds up the model."""
        import tiktoken

        fetching = ThreadPoolExecutor(1, thread_name_prefix="tokens")
        try:
            return fetching.submit(tiktoken.get_encoding, self._name).result(PATIENCE)
        except Exception:  # noqa: BLE001  # networks fail in as many ways as there are networks
            return None
        finally:
            fetching.shutdown(wait=False)
