"""Texts to vectors: local models, remote services, vectors made elsewhere, and a cache for any of them."""

from vecveil.embedders.cache import CachedEmbedder
from vecveil.embedders.embedder import Embedder, inputs_of
from vecveil.embedders.fingerprint import Fingerprint
from vecveil.embedders.openai import OpenAIEmbedder
from vecveil.embedders.precomputed import PrecomputedEmbedder
from vecveil.embedders.registry import EMBEDDERS
from vecveil.embedders.resolve import resolve_embedder
from vecveil.embedders.sentence_transformers import SentenceTransformersEmbedder

__all__ = [
    "EMBEDDERS",
    "CachedEmbedder",
    "Embedder",
    "Fingerprint",
    "OpenAIEmbedder",
    "PrecomputedEmbedder",
    "SentenceTransformersEmbedder",
    "inputs_of",
    "resolve_embedder",
]
