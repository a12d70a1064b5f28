"""sentence-transformers: the model itself gives protected vectors, and is saved as one folder."""

import os

import vecveil as vv
from vecveil.integrations.sentence_transformers import load_veiled, veil_model

guard = vv.Guard("patients.veil", noise_ratio=0.5, key="patients.key", ledger="default")
protected = veil_model(guard)  # or veil_model(guard, SentenceTransformer("…")), if that is the veil's model
protected.save_pretrained("veiled-model")

os.environ["VECVEIL_KEY"] = "patients.key"  # the folder holds the veil, never the key
again = load_veiled("veiled-model")
notes = ["The patient was sent home with new tablets.", "The lift on the third floor is out of order."]
print(again.similarity(again.encode_query(["Which lift does not work?"]), again.encode_document(notes)))
