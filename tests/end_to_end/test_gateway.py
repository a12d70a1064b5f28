"""The gateway as real clients meet it: in a process of its own, over the network."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import httpx
import llama_index.core
import numpy as np
import openai
import pytest
import schemathesis
from langchain_openai import OpenAIEmbeddings
from pydantic import SecretStr

from support.command_line import finished
from support.embedding_server import EmbeddingServer
from support.gateways import MODEL, gateway_veil, log_lines, running_gateway
from support.guards import named_guard
from support.veils import PRIVATE_WORD
from vecveil.core.key import Key
from vecveil.embedders import resolve_embedder
from vecveil.files.key_file import read_key
from vecveil.ledger import open_ledger
from vecveil.service.clients import add_client

TOKEN_TABLES = Path(llama_index.core.__file__).parent / "_static" / "tiktoken_cache"
"""The table of cl100k_base, which is fetched from the network otherwise."""

TEXTS = [f"she has {PRIVATE_WORD}", "a sunny day"]


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with EmbeddingServer().running() as running:
        yield running


@pytest.fixture
def veil(tmp_path: Path) -> Path:
    return gateway_veil(tmp_path / "a.veil")


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(TOKEN_TABLES))
    return {"XDG_DATA_HOME": str(tmp_path / "data"), "VECVEIL_LEDGER": str(tmp_path / "ledger.sqlite")}


def _openai(address: str) -> openai.OpenAI:
    return openai.OpenAI(base_url=f"{address}/v1", api_key="any", max_retries=0)


def test_openais_client_gets_protected_vectors_from_another_server(
    veil: Path, server: EmbeddingServer, environment: dict[str, str], tmp_path: Path
) -> None:
    with running_gateway(veil, "--upstream", server.base_url, environment=environment) as (address, process):
        client = _openai(address)
        assert MODEL in [model.id for model in client.models.list()]
        found = client.embeddings.create(input=TEXTS, model=MODEL)
        assert [entry.index for entry in found.data] == [0, 1]
        assert len(found.data[0].embedding) == 8
        again = client.embeddings.create(input=TEXTS[1:], model=MODEL, encoding_format="float")
        assert np.allclose(again.data[0].embedding, found.data[1].embedding)
        many = client.embeddings.create(input=[f"text {number}" for number in range(2048)], model=MODEL)
        assert [entry.index for entry in many.data] == [*range(2048)]
        with pytest.raises(openai.NotFoundError):
            client.embeddings.create(input="a", model="another")
        with pytest.raises(openai.BadRequestError, match="dimensions must be 8"):
            client.embeddings.create(input="a", model=MODEL, dimensions=4)
        process.send_signal(signal.SIGTERM)
        said = finished(process)
    assert PRIVATE_WORD not in said.out + said.err
    lines = log_lines(said.err)
    assert (lines[0]["event"], lines[-1]["event"]) == ("serving", "stopped")
    assert "a key for this veil was made" in said.err
    with open_ledger(tmp_path / "ledger.sqlite") as ledger:
        assert ledger.totals().releases == 2 + 1 + 2048
        assert ledger.problems() == []


def test_openais_client_gets_seals_that_are_reranked(
    veil: Path, server: EmbeddingServer, environment: dict[str, str], tmp_path: Path
) -> None:
    writer, searcher = (
        add_client(tmp_path / "clients.toml", name, rerank=rerank)
        for name, rerank in (("writer", "refuse"), ("searcher", "allow"))
    )
    texts = [*TEXTS, "rain again"]
    options = ("--upstream", server.base_url, "--clients", tmp_path / "clients.toml")
    with running_gateway(veil, *options, environment=environment) as (address, process):
        client = openai.OpenAI(base_url=f"{address}/v1", api_key=writer, max_retries=0)
        found = client.embeddings.create(input=texts, model=MODEL, extra_body={"seal_ids": ["a", "b", "c"]})
        sealed = [{"id": one, "seal": entry.seal} for one, entry in zip("abc", found.data, strict=True)]  # type: ignore[attr-defined]
        asked = {"model": MODEL, "query": texts[2], "documents": sealed, "top_n": 2}
        bearer = {"Authorization": f"Bearer {searcher}"}
        answers = [httpx.post(f"{address}/{v}/rerank", json=asked, headers=bearer).json() for v in ("v1", "v2")]
        refused = httpx.post(f"{address}/v1/rerank", json=asked, headers={"Authorization": f"Bearer {writer}"})
        process.send_signal(signal.SIGTERM)
        said = finished(process)
    assert [one["results"] for one in answers[1:]] == [answers[0]["results"]]
    assert answers[0]["results"][0] == {"index": 2, "relevance_score": pytest.approx(1, abs=1e-3)}
    assert len(answers[0]["results"]) == 2
    assert refused.status_code == 403
    assert not any(secret in said.out + said.err for secret in (PRIVATE_WORD, "vvs1", "relevance"))


def test_langchains_client_sends_tokens_and_gets_vectors_of_the_model_here(
    tmp_path: Path, model_folder: Path, environment: dict[str, str]
) -> None:
    guard = named_guard(tmp_path, model_folder)
    with running_gateway(guard.veil, "--key", guard.key, environment=environment) as (address, _):
        name = guard.opened_veil.fingerprint.model
        embeddings = OpenAIEmbeddings(model=name, base_url=f"{address}/v1", api_key=SecretStr("any"))
        found = np.asarray(embeddings.embed_documents(TEXTS))
        single = np.asarray(_openai(address).embeddings.create(input=TEXTS, model=name).data[1].embedding)
    clean = resolve_embedder(str(model_folder)).embed(TEXTS)
    assert found.shape == clean.shape
    assert (np.sum(found * clean, axis=1) / np.linalg.norm(found, axis=1) > 0.9).all()
    assert np.allclose(found[1], single, atol=1e-6)
    own = Key(read_key(Path(str(guard.key))).derive(b"vecveil client", b"anyone\0documents"))
    assert np.allclose(single, replace(guard, key=own).protect_texts(TEXTS)[1], atol=1e-6)


def test_no_torch_is_loaded_where_the_model_is_elsewhere(
    veil: Path, server: EmbeddingServer, environment: dict[str, str]
) -> None:
    barred = "import sys\nfor name in ('torch', 'transformers', 'sentence_transformers'): sys.modules[name] = None"
    started = running_gateway(veil, "--upstream", server.base_url, environment=environment, before=barred)
    with started as (address, _):
        assert len(_openai(address).embeddings.create(input=TEXTS, model=MODEL).data) == 2


def test_bearer_keys_are_asked_for(
    veil: Path, server: EmbeddingServer, environment: dict[str, str], tmp_path: Path, run: object
) -> None:
    made = run("client", "new", tmp_path / "clients.toml", "search-team")  # type: ignore[operator]
    key = made.out.strip()
    arguments = (veil, "--upstream", server.base_url, "--clients", tmp_path / "clients.toml")
    with running_gateway(*arguments, environment=environment) as (address, _):
        with pytest.raises(openai.AuthenticationError):
            _openai(address).embeddings.create(input=TEXTS, model=MODEL)
        known = openai.OpenAI(base_url=f"{address}/v1", api_key=key)
        assert len(known.embeddings.create(input=TEXTS, model=MODEL).data) == 2


def test_a_kill_under_load_loses_no_record_of_a_vector_that_was_returned(
    veil: Path, server: EmbeddingServer, environment: dict[str, str], tmp_path: Path
) -> None:
    returned: list[int] = []
    stopped = threading.Event()
    with running_gateway(veil, "--upstream", server.base_url, "--fresh-noise", environment=environment) as (
        address,
        process,
    ):

        def ask(number: int) -> None:
            with httpx.Client(base_url=address, timeout=10) as client:
                turn = 0
                while not stopped.is_set():
                    body = {"input": [f"text {number} {turn}", "same"], "model": MODEL}
                    try:
                        answer = client.post("/v1/embeddings", json=body)
                    except httpx.TransportError:
                        return
                    if answer.status_code == httpx.codes.OK:
                        returned.append(len(answer.json()["data"]))
                    turn += 1

        with ThreadPoolExecutor(16) as threads:
            for number in range(16):
                threads.submit(ask, number)
            while len(returned) < 200:
                time.sleep(0.02)
            process.kill()
            process.wait()
            stopped.set()
    with open_ledger(tmp_path / "ledger.sqlite") as ledger:
        assert ledger.totals().releases >= sum(returned)
        assert ledger.problems() == []


def test_a_warning_is_a_line_of_the_log(veil: Path, server: EmbeddingServer, environment: dict[str, str]) -> None:
    def same(answer: dict[str, object]) -> dict[str, object]:
        return {**answer, "data": [{"index": 0, "embedding": [1.0] + [0.0] * 7}]}

    server.change = same  # type: ignore[assignment]
    with running_gateway(veil, "--upstream", server.base_url, environment=environment) as (address, process):
        for text in TEXTS:
            _openai(address).embeddings.create(input=text, model=MODEL)
        process.send_signal(signal.SIGTERM)
        said = finished(process).err
    lines = said[said.index('{"time"') :].splitlines()
    assert len(log_lines(said)) == len(lines)
    assert any("the ledger knows 1 of these vectors" in line["event"] for line in log_lines(said))


def test_requests_in_work_are_finished_before_it_stops(
    veil: Path, environment: dict[str, str], server: EmbeddingServer
) -> None:
    asked = threading.Event()

    def slow(answer: dict[str, object]) -> dict[str, object]:
        asked.set()
        time.sleep(1.0)
        return answer

    server.change = slow  # type: ignore[assignment]
    with running_gateway(veil, "--upstream", server.base_url, environment=environment) as (address, process):
        with ThreadPoolExecutor(1) as threads:
            waiting = threads.submit(
                httpx.post, f"{address}/v1/embeddings", json={"input": "a", "model": MODEL}, timeout=20
            )
            assert asked.wait(10)
            process.send_signal(signal.SIGTERM)
            assert waiting.result().status_code == httpx.codes.OK
        assert finished(process).code in {0, -signal.SIGTERM}


def test_what_can_be_wrong_at_the_start_is_one_line(
    veil: Path, environment: dict[str, str], tmp_path: Path, run: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    for arguments, said in (
        ((veil, "--upstream", "localhost"), "upstream must start with http"),
        ((veil, "--upstream", "http://x/v1", "--host", "0.0.0.0"), "no bearer keys are set"),  # noqa: S104
        ((veil, "--clients", tmp_path / "none.toml"), "there is no file of clients"),
        ((veil, "--key", tmp_path / "none.key"), "there is no key file"),
        ((veil, "--key", tmp_path / "none.key", "--fresh-noise"), "got --fresh-noise and --key"),
        ((tmp_path / "none.veil",), "none.veil"),
    ):
        outcome = run("serve", *arguments)  # type: ignore[operator]
        assert outcome.code == 1
        assert said in outcome.err


def test_schemathesis_finds_no_server_error(veil: Path, server: EmbeddingServer, environment: dict[str, str]) -> None:
    with running_gateway(veil, "--upstream", server.base_url, environment=environment) as (address, _):
        schema = schemathesis.openapi.from_url(f"{address}/openapi.json")
        asked = 0
        for operation in schema.get_all_operations():
            asked += _tried(operation.ok())
    assert asked > 100


def _tried(operation: schemathesis.APIOperation) -> int:  # type: ignore[type-arg]
    from hypothesis import HealthCheck, Phase, given, settings

    asked = 0

    @given(case=operation.as_strategy(generation_mode=schemathesis.GenerationMode.NEGATIVE) | operation.as_strategy())
    @settings(
        max_examples=60,
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=[*HealthCheck],
        phases=[Phase.generate],
    )
    def ask(case: schemathesis.Case) -> None:
        nonlocal asked
        asked += 1
        answer = case.call()
        assert answer.status_code < 500, answer.text
        if answer.status_code >= 400:
            assert {*answer.json()["error"]} == {"message", "type", "param", "code"}

    ask()
    return asked
