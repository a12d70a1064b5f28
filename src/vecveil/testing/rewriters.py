"""Contract that every rewriter keeps."""

import numpy as np

from vecveil.concepts.concept import Concept
from vecveil.concepts.passage import Passage
from vecveil.concepts.rewriting import PLACEHOLDER, Rewriter

# An emoji of several characters, a right-to-left word, a zero byte and half a character.
_UNUSUAL = "👩‍⚕️ שלום \x00 \ud800 ½"


def check_rewriter(
    rewriter: Rewriter, concept: Concept, *, positive: Passage, all_private: Passage, negative: Passage
) -> None:
    """Raise AssertionError unless `rewriter` keeps the contract.

    Args:
        rewriter: The rewriter to check.
        concept: What it is given as private.
        positive: A text that holds something that the rewriter changes, and more.
        all_private: A text that is nothing else.
        negative: A text that holds nothing of that kind.
    """
    texts = [positive, negative, all_private, Passage(""), Passage(" !"), Passage(_UNUSUAL), positive]
    first, again = (rewriter.rewrite(texts, concept, np.random.default_rng(5)) for _ in range(2))
    assert first == again, "the same generator state must give the same texts"
    assert len(first) == len(texts), "there must be one text for each passage"
    assert rewriter.rewrite([], concept, np.random.default_rng(5)) == [], "no passages must give no texts"
    assert first[0] != positive.text, "what is private must not stay as it is"
    for row in (1, 3, 4, 5):
        assert first[row] == texts[row].text, "a text in which nothing is found must stay as it is"
    changed = first[2]
    assert changed != all_private.text, "what is private must not stay as it is"
    assert changed == PLACEHOLDER or any(map(str.isalnum, changed)), "a text must not become empty"
