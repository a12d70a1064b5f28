from __future__ import annotations

import multiprocessing

import pytest

from vecveil.core.errors import InvalidInputError
from vecveil.core.key import Key


def test_every_new_key_is_another() -> None:
    assert len({Key.new().secret for _ in range(50)}) == 50


def test_a_key_shows_its_fingerprint_and_never_itself() -> None:
    key = Key(bytes(range(32)))
    assert repr(key) == str(key) == f"<Key {key.fingerprint}>"
    assert key.secret.hex() not in f"{key!r} {[key]} {key}"
    assert key.fingerprint not in key.secret.hex()


def test_what_is_derived_depends_on_key_purpose_and_data() -> None:
    key, other = Key(bytes(range(32))), Key(bytes(range(1, 33)))
    derived = {
        key.derive(b"noise", b"record"),
        other.derive(b"noise", b"record"),
        key.derive(b"token", b"record"),
        key.derive(b"noise", b"other"),
    }
    assert len(derived) == 4
    assert key.derive(b"noise", b"record") in derived


def test_derivation_is_pinned() -> None:
    """Another value here would give every record of every user other noise: a second release of all of them."""
    found = Key(bytes(range(32))).derive(b"vecveil noise", b"record").hex()
    assert found == "d6f30d07610d7670d5620dd22cd6fd56a1f43ceec61c1d3cc621af858812557b"


@pytest.mark.parametrize("secret", [b"", bytes(31), bytes(range(33)), "a" * 32])
def test_what_is_no_key_is_refused_and_not_shown(secret: object) -> None:
    with pytest.raises(InvalidInputError, match="32 bytes") as error:
        Key(secret)
    assert "aaa" not in str(error.value)


def test_a_key_of_one_repeated_byte_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="must be random"):
        Key(bytes(32))


def test_a_key_reaches_a_worker_as_it_is() -> None:
    key = Key.new()
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(key.derive, (b"noise", b"record")) == key.derive(b"noise", b"record")
