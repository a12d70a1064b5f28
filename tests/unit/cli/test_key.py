from __future__ import annotations

from pathlib import Path

from support.command_line import CommandLine, check_refusal
from vecveil.files.key_file import read_key


def test_a_new_key_is_private_and_told_by_its_fingerprint(run: CommandLine, work: Path) -> None:
    outcome = run("key", "new", "a.key")
    assert outcome.code == 0, outcome.err
    key = read_key(work / "a.key")
    assert key.fingerprint in outcome.err
    assert run("key", "show", "a.key").out.strip() == key.fingerprint
    assert key.secret.hex() not in outcome.out + outcome.err
    check_refusal(run("key", "new", "a.key"), "a.key exists already")
    assert read_key(work / "a.key") == key
