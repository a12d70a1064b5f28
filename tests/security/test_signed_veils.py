"""A signature that is asked for is asked for wherever a veil is read again: by clients, workers and saved pipelines."""

from __future__ import annotations

import pickle
from pathlib import Path

import pyarrow as pa
import pytest

from support.command_line import CommandLine, check_refusal
from support.gateways import gateway_veil
from support.veils import unit_vectors
from vecveil.core.errors import ArtifactError
from vecveil.core.key import Key
from vecveil.files.key_file import write_key
from vecveil.files.signature import SIGNATURE, public_key, sign_folder
from vecveil.files.vectors import to_vector_column
from vecveil.integrations.engines import Columns
from vecveil.service.clients import Client, Clients, hash_key
from vecveil.service.gateway import Gateway, Settings
from vecveil.veil import Guard, Veil

OWNER = Key.new()


@pytest.fixture
def signed(tmp_path: Path) -> Guard:
    """A guard by names alone, of a veil that its owner has signed."""
    folder = gateway_veil(tmp_path / "a.veil")
    sign_folder(folder, Veil.load(folder).digest(), OWNER)
    write_key(Key.new(), tmp_path / "a.key")
    return Guard(str(folder), key=str(tmp_path / "a.key"), signed_by=public_key(OWNER))


def test_a_clients_own_veil_must_be_signed_too(signed: Guard, tmp_path: Path) -> None:
    other = gateway_veil(tmp_path / "other.veil", epsilon=1e6)
    clients = Clients({hash_key("k"): Client(name="one", key=hash_key("k"), veil=str(other))})
    with pytest.raises(ArtifactError, match=r"other\.veil is not signed"):
        Gateway.for_clients(clients, signed, Settings(upstream="http://x/v1"))
    sign_folder(other, Veil.load(other).digest(), OWNER)
    gateway = Gateway.for_clients(clients, signed, Settings(upstream="http://x/v1"))
    assert gateway.handlers["one"].documents.release.mechanism.epsilon == 1e6


def test_serve_asks_for_the_signatures_of_clients_veils(run: CommandLine, signed: Guard, work: Path) -> None:
    gateway_veil(work / "other.veil", epsilon=1e6)
    run("client", "new", "clients.toml", "one", "--veil", "other.veil")
    options = ("--key", signed.key, "--clients", "clients.toml", "--upstream", "http://x/v1", "--no-ledger")
    refused = run("serve", signed.veil, *options, "--require-signed", public_key(OWNER))
    check_refusal(refused, "other.veil is not signed")


def test_a_worker_checks_the_signature_of_the_folder_that_it_reads(signed: Guard) -> None:
    table = pa.table({"id": ["a"], "vector": to_vector_column(unit_vectors(1, 8))})
    sent = pickle.dumps(Columns(id_column="id").make_protection(signed, table.schema, table))
    # The folder is another one by the time that the worker reads it.
    (Path(str(signed.veil)) / SIGNATURE).unlink()
    with pytest.raises(ArtifactError, match="is not signed"):
        pickle.loads(sent)  # noqa: S301


def test_a_pipeline_that_is_read_again_asks_for_the_signature(signed: Guard) -> None:
    settings = signed.settings()
    assert settings["signed_by"] == public_key(OWNER)
    (Path(str(signed.veil)) / SIGNATURE).unlink()
    with pytest.raises(ArtifactError, match="is not signed"):
        Guard.from_settings(settings)
