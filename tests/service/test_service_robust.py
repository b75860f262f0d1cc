"""Callers who are slow, huge, gone or out of their minds leave the service healthy."""

from __future__ import annotations

import json
import random
import socket
from collections.abc import Iterator
from urllib.parse import unquote, urlsplit

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.serving import config_of, on_a_port

from kaijuan.client import Client
from kaijuan.server import running

NOTE = "# Cellar\n\nThe cellar holds forty barrels of cider.\n"
QUESTION = {"question": "How many barrels does the cellar hold?"}


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(running, "HEAD_SECONDS", 0.3)
        limits = {"body_seconds": 0.3, "body_kb": 64, "upload_mb": 1, "most_connections": 40}
        folder = tmp_path_factory.mktemp("robust")
        (folder / "cellar.md").write_text(NOTE)
        with on_a_port(folder / "home", config_of(serve=limits)) as (started, _):
            with Client(started) as base:
                base.make_base()
                base.add(folder / "cellar.md")
            yield started


@pytest.fixture(autouse=True)
def _healthy(address: str) -> Iterator[None]:
    yield
    assert httpx.get(f"{address}/api/v1/health").json()["status"] == "ok"
    answer = httpx.post(f"{address}/api/v1/kbs/default/ask", json=QUESTION, timeout=60).json()
    assert "forty barrels" in answer["answer"]


def _open(address: str) -> socket.socket:
    place = urlsplit(address)
    assert place.hostname is not None
    return socket.create_connection((place.hostname, place.port or 80), timeout=60)


def _all(line: socket.socket) -> bytes:
    """Return all that comes until the service hangs up."""
    found = b""
    try:
        while data := line.recv(65536):
            found += data
    except ConnectionResetError:
        pass
    return found


def test_who_never_ends_the_head_is_cut_off(address: str) -> None:
    lines = [_open(address) for _ in range(20)]
    for line in lines:
        line.sendall(b"GET /api/v1/health HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ")
    assert httpx.get(f"{address}/api/v1/health").status_code == 200, "others are served meanwhile"
    for line in lines:
        with line:
            assert b"200" not in _all(line).partition(b"\r\n")[0]


def test_who_says_nothing_at_all_is_cut_off(address: str) -> None:
    with _open(address) as line:
        assert _all(line) == b""


def test_who_never_ends_the_body_is_cut_off(address: str) -> None:
    head = (
        b"POST /api/v1/kbs/default/search HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        b'Content-Length: 1000\r\n\r\n{"query"'
    )
    with _open(address) as line:
        line.sendall(head)
        assert b" 408 " in _all(line).partition(b"\r\n")[0]
    upload = head.replace(b"search", b"documents").replace(b"application/json", b"multipart/form-data; boundary=x")
    with _open(address) as line:
        line.sendall(upload)
        assert _all(line).partition(b"\r\n")[0].split()[1:2] in ([b"408"], [b"400"])


def test_giant_bodies_are_refused_before_they_are_read(address: str) -> None:
    with _open(address) as line:
        line.sendall(
            b"POST /api/v1/kbs/default/documents HTTP/1.1\r\nHost: 127.0.0.1\r\n"
            b"Content-Type: multipart/form-data; boundary=x\r\nContent-Length: 99999999999\r\n\r\n"
        )
        assert b" 413 " in _all(line).partition(b"\r\n")[0]


def test_giant_heads_are_refused(address: str) -> None:
    with _open(address) as line:
        try:
            line.sendall(b"GET /api/v1/health HTTP/1.1\r\nHost: 127.0.0.1\r\nX: " + b"a" * 300_000)
        except (BrokenPipeError, ConnectionResetError):
            return
        assert b"200" not in _all(line).partition(b"\r\n")[0]


