"""Migrate: a Chroma collection of clean vectors becomes one of protected vectors, under the same name."""

import chromadb

import vecveil as vv
from vecveil.integrations.chroma import VeiledEmbeddingFunction
from vecveil.migrate import compare, migrate, swap
from vecveil.migrate.chroma import ChromaStore

guard = vv.Guard("patients.veil", noise_ratio=0.5, key="patients.key", ledger="default", collection="letters")
client = chromadb.PersistentClient("letters")
texts = ["The patient was sent home with new tablets.", "The lift on the third floor is out of order."]
client.create_collection("letters").add(ids=["1", "2"], embeddings=guard.model.embed(texts), documents=texts)
store = ChromaStore(client, "letters")
print(migrate(store, guard))
print(compare(store, guard, ["Which lift does not work?"], k=1))
print("the clean vectors are in", swap(store, guard).backup)
letters = client.get_collection("letters", embedding_function=VeiledEmbeddingFunction(guard))
print(letters.query(query_texts=["Which lift does not work?"], n_results=1)["ids"])
