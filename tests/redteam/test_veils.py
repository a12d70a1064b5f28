"""Veils that were changed at random: each is refused in one line, or behaves as a veil that keeps its sheet."""

from __future__ import annotations

import json
import math
import os
import random
import shutil
import time
import warnings
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load, save_file

from redteam.campaign import Campaign
from support.command_line import CommandLine, Outcome, check_refusal
from support.veils import PRIVATE_WORD, made_veil, rotated_shape, unit_vectors, with_words
from vecveil.concepts import patterns, terms
from vecveil.core.arrays import Embeddings
from vecveil.core.digests import array_digest, json_digest
from vecveil.core.errors import VecveilError
from vecveil.core.key import Key
from vecveil.embedders import Fingerprint
from vecveil.files.folder import read_regular_file
from vecveil.files.signature import public_key, sign_folder
from vecveil.shapes import NoiseShape
from vecveil.substitutions.randomize import Randomize
from vecveil.veil import Veil
from vecveil.veil.release import clean_step

DIMENSIONS, ROWS = 12, 400
RATIO = 1.0
SECONDS = 20.0
"""Time that a veil may take: to be loaded, shown and used."""

MOST_CHARACTERS = 2000
"""Of a message."""

TEXTS = [f"Patient {number} has {PRIVATE_WORD} and gout, says Anna." for number in range(8)]

Tensors = dict[str, NDArray[Any]]
Change = Callable[[random.Random, Path], str]


@dataclass(frozen=True, kw_only=True)
class AnyEmbedder:
    """Some vector of the right length for any text, by whichever name."""

    fingerprint: Fingerprint

    def embed(self, texts: Sequence[str]) -> Embeddings:
        return unit_vectors(len(texts), self.fingerprint.dimensions)


def write_veils(folder: Path) -> list[Path]:
    """Write veils of every kind."""
    rotated = made_veil(dimensions=DIMENSIONS, shape=rotated_shape(DIMENSIONS), epsilon=30.0)
    flat = NoiseShape(variances=np.ones(DIMENSIONS))
    concept = terms(PRIVATE_WORD, "gout", label="DISEASE") | terms("Anna", label="NAME")
    drawn = Randomize(epsilon=2.0, candidates={"DISEASE": ("gout", PRIVATE_WORD), "NAME": ("Anna", "Eve")})
    veils = {
        "diagonal": made_veil(dimensions=DIMENSIONS, epsilon=30.0),
        "rotated": rotated,
        "laplace": made_veil(dimensions=DIMENSIONS, shape=flat, mechanism="laplace", epsilon=9.0),
        "purkayastha": made_veil(dimensions=DIMENSIONS, shape=flat, mechanism="purkayastha", epsilon=9.0),
        "removing": with_words(rotated, concept | patterns(AGE=r"\d+ years")),
        "drawing": with_words(rotated, concept, drawn),
    }
    for name, veil in veils.items():
        veil.save(folder / name)
    return [folder / name for name in veils]


def test_mutated_veils_are_refused_or_keep_their_sheet(
    tmp_path: Path, run: CommandLine, campaign: Callable[[str], AbstractContextManager[Campaign]]
) -> None:
    sources, owner = write_veils(tmp_path), Key.new()
    with campaign("veils") as tried:
        for number in tried.numbers():
            rng = tried.rng(number)
            tried.counts["cases"] += 1
            with tried.case(number) as said:
                folder = Path(shutil.copytree(rng.choice(sources), tmp_path / "mutated"))
                sign_folder(folder, Veil.load(folder).digest(), owner)
                digest = Veil.load(folder).digest()
                for _ in range(rng.choice([1, 1, 1, 2, 3])):
                    said.append(rng.choice(CHANGES)(rng, folder))
                started = time.monotonic()
                tried.counts[_judge(folder, run, public_key(owner), digest)] += 1
                assert time.monotonic() - started < SECONDS
            shutil.rmtree(tmp_path / "mutated", ignore_errors=True)
        if tried.only is None:
            assert tried.counts["refused"] > tried.wanted / 4
            assert tried.counts["valid"] > tried.wanted / 20


