import asyncio
import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

import httpx
import pytest

from kaijuan.errors import OversizeDocumentError, UsageError
from kaijuan.ingest.ports import SourceFailure, SourceItem
from kaijuan.ingest.sources.hosts import is_public
from kaijuan.ingest.sources.web import UrlSource
from kaijuan.ingest.sources.web_addresses import name_of, normal_address
from kaijuan.ingest.sources.web_fetch import Limits, body_of

INSIDE = Limits(max_bytes=200_000_000, seconds=5, allow_private=True)


class Site(BaseHTTPRequestHandler):
    hosts: list[str] = []  # noqa: RUF012 - a log shared with the test on purpose

    def do_GET(self) -> None:
        self.hosts.append(self.headers["Host"])
        path = self.path.partition("?")[0]
        if path == "/loop":
            self.answer(302, {"Location": "/loop"})
        elif path == "/moved":
            self.answer(301, {"Location": "/page"})
        elif path == "/inward":
            self.answer(302, {"Location": f"http://inside.test:{self.server.server_port}/page"})  # type: ignore[attr-defined]
        elif path == "/nowhere":
            self.answer(302, {"Location": "http://xn--/"})
        elif path == "/brackets":
            self.answer(302, {"Location": "http://[abc"})
        elif path == "/port":
            self.answer(302, {"Location": "http://a:b/"})
        elif path == "/gone":
            self.answer(404, {})
        elif path == "/large":
            self.answer(200, {"Content-Type": "text/plain"}, b"x" * 5000)
        elif path == "/slow":
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"x")
            self.wfile.flush()
            stop.wait(20)
        else:
            self.answer(200, {"Content-Type": "text/html; charset=utf-8"}, "<p>你好</p>".encode())

    def answer(self, status: int, headers: dict[str, str], body: bytes = b"") -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: object) -> None:
        pass


stop = threading.Event()


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Site)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    stop.set()
    server.shutdown()
    server.server_close()
    thread.join()


async def fetch(address: str, source: UrlSource | None = None) -> SourceItem | SourceFailure:
    source = source or UrlSource(INSIDE)
    found = [item async for item in source.walk(address)]
    assert len(found) == 1
    return found[0]


async def test_a_page_is_fetched(site: str) -> None:
    item = await fetch(f"{site}/page#part")
    assert isinstance(item, SourceItem)
    assert item.source == f"{site}/page"
    assert item.name == "page.html"
    assert item.data.decode() == "<p>你好</p>"
    assert item.source == UrlSource().scope(f"{site}/page#other")


async def test_a_redirect_keeps_the_address_asked_for(site: str) -> None:
    item = await fetch(f"{site}/moved")
    assert isinstance(item, SourceItem)
    assert (item.source, item.name) == (f"{site}/moved", "page.html")


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/loop", "redirects more than"),
        ("/gone", "404"),
        ("/slow", "did not answer in full"),
        ("/nowhere", "cannot be fetched"),
        ("/brackets", "cannot be"),
        ("/port", "cannot be fetched"),
    ],
)
async def test_failures_are_named(site: str, path: str, words: str) -> None:
    found = await fetch(site + path, UrlSource(replace(INSIDE, seconds=1 if path == "/slow" else 5)))
    assert isinstance(found, SourceFailure)
    assert found.code == "fetch_failed"
    assert words in found.message


async def test_the_size_limit_holds(site: str) -> None:
    found = await fetch(f"{site}/large", UrlSource(replace(INSIDE, max_bytes=4999)))
    assert isinstance(found, SourceFailure)
    assert found.code == "document_oversize"
    assert isinstance(await fetch(f"{site}/large", UrlSource(replace(INSIDE, max_bytes=5000))), SourceItem)


async def test_private_addresses_are_refused_unless_allowed(site: str) -> None:
    found = await fetch(f"{site}/page", UrlSource())
    assert isinstance(found, SourceFailure)
    assert "not a public address" in found.message


async def test_a_name_is_checked_where_it_leads(site: str) -> None:
    port = site.rpartition(":")[2]
    before = len(Site.hosts)
    found = await fetch(f"http://public.test:{port}/page", UrlSource(resolve=lambda host, port: ["127.0.0.1"]))
    assert isinstance(found, SourceFailure)
    mixed = UrlSource(resolve=lambda host, port: ["93.184.216.34", "10.0.0.1"])
    assert isinstance(await fetch(f"http://public.test:{port}/page", mixed), SourceFailure)
    assert len(Site.hosts) == before, "a refused host was asked"


async def test_a_redirect_inward_is_refused(site: str, monkeypatch: pytest.MonkeyPatch) -> None:
    port = site.rpartition(":")[2]
    monkeypatch.setattr("kaijuan.ingest.sources.hosts.is_public", lambda ip: ip == "127.0.0.1")
    homes = {"outside.test": ["127.0.0.1"], "inside.test": ["10.0.0.1"]}
    found = await fetch(f"http://outside.test:{port}/inward", UrlSource(resolve=lambda host, port: homes[host]))
    assert isinstance(found, SourceFailure)
    assert "inside.test leads to 10.0.0.1" in found.message
    assert Site.hosts[-1] == f"outside.test:{port}", "the server is told the name, not the number"


