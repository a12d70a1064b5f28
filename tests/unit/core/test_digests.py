from __future__ import annotations

from pathlib import Path

import numpy as np

from vecveil.core.digests import array_digest, file_digest, json_digest, text_digest


def test_order_of_keys_does_not_change_a_digest() -> None:
    assert json_digest({"a": 1, "b": 2}) == json_digest({"b": 2, "a": 1})
    assert json_digest({"a": 1}) != json_digest({"a": 2})


def test_shape_and_type_are_part_of_an_array() -> None:
    values = np.arange(6.0)
    digests = {array_digest(values), array_digest(values.reshape(2, 3)), array_digest(values.astype(np.float32))}
    assert len(digests) == 3


def test_memory_layout_is_not_part_of_an_array() -> None:
    values = np.arange(6.0).reshape(2, 3)
    assert array_digest(values) == array_digest(np.asfortranarray(values))


def test_a_text_digest_takes_any_string() -> None:
    assert len(text_digest("naïve \ud800")) == 32


def test_a_file_digest_is_of_the_content(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x" * 3_000_000)
    (tmp_path / "b").write_bytes(b"x" * 3_000_000)
    assert file_digest(tmp_path / "a") == file_digest(tmp_path / "b")
