"""Synthetic clinical sentences, made anew on every call.

No real person, patient or institution is meant. Names are combined at random, and every case is made up: a topic is
drawn, then a patient, then a frame, and the frame's slots are filled with words of that topic.
"""

from itertools import count as count_up
from typing import Final

from vecveil.core.checks import at_least
from vecveil.core.errors import InvalidInputError
from vecveil.samples.facts import Picker, imagine_case
from vecveil.samples.frames import COMPLAINTS, DISCLOSING, ROUTINE
from vecveil.samples.lexicon import TOPICS
from vecveil.samples.sentence import SampleSentence, render

LARGEST_COUNT: Final = 100_000
"""The most sentences that are made: a bound at which fresh ones are still found at the first few attempts."""


def clinical_sentences(count: int = 3000, seed: int = 7, *, complaints: bool = False) -> tuple[SampleSentence, ...]:
    """Return `count` different sentences; half of them tell a disease or an age, half tell neither.

    The same seed gives the same sentences everywhere, and a smaller count gives the first of them.

    >>> len({sentence.text for sentence in clinical_sentences(300)})
    300

    Args:
        count: How many sentences, 1 to 100,000.
        seed: Which corpus; any whole number of at least zero.
        complaints: Whether some tell of a complaint about the clinic.

    Raises:
        InvalidInputError: If `count` is larger than what can be made without repetition.
    """
    at_least(count, 1, "count")
    at_least(seed, 0, "seed")
    if count > LARGEST_COUNT:
        raise InvalidInputError(f"count must be at most {LARGEST_COUNT}, got {count!r}")
    routine = (*ROUTINE, *COMPLAINTS) if complaints else ROUTINE
    sentences: dict[str, SampleSentence] = {}
    for index in range(count):
        frames = DISCLOSING if _discloses(seed, index) else routine
        attempts = (_make_sentence(frames, Picker(f"{seed}/{index}/{attempt}")) for attempt in count_up())
        fresh = next(sentence for sentence in attempts if sentence.text not in sentences)
        sentences[fresh.text] = fresh
    return tuple(sentences.values())


def _discloses(seed: int, index: int) -> bool:
    # One of each two neighbors discloses, so the halves are even at any count; which one is drawn, so that taking
    # every second sentence does not tell them apart.
    pair, place = divmod(index, 2)
    return Picker(f"{seed}/{pair}").number("disclosing place", 2) == place


def _make_sentence(frames: tuple[str, ...], picker: Picker) -> SampleSentence:
    topic = picker.one("topic", TOPICS)
    frame = picker.one("frame", frames)
    text, spans = render(frame, imagine_case(topic, picker))
    return SampleSentence(text=text, spans=spans, topic=topic.name, frame=frame)