async def test_nobody_home_is_named() -> None:
    found = await fetch("http://127.0.0.1:9/x", UrlSource(INSIDE))
    assert isinstance(found, SourceFailure)
    assert found.code == "fetch_failed"


async def test_cancelling_ends_the_fetch(site: str) -> None:
    task = asyncio.create_task(fetch(f"{site}/slow", UrlSource(replace(INSIDE, seconds=20))))
    await asyncio.sleep(0.1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


@pytest.mark.parametrize(
    ("ip", "public"),
    [
        ("93.184.216.34", True),
        ("2606:2800:220:1::1", True),
        ("127.0.0.1", False),
        ("10.1.2.3", False),
        ("169.254.169.254", False),
        ("100.64.0.1", False),
        ("224.0.0.1", False),
        ("0.0.0.0", False),
        ("::1", False),
        ("fe80::1%eth0", False),
        ("fc00::1", False),
        ("::ffff:10.0.0.1", False),
        ("64:ff9b::a00:1", False),
        ("2002:a00:1::1", False),
        ("no ip", False),
    ],
)
def test_public_addresses(ip: str, public: bool) -> None:
    assert is_public(ip) is public


@pytest.mark.parametrize(
    ("written", "normal"),
    [
        ("HTTP://Example.ORG:80/a?b=1#c", "http://example.org/a?b=1"),
        ("https://example.org", "https://example.org/"),
        ("https://example.org:8443/x", "https://example.org:8443/x"),
        (" https://例子.测试/路 ", "https://xn--fsqu00a.xn--0zwm56d/%E8%B7%AF"),
    ],
)
def test_normal_addresses(written: str, normal: str) -> None:
    assert normal_address(written) == normal
    assert normal_address(normal) == normal


NO_ADDRESSES = [
    *("ftp://a/b", "http://", "http://a:99999/", "nothing", "http://[abc", "http://xn--/", "http://a:b/"),
    *("http://a\udcff/", "http://a/\udcff", "http://a/?\ud83d", "http://a\x00b/", "http://ℂ℀/", "https://ß\u200d/"),
]


@pytest.mark.parametrize("written", NO_ADDRESSES)
async def test_what_is_no_address(written: str) -> None:
    with pytest.raises(UsageError):
        normal_address(written)
    with pytest.raises(UsageError):
        UrlSource().scope(written)
    found = await fetch(written)
    assert isinstance(found, SourceFailure)
    assert found.code == "fetch_failed"
    assert (found.source + found.message).encode(), "it can be printed and stored"
    assert urlsplit(found.source).geturl(), "whoever shows it may take it apart"


async def test_a_length_that_is_no_number_is_not_believed(site: str) -> None:
    for length in ("²", "9" * 5000):
        response = httpx.Response(200, headers=[(b"content-length", length.encode())], stream=httpx.ByteStream(b"x"))
        if length.isdecimal():
            with pytest.raises(OversizeDocumentError):
                await body_of(response, site, 100)
        else:
            assert (await body_of(response, site, 100)).data == b"x"


@pytest.mark.parametrize(
    ("headers", "address", "name"),
    [
        ({"content-disposition": 'attachment; filename="报告.pdf"'}, "https://a/x", "报告.pdf"),
        ({"content-disposition": "attachment; filename*=UTF-8''%E6%8A%A5.pdf"}, "https://a/x", "报.pdf"),
        ({"content-disposition": 'attachment; filename="../../etc/passwd"'}, "https://a/x", "passwd"),
        ({"content-type": "application/pdf"}, "https://a/report", "report.pdf"),
        ({"content-type": "text/html"}, "https://a.org/", "a.org.html"),
        ({"content-type": "text/html"}, "https://a.org/page.php", "page.php.html"),
        ({"content-type": "text/plain"}, "https://a.org/page.php", "page.php"),
        ({"content-type": "text/plain; charset=utf-8"}, "https://a.org/README.rst", "README.rst"),
        ({"content-type": "text/plain"}, "https://a.org/LICENSE.txt", "LICENSE.txt"),
        ({"content-type": "application/zip"}, "https://a.org/archive", "archive.zip"),
        ({"content-type": "application/vnd.ms-excel"}, "https://a.org/get?id=1", "get.xls"),
        ({"content-type": "application/json"}, "https://a.org/a.ipynb", "a.ipynb"),
        ({"content-type": "application/octet-stream"}, "https://a.org/b.pptx", "b.pptx"),
        ({}, "https://a/%E4%B8%AD.txt", "中.txt"),
    ],
)
def test_names(headers: dict[str, str], address: str, name: str) -> None:
    encoded = [(key.encode(), value.encode()) for key, value in headers.items()]
    assert name_of(httpx.Headers(encoded), address) == name