def _judge(folder: Path, run: CommandLine, owner: str, digest: str) -> str:
    """Return what a veil was taken for, or raise where that is wrong."""
    shown = run("show", folder)
    _require_plain(shown)
    try:
        veil = Veil.load(folder)
    except VecveilError as error:
        refusal = str(error)
    else:
        refusal = ""
    if refusal:
        check_refusal(shown, refusal, hidden=[PRIVATE_WORD])
        return "refused"
    assert shown.code == 0, shown.err
    try:
        Veil.load(folder, signed_by=owner)
    except VecveilError as error:
        _require_line(error)
    else:
        assert veil.digest() == digest, "a changed veil passes under its signature"
    stated = run("guarantee", folder, "--noise-ratio", RATIO)
    _require_plain(stated)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            _require_what_the_sheet_says(veil)
    except VecveilError as error:
        _require_line(error)
        return "valid, and refused at use"
    assert stated.code == 0, stated.err
    return "valid"


def _require_what_the_sheet_says(veil: Veil) -> None:
    """Raise unless releases are finite, have all the noise that is stated, and no more axes in clear."""
    sheet = veil.guarantee(noise_ratio=RATIO)
    dimensions = veil.fingerprint.dimensions
    clean = unit_vectors(ROWS, dimensions).astype(np.float64) * veil.typical.signal
    rounded = np.rint(clean / clean_step(veil.typical.signal)) * clean_step(veil.typical.signal)
    released = veil.perturb(clean, noise_ratio=RATIO).astype(np.float64)
    assert released.shape == clean.shape
    assert np.isfinite(released).all()
    stated = sheet.readings.noise_ratio * veil.typical.signal
    noise = released - rounded
    length = math.sqrt(np.mean(np.sum(noise**2, axis=1)))
    if veil.mechanism == "purkayastha":
        # Its noise turns a vector, and counts as what added sideways would turn it as far.
        cosine = float(np.mean(np.vecdot(released, rounded) / np.linalg.norm(rounded, axis=1)))
        length = veil.typical.signal * math.sqrt(1 - cosine**2) / cosine
    assert length > 0.85 * stated, f"less noise than the sheet says: {length} for {stated}"
    if sheet.euclidean is not None:
        spread = np.linalg.svd(noise, compute_uv=False) / math.sqrt(ROWS)
        even = stated / math.sqrt(dimensions - sheet.euclidean.unreleased)
        # The sheet counts those below a hundredth; a third of that leaves room for what 400 rows can tell.
        assert (spread < even / 300).sum() <= sheet.euclidean.quiet, "more axes in clear than the sheet says"
    texts = veil.protect(TEXTS, embedder=AnyEmbedder(fingerprint=veil.fingerprint), noise_ratio=RATIO)
    assert texts.shape == (len(TEXTS), dimensions)
    assert np.isfinite(texts).all()


def _require_plain(outcome: Outcome) -> None:
    """Raise where a command fails without a cause, or tells too much or what a terminal obeys."""
    assert "Traceback" not in outcome.err
    assert outcome.code in {0, 1}
    assert len(outcome.err) < MOST_CHARACTERS
    for text in (outcome.out, outcome.err):
        assert not [sign for sign in text if sign != "\n" and (ord(sign) < 32 or 127 <= ord(sign) < 160)]
    assert PRIVATE_WORD not in outcome.out + outcome.err


def _require_line(error: Exception) -> None:
    assert "\n" not in str(error)
    assert len(str(error)) < MOST_CHARACTERS
    assert PRIVATE_WORD not in str(error)


def change_bytes(rng: random.Random, folder: Path) -> str:
    """Damage a file, and repair no digest."""
    path = folder / rng.choice(["manifest.json", "tensors.safetensors", "signature.json"])
    try:
        data = bytearray(read_regular_file(path, most=2**24) or b"\0")
    except OSError:
        return "nothing"
    start = rng.randrange(len(data))
    end = start + rng.randrange(1, 50)
    how = rng.choice(["flip", "cut", "insert", "double", "truncate", "zero", "append"])
    if how == "flip":
        data[start] ^= 1 << rng.randrange(8)
    elif how == "cut":
        del data[start:end]
    elif how == "insert":
        data[start:start] = rng.randbytes(rng.randrange(1, 20))
    elif how == "double":
        data[start:start] = data[start:end]
    elif how == "truncate":
        del data[start:]
    elif how == "zero":
        data[start:end] = bytes(len(data[start:end]))
    else:
        data += rng.choice([b"\n", b"\0", b"{}", rng.randbytes(100)])
    path.write_bytes(data)
    return f"{how} {path.name} at {start}"


