"""Veils: a concept, an embedder, a shape and a mechanism, learned once and used everywhere."""

from vecveil.veil.corpus import read_passages
from vecveil.veil.guard import Guard
from vecveil.veil.learn import learn
from vecveil.veil.protect_file import ProtectReport, protect_file
from vecveil.veil.veil import Veil

__all__ = ["Guard", "ProtectReport", "Veil", "learn", "protect_file", "read_passages"]
