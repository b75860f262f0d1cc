"""Following the links of a site: how far, in which order, what its owner asks for, what a hostile one cannot do."""

import gzip
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from kaijuan.ingest.ports import SourceFailure, SourceItem
from kaijuan.ingest.sources.settings import WebSettings
from kaijuan.ingest.sources.web import UrlSource
from kaijuan.ingest.sources.web_fetch import Limits
from kaijuan.ingest.sources.web_links import links_in
from kaijuan.ingest.sources.web_robots import rules_from

Answer = str | bytes | int | tuple[int, dict[str, str], bytes]
LIMITS = Limits(max_bytes=100_000, seconds=5, allow_private=True)


class Pages(dict[str, Answer]):
    """What a server answers by path: a page, a status, or all of it. `asked` keeps the paths in order."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []
        self.at = ""
        self.endless = False

    def answer(self, path: str) -> tuple[int, dict[str, str], bytes]:
        self.asked.append(path)
        if self.endless and path != "/robots.txt":
            return 200, {"Content-Type": "text/html"}, linked(path.rpartition("/")[2] + "1").encode()
        found = self.get(path, 404)
        if isinstance(found, tuple):
            return found
        if isinstance(found, int):
            return found, {}, b""
        return 200, {"Content-Type": "text/html"}, found.encode() if isinstance(found, str) else found


@pytest.fixture
def pages() -> Iterator[Pages]:
    pages = Pages()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, headers, body = pages.answer(self.path)
            self.send_response(status)
            for name, value in {"Content-Length": str(len(body)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *arguments: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    pages.at = f"http://127.0.0.1:{server.server_port}"
    yield pages
    server.shutdown()
    server.server_close()
    thread.join()


async def crawled(
    pages: Pages, path: str, *, limits: Limits = LIMITS, most: int = 1000, **settings: object
) -> tuple[list[str], list[SourceFailure]]:
    """Return the paths of what is offered, and the failures."""
    chosen = WebSettings.model_validate({"at": pages.at + path, "depth": 5, "pages": most} | settings)
    source = UrlSource(limits, settings=chosen)
    found = [one async for one in source.walk(pages.at + path)]
    taken = [one.source.removeprefix(pages.at) for one in found if isinstance(one, SourceItem)]
    assert all(one.source.startswith(source.scope(pages.at + path)) for one in found if isinstance(one, SourceItem))
    return taken, [one for one in found if isinstance(one, SourceFailure)]


def linked(*targets: str) -> str:
    return "<p>text</p>" + "".join(f'<a href="{target}">x</a>' for target in targets)


async def test_links_are_followed_so_far_below_the_folder(pages: Pages) -> None:
    pages["/docs/"] = linked(
        "a.html", "b/", "/else.html", "http://127.0.0.2/docs/x", "mailto:a@b", "#top", "a.html#part"
    )
    pages["/docs/a.html"] = linked("deep.html", "../docs/")
    pages["/docs/b/"] = linked("c.pdf?page=2")
    pages["/docs/b/c.pdf?page=2"] = (200, {"Content-Type": "application/pdf"}, b"%PDF-")
    pages["/docs/deep.html"] = linked("deeper.html")
    taken, failures = await crawled(pages, "/docs/", depth=2)
    assert taken == ["/docs/", "/docs/a.html", "/docs/b/", "/docs/deep.html", "/docs/b/c.pdf?page=2"]
    assert failures == []
    assert pages.asked.count("/docs/a.html") == 1
    assert {"/else.html", "/docs/deeper.html"}.isdisjoint(pages.asked)


async def test_a_folder_without_slash_is_one_document(pages: Pages) -> None:
    pages["/docs"] = (301, {"Location": "/docs/"}, b"")
    pages["/docs/"] = linked("/docs", "/docs/", "a")
    pages["/docs/a"] = linked("/docs")
    assert await crawled(pages, "/docs") == (["/docs/", "/docs/a"], [])


async def test_a_redirect_out_of_the_folder_is_left_and_one_within_counts_once(pages: Pages) -> None:
    pages["/docs/"] = linked("out", "old", "new")
    pages["/docs/out"] = (302, {"Location": "/private/"}, b"")
    pages["/private/"] = linked("secret")
    pages["/docs/old"] = (301, {"Location": "/docs/new"}, b"")
    pages["/docs/new"] = "<p>new</p>"
    assert await crawled(pages, "/docs/") == (["/docs/", "/docs/new"], [])


async def test_what_robots_txt_asks_for(pages: Pages) -> None:
    pages["/robots.txt"] = (
        b"User-agent: kaijuan\nDisallow: /docs/*.cgi\nAllow: /docs/open.cgi\n\nUser-agent: *\nDisallow: /\n"
    )
    pages["/docs/"] = linked("a.cgi", "open.cgi", "b")
    pages["/docs/a.cgi"] = pages["/docs/open.cgi"] = pages["/docs/b"] = "<p>x</p>"
    taken, failures = await crawled(pages, "/docs/")
    assert taken == ["/docs/", "/docs/open.cgi", "/docs/b"]
    assert failures == []
    assert "/docs/a.cgi" not in pages.asked
    assert pages.asked.count("/robots.txt") == 1
    (refused,) = [one async for one in UrlSource(LIMITS).walk(f"{pages.at}/docs/a.cgi")]
    assert isinstance(refused, SourceFailure)
    assert "robots.txt" in refused.message
    free = Limits(max_bytes=1000, allow_private=True, robots=False)
    (taken_all_the_same,) = [one async for one in UrlSource(free).walk(f"{pages.at}/docs/a.cgi")]
    assert isinstance(taken_all_the_same, SourceItem)


@pytest.mark.parametrize(
    ("robots", "fetched"), [(404, 1), (403, 1), (503, 0), (b"\xff\xfe\x00", 1), (b"x" * 600_000, 1)]
)
async def test_a_site_that_cannot_say_is_left_alone(pages: Pages, robots: Answer, fetched: int) -> None:
    pages["/robots.txt"] = robots
    pages["/a"] = "<p>x</p>"
    found = [one async for one in UrlSource(LIMITS).walk(f"{pages.at}/a")]
    assert sum(isinstance(one, SourceItem) for one in found) == fetched


def test_a_site_can_ask_for_a_pause_but_not_for_hours() -> None:
    assert rules_from(b"User-agent: *\nCrawl-delay: 2").delay == 2
    assert rules_from(b"User-agent: *\nCrawl-delay: 99999").delay == 10
    assert rules_from(b"").delay == 0


async def test_pages_that_ask_not_to_be_taken_or_followed(pages: Pages) -> None:
    pages["/docs/"] = linked("hidden", "end") + '<a rel="nofollow" href="ad">x</a><!-- <a href="comment">x</a> -->'
    pages["/docs/hidden"] = '<meta name="robots" content="noindex">' + linked("behind")
    pages["/docs/behind"] = pages["/docs/ad"] = pages["/docs/comment"] = "<p>x</p>"
    pages["/docs/end"] = '<META NAME=robots CONTENT="nofollow">' + linked("never")
    assert (await crawled(pages, "/docs/"))[0] == ["/docs/", "/docs/end", "/docs/behind"]
    assert {"/docs/ad", "/docs/comment", "/docs/never"}.isdisjoint(pages.asked)


async def test_patterns_choose_pages_and_prune_folders(pages: Pages) -> None:
    pages["/docs/"] = linked("a.html", "b.pdf", "old/c.html", "%E4%B8%AD.html")
    for path in ("/docs/a.html", "/docs/b.pdf", "/docs/old/c.html", "/docs/%E4%B8%AD.html"):
        pages[path] = linked()
    taken, _ = await crawled(pages, "/docs/", include=["*.html"], exclude=["old/", "a.html"])
    assert taken == ["/docs/", "/docs/%E4%B8%AD.html"]
    assert "/docs/old/c.html" not in pages.asked


async def test_a_sitemap_of_sitemaps(pages: Pages) -> None:
    pages["/sitemap.xml"] = "<sitemapindex><sitemap><loc> /one.xml </loc></sitemap></sitemapindex>"
    pages["/one.xml"] = (
        '<x:urlset xmlns:x="http://www.sitemaps.org/schemas/sitemap/0.9"><x:url><x:loc>/p?a=1&amp;b=2</x:loc></x:url></x:urlset>'
    )
    pages["/p?a=1&b=2"] = linked("further")
    assert await crawled(pages, "/sitemap.xml", depth=2) == (["/p?a=1&b=2"], [])


async def test_a_site_without_end_meets_the_limit_and_nothing_counts_as_gone(pages: Pages) -> None:
    pages.endless = True
    taken, failures = await crawled(pages, "/docs/", depth=20, most=7)
    assert len(taken) == 7
    assert [(one.source, one.code) for one in failures] == [(f"{pages.at}/docs/", "document_oversize")]


async def test_behind_a_page_that_failed_nothing_counts_as_gone(pages: Pages) -> None:
    pages["/docs/"] = linked("broken", "gone")
    pages["/docs/broken"] = 500
    taken, failures = await crawled(pages, "/docs/")
    assert taken == ["/docs/"], "a link that leads nowhere is no failure"
    assert [one.source.removeprefix(pages.at) for one in failures] == ["/docs/broken", "/docs/"]
    _, failures = await crawled(pages, "/docs/", depth=1)
    assert [one.source.removeprefix(pages.at) for one in failures] == ["/docs/broken"]


async def test_a_start_that_is_gone_is_a_failure(pages: Pages) -> None:
    taken, failures = await crawled(pages, "/docs/")
    assert taken == []
    assert ["404" in one.message for one in failures] == [True]
    assert failures[0].source == f"{pages.at}/docs/", "so that a mirror removes nothing"


async def test_a_packed_bomb_meets_the_limit_and_odd_codings_are_refused(pages: Pages) -> None:
    bomb = gzip.compress(b"\0" * 50_000_000)
    packed = gzip.compress(b"<p>fits</p>")
    for path, coding, body in (
        ("/bomb", "gzip", bomb),
        ("/twice", "gzip, gzip", gzip.compress(bomb)),
        ("/unknown", "br", b"x"),
        ("/lie", "gzip", b"<p>plain</p>"),
        ("/fits", "gzip", packed),
        ("/zlib", "deflate", packed),
    ):
        pages[path] = (200, {"Content-Type": "text/html", "Content-Encoding": coding}, body)
    found = {}
    for path in ("/bomb", "/twice", "/unknown", "/lie", "/fits", "/zlib"):
        (found[path],) = [one async for one in UrlSource(LIMITS).walk(pages.at + path)]
    codes = {path: one.code for path, one in found.items() if isinstance(one, SourceFailure)}
    refused = dict.fromkeys(("/twice", "/unknown", "/lie"), "fetch_failed")
    assert codes == {"/bomb": "document_oversize", **refused}
    fitting = [one.data for one in found.values() if isinstance(one, SourceItem)]
    assert fitting == [b"<p>fits</p>", b"<p>fits</p>"]


@pytest.mark.parametrize(
    "text",
    [
        "<a " * 100_000,
        "<a href=" + '"' * 100_000,
        "<a href='" + "x" * 200_000,
        "<!--" * 200_000,
        "<a href=x>" * 100_000,
        "<base href=''><base href='http://['><a href='y'>",
        "<urlset>" + "<loc>" * 100_000,
        "<a " + "b=c " * 900 + ">",
    ],
)
def test_links_of_hostile_pages_are_found_in_time(text: str) -> None:
    assert len(links_in(text.encode(), "http://h/").addresses) <= 1


def test_scopes() -> None:
    alone, site = UrlSource(), UrlSource(settings=WebSettings(at="http://h/", depth=1))
    assert alone.scope("http://H/docs/?q") == "http://h/docs/?q"
    assert alone.scope("http://h/") == "http://h", "removing one page must not remove the site"
    assert site.scope("http://h") == site.scope("http://h/index.html") == "http://h/"
    assert site.scope("http://h/docs") == site.scope("http://h/docs/a.html?x#y") == "http://h/docs/"
