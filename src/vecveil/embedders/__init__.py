"""Texts to vectors: local models, services, precomputed vectors, and a cache."""

from vecveil.embedders.cache import CachedEmbedder
from vecveil.embedders.embedder import Embedder, Fingerprint
from vecveil.embedders.openai import OpenAIEmbedder
from vecveil.embedders.precomputed import PrecomputedEmbedder
from vecveil.embedders.registry import EMBEDDERS, EmbedderLike, FunctionEmbedder, resolve_embedder
from vecveil.embedders.sentence_transformers import SentenceTransformersEmbedder

__all__ = [
    "EMBEDDERS",
    "CachedEmbedder",
    "Embedder",
    "EmbedderLike",
    "Fingerprint",
    "FunctionEmbedder",
    "OpenAIEmbedder",
    "PrecomputedEmbedder",
    "SentenceTransformersEmbedder",
    "resolve_embedder",
]
