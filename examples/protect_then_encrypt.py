"""protect, then encrypt: what the store holds is protected, and of no use without the key of ironcore-alloy."""

import asyncio
import os

import ironcore_alloy as alloy

import vecveil as vv

guard = vv.Guard("patients.veil", noise_ratio=0.5, key="patients.key", ledger="default")
secret = alloy.RotatableSecret(alloy.StandaloneSecret(1, alloy.Secret(os.urandom(64))), None)  # keep it in a vault
secrets = {"notes": alloy.VectorSecret(approximation_factor=2.0, secret=secret)}
sdk = alloy.Standalone(alloy.StandaloneConfiguration(alloy.StandardSecrets(None, []), {}, secrets))
vector = guard.protect_texts(["The lift on the third floor is out of order."])[0].tolist()
plain = alloy.PlaintextVector(plaintext_vector=vector, secret_path="notes", derivation_path="")
stored = asyncio.run(sdk.vector().encrypt(plain, alloy.AlloyMetadata.new_simple("tenant")))
print("a stored vector of", len(stored.encrypted_vector), "numbers")
