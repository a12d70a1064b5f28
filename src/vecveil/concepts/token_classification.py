"""Entities of a Hugging Face token classifier, as a concept."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

from vecveil.concepts.concept import Concept
from vecveil.concepts.folding import without_lone_surrogates
from vecveil.concepts.passage import Passage, Span, Spans, merge_overlaps
from vecveil.concepts.settings import check_names
from vecveil.core.checks import one_of
from vecveil.core.errors import InvalidInputError, needs_extra
from vecveil.core.model_folders import find_snapshot

_BATCH = 16
# RoBERTa and its kin give the first token the position after the padding index.
_COUNTING_AFTER_PADDING = ("roberta", "camembert", "longformer", "mpnet")


@dataclass(frozen=True, kw_only=True)
class TokenClassification(Concept):
    """Entities that a token-classification model recognizes, such as the paper's d4data/biomedical-ner-all.

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
        object.__setattr__(self, "labels", check_names(self.labels, "label"))

    def find_all(self, passages: Sequence[Passage]) -> list[Spans]:
        """Return the private entities of each passage."""
        classifier = _load_classifier(self.model, self.revision)
        known = {_strip_prefix(label) for label in classifier.model.config.id2label.values()} - {"O"}
        for label in self.labels:
            one_of(label, known, "entity label")
        texts = [without_lone_surrogates(passage.text) for passage in passages]
        filled = [text for text in texts if text.strip()]
        results = iter(classifier(filled, batch_size=_BATCH) if filled else ())
        return [self._to_spans(text, next(results)) if text.strip() else () for text in texts]

    def summary(self) -> Mapping[str, Any]:
        """Return the model and its labels, which anyone may know."""
        return {"kind": self.kind, "labels": list(self.labels), "model": self.model, "revision": self.revision}

    def _to_spans(self, text: str, entities: Sequence[Mapping[str, Any]]) -> Spans:
        labeled = [(_strip_prefix(each["entity_group"]), each["start"], each["end"]) for each in entities]
        return merge_overlaps(
            Span(*_widen_to_words(text, start, end), label)
            for label, start, end in labeled
            if label in self.labels and start < end
        )


@cache
def _load_classifier(model: str, revision: str | None) -> Any:
    with needs_extra("transformers", "local"):
        from safetensors import SafetensorError
        from transformers import AutoModelForTokenClassification, AutoTokenizer, TokenClassificationPipeline

    class WholeTextPipeline(TokenClassificationPipeline):
        def aggregate_overlapping_entities(self, entities: list[dict[str, Any]]) -> list[dict[str, Any]]:
            # The library keeps the longer of two finds where windows overlap; here all are kept, and merged later.
            return entities

    folder = Path(model) if Path(model).is_dir() else find_snapshot(model, revision).folder
    try:
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        network, loading = AutoModelForTokenClassification.from_pretrained(
            folder, local_files_only=True, use_safetensors=True, output_loading_info=True
        )
    except (OSError, ValueError, KeyError, RuntimeError, SafetensorError) as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise InvalidInputError(f"the token classifier {model!r} cannot be loaded: {reason}") from None
    if loading["missing_keys"]:
        missing = ", ".join(sorted(loading["missing_keys"]))
        raise InvalidInputError(f"{model!r} is not a trained token classifier; it has no weights for {missing}")
    if not tokenizer.is_fast:
        raise InvalidInputError(f"the tokenizer of {model!r} does not give the places of its tokens in the text")
    tokenizer.model_max_length = min(tokenizer.model_max_length, _count_positions(network.config))
    build: Any = WholeTextPipeline  # The library gives no types for what its constructor takes.
    return build(
        model=network, tokenizer=tokenizer, aggregation_strategy="simple", stride=tokenizer.model_max_length // 4
    )


def _count_positions(config: Any) -> int:
    """Return how many tokens the model takes; many tokenizers do not say."""
    positions = int(getattr(config, "max_position_embeddings", 512))
    if any(name in config.model_type for name in _COUNTING_AFTER_PADDING):
        return positions - int(config.pad_token_id) - 1
    return positions


def _strip_prefix(label: str) -> str:
    return label[2:] if label.startswith(("B-", "I-")) else label


def _widen_to_words(text: str, start: int, end: int) -> tuple[int, int]:
    while start > 0 and text[start].isalnum() and text[start - 1].isalnum():
        start -= 1
    while end < len(text) and text[end - 1].isalnum() and text[end].isalnum():
        end += 1
    return start, end
