"""Veils: learned once and used everywhere."""

from vecveil.veil.guard import Guard
from vecveil.veil.learn import learn
from vecveil.veil.passages import read_passages
from vecveil.veil.protect_file import ProtectReport, protect_file
from vecveil.veil.veil import Veil

__all__ = ["Guard", "ProtectReport", "Veil", "learn", "protect_file", "read_passages"]
