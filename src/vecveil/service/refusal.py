"""Refusals in OpenAI's form; none repeats what was sent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class RefusedError(Exception):
    """Why a request was refused.

    Args:
        status: HTTP status.
        message: What is wrong, in a sentence that names the thing and shows nothing of a text, a vector or a key.
        param: The field at fault.
        code: A word that programs can compare.
        headers: What the answer says beside, such as when to ask again.
    """

    def __init__(
        self,
        status: int,
        message: str,
        *,
        param: str | None = None,
        code: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.param = param
        self.code = code
        self.headers = headers or {}

    @property
    def body(self) -> dict[str, Any]:
        """What the client is told."""
        kind = "invalid_request_error" if self.status < 500 else "api_error"
        return {"error": {"message": str(self), "type": kind, "param": self.param, "code": self.code}}
