"""Hostile files of every kind that is read: each is read right, or refused in one line, soon, and without its words."""

from __future__ import annotations

import csv
import io
import json
import random
import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from redteam.campaign import Campaign
from support.command_line import Outcome, check_refusal, listing
from support.forked_commands import Command, CommandServer, Ending, running_commands
from support.veils import PRIVATE_WORD, unit_vectors
from vecveil.concepts import terms
from vecveil.veil import learn

DIMENSIONS = 16
SECONDS = 30
"""Of a processor's time that a command may take."""

MOST_CHARACTERS = 2000
CONTROLS = {chr(code) for code in [*range(32), *range(127, 160), 0x202E] if chr(code) not in "\n\t"}
"""What a terminal may obey."""

ALSO_PRIVATE = "quokkalith"
"""A word of the texts that no concept knows of, for what the concept would take out."""

NOTE = f"Anna has {PRIVATE_WORD} since {ALSO_PRIVATE}, and rests well."
HOSTILE_TEXTS = [
    NOTE,
    f"{NOTE}\x00\x1b[2J\u202e",
    NOTE * 2000,
    "\ufeff" + NOTE,
    f'"{NOTE}',
    f"=cmd|' /C calc'!A0 {NOTE}",
    "é\u0301\U0001f642\u200d" + NOTE,
    f"{ALSO_PRIVATE}\r\n{NOTE}",
    "",
    " \t",
]


@dataclass(frozen=True, kw_only=True)
class Place:
    """A folder with all that commands need, but for the hostile file."""

    folder: Path
    server: CommandServer

    def run(self, *arguments: str) -> Ending:
        """Run a command there, with a ledger that no listing shows."""
        environment = {"XDG_DATA_HOME": f"{self.folder}.data"}
        command = Command(arguments=arguments, folder=str(self.folder), environment=environment, work_limit=SECONDS)
        return self.server.run(command)


@pytest.fixture(scope="module")
def server() -> Iterator[CommandServer]:
    modules = ("sentence_transformers", "vecveil.concepts.terms", "vecveil.files.columnar", "vecveil.files.textual")
    with running_commands(*modules, "vecveil.cli.learn", "vecveil.cli.concept") as opened:
        yield opened


@pytest.fixture
def place(tmp_path: Path, model_folder: Path, private_texts: list[str], server: CommandServer) -> Place:
    folder = tmp_path / "place"
    folder.mkdir()
    given: dict[str, Any] = {"embedder": str(model_folder), "shape": "uniform", "epsilon": 30.0}
    learn(terms(PRIVATE_WORD), private_texts, **given).save(folder / "a.veil")
    (folder / "concept.toml").write_text(f'[[part]]\nkind = "terms"\nterms = ["{PRIVATE_WORD}"]\n')
    (folder / "notes.txt").write_text("\n".join(private_texts))
    return Place(folder=folder, server=server)


def test_hostile_files_are_read_or_refused(
    place: Place, campaign: Callable[[str], AbstractContextManager[Campaign]]
) -> None:
    with campaign("files") as tried:
        for number in tried.numbers():
            rng = tried.rng(number)
            kind = KINDS[number % len(KINDS)]
            name, content = WRITERS[kind](rng)
            tried.counts["cases"] += 1
            with tried.case(number) as said:
                if rng.random() < 0.5:
                    content = damage(rng, content)
                said.append(f"{name}, {len(content)} bytes, {content[:80]!r}")
                (place.folder / name).write_bytes(content)
                for outcome in _try(place, name, kind):
                    tried.counts["refused" if outcome.code else "read"] += 1
            for left in (place.folder / name, place.folder / "out.parquet", place.folder / "b.veil"):
                shutil.rmtree(left) if left.is_dir() else left.unlink(missing_ok=True)
            shutil.rmtree(place.folder / "out.parquet.parts", ignore_errors=True)
        if tried.only is None:
            assert tried.counts["refused"] > tried.wanted / 3
            assert tried.counts["read"] > tried.wanted / 10


