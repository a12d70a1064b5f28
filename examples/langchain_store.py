"""LangChain: a store that holds protected vectors and answers protected queries."""

from langchain_core.vectorstores import InMemoryVectorStore

import vecveil as vv
from vecveil.integrations.langchain import VeiledEmbeddings

guard = vv.Guard("patients.veil", noise_ratio=0.5, key="patients.key", ledger="default")
store = InMemoryVectorStore(VeiledEmbeddings(guard))
store.add_texts(["The patient was sent home with new tablets.", "The lift on the third floor is out of order."])
print(store.similarity_search("Which lift does not work?", k=1)[0].page_content)
