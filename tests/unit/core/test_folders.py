from __future__ import annotations

import sys
from pathlib import Path

import pytest

from vecveil.core.folders import cache_folder, data_folder


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have other places")
def test_folders_are_where_the_system_wants_them(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert data_folder() == tmp_path / "data" / "vecveil"
    assert cache_folder() == tmp_path / "cache" / "vecveil"


def test_what_must_not_get_lost_is_not_in_a_cache() -> None:
    assert cache_folder() not in {data_folder(), *data_folder().parents}
