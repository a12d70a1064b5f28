"""Texts of an audit that nobody ran, and what its attacks read of them."""

from __future__ import annotations

from collections.abc import Iterable

from support.audits import ATTACKS, DEFENSES, RATIOS, UNDEFENDED, left, setting
from vecveil.audit.rows import Example, Reconstruction, Setting
from vecveil.concepts import words

HOSTILE = "</script><script>window.broken=1</script><img src=x onerror='window.broken=2'>&lt;\u2028<!-- \u202e ]]>"
"""What would run, or break the page, if any of it were read as markup."""

# Each text with its private parts in brackets, and what attacks read of it: well, roughly, and not at all.
_TEXTS = (
    (
        "[Angela Merkel|PERSON] met the mayor of [Lyon|GPE] on [14 March|DATE] to talk about rail freight.",
        "Angela Merkel met the mayor of Lyon in March to discuss freight trains.",
        "A chancellor met officials in Lyon to discuss trains.",
        "Two officials talked about transport plans for the region.",
    ),
    (
        "Shares of [Siemens|ORG] fell 4% in [Frankfurt|GPE] after the [second quarter|DATE] report.",
        "Siemens shares fell 4 percent in Frankfurt after its second quarter results.",
        "The company's shares fell in Frankfurt after a quarter of losses.",
        "Stocks were lower after results were published.",
    ),
    (
        "[Priya Raman|PERSON] moved from [Chennai|GPE] to [Oslo|GPE] in [2019|DATE] and joined [Telenor|ORG].",
        "Priya Raman moved to Oslo from Chennai in 2019 to join Telenor.",
        "She moved from India to Oslo in 2018 for a telecom company.",
        "The woman moved abroad and took a new job.",
    ),
)


def made_examples() -> tuple[Example, ...]:
    """Return a few texts and what every attack reads of them behind every setting."""
    return tuple(_example(*texts) for texts in _TEXTS)


def hostile_example() -> Example:
    """Return an example whose text, labels and readings all try to run in the reader's browser."""
    readings = tuple(
        Reconstruction(setting=one, attack=attack, text=HOSTILE, leaked=(HOSTILE, "script"), similarity=0.5)
        for one in _settings()
        for attack in ATTACKS
    )
    spans = ((0, 9, HOSTILE), (9, len(HOSTILE), HOSTILE))
    return Example(text=HOSTILE, spans=spans, tokens=("script", HOSTILE), readings=readings)


def _settings() -> tuple[Setting, ...]:
    return UNDEFENDED, *(setting(label, ratio) for label in DEFENSES for ratio in RATIOS)


def _example(bracketed: str, *readings: str) -> Example:
    text, spans = "", []
    for part in bracketed.split("["):
        inside, closed, outside = part.partition("]")
        if not closed:
            text += part
            continue
        span, _, label = inside.partition("|")
        spans.append((len(text), len(text) + len(span), label))
        text += span + outside
    tokens = tuple(dict.fromkeys(word for start, end, _ in spans for word in words(text[start:end])))
    return Example(text=text, spans=tuple(spans), tokens=tokens, readings=tuple(_readings(readings, tokens)))


def _readings(readings: tuple[str, ...], tokens: tuple[str, ...]) -> Iterable[Reconstruction]:
    for attack, (*_, sentences) in ATTACKS.items():
        for one in _settings():
            kept = left(one, attack) * (1.0 if attack != "geia" else 0.6)
            read = readings[0 if kept > 0.55 else 1 if kept > 0.3 else 2]
            leaked = tuple(word for word in tokens if word in words(read))
            yield Reconstruction(
                setting=one,
                attack=attack,
                text=read if sentences else None,
                leaked=leaked,
                similarity=0.12 + 0.7 * kept if sentences else None,
            )
