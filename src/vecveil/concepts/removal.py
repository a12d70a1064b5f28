"""Spans of a text replaced or removed, with the gaps closed."""

from collections.abc import Callable, Iterable, Sequence

from vecveil.concepts.passage import Span, Spans, merge_overlaps
from vecveil.core.errors import InvalidInputError

_PAUSES = ",;:"
_STOPS = ".!?"
_OPENERS = "([{"
_CLOSERS = ")]}"
_BRACKETS = frozenset({"()", "[]", "{}"})
_QUOTES = frozenset({'""', "''", "“”", "‘’", "«»", "„“"})
_QUOTE_OPENERS = frozenset(pair[0] for pair in _QUOTES)
_QUOTE_CLOSERS = frozenset(pair[1] for pair in _QUOTES)


def remove_spans(text: str, spans: Iterable[Span]) -> str:
    """Return `text` without `spans`: the paper's R(s, C), with clean spacing.

    Only what touches a removed span changes: blanks that would double or stand before a mark, brackets and quotes
    that would be empty, commas that would double, lead or trail. All other characters stay as they were.

    Args:
        text: The text that the spans belong to.
        spans: What to delete, in any order; overlapping spans are merged.

    Raises:
        InvalidInputError: When a span ends after the text.
    """
    return rewrite_spans(text, spans, lambda *_: "")


def rewrite_spans(text: str, spans: Iterable[Span], choose: Callable[[str, str], str]) -> str:
    """Return `text` with each span replaced by what `choose` returns for its characters and its label.

    Where that is empty, the span is removed and the gap closed.
    """
    ordered = merge_overlaps(spans)
    if ordered and ordered[-1].end > len(text):
        raise InvalidInputError(f"a span ends at {ordered[-1].end}, after its text of {len(text)} characters")
    return replace_pieces(text, ordered, [choose(text[span.start : span.end], span.label) for span in ordered])


def replace_pieces(text: str, ordered: Spans, others: Sequence[str]) -> str:
    """Return `text` with other words in the place of spans that are in order and disjoint; none closes the gap."""
    head, rest = text, ""
    # From the last to the first: what stands before a span is then still the original text, with its offsets.
    for span, other in zip(reversed(ordered), reversed(others), strict=True):
        before, after = head[: span.start], head[span.end :] + rest
        if other:
            head, rest = before, other + after
        else:
            head, rest = _close(before, after)
    return head + rest


def _close(head: str, rest: str) -> tuple[str, str]:
    """Return both sides of a gap so that they can stand next to each other."""
    while True:
        left, right = head.rstrip(), rest.lstrip()
        if _is_empty_pair(left, right):
            head, rest = left[:-1], right[1:]
        elif _is_stray_mark(head, rest):
            rest = right.lstrip(_PAUSES + _STOPS)
        elif _is_dangling_pause(left, rest):
            head = left[:-1]
        else:
            return left, _gap(head, rest) + right


def _is_empty_pair(left: str, right: str) -> bool:
    pair = left[-1:] + right[:1]
    if pair in _BRACKETS:
        return True
    return pair in _QUOTES and _opens_quote(left) and _closes_quote(right)


def _is_stray_mark(head: str, rest: str) -> bool:
    """Whether the mark after the gap has nothing left to end: "Fever, cough" without "Fever"."""
    left, mark = head.rstrip(), _leading_mark(rest)
    if not mark:
        return False
    if not left or left[-1] in _OPENERS + _STOPS:
        return True
    if mark in _PAUSES:
        # A comma after a semicolon or another comma adds nothing; a colon after a comma says more than the comma.
        return "\n" in head[len(left) :] or (left[-1] in _PAUSES and not (left[-1] == "," and mark != ","))
    return False


def _is_dangling_pause(left: str, rest: str) -> bool:
    """Whether the comma before the gap has nothing left to introduce: "fever, cough." without "cough"."""
    right = rest.lstrip()
    if left[-1:] not in tuple(_PAUSES):
        return False
    if not right or "\n" in rest[: len(rest) - len(right)]:
        return left[-1] != ":"
    return right[0] in _CLOSERS or bool(_leading_mark(rest))


def _gap(head: str, rest: str) -> str:
    """Return the white space that belongs between the two sides."""
    left, right = head.rstrip(), rest.lstrip()
    before, after = head[len(left) :], rest[: len(rest) - len(right)]
    if not left or not right:
        return ""
    if "\n" in after or ("\n" in before and not _leading_mark(rest)):
        return before if before.count("\n") > after.count("\n") else after
    if _leading_mark(rest) or right[0] in _CLOSERS or left[-1] in _OPENERS:
        return ""
    if (not after and _closes_quote(right)) or (not before and _opens_quote(left)):
        return ""
    return (before + after)[:1]


def _leading_mark(rest: str) -> str:
    """Return the punctuation mark that `rest` starts with, or an empty string."""
    right = rest.lstrip()
    # ".5" and ".NET" are words; ". Then" and a mark that touched the removed span are punctuation.
    is_word = len(right) < len(rest) and right[1:2].isalnum()
    return right[0] if right and right[0] in _PAUSES + _STOPS and not is_word else ""


def _opens_quote(left: str) -> bool:
    return left[-1:] in _QUOTE_OPENERS and not left[-2:-1].isalnum()


def _closes_quote(right: str) -> bool:
    # An apostrophe looks like a closing quote, but a letter follows it.
    return right[:1] in _QUOTE_CLOSERS and not right[1:2].isalnum()
