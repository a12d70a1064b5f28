"""Published models, known by their files wherever those come from."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class PublishedModel:
    """A model whose files are known.

    Attributes:
        name: What users call it, and what its fingerprint says.
        digest: What `digest_folder` gives for its files.
        commit: The commit that is fetched from the hub.
        weights: SHA-256 of its `model.safetensors`.
    """

    name: str
    digest: str
    commit: str
    weights: str


MINILM = PublishedModel(
    name="all-MiniLM-L6-v2",
    digest="0cfc83afb449f81d5535c4f5d76b097ee7074a09fdb02ad94ea5bb3c282e01f6",
    commit="c9745ed1d9f207416be6d2e6f8de32d1f16199bf",
    weights="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
)
MPNET = PublishedModel(
    name="all-mpnet-base-v2",
    digest="e66b436e5217d5a96e494c4bd167003f89f8a2005866606e0d16f28c1b49fdd2",
    commit="e8c3b32edf5434bc2275fc9bab85f82640a19130",
    weights="78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658",
)

PUBLISHED = {model.digest: model.name for model in (MINILM, MPNET)}
"""Names by `digest_folder`."""
