"""Judged queries on the sample corpus, in other words than its sentences."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from vecveil.samples.frames import COMPLAINTS, DISCLOSING, ROUTINE
from vecveil.samples.sentence import SampleSentence

SUBJECTS: Final[Mapping[str, Mapping[str, tuple[str, ...]]]] = {
    "medication": {
        "unpleasant effects of tablets, asked by telephone": ("can be a side effect of", "is safe for someone {aged}"),
        "less of the drug, since breakfast brought trouble": ("dose was lowered",),
        "pills that the chemist did not have in stock": ("was out of {medication}",),
        "where the tablets should be stored, away from heat and damp": ("in a cool, dry place",),
        "prescription renewed by the physician": ("refill approved by", "{a medication} refill"),
        "left the tablets behind when seeing relatives in another town": ("forgot {his} {medication}",),
        "switch to a cheaper drug": ("because of the cost",),
        "tablets at breakfast time and at bedtime": ("{other_medication} before going to bed",),
        "pause the tablets some days ahead of treatment": ("should stop {medication}",),
    },
    "procedure": {
        "permission sheet scanned with its signature": ("The consent form",),
        "delayed start as nothing had been prepared": ("because the room was not ready",),
        "pictures and a clip to help a patient understand the treatment": ("with drawings and a short video",),
        "examination result from elsewhere was fine": ("within normal limits",),
        "snack when the examination was over": ("and a glass of water",),
        "fee settled": ("paid by card", "paid in full"),
        "fresh bandage": ("Dressing changed",),
    },
    "appointment": {
        "called off a visit": ("canceled the {weekday} appointment",),
        "department shut while employees are taught": ("staff training",),
        "someone who translates at the consultation": ("interpreter",),
        "public transport to the hospital": ("find a bus",),
        "earliest date for a treatment with a free place": ("The next free slot",),
        "came to the clinic without booking": ("without an appointment",),
        "ask one more expert for an opinion": ("for a second opinion", "grateful for your opinion"),
        "message on the answering machine": ("Left a voice message",),
        "Where can I leave the car?": ("about parking", "where to park"),
    },
    "complaint": {
        "the food was not warm": (COMPLAINTS[0],),
        "neighbors chatting at night, no sleep": (COMPLAINTS[1],),
        "no one helped when asked to": (COMPLAINTS[2],),
        "relative saw a filthy floor": (COMPLAINTS[3],),
        "equipment that never arrived, says the caller": ("had not been delivered",),
        "could not find the spectacles after a transfer": (COMPLAINTS[4],),
        "unfriendly staff": (COMPLAINTS[5],),
        "freezing bedroom": (COMPLAINTS[6],),
        "physician gossiped about a patient within earshot of others": (COMPLAINTS[7],),
        "had to wait much too long": (COMPLAINTS[8], "waited {count} hours for a bed"),
    },
}
"""Queries by subject, each with pieces of the frames whose sentences answer it."""


@dataclass(frozen=True, kw_only=True)
class SampleQuery:
    """A query on the sample corpus.

    Attributes:
        text: The query.
        subject: What it is about: medication, procedure, appointment or complaint.
        relevant: Rows of the sentences that answer it.
    """

    text: str
    subject: str
    relevant: tuple[int, ...]


def judged_queries(sentences: Sequence[SampleSentence]) -> tuple[SampleQuery, ...]:
    """Return the queries that some of `sentences` answer; none asks for a disease or an age."""
    found = []
    for subject, queries in SUBJECTS.items():
        for text, pieces in queries.items():
            frames = {
                frame for frame in (*DISCLOSING, *ROUTINE, *COMPLAINTS) if any(piece in frame for piece in pieces)
            }
            rows = tuple(row for row, sentence in enumerate(sentences) if sentence.frame in frames)
            if rows:
                found.append(SampleQuery(text=text, subject=subject, relevant=rows))
    return tuple(found)
