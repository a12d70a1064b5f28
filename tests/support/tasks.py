"""Small data for utility tasks, in which texts that belong together share words."""

from __future__ import annotations

import itertools

TOPICS = {
    "harbour": "ship crane cargo dock",
    "kitchen": "oven flour butter dough",
    "garden": "rose hedge spade soil",
    "office": "desk printer memo stapler",
    "forest": "pine deer moss trail",
    "school": "teacher chalk pupil lesson",
}
"""Words of each topic."""

TEXTS = tuple(
    f"{topic} {first} {second}"
    for topic, words in TOPICS.items()
    for first, second in itertools.combinations(words.split(), 2)
)
"""Six texts of each topic."""

PAIRS = tuple(
    (one, other, 5.0 * len({*one.split()} & {*other.split()}) / 3)
    for place, one in enumerate(TEXTS)
    for other in (TEXTS[place - 1], TEXTS[place - 7])
)
"""Two texts and how many words they share, on a scale up to 5."""

DOCUMENTS = {f"d{place}": text for place, text in enumerate(TEXTS)}
QUERIES = {f"q{place}": f"about {topic} {words.split()[0]}" for place, (topic, words) in enumerate(TOPICS.items())}
JUDGMENTS = {
    query: {
        document: 2 if text.split()[-1] in body.split() else 1
        for document, body in DOCUMENTS.items()
        if text.split()[1] in body.split()
    }
    for query, text in QUERIES.items()
}
"""Documents of the query's topic are relevant, and more so those that share its last word."""
