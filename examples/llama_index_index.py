"""LlamaIndex: an index over protected vectors."""

from llama_index.core import Document, VectorStoreIndex

import vecveil as vv
from vecveil.integrations.llama_index import VeiledEmbedding

guard = vv.Guard("patients.veil", noise_ratio=0.5, key="patients.key", ledger="default")
notes = ["The patient was sent home with new tablets.", "The lift on the third floor is out of order."]
documents = [Document(text=note) for note in notes]
index = VectorStoreIndex.from_documents(documents, embed_model=VeiledEmbedding(guard))
print(index.as_retriever(similarity_top_k=1).retrieve("Which lift does not work?")[0].text)
