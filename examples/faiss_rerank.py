"""FAISS: an index of protected vectors, whose candidates the owner puts into their exact order by seals."""

import faiss
import numpy as np

import vecveil as vv

guard = vv.Guard("patients.veil", noise_ratio=1.0, key="patients.key", ledger="default")
notes = [f"Patient {n} was seen on ward {n % 7} and sent home." for n in range(200)]
notes.append("The lift on the third floor is out of order.")
vectors, seals = guard.protect_and_seal(notes, ids=range(len(notes)))

index = faiss.IndexFlatIP(guard.dimensions)  # what a host sees, beside the seals
index.add(np.ascontiguousarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), dtype=np.float32))

query = "Which lift does not work?"
_, (candidates,) = index.search(guard.protect_queries([query]).astype(np.float32), 100)
hits = guard.rerank(query, candidates.tolist(), [seals[row] for row in candidates], top=3)
print(*(f"{hit.similarity:.2f} {notes[hit.id]}" for hit in hits), sep="\n")
