"""A veil is untrusted input: what it may not do, and how its owner is known."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from support.command_line import CommandLine, check_refusal
from support.embedding_server import EmbeddingServer
from support.veils import made_veil, rotated_shape, unit_vectors, with_words
from vecveil.concepts import patterns, terms
from vecveil.core.digests import array_digest, json_digest
from vecveil.core.errors import ArtifactError, EmbedderMismatchError, InvalidInputError, VecveilWarning
from vecveil.core.key import Key
from vecveil.files.key_file import write_key
from vecveil.files.signature import public_key, sign_folder
from vecveil.shapes import NoiseShape
from vecveil.veil import Guard, Veil

DIMENSIONS = 16


def _forge(folder: Path, change: Callable[[dict[str, Any], dict[str, np.ndarray]], None]) -> Path:
    """Change what a veil holds and make its digests fit, as whoever forges one would."""
    manifest = json.loads((folder / "manifest.json").read_text())
    tensors = load_file(folder / "tensors.safetensors")
    change(manifest, tensors)
    manifest.pop("digest", None)
    manifest["tensors"] = {name: array_digest(tensor) for name, tensor in sorted(tensors.items())}
    save_file({name: np.ascontiguousarray(tensor) for name, tensor in tensors.items()}, folder / "tensors.safetensors")
    text = json.dumps({**manifest, "digest": json_digest(manifest)})
    (folder / "manifest.json").write_text(text)
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made_veil(dimensions=DIMENSIONS, shape=rotated_shape(DIMENSIONS), epsilon=30.0).save(tmp_path / "a.veil")
    return tmp_path / "a.veil"


def _project_all_but_one(manifest: dict[str, Any], tensors: dict[str, np.ndarray]) -> None:
    """Axes of rank one that a fixed probe does not tell from a rotation: all other dimensions are in clear."""
    probe = np.random.default_rng(0).standard_normal(DIMENSIONS)
    along = probe / np.linalg.norm(probe)
    tensors["axes"] = np.outer(along, along)


def _shear(manifest: dict[str, Any], tensors: dict[str, np.ndarray]) -> None:
    tensors["axes"][:, 1] += 1e-5 * tensors["axes"][:, 0]


def _spoil(name: str, value: float) -> Callable[[dict[str, Any], dict[str, np.ndarray]], None]:
    def change(manifest: dict[str, Any], tensors: dict[str, np.ndarray]) -> None:
        tensors[name].reshape(-1)[3] = value

    return change


def _say(*path: str, value: Any) -> Callable[[dict[str, Any], dict[str, np.ndarray]], None]:
    def change(manifest: dict[str, Any], tensors: dict[str, np.ndarray]) -> None:
        for name in path[:-1]:
            manifest = manifest[name]
        manifest[path[-1]] = value

    return change


DRAWN = {"name": "randomize", "epsilon": 2.0, "candidates": {"X": ["a", "b"]}, "taken": []}
FORGERIES = {
    "axes of rank one": _project_all_but_one,
    "axes that are sheared": _shear,
    "NaN in the axes": _spoil("axes", np.nan),
    "NaN in the center": _spoil("center", np.nan),
    "a center far away": _spoil("center", 1e9),
    "a variance of zero": _spoil("variances", 0.0),
    "a variance below zero": _spoil("variances", -1.0),
    "a tiny variance": _spoil("variances", 1e-40),
    "another signal": _say("typical", "signal", value=1000.0),
    "a signal that is no number": _say("typical", "signal", value="one"),
    "no epsilon worth the name": _say("epsilon", value=-1),
    "a mechanism with an escape": _say("mechanism", value="\x1b[2Jmahalanobis"),
    "a model with an escape": _say("embedder", "model", value="words\x1b]0;owned\x07"),
    "an embedder with an escape": _say("provenance", "embedder", value="minilm\x1b[31m"),
    "a version with an escape": _say("provenance", "versions", value={"python": "3\x9b31m"}),
    "a concept that is a list": _say("concept", value=[1]),
    "a concept that was of no kind": _say("provenance", "concept", value={"terms": 1}),
    "parts of a concept that were of no kind": _say("provenance", "concept", value={"parts": [{"terms": 1}]}),
    "uneven noise by a mechanism that has none": _say("mechanism", value="laplace"),
    "a kind without end": _say("kind", value=["a"] * 100_000),
    "a format without end": _say("format", value=["a"] * 100_000),
    "candidates that are a list": _say("substitution", value={**DRAWN, "candidates": ["a", "b"]}),
    "candidates that were taken from a number": _say("substitution", value={**DRAWN, "taken": [1]}),
    "a concept of no kind": _say("concept", value={"kind": "code", "run": "os.system"}),
    "facts that are no numbers": _say("provenance", "facts", value={"gate": "NaN"}),
    "dimensions without end": _say("embedder", "dimensions", value=10**12),
}


@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_forged_veil_is_refused(folder: Path, forgery: str, run: CommandLine) -> None:
    _forge(folder, FORGERIES[forgery])
    with pytest.raises(ArtifactError):
        Veil.load(folder)
    outcome = run("show", folder)
    assert outcome.code == 1
    assert "Traceback" not in outcome.err
    assert len(outcome.err) < 1000
    assert not any(sign in outcome.out + outcome.err for sign in ("\x1b", "\x07", "\x9b"))


@pytest.mark.parametrize("file", ["manifest.json", "tensors.safetensors"])
def test_a_folder_in_the_place_of_a_file_leaves_nothing_open(folder: Path, file: str) -> None:
    (folder / file).unlink()
    (folder / file).mkdir()
    before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208
    for _ in range(3):
        with pytest.raises(ArtifactError, match="no regular file"):
            Veil.load(folder)
    assert len(os.listdir("/proc/self/fd")) == before  # noqa: PTH208


def test_deep_nesting_ends_in_a_message(folder: Path) -> None:
    (folder / "manifest.json").write_text('{"kind": ' + "[" * 100_000 + "]" * 100_000 + "}")
    with pytest.raises(ArtifactError, match="nested"):
        Veil.load(folder)


@pytest.mark.parametrize("spec", ["openai:any@{address}", "openai:any"])
def test_no_text_and_no_key_is_sent_where_a_veil_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spec: str, run: CommandLine
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    with EmbeddingServer().running() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        named = spec.format(address=server.base_url)
        veil = made_veil(epsilon=30.0)
        replace(veil, provenance=replace(veil.provenance, embedder=named)).save(tmp_path / "a.veil")
        loaded = Veil.load(tmp_path / "a.veil")
        with pytest.raises(InvalidInputError, match="name it yourself"):
            loaded.protect(["a private text"])
        with pytest.raises(InvalidInputError, match="name it yourself"):
            Guard(loaded).protect_texts(["a private text"])
        assert server.requests == []
    assert named in run("show", tmp_path / "a.veil").out.replace("\n", "")


@pytest.fixture
def key(tmp_path: Path) -> Key:
    made = Key.new()
    write_key(made, tmp_path / "release.key")
    return made


def test_a_signed_veil_is_taken_and_no_other(folder: Path, key: Key, run: CommandLine, tmp_path: Path) -> None:
    public = public_key(key)
    with pytest.raises(ArtifactError, match="is not signed"):
        Veil.load(folder, signed_by=public)
    assert run("sign", folder, "--key", tmp_path / "release.key").code == 0
    assert run("key", "public", tmp_path / "release.key").out.strip() == public
    assert Veil.load(folder, signed_by=public).digest() == Veil.load(folder).digest()
    with pytest.raises(ArtifactError, match="signed by another key"):
        Veil.load(folder, signed_by=public_key(Key.new()))
    with pytest.raises(InvalidInputError, match="64 hexadecimal digits"):
        Veil.load(folder, signed_by="release.key")


def test_a_veil_that_was_changed_after_it_was_signed_is_refused(folder: Path, key: Key) -> None:
    sign_folder(folder, Veil.load(folder).digest(), key)
    _forge(folder, _say("epsilon", value=5000.0))
    assert Veil.load(folder).epsilon == 5000.0
    with pytest.raises(ArtifactError, match="changed after it was signed"):
        Veil.load(folder, signed_by=public_key(key))


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"public_key": "", "signature": "zz"}', "\x00"])
def test_a_damaged_signature_is_refused(folder: Path, key: Key, content: str) -> None:
    (folder / "signature.json").write_text(content)
    with pytest.raises(ArtifactError, match="damaged"):
        Veil.load(folder, signed_by=public_key(key))


def test_commands_ask_for_the_signature(folder: Path, key: Key, run: CommandLine, work: Path) -> None:
    np.save(work / "in.npy", unit_vectors(4, DIMENSIONS))
    protect = ("protect", folder, "in.npy", "out.npy", "--no-ledger", "--require-signed", public_key(key))
    check_refusal(run(*protect), "is not signed")
    assert not (work / "out.npy").exists()
    sign_folder(folder, Veil.load(folder).digest(), key)
    assert run(*protect).code == 0
    for command in (("serve", folder), ("migrate", "chroma:store", "notes", folder, "--fresh-noise")):
        check_refusal(run(*command, "--require-signed", public_key(Key.new())), "signed by another key")


def test_an_unsigned_shape_is_still_checked_when_it_is_built() -> None:
    with pytest.raises(InvalidInputError, match="orthonormal"):
        NoiseShape(variances=np.ones(4), axes=np.ones((4, 4)) / 2)


def _hide_noise_along_one_axis(manifest: dict[str, Any], tensors: dict[str, np.ndarray]) -> None:
    """All of the noise goes where nothing is, and the figures are those of pairs that hardly differ."""
    variances = np.ones(DIMENSIONS)
    variances[0] = 2e9
    tensors["variances"] = variances
    manifest["typical"] |= {"pair": 1e-20, "high_pair": 1e-20}


def test_noise_that_goes_where_nothing_is_can_not_be_hidden_by_small_figures(tmp_path: Path) -> None:
    made_veil(dimensions=DIMENSIONS, epsilon=30.0).save(tmp_path / "a.veil")
    forged = Veil.load(_forge(tmp_path / "a.veil", _hide_noise_along_one_axis))
    sheet = str(forged.guarantee(noise_ratio=1.0))
    assert f"{DIMENSIONS - 1} of {DIMENSIONS} released axes" in sheet or "released almost in clear" in sheet
    with pytest.warns(VecveilWarning, match="released almost in clear"):
        forged.perturb(unit_vectors(2, DIMENSIONS), noise_ratio=1.0)
    with pytest.raises(ArtifactError, match="are no pairs of texts"):
        Veil.load(_forge(tmp_path / "a.veil", _say("typical", "euclidean_pair", value=1e-29)))


def test_a_veil_can_not_say_one_concept_and_hold_another(tmp_path: Path) -> None:
    concept = terms("gout", "asthma")
    with_words(made_veil(dimensions=DIMENSIONS, epsilon=30.0), concept).save(tmp_path / "a.veil")
    other = patterns(NUMBER=r"[0-9]+").settings()
    with pytest.raises(ArtifactError, match="the concept is another than the one that it says"):
        Veil.load(_forge(tmp_path / "a.veil", _say("concept", value=other)))


def test_what_a_veil_does_with_private_words_is_shown(run: CommandLine, work: Path) -> None:
    made_veil(dimensions=DIMENSIONS, epsilon=30.0).save(work / "a.veil")
    assert "kept: shape and noise alone protect them" in " ".join(run("show", "a.veil").out.split())
    law = {"name": "randomize", "epsilon": 29.0, "candidates": {"X": ["a", "b"]}, "taken": []}
    _forge(work / "a.veil", _say("substitution", value=law))
    assert "randomize, ε = 29 for each different value" in " ".join(run("show", "a.veil").out.split())
    assert "randomize, ε = 29 for each different value" in run("guarantee", "a.veil").out


def test_a_veil_that_understates_lengths_is_refused_by_the_vectors(tmp_path: Path) -> None:
    """Its sheet would promise a hundred times the noise that it gives."""
    honest = made_veil(epsilon=3000.0)
    loose = replace(honest.fingerprint, normalized=False)
    short = replace(honest.typical, signal=0.01, pair=0.005, euclidean_pair=0.004, high_pair=0.009)
    replace(honest, fingerprint=loose, typical=short).save(tmp_path / "a.veil")
    with pytest.raises(EmbedderMismatchError, match=r"these vectors are 1 long, and .* learned on 0\.01"):
        Veil.load(tmp_path / "a.veil").perturb(unit_vectors(4))


@pytest.mark.parametrize("place", ["key", "value"])
def test_a_manifest_with_control_characters_is_neither_written_nor_read(tmp_path: Path, place: str) -> None:
    facts = {"\x1b[2Jgates": 1.0} if place == "key" else {}
    learner = {"name": "uniform", "note": "\x1b]0;owned\x07"} if place == "value" else {"name": "uniform"}
    veil = made_veil(epsilon=30.0)
    forged = replace(veil, provenance=replace(veil.provenance, facts=facts, learner=learner))
    with pytest.raises(InvalidInputError, match="control characters"):
        forged.save(tmp_path / "a.veil")
    assert not (tmp_path / "a.veil").exists()
    veil.save(tmp_path / "b.veil")
    path = tmp_path / "b.veil" / "manifest.json"
    document = json.loads(path.read_text())
    document["provenance"]["facts"]["\x1b[2J"] = 1.0
    path.write_text(json.dumps(document))
    with pytest.raises(ArtifactError, match="control characters"):
        Veil.load(tmp_path / "b.veil")
