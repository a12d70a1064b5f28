"""Haystack: embedders of protected vectors, and a ranker of what they find."""

import asyncio
from dataclasses import replace
from typing import Any, Self

from vecveil.core.arrays import to_lists
from vecveil.core.errors import InvalidInputError, needs_extra
from vecveil.integrations.reranking import TOP, drop_seal, read_candidates
from vecveil.veil import Guard
from vecveil.veil.seal import SEAL, write_as_text

with needs_extra("haystack-ai", "haystack"):
    from haystack import Document, component, default_from_dict, default_to_dict


class _Guarded:
    """The parts that all components share."""

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
        seal: Whether documents get a seal too, in their meta data.
    """

    def __init__(
        self,
        guard: Guard,
        *,
        meta_fields_to_embed: list[str] | None = None,
        embedding_separator: str = "\n",
        seal: bool = False,
    ) -> None:
        self.guard = guard
        self.meta_fields_to_embed = meta_fields_to_embed or []
        self.embedding_separator = embedding_separator
        self.seal = seal

    @component.output_types(documents=list[Document], meta=dict[str, Any])
    def run(self, documents: list[Document]) -> dict[str, Any]:
        """Return copies of `documents` with protected vectors."""
        if not isinstance(documents, list) or any(not isinstance(one, Document) for one in documents):
            raise InvalidInputError(
                "VeiledDocumentEmbedder takes a list of documents; a single text is for VeiledTextEmbedder"
            )
        texts = [join_text(one, self.meta_fields_to_embed, self.embedding_separator) for one in documents]
        ids = [one.id for one in documents]
        if self.seal:
            vectors, seals = self.guard.protect_and_seal(texts, ids)
            sealed = zip(documents, map(write_as_text, seals), strict=True)
            documents = [replace(one, meta={**one.meta, SEAL: seal}) for one, seal in sealed]
        else:
            vectors = self.guard.protect_texts(texts, ids=ids)
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
            seal=self.seal,
        )


@component
class VeiledRanker(_Guarded):
    """Puts what a protected store has found into its exact order, by seals in the meta data or by the texts.

    Args:
        guard: The veil, and the key of its seals.
        top_k: How many documents come back.
        meta_fields_to_embed: Fields that were embedded with the content, where texts are embedded again.
        embedding_separator: What stands between them.
    """

    def __init__(
        self,
        guard: Guard,
        *,
        top_k: int = TOP,
        meta_fields_to_embed: list[str] | None = None,
        embedding_separator: str = "\n",
    ) -> None:
        self.guard = guard
        self.top_k = top_k
        self.meta_fields_to_embed = meta_fields_to_embed or []
        self.embedding_separator = embedding_separator

    @component.output_types(documents=list[Document])
    def run(self, query: str, documents: list[Document], top_k: int | None = None) -> dict[str, Any]:
        """Return copies of the nearest documents, with their cosines as scores and without their seals."""
        texts = [join_text(one, self.meta_fields_to_embed, self.embedding_separator) for one in documents]
        candidates = read_candidates([one.meta for one in documents], texts)
        hits = self.guard.rerank(query, [one.id for one in documents], candidates, top=top_k or self.top_k)
        found = [(documents[hit.row], hit.similarity) for hit in hits]
        return {"documents": [replace(one, meta=drop_seal(one.meta), score=score) for one, score in found]}

    @component.output_types(documents=list[Document])
    async def run_async(self, query: str, documents: list[Document], top_k: int | None = None) -> dict[str, Any]:
        """Return what `run` does, from a thread."""
        return await asyncio.to_thread(self.run, query, documents, top_k)

    def to_dict(self) -> dict[str, Any]:
        """Return the component as plain data, without any key."""
        return default_to_dict(
            self,
            guard=self.guard.settings(),
            top_k=self.top_k,
            meta_fields_to_embed=self.meta_fields_to_embed,
            embedding_separator=self.embedding_separator,
        )


def join_text(document: Document, meta_fields: list[str], separator: str) -> str:
    """Return what is embedded of a document: its content, behind some fields of its meta data."""
    fields = [document.meta.get(name) for name in meta_fields]
    return separator.join([*(str(value) for value in fields if value is not None), document.content or ""])
