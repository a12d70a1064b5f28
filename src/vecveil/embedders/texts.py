"""What every embedder asks of the texts it is given."""

from __future__ import annotations

from collections.abc import Sequence

from vecveil.core.errors import InvalidInputError, InvalidRowError


def checked_texts(texts: Sequence[str]) -> list[str]:
    """Return `texts` as a list, or raise with the number of the first row that is no Unicode text."""
    if isinstance(texts, str):
        raise InvalidInputError("texts must be a list of texts, got one string; put it into a list")
    rows = list(texts)
    for row, text in enumerate(rows):
        if not isinstance(text, str):
            raise InvalidRowError(row, f"must be a string, got {type(text).__name__}")
        if not _is_unicode(text):
            raise InvalidRowError(row, "holds half a surrogate pair, which is no Unicode text")
    return rows


def _is_unicode(text: str) -> bool:
    # Tokenizers and JSON both speak UTF-8, and each fails in its own obscure way on what UTF-8 cannot write.
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
