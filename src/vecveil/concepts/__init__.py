"""Private concepts, their spans in texts, and texts without them."""

from collections.abc import Mapping, Sequence
from typing import Literal, get_args

# Every kind is imported here, before the functions below take the names of the modules that hold them.
from vecveil.concepts.agreement import Agreement, ConceptAgreement, measure_concept
from vecveil.concepts.annotated import Annotated
from vecveil.concepts.concept import Concept, Union
from vecveil.concepts.content_words import ContentWords
from vecveil.concepts.contrast import ContrastSet, contrast_set
from vecveil.concepts.entities import Entities
from vecveil.concepts.passage import Passage, Span
from vecveil.concepts.patterns import Patterns
from vecveil.concepts.presidio import Presidio
from vecveil.concepts.terms import Terms
from vecveil.concepts.token_classification import TokenClassification
from vecveil.concepts.tokens import SensitiveToken, sensitive_tokens, words
from vecveil.concepts.toml_file import CONCEPTS, dump_concept, load_concept
from vecveil.core.checks import one_of
from vecveil.core.errors import InvalidInputError

__all__ = [
    "CONCEPTS",
    "Agreement",
    "Concept",
    "ConceptAgreement",
    "ContrastSet",
    "Passage",
    "SensitiveToken",
    "Span",
    "Union",
    "annotated",
    "anything",
    "contrast_set",
    "dump_concept",
    "entities",
    "load_concept",
    "measure_concept",
    "patterns",
    "presidio",
    "sensitive_tokens",
    "terms",
    "words",
]

EntityBackend = Literal["spacy", "transformers"]


def terms(
    *terms: str,
    label: str = "TERM",
    case_sensitive: bool = False,
    inflections: bool = True,
    spacing: bool = True,
    letters: bool = True,
    misspellings: bool = True,
) -> Concept:
    """Return the concept of these words and phrases, found as whole words and however people write them.

    >>> concept = terms("asthma", "type 2 diabetes", label="DISEASE")
    >>> concept.find("Asthma since birth.")
    (Span(start=0, end=6, label='DISEASE'),)
    >>> concept.remove("She has type 2 diabetes and a cold.")
    'She has and a cold.'
    >>> concept.remove("She had type-2 diabtes, and two asthmas.")
    'She had, and two.'

    Args:
        *terms: What to look for.
        label: The category that the terms belong to.
        case_sensitive: Whether "AIDS" is something other than "aids".
        inflections: Whether plurals, possessives and verb endings are found.
        spacing: Whether "heart-attack" and "heartattack" are "heart attack".
        letters: Whether "cafe" is "café".
        misspellings: Whether one letter may be wrong in seven, and two in thirteen.
    """
    return Terms(
        terms=terms,
        label=label,
        case_sensitive=case_sensitive,
        inflections=inflections,
        spacing=spacing,
        letters=letters,
        misspellings=misspellings,
    )


def patterns(
    patterns: Mapping[str, str | Sequence[str]] | None = None, /, *, timeout: float = 1.0, **labels: str | Sequence[str]
) -> Concept:
    r"""Return the concept of these regular expressions.

    >>> concept = patterns(AGE=r"\d+ years old") | terms("asthma")
    >>> [span.label for span in concept.find("He is 61 years old and has asthma.")]
    ['AGE', 'TERM']

    Args:
        patterns: Label to regular expression, for labels that are no keywords; several of them may be in a list.
        timeout: Seconds that one pattern may spend on one text.
        **labels: The same as keywords.
    """
    return Patterns(patterns={**(patterns or {}), **labels}, timeout=timeout)


def entities(*labels: str, model: str | None = None, backend: EntityBackend = "spacy") -> Concept:
    """Return the concept of these entity labels.

    >>> entities("PERSON").remove("The nurse called Maria Lopez on Monday.")
    'The nurse called on Monday.'

    Args:
        *labels: The model's labels that are private, such as PERSON and GPE.
        model: A spaCy pipeline (en_core_web_sm where None), or a token classifier of Hugging Face.
        backend: Which of the two libraries the model belongs to.
    """
    if one_of(backend, get_args(EntityBackend), "backend") == "spacy":
        return Entities(labels=labels) if model is None else Entities(labels=labels, model=model)
    if model is None:
        raise InvalidInputError("backend 'transformers' needs a model, such as model='d4data/biomedical-ner-all'")
    return TokenClassification(labels=labels, model=model)


def presidio(*entities: str, score: float = 0.5, language: str = "en", model: str = "en_core_web_sm") -> Concept:
    """Return the concept of these Presidio entities, such as PERSON and EMAIL_ADDRESS.

    >>> presidio("EMAIL_ADDRESS").remove("Write to ana@example.com today.")
    'Write to today.'

    Args:
        *entities: Presidio's names of what is private.
        score: The least confidence, from 0 to 1, at which a find counts.
        language: The language of the texts.
        model: The spaCy pipeline beneath.
    """
    return Presidio(entities=entities, score=score, language=language, model=model)


def annotated(*labels: str) -> Concept:
    """Return the concept of the annotations that came with the texts: those with `labels`, or all of them.

    >>> note = Passage("Seen by Dr. Okafor.", (Span(8, 18, "PERSON"),))
    >>> annotated("PERSON").remove(note)
    'Seen by.'
    """
    return Annotated(labels=labels)


def anything(*, at_least: int = 3, share: float = 0.5) -> Concept:
    """Return the concept of every content word of English texts, for when nothing in particular is to be named.

    >>> text = "She has had gout since childhood."
    >>> [text[span.start : span.end] for span in anything().find(text)]
    ['gout', 'childhood']

    Args:
        at_least: Letters from which a word counts; one with a digit in it counts at any length.
        share: Share of a text's content words that a contrast takes out, one at the least; 1 for all of them.
    """
    return ContentWords(at_least=at_least, share=share)
