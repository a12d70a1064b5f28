"""Signatures of veils: who says that a folder is theirs."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from vecveil.core.atomic import atomic_file
from vecveil.core.errors import ArtifactError, InvalidInputError
from vecveil.core.key import Key
from vecveil.files.folder import read_regular_file

SIGNATURE = "signature.json"
PURPOSE = b"vecveil sign"


def public_key(key: Key) -> str:
    """Return what others check the signatures of a key by: 64 hexadecimal digits, which tell nothing of the key."""
    return bytes(_signer(key).public_key().public_bytes_raw()).hex()


def sign_folder(folder: Path, digest: str, key: Key) -> None:
    """Sign the artifact in `folder`, which has that digest, by Ed25519; an earlier signature is replaced."""
    document = {"public_key": public_key(key), "signature": _signer(key).sign(_statement(digest)).hex()}
    with atomic_file(folder / SIGNATURE) as draft:
        draft.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")


def require_signature(folder: Path, digest: str, public: str) -> None:
    """Raise unless the owner of a public key has signed the artifact in `folder`, which has that digest."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    if not re.fullmatch(r"[0-9a-f]{64}", public):
        raise InvalidInputError(f"a public key has 64 hexadecimal digits (vecveil key public FILE), got {public!r}")
    try:
        document = json.loads(read_regular_file(folder / SIGNATURE, most=4096))
        found, signature = document["public_key"], bytes.fromhex(document["signature"])
    except FileNotFoundError:
        raise ArtifactError(f"{folder} is not signed, and {public[:8]}… must have signed it") from None
    except (OSError, ValueError, TypeError, KeyError):
        raise ArtifactError(f"{folder / SIGNATURE} is damaged") from None
    if found != public:
        raise ArtifactError(f"{folder} was signed by another key than {public[:8]}…")
    try:
        Ed25519PublicKey.from_public_bytes(bytes.fromhex(public)).verify(signature, _statement(digest))
    except InvalidSignature:
        raise ArtifactError(f"{folder} was changed after it was signed, or its signature is forged") from None


def _signer(key: Key) -> Any:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    return Ed25519PrivateKey.from_private_bytes(key.derive(PURPOSE, b""))


def _statement(digest: str) -> bytes:
    return b"vecveil artifact " + bytes.fromhex(digest)
