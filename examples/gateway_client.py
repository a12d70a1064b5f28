"""The gateway: OpenAI's own client, given another address."""

import json
import subprocess

import openai

# In a terminal of its own: vecveil serve patients.veil --noise-ratio 0.5 --key patients.key
command = ["vecveil", "serve", "patients.veil", "--noise-ratio", "0.5", "--key", "patients.key", "--port", "0"]
gateway = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
try:
    # Port 0 is any free one; the gateway logs which one it has as soon as it can be asked.
    logs = (json.loads(line) for line in gateway.stderr if line.startswith("{"))
    port = next(line["port"] for line in logs if line["event"] == "serving")
    client = openai.OpenAI(base_url=f"http://127.0.0.1:{port}/v1", api_key="none")
    found = client.embeddings.create(model="all-MiniLM-L6-v2", input=["The lift is out of order.", "It rains."])
    print(len(found.data), "vectors of", len(found.data[0].embedding), "dimensions")
finally:
    gateway.terminate()
