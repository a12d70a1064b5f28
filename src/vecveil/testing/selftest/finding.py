"""Findings: one check of one subject, as a p-value."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from types import TracebackType
from typing import Self

BREAKDOWN = "works at all"
"""The check that fails where there is an error in place of a p-value."""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One p-value.

    Attributes:
        subject: What was tested.
        check: What was looked at.
        pvalue: At most this likely, if all is right, is what was seen or anything worse. A check without chance has 0
            or 1, and one that comes to no number has 0.
        detail: What a reader of a failure needs to know.
    """

    subject: str
    check: str
    pvalue: float
    detail: str = ""

    def __post_init__(self) -> None:
        # NaN is below no level, and would pass.
        if math.isnan(self.pvalue):
            object.__setattr__(self, "pvalue", 0.0)

    @classmethod
    def without_chance(cls, subject: str, check: str, right: bool) -> Self:
        """Return what a check says that is right or wrong for sure."""
        return cls(subject=subject, check=check, pvalue=float(right))


class CaughtErrors:
    """A block whose errors are kept, not raised: one broken mechanism must not end the test of the others."""

    def __init__(self) -> None:
        self.error: Exception | None = None

    def __enter__(self) -> CaughtErrors:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if isinstance(error, Exception):
            self.error = error
        return self.error is not None

    def findings(self, subject: str) -> list[Finding]:
        """Return the error as a finding, or nothing where there was none."""
        if self.error is None:
            return []
        detail = f"{type(self.error).__name__}: {self.error}"
        return [Finding(subject=subject, check=BREAKDOWN, pvalue=0.0, detail=detail)]


def collect(subject: str, findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings; an error on the way is the last of them."""
    found: list[Finding] = []
    with CaughtErrors() as caught:
        found.extend(findings)
    return found + caught.findings(subject)