def _try(place: Place, name: str, kind: str) -> Iterator[Ending]:
    """Give a file to the commands that read such a one, and raise where one of them does wrong."""
    commands = {
        "concept": [("concept", name, "notes.txt", "--examples", "0")],
        "clients": [("client", "new", name, "other"), ("serve", "a.veil", "--clients", name, "--host", "0.0.0.1")],
    }
    table = [("protect", "a.veil", name, "out.parquet")]
    texts = [("concept", "concept.toml", name, "--examples", "0")]
    for arguments in commands.get(kind, table if kind == "npy" else table + texts):
        before = listing(place.folder)
        outcome = place.run(*arguments)
        assert outcome.code not in {128 + 9, 128 + 24}, f"{arguments}: no end after {SECONDS} seconds"
        assert outcome.code in {0, 1, 2}, f"{arguments} ended with {outcome.code}: {outcome.err[-800:]}"
        assert len(outcome.err) < MOST_CHARACTERS, f"{arguments}: {len(outcome.err)} characters of errors"
        for word in (PRIVATE_WORD, ALSO_PRIVATE):
            assert word not in outcome.err + outcome.out, f"{arguments} tells a text: {outcome.err[-300:]!r}"
        signs = {
            sign for sign in outcome.err + outcome.out if sign not in "\n\t" and (ord(sign) < 32 or ord(sign) == 127)
        }
        assert not signs, f"{arguments} prints {signs}"
        if outcome.code:
            check_refusal(Outcome(code=outcome.code, out=outcome.out, err=_without_warnings(outcome.err, arguments[0])))
            assert listing(place.folder) == before, f"{arguments} left something: {outcome.err}"
        elif arguments[0] == "protect":
            _require_protected(place.folder / "out.parquet")
        yield outcome


def _without_warnings(err: str, command: str) -> str:
    # A gateway says what it is about to do before it finds its address taken.
    lines = err.splitlines()[-1:] if command == "serve" else err.splitlines()
    return "\n".join(line for line in lines if not line.startswith("Warning: "))


def _require_protected(path: Path) -> None:
    """Raise unless an output has finite vectors, and none of the words anywhere: columns with them stay behind."""
    table = pq.read_table(path)
    vectors = np.array(table["vector"].to_pylist())
    assert vectors.shape == (table.num_rows, DIMENSIONS)
    assert np.isfinite(vectors).all()
    assert PRIVATE_WORD not in str(table.drop_columns("vector").to_pydict())


def damage(rng: random.Random, content: bytes) -> bytes:
    """Return a file that was damaged, in its bytes, somewhere."""
    data = bytearray(content or b"\0")
    for _ in range(rng.choice([1, 1, 2, 5, 50])):
        start = rng.randrange(len(data)) if data else 0
        end = start + rng.randrange(1, 40)
        data[start:end] = rng.choice(
            [
                b"",
                rng.randbytes(rng.randrange(1, 9)),
                bytes(data[start:end]) * 2,
                bytes(len(data[start:end])),
                b"\xff" * len(data[start:end]),
            ]
        )
        if rng.random() < 0.1:
            del data[start:]
    return bytes(data)


def _random_text(rng: random.Random) -> str:
    return NOTE if rng.random() < 0.7 else rng.choice(HOSTILE_TEXTS)


def write_csv(rng: random.Random) -> tuple[str, bytes]:
    """Return a table as text, or something near one."""
    out = io.StringIO()
    writer = csv.writer(out, delimiter=rng.choice(",,;\t|"), quoting=rng.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]))
    header = rng.choice([["id", "text"], ["text"], ["text", "text"], ["", "text"], ["id", "note"], [NOTE, "x"], []])
    wide = rng.random() < 0.05
    if wide:
        header = [f"column{number}" for number in range(50_000)] + ["text"]
    if header:
        writer.writerow(header)
    for _ in range(rng.choice([0, 1, 3, 30])):
        cells = [NOTE if wide else _random_text(rng) for _ in header or "ab"]
        writer.writerow(cells[: rng.choice([99_999, 99_999, 99_999, 1])])
    written = out.getvalue().encode(rng.choice(["utf-8"] * 6 + ["utf-16", "utf-8-sig"]), "surrogatepass")
    return rng.choice(["in.csv", "in.csv", "in.tsv"]), written


ODD_VALUES: list[Any] = [None, True, 0, -1, 2**70, 1.5, 1e308, "", "a", NOTE, [], {}, [1.0, 2.0], [NOTE], {"a": NOTE}]


def write_jsonl(rng: random.Random) -> tuple[str, bytes]:
    """Return JSON lines, or something near them."""
    lines = []
    for number in range(rng.choice([1, 3, 30])):
        row: Any = {"id": number, "text": _random_text(rng)}
        if rng.random() < 0.2:
            row[rng.choice(["text", "id", "more", "", NOTE, "vector", "entities"])] = rng.choice(ODD_VALUES)
        lines.append(json.dumps(row if rng.random() < 0.95 else rng.choice(ODD_VALUES)))
    if rng.random() < 0.2:
        lines.append(
            rng.choice(
                [
                    "[" * 100_000,
                    '{"text": ' * 20_000,
                    '{"text": NaN}',
                    '{"text": "a", "text": "b"}',
                    '{"text": "\\ud800"}',
                    "9" * 100_000,
                    '{"text": 1e999}',
                    NOTE,
                ]
            )
        )
    return rng.choice(["in.jsonl", "in.ndjson"]), "\n".join(lines).encode(rng.choice(["utf-8"] * 8 + ["utf-16"]))


