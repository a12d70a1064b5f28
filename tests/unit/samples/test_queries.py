"""The judged queries: what they are about, and that something answers each."""

from __future__ import annotations

from vecveil.concepts import load_concept
from vecveil.samples import clinical_sentences, concept_path, judged_queries
from vecveil.samples.frames import COMPLAINTS, DISCLOSING, ROUTINE
from vecveil.samples.queries import SUBJECTS

SENTENCES = clinical_sentences(1200, complaints=True)


def test_every_query_has_an_answer_and_every_subject_has_queries() -> None:
    queries = judged_queries(SENTENCES)
    assert {query.subject for query in queries} == {"medication", "procedure", "appointment", "complaint"}
    assert len(queries) == sum(map(len, SUBJECTS.values()))
    assert all(0 <= row < len(SENTENCES) for query in queries for row in query.relevant)


def test_every_piece_is_of_a_frame() -> None:
    frames = (*DISCLOSING, *ROUTINE, *COMPLAINTS)
    pieces = [piece for queries in SUBJECTS.values() for some in queries.values() for piece in some]
    assert all(any(piece in frame for frame in frames) for piece in pieces)


def test_no_query_names_what_is_private() -> None:
    concept = load_concept(concept_path())
    assert not any(concept.find(query.text) for query in judged_queries(SENTENCES))


def test_complaints_are_told_only_where_they_are_asked_for() -> None:
    assert any(sentence.frame in COMPLAINTS for sentence in SENTENCES)
    assert not any(sentence.frame in COMPLAINTS for sentence in clinical_sentences(1200))