VALUES: list[Any] = [
    *(None, True, False, 0, -1, 1, 2, 7, 10**6, 2**63, 10**400, 0.0, -0.5, 1e-300, 1e-20, 1e-3, 1.5, 1e20, 1e300),
    *(
        "",
        "a",
        "words",
        "\x1b[31m\x07",
        "line\nline",
        "[bold red]x[/] [/none] [link=file:///]",
        "\u202e\ud800",
        "NaN",
    ),
    *("../../etc/passwd", "openai:any@http://127.0.0.1:9/v1", "mahalanobis", "(a+)+$", "a" * 100_000, "é" * 3),
    *([], {}, [[]], [None], {"": None}, {"kind": "terms", "terms": []}, ["a"] * 1000, {"a": {"b": [1]}}),
]


def change_manifest(rng: random.Random, folder: Path) -> str:
    """Put another value somewhere into the manifest, as a forger would, who makes digests fit."""

    def change(manifest: dict[str, Any], tensors: Tensors) -> str:
        holder, key = _random_place(rng, manifest)
        how = rng.choice(["replace", "replace", "scale", "remove", "add", "nest", "copy"])
        if how == "scale" and isinstance(holder[key], int | float):
            holder[key] = type(holder[key])(holder[key] * 10.0 ** rng.uniform(-6, 6) * rng.choice([1, 1, 1, -1]))
        elif how == "remove":
            del holder[key]
        elif how == "add" and isinstance(holder, dict):
            holder[rng.choice(["name", "", "kind", "label", "\x1b[2J"])] = rng.choice(VALUES)
        elif how == "nest":
            for _ in range(rng.choice([1, 5, 30, 200])):
                holder[key] = [holder[key]] if rng.random() < 0.5 else {"a": holder[key]}
        elif how == "copy":
            other, name = _random_place(rng, manifest)
            copied = json.dumps(other[name])
            holder[key] = rng.choice(VALUES) if PRIVATE_WORD in copied else json.loads(copied)
        else:
            holder[key] = rng.choice(VALUES)
        return f"{how} {key}"

    return _forge(folder, change)


TENSOR_CHANGES = ["entry", "entry", "scale", "column", "shape", "type", "remove", "add", "rank", "shear", "turn"]


def change_tensors(rng: random.Random, folder: Path) -> str:
    """Change numbers, shapes or types of tensors, as a forger would."""

    def change(manifest: dict[str, Any], tensors: Tensors) -> str:
        name = rng.choice(sorted(tensors))
        tensor = tensors[name]
        how = rng.choice(
            ["entry", "entry", "scale", "column", "shape", "type", "remove", "add", "rank", "shear", "turn"]
        )
        if how == "entry" and tensor.size:
            values = [math.nan, math.inf, -math.inf, 0.0, -1.0, 1e-40, 1e-12, 1e-6, 1e6, 1e9, 1e300]
            with np.errstate(all="ignore"):
                tensor.reshape(-1)[rng.randrange(tensor.size)] = rng.choice(values)
        elif how == "scale":
            with np.errstate(all="ignore"):
                tensors[name] = tensor * np.asarray(10.0 ** rng.uniform(-8, 8), tensor.dtype)
        elif how == "column" and tensor.ndim == 2:
            tensor[:, rng.randrange(tensor.shape[1])] *= rng.choice([-1, 0, 0.5, 1 + 1e-9])
        elif how == "shape":
            tensors[name] = rng.choice([tensor[:-1], tensor[:0], tensor[None], tensor.reshape(-1), np.array(3.0)])
        elif how == "type":
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tensors[name] = tensor.astype(rng.choice(["float16", "float32", "int8", "int64", "uint8", "bool"]))
        elif how == "remove":
            del tensors[name]
        elif how == "add":
            tensors[rng.choice(["axes", "center", "more", "\x1b"])] = np.eye(rng.choice([1, DIMENSIONS]))
        elif how == "rank":
            along = unit_vectors(1, DIMENSIONS, seed=rng.randrange(99), dtype="float64")[0]
            tensors["axes"] = np.outer(along, along)
        elif how == "shear" and "axes" in tensors and tensors["axes"].ndim == 2:
            tensors["axes"] = (
                tensors["axes"]
                + 10.0 ** rng.uniform(-14, -2) * np.eye(len(tensors["axes"]))[::-1][:, : tensors["axes"].shape[1]]
            )
        elif how == "turn":
            draws = np.random.default_rng(rng.randrange(99)).standard_normal((DIMENSIONS, DIMENSIONS))
            tensors["axes"] = np.linalg.qr(draws)[0]
        return f"{how} {name}"

    return _forge(folder, change)


