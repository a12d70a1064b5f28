"""Folders of a user: data that must not get lost, and caches."""

from __future__ import annotations

from pathlib import Path

from platformdirs import user_cache_path, user_data_path


def data_folder() -> Path:
    """Return the folder of ledgers and keys."""
    return user_data_path("vecveil", appauthor=False)


def cache_folder() -> Path:
    """Return the folder of public things that can be made again."""
    return user_cache_path("vecveil", appauthor=False)
