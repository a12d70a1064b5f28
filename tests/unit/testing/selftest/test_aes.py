from __future__ import annotations

import pytest

from vecveil.testing.selftest.aes import encrypted


def test_the_example_of_fips_197() -> None:
    block = encrypted(bytes(range(32)), bytes.fromhex("00112233445566778899aabbccddeeff"))
    assert block.hex() == "8ea2b7ca516745bfeafc49904b496089"


@pytest.mark.parametrize(
    ("counter", "stream"),
    [
        # NIST SP 800-38A, F.5.5: the output blocks of AES-256 in counter mode.
        ("f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff", "0bdf7df1591716335e9a8b15c860c502"),
        ("f0f1f2f3f4f5f6f7f8f9fafbfcfdff00", "5a6e699d536119065433863c8f657b94"),
    ],
)
def test_the_counter_mode_of_nist(counter: str, stream: str) -> None:
    key = bytes.fromhex("603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4")
    assert encrypted(key, bytes.fromhex(counter)).hex() == stream
