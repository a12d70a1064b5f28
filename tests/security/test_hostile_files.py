"""Files that are slow, damaged or of an odd form end in one line within seconds, which tells nothing of their texts."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import feather

from support.command_line import CommandLine, check_refusal, listing
from support.veils import PRIVATE_WORD
from vecveil.core.errors import ArtifactError
from vecveil.files.sources import open_source

SECONDS = 30.0
"""Most that a command may take: what is broken takes minutes, or has no end; what works takes a second or two."""

NESTED = "x = " + "[" * 3000 + "]" * 3000


@pytest.fixture
def place(work: Path, learned_folder: Path) -> Path:
    shutil.copytree(learned_folder, work / "a.veil")
    (work / "concept.toml").write_text(f'[[part]]\nkind = "terms"\nterms = ["{PRIVATE_WORD}"]\n')
    (work / "notes.txt").write_text("\n".join(f"Note {number} on {PRIVATE_WORD}." for number in range(30)))
    return work


@pytest.fixture
def quick(run: CommandLine) -> CommandLine:
    """The command line, for tests that fail where a command takes longer than it may."""
    started = time.monotonic()
    yield run  # type: ignore[misc]
    assert time.monotonic() - started < SECONDS


@pytest.mark.parametrize("place_of_terms", ["/dev/zero", "pipe", "."])
def test_terms_are_read_from_no_device_and_no_pipe(quick: CommandLine, place: Path, place_of_terms: str) -> None:
    os.mkfifo(place / "pipe")
    (place / "odd.toml").write_text(f'[[part]]\nkind = "terms"\nfile = "{place_of_terms}"\n')
    check_refusal(quick("concept", "odd.toml", "notes.txt"), "no regular file")


@pytest.mark.parametrize("term", ["a" * 3_000_000, "ab " * 1_000_000], ids=["one word", "many words"])
def test_a_term_of_three_megabytes_has_an_end(quick: CommandLine, place: Path, term: str) -> None:
    (place / "long.toml").write_text(f'[[part]]\nkind = "terms"\nterms = ["{PRIVATE_WORD}", "{term}"]\n')
    outcome = quick("concept", "long.toml", "notes.txt", "--examples", "0")
    check_refusal(outcome, "a term must not have more than", hidden=[PRIVATE_WORD, term])


def test_a_table_of_200_000_columns_has_an_end(quick: CommandLine, place: Path) -> None:
    header = ",".join(f"column{number}" for number in range(200_000))
    (place / "in.csv").write_text(f"{header}\n{',' * 199_999}\n")
    outcome = quick("protect", "a.veil", "in.csv", "out.parquet", "--epsilon", "9")
    check_refusal(outcome, "--text-column", "199,950 more")
    assert len(outcome.err) < 2000


@pytest.mark.parametrize(
    "arguments",
    [
        ("concept", "nested.toml", "notes.txt"),
        ("client", "new", "nested.toml", "search"),
        ("serve", "a.veil", "--epsilon", "9", "--clients", "nested.toml", "--no-ledger"),
    ],
    ids=["concept", "client", "serve"],
)
def test_toml_that_is_nested_without_end_ends_in_a_message(
    run: CommandLine, place: Path, arguments: tuple[str, ...]
) -> None:
    (place / "nested.toml").write_text(NESTED)
    check_refusal(run(*arguments), "nested.toml", "nested too deep")


@pytest.mark.parametrize(
    "header",
    [
        "{'descr': '<f4', 'fortran_order': False, 'shape': (0, 1), \0\0\0",
        "{'descr': '<f4'",
        "[" * 900,
        "\0" * 60,
        "1 +",
    ],
)
def test_an_array_with_a_broken_header_ends_in_a_message(run: CommandLine, place: Path, header: str) -> None:
    content = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + bytes(64)
    (place / "in.npy").write_bytes(content)
    before = listing(place)
    check_refusal(run("protect", "a.veil", "in.npy", "out.npy", "--epsilon", "9"), "in.npy cannot be read as npy")
    assert listing(place) == before


@pytest.mark.parametrize("command", ["protect", "concept", "learn"])
def test_a_table_without_a_header_line_tells_no_text_in_a_message(run: CommandLine, place: Path, command: str) -> None:
    """Its first row is taken for the names of its columns, and those are listed where one is missing."""
    note = f"Anna Smith has {PRIVATE_WORD} and was told so"
    (place / "in.csv").write_text(f"7,{note}\n8,{note}\n")
    arguments = {
        "protect": ("a.veil", "in.csv", "out.parquet", "--epsilon", "9"),
        "concept": ("concept.toml", "in.csv"),
        "learn": ("concept.toml", "in.csv", "--out", "b.veil"),
    }
    check_refusal(run(command, *arguments[command]), "1 that read like text", hidden=[PRIVATE_WORD, "Anna"])


def test_arrays_that_promise_more_than_there_is_are_refused(quick: CommandLine, place: Path) -> None:
    np.save(place / "in.npy", np.ones((1, 16), dtype=np.float32))
    data = (place / "in.npy").read_bytes().replace(b"(1, 16), }" + b" " * 10, b"(100000000000, 16), }"[:21].ljust(20))
    (place / "in.npy").write_bytes(data)
    check_refusal(quick("protect", "a.veil", "in.npy", "out.npy", "--epsilon", "9"), "in.npy cannot be read as npy")


@pytest.mark.parametrize("name", ["in.arrow", "in.parquet"])
def test_a_text_that_is_no_text_is_a_damaged_file(tmp_path: Path, name: str) -> None:
    ends, signs = pa.py_buffer(np.array([0, 3, 6], "<i4")), pa.py_buffer(b"one\xff\xfe\xfd")
    texts = pa.Array.from_buffers(pa.string(), 2, [None, ends, signs])
    table = pa.table({"text": texts})
    if name.endswith("parquet"):
        pq.write_table(table, tmp_path / name)
    else:
        feather.write_feather(table, tmp_path / name, compression="uncompressed")
    with pytest.raises(ArtifactError, match="is damaged, or something else"):
        list(open_source(tmp_path / name).batches(10))
