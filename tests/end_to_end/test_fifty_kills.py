from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from support.command_line import finished, start
from support.ledgers import read_spent
from support.veils import made_veil, unit_vectors
from vecveil.core.key import Key
from vecveil.files.key_file import write_key
from vecveil.files.vectors import to_vector_column
from vecveil.ledger import open_ledger

ROWS, KILLS = 300, 50

KILLER = """
import json, os, random, signal, sys, time
from pathlib import Path
from vecveil.files.key_file import read_key
from vecveil.veil import Veil, protect_file

rows, kills, noise = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
key = read_key(Path("a.key")) if noise == "keyed" else None
veil = Veil.load("a.veil")

def protect(output):
    options = dict(epsilon=20.0, id_column="id", key=key, ledger="ledger.sqlite", batch_rows=7)
    protect_file(veil, "in.parquet", output, **options)

random.seed(3)
started = time.monotonic()
protect("whole.parquet")
whole = time.monotonic() - started
done, number, outputs = 0, 0, ["whole.parquet"]
while done < kills:
    number += 1
    output = f"out-{number}.parquet"
    outputs.append(output)
    # Killed after its last rename, a run has left a whole output and nothing to go on from.
    while not Path(output).exists() or Path(f"{output}.parts").exists():
        child = os.fork()
        if not child:
            try:
                protect(output)
            except BaseException as error:
                print(repr(error), file=sys.stderr)
                os._exit(1)
            os._exit(0)
        time.sleep(random.uniform(0, 0.5 * whole))
        os.kill(child, signal.SIGKILL) if done < kills else None
        _, status = os.waitpid(child, 0)
        if os.WIFSIGNALED(status):
            done += 1
        else:
            assert os.WEXITSTATUS(status) == 0
print(json.dumps(outputs))
"""


@pytest.fixture
def killed(tmp_path: Path, request: pytest.FixtureRequest) -> tuple[Path, list[str]]:
    """Outputs of runs that were killed fifty times, all in all, at random moments, and gone on with each time."""
    made_veil().save(tmp_path / "a.veil")
    write_key(Key.new(), tmp_path / "a.key")
    ids = [f"note {number:03}" for number in range(ROWS)]
    pq.write_table(pa.table({"id": ids, "vector": to_vector_column(unit_vectors(ROWS))}), tmp_path / "in.parquet")
    arguments = [sys.executable, "-c", KILLER, str(ROWS), str(KILLS), request.param]
    ran = subprocess.run(arguments, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    outputs: list[str] = json.loads(ran.stdout)
    return tmp_path, outputs


@pytest.mark.parametrize("killed", ["fresh", "keyed"], indirect=True)
def test_fifty_kills_lose_no_row_double_no_row_and_spend_nothing_twice(killed: tuple[Path, list[str]]) -> None:
    folder, outputs = killed
    keyed = [path for path in outputs if _label(folder / path).get("key")]
    with open_ledger(folder / "ledger.sqlite", create=False) as ledger:
        runs = {run.charge.run: run for run in ledger.runs()}
        spent = read_spent(ledger, ledger.digests([b"\0s" + f"note {number:03}".encode() for number in range(ROWS)]))
    for path in outputs:
        table = pq.read_table(folder / path)
        assert table["id"].to_pylist() == [f"note {number:03}" for number in range(ROWS)]
        assert runs[_label(folder / path)["run"]].releases == ROWS
        assert not (folder / f"{path}.parts").exists()
    assert len(runs) == len(outputs)
    cost = next(iter(runs.values())).charge.cost
    assert cost is not None
    # Keyed noise is the same in every output, and was paid for once; fresh noise for each output, never for a kill.
    releases = 1 if keyed else len(outputs)
    assert list(spent) == pytest.approx([releases * cost] * ROWS)
    whole = pq.read_table(folder / outputs[0])["vector"]
    for path in keyed:
        assert pq.read_table(folder / path)["vector"] == whole
    named = [word for path in outputs for word in ("--output", folder / path)]
    outcome = finished(start("ledger", "check", "--ledger", folder / "ledger.sqlite", *named))
    assert outcome.code == 0, outcome.out + outcome.err


def _label(path: Path) -> dict[str, str]:
    label: dict[str, str] = json.loads(pq.read_schema(path).metadata[b"vecveil"])
    return label
