"""Uploads in the console when things go wrong: a line that breaks, a service that is killed, a person who stops it."""

from __future__ import annotations

import asyncio
import re
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.browsing import chromium, serving, watched
from tests.service.test_service_evaluations import keep_experiment

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Route

pytestmark = pytest.mark.slow

PIECES = "**/api/v1/kbs/default/uploads/*"
UNREACHABLE = ("Failed to load resource", "ERR_", "net::")
MIB = 2**20
READING = re.compile("正在读取|正在建立索引")
"""What a card says once the file has arrived and the run is at it."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as started:
        yield started


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("uploads") / "home"


@pytest.fixture(scope="module")
def port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        number: int = probe.getsockname()[1]
    return number


def _large(folder: Path, name: str, words: str) -> Path:
    """Write a page of five MiB, nearly all of it a comment: it takes five pieces to send, and no time to read."""
    path = folder / name
    path.write_text(f"<title>{name}</title><!--{'.' * 5 * MIB}--><p>{words}</p>", encoding="utf-8")
    return path


class Line:
    """The pieces of a page's uploads on their way. `open` says how many still get through."""

    def __init__(self, page: Page, open: int) -> None:
        self.open = open
        self.offsets: list[int] = []
        page.route(PIECES, self._pass)

    def _pass(self, route: Route) -> None:
        if route.request.method == "PATCH":
            self.offsets.append(int(route.request.headers["upload-offset"]))
            if self.open == 0:
                return route.abort("connectionreset")
            self.open -= 1
        return route.continue_()


def _choose(page: Page, path: Path) -> None:
    page.locator("input[type=file]").first.set_input_files(path)