def test_streams_that_nobody_reads_to_the_end(address: str) -> None:
    for _ in range(10):
        with httpx.stream(
            "POST",
            f"{address}/api/v1/kbs/default/ask",
            json=QUESTION,
            headers={"Accept": "text/event-stream"},
            timeout=60,
        ) as answer:
            assert next(answer.iter_bytes())
    for _ in range(10):
        with _open(address) as line:
            body = b'{"question": "How many barrels?"}'
            line.sendall(
                b"POST /api/v1/kbs/default/ask HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
                b"Content-Length: %d\r\n\r\n%b" % (len(body), body)
            )


def test_noise_is_no_request(address: str) -> None:
    chance = random.Random(5)
    for size in (1, 10, 200, 5000):
        with _open(address) as line:
            try:
                line.sendall(chance.randbytes(size) + b"\r\n\r\n")
                line.shutdown(socket.SHUT_WR)
            except OSError:
                continue
            assert b"200" not in _all(line).partition(b"\r\n")[0]


@pytest.mark.parametrize(
    "head",
    [
        b"POST /api/v1/kbs HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
        b"POST /api/v1/kbs HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\nhello",
        b"POST /api/v1/kbs HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n",
        b"GET /api/v1/health HTTP/1.1\r\n\r\n",
        b"GET http://evil.example/api/v1/health HTTP/1.1\r\nHost: evil.example\r\n\r\n",
        b"GET /api/v1/kbs/%ff%fe%00/documents HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    ],
)
def test_requests_that_others_read_otherwise_do_nothing(address: str, head: bytes) -> None:
    with _open(address) as line:
        line.sendall(head)
        line.shutdown(socket.SHUT_WR)
        status = _all(line).partition(b"\r\n")[0].split(b" ")[1:2]
        assert not status or status[0][:1] == b"4", status
    assert [one["name"] for one in httpx.get(f"{address}/api/v1/kbs").json()["kbs"]] == ["default"]


@pytest.mark.parametrize(
    ("line", "answered"),
    [
        ("GET /api/v1/kbs/default/suggest?q=苹果酒 HTTP/1.1", 200),
        ("GET /api/v1/kbs/default/documents?q=酒窖 HTTP/1.1", 200),
        ("GET /api/v1/kbs/没有的库/documents HTTP/1.1", 404),
        ("GET /api/v1/kbs/default/documents?q=café&limit=%E5 HTTP/1.1", 422),
    ],
)
def test_addresses_may_be_sent_as_they_are_typed(address: str, line: str, answered: int) -> None:
    """curl sends what stands in the shell: UTF-8, not percent-encoded."""
    with _open(address) as opened:
        opened.sendall(line.encode() + b"\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
        assert int(_all(opened).split(b" ")[1]) == answered


@pytest.mark.parametrize("head", [b"hello\r\n\r\n", b"GET /\x01 HTTP/1.1\r\n\r\n", b"GET / HTTP/1.1\r\nX y\r\n\r\n"])
def test_what_is_no_http_is_told_so_by_a_problem_document(address: str, head: bytes) -> None:
    with _open(address) as opened:
        opened.sendall(head)
        answer, _, body = _all(opened).partition(b"\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert b"content-type: application/problem+json" in answer.lower()
    told = json.loads(body)
    assert (told["status"], told["code"], bool(told["hint"])) == (400, "usage", True)


@given(
    target=st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1, max_size=20),
    body=st.binary(max_size=30),
)
def test_the_first_line_alone_is_put_into_ascii(target: str, body: bytes) -> None:
    line = running.with_ascii_target(f"GET /{target} HTTP/1.1\r\n".encode() + body)
    head, _, rest = line.partition(b"\r\n")
    assert head.isascii()
    assert rest == body
    if "%" not in target:
        assert unquote(head.decode()) == f"GET /{target} HTTP/1.1"


def test_too_many_connections_are_told_so(address: str) -> None:
    lines = [_open(address) for _ in range(60)]
    try:
        statuses = set()
        for line in lines:
            try:
                line.sendall(b"GET /api/v1/health HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
                statuses.add(_all(line).partition(b"\r\n")[0].split(b" ")[1])
            except (BrokenPipeError, IndexError):
                continue
        assert statuses <= {b"200", b"503"}
    finally:
        for line in lines:
            line.close()
