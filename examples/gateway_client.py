"""The gateway: OpenAI's own client, given another address."""

import subprocess

import openai

command = ["vecveil", "serve", "patients.veil", "--noise-ratio", "0.5", "--key", "patients.key", "--port", "8765"]
gateway = subprocess.Popen(command)  # or, in a terminal of its own: vecveil serve patients.veil --noise-ratio 0.5
try:
    client = openai.OpenAI(base_url="http://127.0.0.1:8765/v1", api_key="none", max_retries=60)
    found = client.embeddings.create(model="all-MiniLM-L6-v2", input=["The lift is out of order.", "It rains."])
    print(len(found.data), "vectors of", len(found.data[0].embedding), "dimensions")
finally:
    gateway.terminate()