def test_an_upload_goes_on_where_the_line_broke(browser: Browser, home: Path, port: int, tmp_path: Path) -> None:
    with serving(home, "--port", str(port)) as address, watched(browser, address) as seen:
        seen.expected = UNREACHABLE
        page = seen.page
        line = Line(page, 2)
        seen.open("/console/#/default/library")
        _choose(page, _large(tmp_path, "line.html", "The ferry leaves at noon."))
        page.get_by_text("The line is down").wait_for()
        line.open = 100
        page.locator(".run-card", has_text="1 added").wait_for()
        # Nothing that had arrived was sent again.
        assert [offset // MIB for offset in dict.fromkeys(line.offsets)] == [0, 1, 2, 3, 4, 5]
        page.get_by_role("link", name="line.html").wait_for()


def test_an_upload_and_its_run_go_on_after_the_service_was_ended(
    browser: Browser, home: Path, port: int, tmp_path: Path
) -> None:
    first = serving(home, "--port", str(port))
    address = first.__enter__()
    with watched(browser, address) as seen:
        seen.expected = UNREACHABLE
        page = seen.page
        line = Line(page, 2)
        seen.open("/console/#/default/library")
        _choose(page, _large(tmp_path, "killed.html", "The lighthouse is open on Sundays."))
        page.get_by_text("The line is down").wait_for()
        first.__exit__(None, None, None)
        line.open = 100
        with serving(home, "--port", str(port)):
            page.locator(".run-card", has_text="1 added").wait_for()
            page.get_by_role("link", name="killed.html").wait_for()
        assert line.offsets[:2] == [0, MIB]
        assert line.offsets.count(0) == 1


def test_an_upload_that_a_page_left_behind_is_gone_on_with(
    browser: Browser, home: Path, port: int, tmp_path: Path
) -> None:
    with serving(home, "--port", str(port)) as address, watched(browser, address, locale="zh-CN") as seen:
        seen.expected = UNREACHABLE
        page = seen.page
        line = Line(page, 3)
        seen.open("/console/#/default/library")
        path = _large(tmp_path, "again.html", "The pool closes at nine.")
        _choose(page, path)
        page.get_by_text("连接中断，正在重试").wait_for()
        page.reload()
        page.locator(".run-card", has_text="未完成的上传").get_by_text("again.html").wait_for()
        line.open, line.offsets = 100, []
        _choose(page, path)
        page.locator(".run-card", has_text="新增 1").wait_for()
        assert line.offsets[0] == 3 * MIB


def test_an_upload_can_be_cancelled_and_leaves_nothing(browser: Browser, home: Path, port: int, tmp_path: Path) -> None:
    with serving(home, "--port", str(port)) as address, watched(browser, address) as seen:
        seen.expected = UNREACHABLE
        page = seen.page
        Line(page, 1)
        seen.open("/console/#/default/library")
        _choose(page, _large(tmp_path, "gone.html", "Nobody reads this."))
        page.get_by_text("The line is down").wait_for()
        page.locator(".run-card").get_by_role("button", name="Cancel").click()
        page.get_by_text("The upload was cancelled.").wait_for()
        page.reload()
        page.get_by_role("heading", name="Library").wait_for()
        page.wait_for_load_state("networkidle")
        assert page.request.get(f"{address}/api/v1/kbs/default/uploads").json()["uploads"] == []
        assert page.locator(".run-card").count() == 0


def test_a_run_can_be_cancelled_and_is_undone(browser: Browser, home: Path, port: int, tmp_path: Path) -> None:
    book = tmp_path / "book.md"
    chapters = (
        f"# Chapter {n}\n\n" + f"On day {n} the crew saw {n * 7} whales near the cape. " * 40 for n in range(400)
    )
    book.write_text("\n\n".join(chapters), encoding="utf-8")
    with serving(home, "--port", str(port)) as address, watched(browser, address, locale="zh-CN") as seen:
        page = seen.page
        seen.open("/console/#/default/library")
        _choose(page, book)
        page.locator(".run-card", has_text=READING).get_by_role("button", name="取消").click()
        page.get_by_text("已取消，已做的准备均已撤销。").wait_for()
        listed = page.request.get(f"{address}/api/v1/kbs/default/documents?q=book.md").json()
        assert listed["documents"] == []


def test_why_a_file_was_not_read_is_said_in_the_language_of_the_console(
    browser: Browser, home: Path, port: int, tmp_path: Path
) -> None:
    bad = tmp_path / "scan.pdf"
    bad.write_bytes(b"%PDF-1.7\nnothing else\n")
    with serving(home, "--port", str(port)) as address, watched(browser, address, locale="zh-CN") as seen:
        page = seen.page
        seen.open("/console/#/default/library")
        _choose(page, bad)
        page.locator(".run-card .reasons", has_text="文件已损坏，或内容与格式不符。").wait_for()
        seen.expected = ("Failed to load resource",)
        seen.open("/console/#/default/document/nothing-of-that-name")
        page.get_by_role("alert").get_by_text("不存在，或您无权查看。").wait_for()


def test_a_dragged_folder_is_taken_in_with_its_folders(browser: Browser, home: Path, port: int, tmp_path: Path) -> None:
    inner = tmp_path / "policies" / "2026"
    inner.mkdir(parents=True)
    (inner / "boats.md").write_text("# Boats\n\nBoats lie behind the gate.\n", encoding="utf-8")
    (tmp_path / "policies" / "birds.md").write_text("# Birds\n\nBirds stay outside.\n", encoding="utf-8")
    with serving(home, "--port", str(port)) as address, watched(browser, address) as seen:
        page = seen.page
        seen.open("/console/#/default/library")
        page.get_by_role("heading", name="Library").wait_for()
        session = page.context.new_cdp_session(page)
        dragged = {"items": [], "files": [str(tmp_path / "policies")], "dragOperationsMask": 1}
        for kind in ("dragEnter", "dragOver"):
            session.send("Input.dispatchDragEvent", {"type": kind, "x": 600, "y": 400, "data": dragged})
        page.locator(".drop-veil").get_by_text("Drop to add").wait_for()
        session.send("Input.dispatchDragEvent", {"type": "drop", "x": 600, "y": 400, "data": dragged})
        page.locator(".run-card", has_text="2 added").wait_for()
        page.get_by_role("link", name="Boats").click()
        page.get_by_role("tab", name="Metadata").click()
        assert "policies/2026/boats.md" in page.locator(".facts").first.inner_text()


def test_a_report_of_an_experiment_is_downloaded(browser: Browser, tmp_path: Path) -> None:
    home = tmp_path / "home"
    with ThreadPoolExecutor() as pool:  # the browser's loop runs in this thread
        pool.submit(asyncio.run, keep_experiment(tmp_path, home)).result()
    with serving(home) as address, watched(browser, address, locale="zh-CN") as seen:
        page = seen.page
        seen.open("/console/#/default/evaluation")
        page.locator(".table a").first.click()
        with page.expect_download() as waiting:
            page.get_by_role("button", name="完整报告").click()
        report = tmp_path / "report.html"
        waiting.value.save_as(report)
        assert waiting.value.suggested_filename.endswith(".html")
        assert "<html" in report.read_text(encoding="utf-8")[:300]