def change_noise(rng: random.Random, folder: Path) -> str:
    """Send the noise where nothing is: a veil that may well be valid, and must say what it leaves in clear."""

    def change(manifest: dict[str, Any], tensors: Tensors) -> str:
        variances = np.ones(DIMENSIONS)
        quiet = rng.randrange(1, DIMENSIONS)
        variances[:quiet] = 10.0 ** rng.uniform(-12, 0)
        variances[-1] = rng.choice([1.0, 1e3, 1e9, math.inf])
        tensors["variances"] = variances
        scale = 10.0 ** rng.uniform(-20, 0)
        for name in rng.choice([(), ("pair", "high_pair"), ("euclidean_pair",)]):
            manifest["typical"][name] = scale
        return f"{quiet} quiet axes"

    return _forge(folder, change)


def change_files(rng: random.Random, folder: Path) -> str:
    """Take a file away, or put something else in its place."""
    path = folder / rng.choice(["manifest.json", "tensors.safetensors", "signature.json", "notes.txt"])
    how = rng.choice(["remove", "empty", "folder", "link", "pipe", "garbage", "huge"])
    kept = path.read_bytes() if path.is_file() and path.stat().st_size < 2**24 else b""
    shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink(missing_ok=True)
    if how == "empty":
        path.touch()
    elif how == "folder":
        path.mkdir()
    elif how == "link":
        other = folder / "other"
        other.write_bytes(kept)
        path.symlink_to(rng.choice([other, folder, Path("/dev/zero"), folder / "nowhere"]))
    elif how == "pipe":
        os.mkfifo(path)
    elif how == "garbage":
        path.write_bytes(rng.randbytes(rng.randrange(2000)))
    elif how == "huge":
        with path.open("wb") as stream:
            stream.truncate(2**40)
    return f"{how} {path.name}"


CHANGES: list[Change] = [
    change_bytes,
    change_manifest,
    change_manifest,
    change_manifest,
    change_tensors,
    change_tensors,
]
CHANGES += [change_noise, change_files]


def _random_place(rng: random.Random, value: Any) -> tuple[Any, Any]:
    """Return a list or table inside of a document, and an index or key of it."""
    while True:
        key = rng.choice([*value]) if isinstance(value, dict) else rng.randrange(len(value))
        inside = value[key]
        if not isinstance(inside, dict | list) or not inside or rng.random() < 0.2:
            return value, key
        value = inside


def _forge(folder: Path, change: Callable[[dict[str, Any], Tensors], str]) -> str:
    """Change what a veil holds, and make its digests fit; damaged by an earlier change, it is left as it is."""
    try:
        manifest = json.loads(read_regular_file(folder / "manifest.json", most=2**24))
        read = load(read_regular_file(folder / "tensors.safetensors", most=2**24))
        tensors = {name: np.array(tensor) for name, tensor in read.items()}
        manifest.pop("digest", None)
        said = change(manifest, tensors)
    except (OSError, ValueError, TypeError, LookupError, AttributeError, SafetensorError):
        return "nothing"
    manifest["tensors"] = {name: array_digest(tensor) for name, tensor in sorted(tensors.items())}
    save_file({name: np.ascontiguousarray(tensor) for name, tensor in tensors.items()}, folder / "tensors.safetensors")
    text = json.dumps({**manifest, "digest": json_digest(manifest)})
    (folder / "manifest.json").write_text(text, encoding="utf-8", errors="surrogatepass")
    return said


@pytest.mark.parametrize("quiet", [0, 3])
def test_the_check_sees_axes_in_clear_that_a_sheet_does_not_tell_of(
    quiet: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The suite's own control: noise that leaves axes alone fails it."""
    veil = made_veil(dimensions=DIMENSIONS, epsilon=30.0)
    perturb = Veil.perturb

    def spare(self: Veil, vectors: Embeddings, **settings: Any) -> Any:
        released = perturb(self, vectors, **settings)
        steps = np.rint(vectors / clean_step(1.0)) * clean_step(1.0)
        released[:, :quiet] = steps[:, :quiet]
        return released

    monkeypatch.setattr(Veil, "perturb", spare)
    if quiet:
        with pytest.raises(AssertionError, match="in clear"):
            _require_what_the_sheet_says(veil)
    else:
        _require_what_the_sheet_says(veil)