def write_lines(rng: random.Random) -> tuple[str, bytes]:
    """Return lines of text, in some encoding, with some end."""
    lines = [_random_text(rng) for _ in range(rng.choice([0, 1, 5, 50]))]
    return "in.txt", rng.choice(["\n", "\r\n", "\r", "\0", "\u2028"]).join(lines).encode(
        rng.choice(["utf-8"] * 5 + ["utf-16", "latin-1"]), "replace"
    )


def random_table(rng: random.Random) -> Any:
    """Return an Arrow table of texts or vectors, with columns that fit or don't."""
    rows = rng.choice([0, 1, 5, 40])
    vectors = unit_vectors(rows, rng.choice([DIMENSIONS] * 4 + [1, 5])).astype(rng.choice(["float32", "float64"]))
    if rows and rng.random() < 0.3:
        vectors[rng.randrange(rows)] = rng.choice([np.nan, np.inf, 0.0, 1e30, 3.0])
    text: Callable[[], Any] = lambda: pa.array([_random_text(rng) for _ in range(rows)])  # noqa: E731
    odd: list[Callable[[], Any]] = [
        lambda: pa.array([None] * rows, pa.null()),
        lambda: pa.array([NOTE] * rows).dictionary_encode(),
        lambda: pa.array([NOTE.encode()] * rows, pa.binary()),
        lambda: pa.array([NOTE] * rows, pa.large_string()),
        lambda: pa.array([NOTE] * rows, pa.string_view()),
        lambda: pa.array([{"a": NOTE}] * rows, pa.struct([("a", pa.string())])),
        lambda: pa.array([[NOTE]] * rows, pa.list_(pa.string())),
        lambda: pa.array([[("a", NOTE)]] * rows, pa.map_(pa.string(), pa.string())),
        lambda: pa.array([1] * rows, pa.timestamp("ns")),
        lambda: pa.array([1] * rows, pa.decimal128(38, 0)),
        lambda: pa.array([[0.5] * rng.randrange(40) for _ in range(rows)], pa.list_(pa.float32())),
        lambda: pa.array([None if rng.random() < 0.5 else _random_text(rng) for _ in range(rows)], pa.string()),
    ]
    kinds: dict[str, Callable[[], Any]] = {
        "text": text,
        "vector": lambda: pa.array(list(vectors), pa.list_(pa.from_numpy_dtype(vectors.dtype))),
        "id": lambda: pa.array([*range(rows)]),
    }
    names = rng.choice([["text"], ["id", "text"], ["vector"], ["id", "vector"], ["id"]])
    columns = {name: kinds[name]() for name in names}
    if rng.random() < 0.5:
        columns[rng.choice(["text", "vector", "more", "id", NOTE, ""])] = rng.choice(odd)()
    return pa.table(columns)


def write_parquet(rng: random.Random) -> tuple[str, bytes]:
    """Return a Parquet file, of any columns."""
    out = io.BytesIO()
    compression = rng.choice(["none", "snappy", "zstd", "gzip"])
    try:
        pq.write_table(random_table(rng), out, compression=compression, row_group_size=rng.choice([1, 7, 1000]))
    except pa.ArrowException:
        return "in.parquet", b"PAR1" * 10
    return "in.parquet", out.getvalue()


def write_arrow(rng: random.Random) -> tuple[str, bytes]:
    """Return an Arrow file or stream, of any columns."""
    table, out = random_table(rng), io.BytesIO()
    opener = rng.choice([pa.ipc.new_file, pa.ipc.new_stream])
    with opener(out, table.schema) as writer:
        writer.write_table(table, max_chunksize=rng.choice([1, 7, 1000]))
    return rng.choice(["in.arrow", "in.feather"]), out.getvalue()


