"""The owner's key, from which noise is derived."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass, field

from vecveil.core.errors import InvalidInputError

KEY_BYTES = 32


@dataclass(frozen=True)
class Key:
    """256 random bits, shown nowhere: whoever has them can tell whether a release is that of a guessed text.

    >>> key = Key.new()
    >>> len(key.fingerprint)
    8

    Attributes:
        secret: The bits themselves.
    """

    secret: bytes = field(repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.secret, bytes) or len(self.secret) != KEY_BYTES:
            raise InvalidInputError(f"a key must be {KEY_BYTES} bytes, got something else (which is not shown)")
        if len(set(self.secret)) == 1:
            raise InvalidInputError("a key must be random, got the same byte throughout")

    @classmethod
    def new(cls) -> Key:
        """Return a key of fresh bits from the operating system."""
        return cls(secrets.token_bytes(KEY_BYTES))

    @property
    def fingerprint(self) -> str:
        """Eight characters that tell keys apart and give nothing away."""
        return self.derive(b"fingerprint", b"").hex()[:8]

    def derive(self, purpose: bytes, data: bytes) -> bytes:
        """Return 32 bytes that no one can compute without the key: BLAKE2b, keyed, with a purpose of up to 16 bytes."""
        return hashlib.blake2b(data, key=self.secret, person=purpose, digest_size=KEY_BYTES).digest()

    def __repr__(self) -> str:
        return f"<Key {self.fingerprint}>"
