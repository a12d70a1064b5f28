"""Haystack: embedders of texts and documents that give protected vectors."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from vecveil.core.errors import InvalidInputError, MissingExtraError
from vecveil.integrations.lists import as_lists
from vecveil.veil import Guard

try:
    from haystack import Document, component, default_from_dict, default_to_dict
except ImportError:
    raise MissingExtraError("haystack-ai", "haystack") from None


@component
class VeiledTextEmbedder:
    """Protects the vector of a query.

    Args:
        guard: The veil, its budget, its key and its ledger; made from names and paths, so that a pipeline with it can
            be saved.
    """

    def __init__(self, guard: Guard) -> None:
        self.guard = guard

    def warm_up(self) -> None:
        """Load the model."""
        _ = self.guard.model

    @component.output_types(embedding=list[float], meta=dict[str, Any])
    def run(self, text: str) -> dict[str, Any]:
        """Return the protected vector of `text` as `embedding`."""
        if not isinstance(text, str):
            raise InvalidInputError(
                f"VeiledTextEmbedder takes one text, got {type(text).__name__}; VeiledDocumentEmbedder takes documents"
            )
        return {"embedding": as_lists(self.guard.texts([text]))[0], "meta": _meta(self.guard)}

    def to_dict(self) -> dict[str, Any]:
        """Return the component as plain data, without any key."""
        return default_to_dict(self, guard=self.guard.settings())

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> VeiledTextEmbedder:
        """Return the component that was written down as `data`."""
        found: VeiledTextEmbedder = default_from_dict(cls, _with_guard(data))
        return found


@component
class VeiledDocumentEmbedder:
    """Protects the vectors of documents; their ids are what the ledger knows them by.

    Args:
        guard: The veil, its budget, its key and its ledger; made from names and paths, so that a pipeline with it can
            be saved.
        meta_fields_to_embed: Fields of a document's meta data that are embedded with its content.
        embedding_separator: What stands between them.
    """

    def __init__(
        self, guard: Guard, *, meta_fields_to_embed: list[str] | None = None, embedding_separator: str = "\n"
    ) -> None:
        self.guard = guard
        self.meta_fields_to_embed = meta_fields_to_embed or []
        self.embedding_separator = embedding_separator

    def warm_up(self) -> None:
        """Load the model."""
        _ = self.guard.model

    @component.output_types(documents=list[Document], meta=dict[str, Any])
    def run(self, documents: list[Document]) -> dict[str, Any]:
        """Return copies of `documents` with protected vectors."""
        if not isinstance(documents, list) or any(not isinstance(one, Document) for one in documents):
            raise InvalidInputError(
                "VeiledDocumentEmbedder takes a list of documents; a single text is for VeiledTextEmbedder"
            )
        vectors = self.guard.texts([self._text(one) for one in documents], ids=[one.id for one in documents])
        embedded = [replace(one, embedding=row) for one, row in zip(documents, as_lists(vectors), strict=True)]
        return {"documents": embedded, "meta": _meta(self.guard)}

    def to_dict(self) -> dict[str, Any]:
        """Return the component as plain data, without any key."""
        return default_to_dict(
            self,
            guard=self.guard.settings(),
            meta_fields_to_embed=self.meta_fields_to_embed,
            embedding_separator=self.embedding_separator,
        )

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> VeiledDocumentEmbedder:
        """Return the component that was written down as `data`."""
        found: VeiledDocumentEmbedder = default_from_dict(cls, _with_guard(data))
        return found

    def _text(self, document: Document) -> str:
        fields = [document.meta.get(name) for name in self.meta_fields_to_embed]
        parts = [*(str(value) for value in fields if value is not None), document.content or ""]
        return self.embedding_separator.join(parts)


def _meta(guard: Guard) -> dict[str, Any]:
    return {"model": guard.opened_veil.fingerprint.model, "veil": guard.opened_veil.digest()}


def _with_guard(data: dict[str, Any]) -> dict[str, Any]:
    settings = data["init_parameters"]
    return {**data, "init_parameters": {**settings, "guard": Guard.of(settings["guard"])}}
