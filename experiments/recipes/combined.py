"""What attacks read behind combinations: redact and protect, protect and encrypt.

    python experiments/recipes/combined.py [--texts 2000] [--seeds 5]

The bundled corpus and its concept, noise ratio 0.5; every attack is trained on what each combination lets out.
"""

from __future__ import annotations

import argparse
import asyncio
import os
from collections.abc import Sequence
from dataclasses import dataclass

import ironcore_alloy as alloy
import numpy as np

from reproduction.defenses import DefenseName
from vecveil import samples
from vecveil.audit.defenses import Defense, Undefended
from vecveil.audit.frontier import Workbench
from vecveil.concepts import Passage, load_concept
from vecveil.core.arrays import Embeddings, Matrix
from vecveil.veil.budget import Budget

ATTACKS = ("mlc,batch_size=256,epochs=60,patience=8", "nearest")
NOISE_RATIO = 0.5
STORE = "notes"


@dataclass(frozen=True, kw_only=True, eq=False)
class Chained:
    """One defense after another."""

    first: Defense
    then: Defense

    @property
    def noisy(self) -> bool:
        """Whether two releases differ."""
        return self.first.noisy or self.then.noisy

    @property
    def axes(self) -> Matrix | None:
        """The axes of the noise."""
        return self.first.axes if self.then.axes is None else self.then.axes

    def protect(
        self, passages: Sequence[Passage], clean: Embeddings, rng: np.random.Generator, *, times: int = 1
    ) -> Embeddings:
        """Return what comes out at the end."""
        return self.then.protect(passages, self.first.protect(passages, clean, rng), rng, times=times)


@dataclass(frozen=True, kw_only=True, eq=False)
class Encrypted:
    """Vectors that ironcore-alloy has encrypted, one key for all of a store, so that they can be searched.

    The attacker has no key. It has encrypted vectors of texts that it knows, as after an insertion of its own.
    """

    client: alloy.StandaloneVectorClient
    noisy: bool = True
    axes: Matrix | None = None

    @classmethod
    def new(cls) -> Encrypted:
        """Return an encryption with a fresh key."""
        secret = alloy.RotatableSecret(alloy.StandaloneSecret(1, alloy.Secret(os.urandom(64))), None)
        secrets = {STORE: alloy.VectorSecret(approximation_factor=2.0, secret=secret)}
        sdk = alloy.Standalone(alloy.StandaloneConfiguration(alloy.StandardSecrets(None, []), {}, secrets))
        return cls(client=sdk.vector())

    def protect(
        self, passages: Sequence[Passage], clean: Embeddings, rng: np.random.Generator, *, times: int = 1
    ) -> Embeddings:
        """Return the encrypted vectors, brought to the length of the clean ones: their scale is the key's."""
        del passages, rng, times
        rows = asyncio.run(self._encrypt(clean))
        return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(clean.dtype)

    async def _encrypt(self, clean: Embeddings) -> Matrix:
        tenant = alloy.AlloyMetadata.new_simple("tenant")
        found = []
        for row in clean:
            plain = alloy.PlaintextVector(plaintext_vector=row.tolist(), secret_path=STORE, derivation_path="")
            found.append((await self.client.encrypt(plain, tenant)).encrypted_vector)
        return np.asarray(found)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=int, default=2000)
    parser.add_argument("--seeds", type=int, default=5)
    asked = parser.parse_args()
    texts = [Passage(sentence.text) for sentence in samples.clinical_sentences(asked.texts)]
    concept = load_concept(samples.concept_path())
    bench = Workbench.from_texts(concept, texts, embedder="minilm")
    veil = DefenseName(name="vecveil", budget=Budget(value=NOISE_RATIO, scale="noise-ratio"))

    print("| what is stored | mlc | nearest |")
    print("| --- | ---: | ---: |")
    for name in ("clean vectors", "redacted", "protected", "redacted, protected", "encrypted", "protected, encrypted"):
        cells = []
        for attack in ATTACKS:
            found = []
            for seed in range(asked.seeds):
                protected, encrypted = veil.build(bench, seed), Encrypted.new()
                defense: dict[str, Defense] = {
                    "clean vectors": Undefended(),
                    "redacted": bench.redacted,
                    "protected": protected,
                    "redacted, protected": Chained(first=bench.redacted, then=protected),
                    "encrypted": encrypted,
                    "protected, encrypted": Chained(first=protected, then=encrypted),
                }
                row = bench.attack(attack, defense[name], seed)
                found.append(row.leakage.value - row.chance)
            cells.append(f"{100 * np.mean(found):.1f} % ± {100 * np.std(found, ddof=1):.1f}")
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
