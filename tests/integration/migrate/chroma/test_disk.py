"""What Chroma writes of memory that it has not filled, in a process whose memory is filled with a pattern."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from vecveil.veil import Guard

PATTERN = 0x5A

# Prints which index files hold the pattern before the backup is dropped, and after.
PROGRAM = f"""
import sys
sys.path[:] = {sys.path!r}
from pathlib import Path
from support.embedders import WordEmbedder
from support.stores import ChromaPlace
from support.veils import unit_vectors
from vecveil.migrate import drop_backup, migrate, swap
from vecveil.veil import Guard

folder, veil, key = sys.argv[1:]
place, guard = ChromaPlace(where="chroma:" + folder), Guard(veil, key=key, embedder=WordEmbedder())

def show_traces():
    found = {{path.name for path in Path(folder).rglob("*.bin") if bytes([{PATTERN}] * 16) in path.read_bytes()}}
    print(*sorted(found))

for name, space, rows in (("notes", "ip", 23), ("more", "ip", 60), ("others", "l2", 2), ("last", "cosine", 60)):
    settings = {{"hnsw": {{"space": space, "sync_threshold": 10, "batch_size": 5}}}}
    made = place.client.create_collection(name, embedding_function=None, configuration=settings)
    made.add(ids=[str(row) for row in range(rows)], embeddings=unit_vectors(rows))
with place.opened() as store:
    migrate(store, guard)
    swap(store, guard)
    show_traces()
    drop_backup(store, guard)
    show_traces()
"""


def test_nothing_of_the_memory_that_chroma_wrote_stays_when_a_backup_is_dropped(guard: Guard, tmp_path: Path) -> None:
    (tmp_path / "store").mkdir()
    arguments = [tmp_path / "store", str(guard.veil), str(guard.key)]
    # GNU's allocator fills what it gives away with the complement of this byte.
    environment = {**os.environ, "MALLOC_PERTURB_": str(PATTERN ^ 0xFF)}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    before, after = done.stdout.split("\n")[:2]
    assert before == "data_level0.bin length.bin"
    assert after == ""
