"""Embedders in processes of their own."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from vecveil.embedders.cache import VectorFile

FILE_PROGRAM = """
import sys, time
from pathlib import Path
import numpy as np
from vecveil.embedders.cache import VectorFile

folder, number, start = Path(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
for step in range(40):
    # All processes make each file at the same moment: that is when SQLite does not wait its turn.
    time.sleep(max(0.0, start + step / 20 - time.time()))
    file = VectorFile(path=folder / f"{step}.sqlite", dimensions=2)
    file.write([bytes([number]) * 32], np.array([[number, step]], dtype=np.float32))
    assert bytes([number]) * 32 in file.read([bytes([number]) * 32])
"""


def test_processes_that_make_a_file_together_share_it(tmp_path: Path) -> None:
    arguments = [sys.executable, "-c", FILE_PROGRAM, str(tmp_path / "new")]
    start = str(time.time() + 2)
    started = [subprocess.Popen([*arguments, str(number), start], stderr=subprocess.PIPE) for number in range(8)]
    assert [process.communicate(timeout=300)[1] for process in started] == [b""] * 8
    for step in range(40):
        file = VectorFile(path=tmp_path / "new" / f"{step}.sqlite", dimensions=2)
        found = file.read([bytes([number]) * 32 for number in range(8)])
        np.testing.assert_array_equal(np.stack(list(found.values())), [[number, step] for number in range(8)])


def test_it_sends_nothing_home_where_openvino_was_there_before(model_folder: Path) -> None:
    code = (
        "import openvino, sys\n"
        "from vecveil.embedders import resolve_embedder\n"
        f"resolve_embedder({'openvino:' + str(model_folder)!r}).embed(['a'])\n"
        "from openvino.tools.ovc import telemetry_stub, telemetry_utils\n"
        "assert telemetry_utils.tm is telemetry_stub\n"
    )
    # The import itself would send something: CI keeps it from that.
    environment = {**os.environ, "CI": "true"}
    ran = subprocess.run([sys.executable, "-c", code], check=False, env=environment, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
