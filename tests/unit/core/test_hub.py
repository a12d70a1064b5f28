"""Commits of models, without a hub: what it would say is put in its place."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from huggingface_hub.errors import RepositoryNotFoundError, RevisionNotFoundError

from vecveil.core.errors import InvalidInputError, MissingExtraError
from vecveil.core.hub import Snapshot, find_snapshot

COMMIT = "0123456789abcdef0123456789abcdef01234567"


class Answer:
    """What errors of the hub's library want to be made of."""

    headers: dict[str, str] = {}  # noqa: RUF012
    request = None


def refuse(error: Exception) -> Callable[..., Any]:
    def call(*_: object, **__: object) -> None:
        raise error

    return call


@pytest.fixture
def away(monkeypatch: pytest.MonkeyPatch) -> Callable[[Exception], None]:
    """Makes the hub answer with an error."""
    return lambda error: monkeypatch.setattr("huggingface_hub.HfApi.model_info", refuse(error))


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """A hub that knows one model; the files that it holds can be added."""
    files: list[str] = []

    def download(name: str, *, revision: str | None, cache_dir: str | None, ignore_patterns: list[str]) -> str:
        del name, revision, cache_dir
        assert "*pytorch_model*" in ignore_patterns
        folder = tmp_path / "snapshots" / COMMIT
        folder.mkdir(parents=True)
        for file in files:
            (folder / file).touch()
        return str(folder)

    monkeypatch.setattr("huggingface_hub.HfApi.model_info", lambda *_, **__: None)
    monkeypatch.setattr("huggingface_hub.snapshot_download", download)
    return files


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """A cache, laid out as the hub's own, with one commit of `acme/tiny`."""
    model = tmp_path / "cache" / "models--acme--tiny"
    (model / "refs").mkdir(parents=True)
    (model / "refs" / "main").write_text(COMMIT, encoding="utf-8")
    (model / "snapshots" / COMMIT).mkdir(parents=True)
    (model / "snapshots" / COMMIT / "config.json").write_text("{}", encoding="utf-8")
    return tmp_path / "cache"


@pytest.mark.parametrize("file", ["modules.json", "config.json"])
def test_a_model_of_the_hub_is_fetched_at_one_commit(hub: list[str], tmp_path: Path, file: str) -> None:
    hub.append(file)
    assert find_snapshot("acme/tiny", None) == Snapshot(tmp_path / "snapshots" / COMMIT, COMMIT)


def test_a_repository_that_holds_no_model_is_refused(hub: list[str]) -> None:
    with pytest.raises(InvalidInputError, match=r"'acme/tiny': the hub holds neither modules.json nor config.json"):
        find_snapshot("acme/tiny", None)


@pytest.mark.parametrize("revision", [None, "main", COMMIT])
def test_a_local_copy_serves_while_the_hub_is_away(
    away: Callable[[Exception], None], cache: Path, revision: str | None
) -> None:
    away(ConnectionError("no network"))
    folder = cache / "models--acme--tiny" / "snapshots" / COMMIT
    found = find_snapshot("acme/tiny", revision, cache=str(cache))
    assert found == Snapshot(folder, COMMIT)


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (ConnectionError("no network"), r"no copy in the cache, and the hub cannot be reached \(ConnectionError\)"),
        (RevisionNotFoundError("?", response=Answer()), "the hub knows the model, but not this revision"),
        (RepositoryNotFoundError("?", response=Answer()), "the hub has no such model or does not show it without"),
    ],
)
def test_a_model_that_is_nowhere_is_refused_with_the_reason(
    away: Callable[[Exception], None], cache: Path, error: Exception, reason: str
) -> None:
    away(error)
    with pytest.raises(InvalidInputError, match=f"cannot load the model 'acme/tiny@v2': .*{reason}"):
        find_snapshot("acme/tiny", "v2", cache=str(cache))


def test_what_can_be_no_name_is_refused_before_the_hub_is_asked() -> None:
    with pytest.raises(InvalidInputError, match="'a/b/c': neither a folder nor a name on a hub"):
        find_snapshot("a/b/c", None)


def test_a_missing_library_names_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub.errors", None)
    with pytest.raises(MissingExtraError, match=r"vecveil\[models\]"):
        find_snapshot("acme/tiny", None)