def write_npy(rng: random.Random) -> tuple[str, bytes]:
    """Return an array, or a header that promises one."""
    out, rows = io.BytesIO(), rng.choice([0, 1, 40])
    array: Any = unit_vectors(rows, rng.choice([DIMENSIONS] * 3 + [1])).astype(
        rng.choice(["f2", "f4", "f8", ">f4", "i8"])
    )
    if rows and rng.random() < 0.3:
        array[rng.randrange(rows)] = rng.choice([0, 1, 7])
    np.save(out, np.asfortranarray(array) if rng.random() < 0.2 else array)
    data = out.getvalue()
    if rng.random() < 0.3:
        shape = rng.choice(["(10000000000, 16)", "(-1, 16)", "(16,)", "(1, 2, 3)", "()", "(2**9, 16)", f"('{NOTE}',)"])
        kind = rng.choice(["'<f4'", "'|O'", "'<U99999999'", f"'{NOTE}'", "[('a', '<f4')]"])
        header = f"{{'descr': {kind}, 'fortran_order': False, 'shape': {shape}}}".encode()
        data = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + rng.randbytes(640)
    return "in.npy", data


def write_concept(rng: random.Random) -> tuple[str, bytes]:
    """Return a concept file, or something near one."""
    parts = [
        f'kind = "terms"\nterms = ["{PRIVATE_WORD}"]',
        'kind = "terms"\nterms = []',
        f'kind = "terms"\nterms = "{PRIVATE_WORD}"',
        f'kind = "terms"\nterms = ["{"a" * 300_000}"]',
        f'kind = "terms"\nterms = [{", ".join(f"{chr(34)}w{n}{chr(34)}" for n in range(5000))}]',
        'kind = "terms"\nfile = "/dev/zero"',
        'kind = "terms"\nfile = "notes.txt"',
        'kind = "terms"\nfile = "nowhere.txt"',
        'kind = "terms"\nfile = "."',
        "kind = \"patterns\"\npatterns = { A = '(a+)+$' }",
        "kind = \"patterns\"\npatterns = { A = '([a-z ]+)*[0-9]' }",
        "kind = \"patterns\"\npatterns = { A = '(' }",
        f"kind = \"patterns\"\npatterns = {{ A = '{'(' * 5000}{')' * 5000}' }}",
        "kind = \"patterns\"\npatterns = { A = 'a{1000000000}' }",
        "kind = \"patterns\"\npatterns = { A = '' }",
        'kind = "patterns"\npatterns = 3',
        'kind = "annotated"\nlabels = ["A"]',
        'kind = "content-words"\nat_least = -1',
        'kind = "token-classification"\nmodel = "../.."',
        'kind = "os.system"\nrun = "id"',
        "kind = 3",
        'terms = ["a"]',
        "label = " + "[" * 3000 + "]" * 3000,
    ]
    chosen = rng.sample(parts, rng.choice([0, 1, 1, 1, 2, 3]))
    name = rng.choice(["", 'name = "a"\n', 'name = "\\u001b[31m"\n', "name = 3\n", "other = 1\n"])
    return "in.toml", (name + "\n".join(f"[[part]]\n{part}\n" for part in chosen)).encode()


def write_clients(rng: random.Random) -> tuple[str, bytes]:
    """Return a file of clients, or something near one."""
    hashed = f"sha256:{rng.randbytes(32).hex()}"
    keys = [f'key = "{hashed}"'] * 5 + [f'key = "vv-{ALSO_PRIVATE}"', 'key = ""', "key = 3", ""]
    lines = [
        "",
        "",
        "epsilon = 3.0",
        "epsilon = -1",
        "epsilon = nan",
        "noise_ratio = 1e400",
        'queries = "clean"',
        f'queries = "{ALSO_PRIVATE}"',
        f"{ALSO_PRIVATE} = 1",
        'veil = "/dev/zero"',
        'veil = "nowhere"',
        'collection = "\\u0000\\u001b[2J"',
        "texts_per_minute = true",
        "documents = []",
        "a = " + "[" * 3000 + "]" * 3000,
    ]
    tables = [
        f"[{rng.choice(['search', 'a', chr(34) + chr(34), 'x-y', chr(34) + 'a b' + chr(34)])}]\n"
        f"{rng.choice(keys)}\n{rng.choice(lines)}"
        for _ in range(rng.choice([0, 1, 1, 2, 30]))
    ]
    return "clients.toml", "\n".join(tables).encode()


WRITERS: dict[str, Callable[[random.Random], tuple[str, bytes]]] = {
    "csv": write_csv,
    "jsonl": write_jsonl,
    "lines": write_lines,
    "parquet": write_parquet,
    "arrow": write_arrow,
    "npy": write_npy,
    "concept": write_concept,
    "clients": write_clients,
}
KINDS = [*WRITERS]


def test_a_command_that_has_no_end_is_seen(place: Place) -> None:
    """The suite's own control: what is still at work when its time is over was not killed on purpose."""
    endless = place.server.run(Command(arguments=["show", "a.veil"], folder=str(place.folder), limit=0.0))
    assert endless.code == 128 + 9
    assert not endless.killed
