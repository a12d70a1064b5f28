"""Haystack: embedders of texts and documents that give protected vectors."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any, Self

from vecveil.core.arrays import to_lists
from vecveil.core.errors import InvalidInputError, needs_extra
from vecveil.veil import Guard

with needs_extra("haystack-ai", "haystack"):
    from haystack import Document, component, default_from_dict, default_to_dict


class _Guarded:
    """The parts that both embedders share."""

    guard: Guard

    def warm_up(self) -> None:
        """Load the model."""
        _ = self.guard.model

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Return the component that `data` describes."""
        settings = data["init_parameters"]
        guard = Guard.from_settings(settings["guard"])
        embedder: Self = default_from_dict(cls, {**data, "init_parameters": {**settings, "guard": guard}})
        return embedder

    def _meta(self) -> dict[str, Any]:
        veil = self.guard.opened_veil
        return {"model": veil.fingerprint.model, "veil": veil.digest()}


@component
class VeiledTextEmbedder(_Guarded):
    """Protects the vector of a query.

    Args:
        guard: The veil, its budget, its key and its ledger; made from names and paths, so that a pipeline with it can
            be saved.
    """

    def __init__(self, guard: Guard) -> None:
        self.guard = guard

    @component.output_types(embedding=list[float], meta=dict[str, Any])
    def run(self, text: str) -> dict[str, Any]:
        """Return the protected vector of `text` as `embedding`."""
        if not isinstance(text, str):
            raise InvalidInputError(
                f"VeiledTextEmbedder takes one text, got {type(text).__name__}; VeiledDocumentEmbedder takes documents"
            )
        return {"embedding": to_lists(self.guard.protect_queries([text]))[0], "meta": self._meta()}

    @component.output_types(embedding=list[float], meta=dict[str, Any])
    async def run_async(self, text: str) -> dict[str, Any]:
        """Return what `run` does, from a thread."""
        return await asyncio.to_thread(self.run, text)

    def to_dict(self) -> dict[str, Any]:
        """Return the component as plain data, without any key."""
        return default_to_dict(self, guard=self.guard.settings())


@component
class VeiledDocumentEmbedder(_Guarded):
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

    @component.output_types(documents=list[Document], meta=dict[str, Any])
    def run(self, documents: list[Document]) -> dict[str, Any]:
        """Return copies of `documents` with protected vectors."""
        if not isinstance(documents, list) or any(not isinstance(one, Document) for one in documents):
            raise InvalidInputError(
                "VeiledDocumentEmbedder takes a list of documents; a single text is for VeiledTextEmbedder"
            )
        texts = [self._join_text(one) for one in documents]
        vectors = self.guard.protect_texts(texts, ids=[one.id for one in documents])
        embedded = [replace(one, embedding=row) for one, row in zip(documents, to_lists(vectors), strict=True)]
        return {"documents": embedded, "meta": self._meta()}

    @component.output_types(documents=list[Document], meta=dict[str, Any])
    async def run_async(self, documents: list[Document]) -> dict[str, Any]:
        """Return what `run` does, from a thread."""
        return await asyncio.to_thread(self.run, documents)

    def to_dict(self) -> dict[str, Any]:
        """Return the component as plain data, without any key."""
        return default_to_dict(
            self,
            guard=self.guard.settings(),
            meta_fields_to_embed=self.meta_fields_to_embed,
            embedding_separator=self.embedding_separator,
        )

    def _join_text(self, document: Document) -> str:
        fields = [document.meta.get(name) for name in self.meta_fields_to_embed]
        parts = [*(str(value) for value in fields if value is not None), document.content or ""]
        return self.embedding_separator.join(parts)
