"""A text with its private parts marked, for the owner's eyes."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.text import Text

    from vecveil.concepts import Span


def marked(text: str, spans: tuple[Span, ...]) -> Text:
    """Return `text` with each span in brackets and in colour, followed by its label."""
    from rich.text import Text

    # One character for one, so that the offsets stay.
    text = text.replace("\n", "↵")
    shown, end = Text(), 0
    for span in spans:
        shown.append(text[end : span.start])
        # Brackets as well as colour, so that the marks survive a pipe.
        shown.append(f"[{text[span.start : span.end]}]", style="bold red")
        shown.append(span.label, style="dim red")
        end = span.end
    return shown.append(text[end:])
