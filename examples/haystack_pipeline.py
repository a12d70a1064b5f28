"""Haystack: documents and queries are protected in a pipeline that can be saved."""

from haystack import Document, Pipeline
from haystack.components.retrievers.in_memory import InMemoryEmbeddingRetriever
from haystack.document_stores.in_memory import InMemoryDocumentStore

import vecveil as vv
from vecveil.integrations.haystack import VeiledDocumentEmbedder, VeiledTextEmbedder

guard = vv.Guard("patients.veil", noise_ratio=0.5, key="patients.key", ledger="default")
notes = ["The patient was sent home with new tablets.", "The lift on the third floor is out of order."]
store = InMemoryDocumentStore(embedding_similarity_function="cosine")
store.write_documents(VeiledDocumentEmbedder(guard).run([Document(content=note) for note in notes])["documents"])
search = Pipeline()
search.add_component("query", VeiledTextEmbedder(guard))
search.add_component("retriever", InMemoryEmbeddingRetriever(store, top_k=1))
search.connect("query.embedding", "retriever.query_embedding")
print(search.run({"query": {"text": "Which lift does not work?"}})["retriever"]["documents"][0].content)
