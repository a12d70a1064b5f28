"""The gateway: OpenAI's embeddings API, with protected vectors."""
