"""Objects of an S3-compatible server (moto, in a process of its own) as a source."""

import io
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from itertools import count

import httpx
import pytest
from pydantic import SecretStr

from kaijuan.ingest.ports import Source, SourceFailure, SourceItem
from kaijuan.ingest.settings import IngestSettings
from kaijuan.ingest.sources.expanding import ExpandingSource
from kaijuan.ingest.sources.s3 import S3Source
from kaijuan.ingest.sources.settings import S3Settings
from kaijuan.testing.contracts.source import Place, SourceContract

pytestmark = pytest.mark.slow
minio = pytest.importorskip("minio", reason="the extra `s3` is not installed")
_NUMBERS = count()


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    if find_spec("moto") is None or find_spec("flask") is None:
        pytest.skip("moto's server is not installed")
    server = subprocess.Popen(
        [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert server.stdout is not None
    try:
        yield next(found[0] for line in server.stdout if (found := re.search(r"http://127\.0\.0\.1:\d+", line)))
    finally:
        server.kill()
        server.wait()
        server.stdout.close()


class Bucket:
    def __init__(self, endpoint: str) -> None:
        self.endpoint = endpoint
        self.name = f"bucket-{next(_NUMBERS)}"
        self.open = True
        httpx.put(f"{endpoint}/{self.name}").raise_for_status()
        self.client = minio.Minio(
            endpoint.removeprefix("http://"),
            access_key="key",
            secret_key="tell-nobody",
            region="us-east-1",
            secure=False,
        )

    def target(self) -> str:
        return f"s3://{self.name}/papers/"

    def raw(self, key: str, data: bytes, kind: str = "text/plain") -> None:
        self.client.put_object(self.name, key, io.BytesIO(data), len(data), kind)

    def put(self, name: str, data: bytes) -> None:
        self.raw(f"papers/{name}", data)

    def drop(self, name: str) -> None:
        self.client.remove_object(self.name, f"papers/{name}")

    def touch(self, name: str) -> None:
        response = self.client.get_object(self.name, f"papers/{name}")
        self.raw(f"papers/{name}", response.read(), "application/octet-stream")
        response.close()
        response.release_conn()

    def close(self) -> None:
        self.open = False


def source(bucket: Bucket, **settings: object) -> S3Source:
    given = {
        "at": bucket.target(),
        "endpoint": bucket.endpoint if bucket.open else "http://127.0.0.1:1",
        "region": "us-east-1",
        "key_id": "key",
        "secret": SecretStr("tell-nobody"),
    }
    return S3Source(max_bytes=1000, settings=S3Settings.model_validate(given | settings))


class TestObjects(SourceContract):
    @pytest.fixture
    def place(self, endpoint: str) -> Place:
        self.bucket = Bucket(endpoint)
        return self.bucket

    def make(self) -> Source:
        return source(self.bucket)

    def foreign(self) -> str:
        return "s3:/bucket"


@pytest.fixture
def bucket(endpoint: str) -> Bucket:
    return Bucket(endpoint)


async def found_at(source: Source, target: str) -> tuple[list[SourceItem], list[SourceFailure]]:
    found = [one async for one in source.walk(target)]
    return [o for o in found if isinstance(o, SourceItem)], [o for o in found if isinstance(o, SourceFailure)]


async def test_a_prefix_is_a_folder_and_keys_are_quoted(bucket: Bucket) -> None:
    for key in ("papers/中 #?.txt", "papers/a/b.txt", "papers-old/c.txt", "papers/.git/x", "papers/x//b.txt"):
        bucket.raw(key, key.encode())
    bucket.raw("papers/a/", b"")  # what a console makes when somebody makes a folder
    items, failures = await found_at(source(bucket), bucket.target())
    assert failures == []
    assert [(item.source.partition("papers/")[2], item.name) for item in items] == [
        ("a/b.txt", "b.txt"),
        ("x//b.txt", "b.txt"),
        ("%E4%B8%AD%20%23%3F.txt", "中 #?.txt"),
    ]
    (one,), _ = await found_at(source(bucket), items[2].source)
    assert one == items[2]
    assert source(bucket).scope(one.source) == one.source


async def test_a_prefix_without_slash_and_the_whole_bucket(bucket: Bucket) -> None:
    bucket.raw("papers/a.txt", b"one")
    bucket.raw("top.txt", b"two")
    assert len((await found_at(source(bucket), f"s3://{bucket.name}/papers"))[0]) == 1
    assert len((await found_at(source(bucket), f"s3://{bucket.name}"))[0]) == 2
    assert source(bucket).scope(f"s3://{bucket.name}") == f"s3://{bucket.name}/"
    assert source(bucket).scope(f"s3://{bucket.name}/papers") == f"s3://{bucket.name}/papers/"


async def test_patterns_hold_below_the_prefix(bucket: Bucket) -> None:
    for name in ("a.pdf", "b.txt", "drafts/c.pdf"):
        bucket.put(name, b"x")
    items, _ = await found_at(source(bucket, include=["*.pdf"], exclude=["/drafts/"]), bucket.target())
    assert [item.name for item in items] == ["a.pdf"]


async def test_a_corpus_in_a_bucket_gives_its_records(bucket: Bucket) -> None:
    bucket.put("c.jsonl", b'{"id": "1", "text": "one"}\n{"id": "2", "text": "two"}\n')
    items, _ = await found_at(ExpandingSource(source(bucket), IngestSettings()), bucket.target())
    assert [item.source.partition("papers/")[2] for item in items] == ["c.jsonl#1", "c.jsonl#2"]


@pytest.mark.parametrize("target", ["s3://no-such-bucket/x/", "s3://{}/nothing/", "s3://{}/nothing.txt"])
async def test_what_is_not_there_is_one_failure(bucket: Bucket, target: str) -> None:
    items, failures = await found_at(source(bucket), target.format(bucket.name))
    assert items == []
    (failure,) = failures
    assert failure.code in {"source_missing", "fetch_failed"}
    assert "tell-nobody" not in failure.message
