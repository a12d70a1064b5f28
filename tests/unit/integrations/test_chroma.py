from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import chromadb
import numpy as np
import pytest
from chromadb.config import Settings
from chromadb.utils.embedding_functions import config_to_embedding_function

from support.guards import TEXTS, secret_of
from vecveil.core.errors import InvalidInputError
from vecveil.integrations.chroma import VeiledEmbeddingFunction
from vecveil.veil import Guard


def test_a_collection_holds_protected_vectors_and_is_opened_again_by_its_own_configuration(
    guard: Guard, tmp_path: Path
) -> None:
    quiet = Settings(anonymized_telemetry=False)
    client = chromadb.PersistentClient(str(tmp_path / "chroma"), settings=quiet)
    made = client.create_collection("notes", embedding_function=VeiledEmbeddingFunction(guard))
    made.add(ids=["a", "b", "c"], documents=TEXTS)
    again = client.get_collection("notes")
    kept = again.get(ids=["a", "b", "c"], include=["embeddings"])["embeddings"]
    assert np.allclose(np.asarray(kept), guard.protect_texts(TEXTS), atol=1e-6)
    found = again.query(query_texts=[TEXTS[2]], n_results=1)
    assert found["ids"] == [["c"]]
    assert made.configuration["hnsw"]["space"] == "cosine"
    files = [path for path in (tmp_path / "chroma").rglob("*") if path.is_file()]
    assert files
    assert not any(secret_of(guard).encode() in path.read_bytes() for path in files)


def test_the_configuration_goes_there_and_back(guard: Guard) -> None:
    function = VeiledEmbeddingFunction(guard)
    config = function.get_config()
    assert secret_of(guard) not in str(config)
    VeiledEmbeddingFunction.validate_config(config)
    assert VeiledEmbeddingFunction.build_from_config(config).get_config() == config
    found = config_to_embedding_function({"name": "vecveil", "type": "known", "config": config})
    assert isinstance(found, VeiledEmbeddingFunction)
    assert not function.is_legacy()


def test_another_veil_is_refused(guard: Guard, tmp_path: Path) -> None:
    function = VeiledEmbeddingFunction(guard)
    config = function.get_config()
    function.validate_config_update(config, config)
    replace(guard.opened_veil, epsilon=31.0).save(tmp_path / "changed.veil")
    changed = {**config, "veil": str(tmp_path / "changed.veil")}
    with pytest.raises(InvalidInputError, match="keeps its veil"):
        function.validate_config_update(config, changed)


def test_a_configuration_of_something_else_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="a guard has"):
        VeiledEmbeddingFunction.validate_config({"model": "x"})
