"""Chroma: a collection of protected vectors, opened again by its own configuration."""

import chromadb

import vecveil as vv
from vecveil.integrations.chroma import VeiledEmbeddingFunction

guard = vv.Guard("patients.veil", noise_ratio=0.5, key="patients.key", ledger="default")
function = VeiledEmbeddingFunction(guard)
client = chromadb.PersistentClient("chroma")
notes = ["The patient was sent home with new tablets.", "The lift on the third floor is out of order."]
collection = client.get_or_create_collection("notes", embedding_function=function)
collection.upsert(ids=["1", "2"], embeddings=function(notes))  # vectors alone: given documents, Chroma keeps the texts
print(client.get_collection("notes").query(query_texts=["Which lift does not work?"], n_results=1)["ids"])
