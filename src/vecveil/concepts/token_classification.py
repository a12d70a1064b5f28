"""Entities of a Hugging Face token classifier as a concept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

from vecveil.concepts.concept import Concept
from vecveil.concepts.folding import without_lone_surrogates
from vecveil.concepts.passage import Passage
from vecveil.concepts.settings import checked_names
from vecveil.concepts.span import Span, Spans, disjoint
from vecveil.core.checks import one_of
from vecveil.core.errors import InvalidInputError, MissingExtraError

_BATCH = 16
_TIMEOUT_SECONDS = 10.0
# RoBERTa and its kin give the first token the position after the padding index.
_COUNTING_AFTER_PADDING = ("roberta", "camembert", "longformer", "mpnet")


@dataclass(frozen=True, kw_only=True)
class TokenClassification(Concept):
    """Entities that a token-classification model recognises, such as the paper's d4data/biomedical-ner-all.

    A text longer than the model takes is read in windows that overlap, so nothing at its end is missed. A find that
    covers a part of a word is widened to the whole word.

    Attributes:
        labels: The model's labels that are private, without the prefixes B- and I-.
        model: The model, by its name on the hub or as a folder.
        revision: The commit, branch or tag of the model on the hub.
    """

    kind: ClassVar[str] = "token-classification"

    labels: tuple[str, ...]
    model: str
    revision: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "labels", checked_names(self.labels, "label"))

    def find_all(self, passages: Sequence[Passage]) -> list[Spans]:
        """Return the private entities of each passage."""
        classifier = _load_classifier(self.model, self.revision)
        known = {_without_prefix(label) for label in classifier.model.config.id2label.values()} - {"O"}
        for label in self.labels:
            one_of(label, known, "entity label")
        texts = [without_lone_surrogates(passage.text) for passage in passages]
        filled = [number for number, text in enumerate(texts) if text.strip()]
        found: list[Spans] = [()] * len(texts)
        if filled:
            results = classifier([texts[number] for number in filled], batch_size=_BATCH)
            for number, entities in zip(filled, results, strict=True):
                found[number] = self._spans(texts[number], entities)
        return found

    @property
    def expected(self) -> tuple[str, ...]:
        """The labels that the concept is meant to find."""
        return self.labels

    def summary(self) -> Mapping[str, Any]:
        """Return the model and its labels, which anyone may know."""
        return {"kind": self.kind, "labels": list(self.labels), "model": self.model, "revision": self.revision}

    def _spans(self, text: str, entities: Sequence[Mapping[str, Any]]) -> Spans:
        private = [entity for entity in entities if _without_prefix(entity["entity_group"]) in self.labels]
        return disjoint(
            Span(*_whole_words(text, entity["start"], entity["end"]), _without_prefix(entity["entity_group"]))
            for entity in private
            if entity["start"] < entity["end"]
        )


@cache
def _load_classifier(model: str, revision: str | None) -> Any:
    try:
        from safetensors import SafetensorError
        from transformers import AutoModelForTokenClassification, AutoTokenizer, TokenClassificationPipeline
    except ImportError:
        raise MissingExtraError("transformers", "models") from None

    class WholeTextPipeline(TokenClassificationPipeline):
        def aggregate_overlapping_entities(self, entities: list[dict[str, Any]]) -> list[dict[str, Any]]:
            # The library keeps the longer of two finds where windows overlap; here all are kept, and merged later.
            return entities

    local = _must_be_local(model, revision)
    try:
        tokenizer = AutoTokenizer.from_pretrained(model, revision=revision, local_files_only=local)
        network, loading = AutoModelForTokenClassification.from_pretrained(
            model, revision=revision, local_files_only=local, output_loading_info=True
        )
    except (OSError, ValueError, KeyError, RuntimeError, SafetensorError) as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise InvalidInputError(f"the token classifier {model!r} cannot be loaded: {reason}") from None
    if loading["missing_keys"]:
        missing = ", ".join(sorted(loading["missing_keys"]))
        raise InvalidInputError(f"{model!r} is not a trained token classifier; it has no weights for {missing}")
    if not tokenizer.is_fast:
        raise InvalidInputError(f"the tokenizer of {model!r} does not tell where its tokens stand in the text")
    tokenizer.model_max_length = min(tokenizer.model_max_length, _positions(network.config))
    build: Any = WholeTextPipeline  # The library gives no types for what its constructor takes.
    return build(
        model=network, tokenizer=tokenizer, aggregation_strategy="simple", stride=tokenizer.model_max_length // 4
    )


def _must_be_local(model: str, revision: str | None) -> bool:
    """Return whether only the disk can be asked, or raise if neither disk nor hub has the model.

    Downloads are retried for most of a minute, so a misspelt name or a missing network has to show before.
    """
    from huggingface_hub import HfApi, try_to_load_from_cache

    if Path(model).is_dir():
        return True
    try:
        HfApi().model_info(model, revision=revision, timeout=_TIMEOUT_SECONDS)
    except Exception as error:
        if isinstance(try_to_load_from_cache(model, "config.json", revision=revision), str):
            return True
        reason = f"no such folder, no copy in the cache, and the hub does not give it ({type(error).__name__})"
        raise InvalidInputError(f"the token classifier {model!r} cannot be loaded: {reason}") from error
    return False


def _positions(config: Any) -> int:
    """Return how many tokens the model takes; many tokenizers do not say."""
    positions = int(getattr(config, "max_position_embeddings", 512))
    if any(name in config.model_type for name in _COUNTING_AFTER_PADDING):
        return positions - int(config.pad_token_id) - 1
    return positions


def _without_prefix(label: str) -> str:
    return label[2:] if label.startswith(("B-", "I-")) else label


def _whole_words(text: str, start: int, end: int) -> tuple[int, int]:
    while start > 0 and text[start].isalnum() and text[start - 1].isalnum():
        start -= 1
    while end < len(text) and text[end - 1].isalnum() and text[end].isalnum():
        end += 1
    return start, end
