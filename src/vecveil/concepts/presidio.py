"""Presidio recognizers, as a concept."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

from vecveil.concepts.concept import Concept
from vecveil.concepts.entities import load_pipeline, name_download
from vecveil.concepts.folding import without_lone_surrogates
from vecveil.concepts.passage import Passage, Span, Spans, merge_overlaps
from vecveil.concepts.settings import check_names, to_settings
from vecveil.core.checks import not_negative, one_of
from vecveil.core.errors import InvalidInputError, needs_extra

_BATCH = 64


@dataclass(frozen=True, kw_only=True)
class Presidio(Concept):
    """Personal data that Presidio recognizes by patterns, checksums, context words and named entities.

    Attributes:
        entities: Presidio's names of what is private, such as PERSON and EMAIL_ADDRESS.
        score: The least confidence, from 0 to 1, at which a find counts; a phone number without a word such as
            "phone" near it scores 0.4.
        language: The language of the texts.
        model: The spaCy pipeline beneath, by name or folder.
    """

    kind: ClassVar[str] = "presidio"

    entities: tuple[str, ...]
    score: float = 0.5
    language: str = "en"
    model: str = "en_core_web_sm"

    def __post_init__(self) -> None:
        object.__setattr__(self, "entities", check_names(self.entities, "Presidio entity"))
        if not_negative(self.score, "score") > 1:
            raise InvalidInputError(f"score must lie between 0 and 1, got {self.score!r}")

    @property
    def expected(self) -> tuple[str, ...]:
        """The labels that the concept is meant to find."""
        return self.entities

    def find_all(self, passages: Sequence[Passage]) -> list[Spans]:
        """Return what the recognizers find in each passage."""
        analyzer = _load_analyzer(self.model, self.language)
        known = _list_entities(analyzer, self.language)
        for entity in self.entities:
            one_of(entity, known, "Presidio entity")
        texts = [without_lone_surrogates(passage.text) for passage in passages]
        artifacts = analyzer.nlp_engine.process_batch(texts, language=self.language, batch_size=_BATCH)
        asked = {"language": self.language, "entities": list(self.entities), "score_threshold": self.score}
        results = [analyzer.analyze(text, nlp_artifacts=artifact, **asked) for text, artifact in artifacts]
        return [merge_overlaps(Span(one.start, one.end, one.entity_type) for one in found) for found in results]

    def summary(self) -> Mapping[str, Any]:
        """Return the recognizers, which anyone may know."""
        return to_settings(self)


def _list_entities(analyzer: Any, language: str) -> set[str]:
    """Return what can really be found: Presidio also lists names that its spaCy pipeline never gives."""
    from presidio_analyzer.predefined_recognizers import SpacyRecognizer

    mapping = analyzer.nlp_engine.ner_model_configuration.model_to_presidio_entity_mapping
    given = {mapping[label] for label in analyzer.nlp_engine.nlp[language].get_pipe("ner").labels if label in mapping}
    others = (each for each in analyzer.registry.recognizers if not isinstance(each, SpacyRecognizer))
    return given.union(*(each.supported_entities for each in others))


@cache
def _load_analyzer(model: str, language: str) -> Any:
    with needs_extra("presidio-analyzer", "presidio", then=name_download(model)):
        from presidio_analyzer import AnalyzerEngine, RecognizerRegistry
        from presidio_analyzer.nlp_engine import SpacyNlpEngine
        from presidio_analyzer.predefined_recognizers import EmailRecognizer
        from tldextract import TLDExtract

    # Presidio's debug messages hold words of the texts, and its warnings are about languages nobody asked for.
    logging.getLogger("presidio-analyzer").setLevel(logging.ERROR)
    # Without a cache and without addresses it reads the list of public suffixes that comes with the package;
    # Presidio's own recognizer fetches the list over the network, and waits for it.
    bundled_suffixes = TLDExtract(cache_dir=None, suffix_list_urls=())

    class OfflineEmailRecognizer(EmailRecognizer):
        def validate_result(self, pattern_text: str) -> bool:
            return bool(bundled_suffixes(pattern_text).fqdn)

    engine: Any = SpacyNlpEngine(models=[{"lang_code": language, "model_name": model}])
    # A pipeline that is already there keeps the engine from downloading one.
    engine.nlp = {language: load_pipeline(model)}
    registry = RecognizerRegistry(supported_languages=[language])
    registry.load_predefined_recognizers(languages=[language], nlp_engine=engine)
    registry.recognizers = [
        OfflineEmailRecognizer(supported_language=each.supported_language)
        if isinstance(each, EmailRecognizer)
        else each
        for each in registry.recognizers
    ]
    return AnalyzerEngine(registry=registry, nlp_engine=engine, supported_languages=[language])
