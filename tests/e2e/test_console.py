"""The console as a person uses it: a real service, a real browser, the bundled documents."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.browsing import MOBILE, chromium, serving, watched

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.slow

MANUAL = "Q7 网关报 ERR-9988 应该怎么处理？"
LEAVE = "How many days of annual leave do employees receive after five years of service?"
LUNCH = "公司食堂周五供应什么菜？"

WORDS_UNDER_BOXES = """() => {
  // What of the text layer lies below the highlights, character by character.
  const boxes = [...document.querySelectorAll('.highlight')].map((each) => each.getBoundingClientRect());
  const found = [];
  for (const layer of document.querySelectorAll('.textLayer')) {
    const walker = document.createTreeWalker(layer, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const node = walker.currentNode;
      for (let at = 0; at < node.length; at += 1) {
        const range = document.createRange();
        range.setStart(node, at);
        range.setEnd(node, at + 1);
        const place = range.getBoundingClientRect();
        const x = place.left + place.width / 2;
        const y = place.top + place.height / 2;
        if (boxes.some((box) => box.left <= x && x <= box.right && box.top <= y && y <= box.bottom)) {
          found.push(node.data[at]);
        }
      }
    }
  }
  return found.join('');
}"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as started:
        yield started


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[str]:
    """A service whose base holds the samples, taken in by the first visitor."""
    home: Path = tmp_path_factory.mktemp("console") / "home"
    with serving(home) as started:
        with watched(browser, started) as seen:
            seen.open()
            seen.page.get_by_role("button", name="Load the samples").click()
            seen.page.get_by_role("button", name=LEAVE).wait_for(timeout=120_000)
        yield started


def _ask(page: Page, question: str) -> None:
    page.get_by_role("combobox", name=re.compile("Question|问题")).fill(question)
    page.keyboard.press("Enter")
    page.locator(".turn.done").last.wait_for()


def _squeezed(text: str) -> str:
    return re.sub(r"\s+", "", text)


def test_two_clicks_lead_from_the_home_page_to_the_highlighted_words(browser: Browser, address: str) -> None:
    with watched(browser, address) as seen:
        page = seen.page
        seen.open()
        page.get_by_role("button", name=MANUAL).click()
        page.locator(".turn.done").wait_for()
        page.locator(".cite").first.click()
        page.locator(".highlight").first.wait_for()
        page.locator(".pdf-page[data-ready] .textLayer span").first.wait_for()
        quote = page.locator(".source.open .source-quote").inner_text()
        under = page.evaluate(WORDS_UNDER_BOXES)
        assert _squeezed(quote) == _squeezed(under)


def test_a_reload_comes_back_to_the_same_words(browser: Browser, address: str) -> None:
    with watched(browser, address) as seen:
        page = seen.page
        seen.open()
        _ask(page, MANUAL)
        page.locator(".cite").nth(1).click()
        page.locator(".highlight").first.wait_for()
        page.reload()
        page.locator(".highlight").first.wait_for()
        assert page.locator(".source.open").get_attribute("aria-pressed") == "true"
        assert page.locator(".turn-question").inner_text() == MANUAL


def test_a_link_to_evidence_opens_in_a_fresh_browser(browser: Browser, address: str) -> None:
    with watched(browser, address) as seen:
        page = seen.page
        seen.open()
        _ask(page, LEAVE)
        quote = page.locator(".source-quote").first.inner_text()
        page.locator(".cite").first.click()
        page.locator(".reader mark").first.wait_for()
        page.get_by_role("button", name="Copy a link to this evidence").click()
        link = page.evaluate("navigator.clipboard.readText()")
    assert link.startswith(address)
    with watched(browser, address) as seen:
        seen.page.goto(link)
        marked = seen.page.locator(".read mark")
        marked.first.wait_for()
        assert "".join(marked.all_inner_texts()) == quote
        assert "current" in seen.page.locator(".reader-where").inner_text()


def test_what_the_documents_do_not_say_is_refused(browser: Browser, address: str) -> None:
    with watched(browser, address, locale="zh-CN") as seen:
        seen.open()
        _ask(seen.page, LUNCH)
        assert seen.page.locator(".status-line .badge").inner_text() == "未回答"
        assert seen.page.locator(".cite").count() == 0


def test_the_keyboard_is_enough(browser: Browser, address: str) -> None:
    with watched(browser, address) as seen:
        page = seen.page
        seen.open("/console/#/default/library")
        page.get_by_role("heading", name="Library").wait_for()
        page.keyboard.press("/")
        assert page.evaluate("document.activeElement.type") == "search"
        seen.open("/console/#/default/ask")
        page.get_by_role("heading", name="What would you like to know?").wait_for()
        page.locator("h1").click()
        page.keyboard.press("/")
        page.keyboard.insert_text(MANUAL)
        page.keyboard.press("Control+Enter")
        page.locator(".turn.done .cite").first.wait_for()
        page.locator(".cite").first.focus()
        page.keyboard.press("Enter")
        page.locator(".highlight").first.wait_for()
        page.locator(".evidence-strip .cite").first.focus()
        page.keyboard.press("ArrowRight")
        page.locator('.evidence-strip .cite[aria-pressed="true"]', has_text="2").wait_for()
        page.keyboard.press("Escape")
        page.locator(".reader").wait_for(state="hidden")


def test_the_language_is_switched_and_kept(browser: Browser, address: str) -> None:
    with watched(browser, address) as seen:
        page = seen.page
        seen.open()
        page.get_by_role("button", name="中文").click()
        page.get_by_role("heading", name="想知道什么？").wait_for()
        assert page.evaluate("document.documentElement.lang") == "zh-CN"
        page.reload()
        page.get_by_role("heading", name="想知道什么？").wait_for()
        for way in ("文档", "审核", "检索试验", "术语表", "反馈", "评测", "运行状况"):
            page.get_by_role("link", name=way, exact=True).click()
            page.locator("main h1").wait_for()
            shown = page.locator("main").inner_text()
            assert not re.search(r"\b[a-z]+\.[a-zA-Z]+\b(?!\.)", _without_names(shown)), shown


def _without_names(text: str) -> str:
    """Leave out file names: what then looks like a.b is a message without words."""
    return re.sub(r"\S+\.(md|txt|pdf|docx|html|toml|db)\b", "", text)


def test_an_upload_ends_as_a_document_that_is_cited(browser: Browser, address: str, tmp_path: Path) -> None:
    good = tmp_path / "parking.md"
    good.write_text("# Parking\n\nVisitors park on level B3 😀 and pay 7 francs an hour.\n", encoding="utf-8")
    bad = tmp_path / "broken.pdf"
    bad.write_bytes(b"%PDF-1.7\nnothing else\n")
    with watched(browser, address) as seen:
        page = seen.page
        seen.open("/console/#/default/library")
        page.locator("input[type=file]").first.set_input_files([good, bad])
        page.locator(".run-card", has_text="with failures").wait_for()
        assert "broken.pdf" in page.locator(".run-card").inner_text()
        page.get_by_role("link", name="Parking").wait_for()
        seen.open("/console/#/default/ask")
        _ask(page, "How much do visitors pay for parking an hour?")
        page.locator(".cite").first.click()
        marked = page.locator(".reader mark")
        marked.first.wait_for()
        assert "pay 7 francs" in "".join(marked.all_inner_texts())
        assert "😀" in "".join(marked.all_inner_texts())


def test_a_document_shows_its_chunks_on_the_page(browser: Browser, address: str) -> None:
    with watched(browser, address) as seen:
        page = seen.page
        seen.open("/console/#/default/library")
        page.get_by_role("link", name=re.compile("Q7")).click()
        page.locator(".chunk-body").nth(2).click()
        page.locator(".highlight").first.wait_for()
        page.get_by_role("button", name="Blocks").click()
        page.locator(".sheet .block").first.wait_for()
        page.locator(".chunk-body").nth(1).click()
        page.locator(".sheet mark").first.wait_for()


def test_the_playground_shows_stages_and_says_why_not(browser: Browser, address: str) -> None:
    with watched(browser, address) as seen:
        page = seen.page
        seen.open("/console/#/default/playground")
        page.get_by_role("searchbox", name="Question").fill("ERR-9988")
        page.get_by_role("button", name="Search").click()
        page.locator(".passage").first.wait_for()
        assert "ERR-9988" in page.locator(".passage").first.inner_text()
        page.get_by_text("All candidates").first.click()
        assert page.locator("details table tbody tr").count() > 1
        page.get_by_label("Words of the passage you expected").fill("annual leave")
        page.get_by_role("button", name="Explain").click()
        page.locator(".stages li").first.wait_for()


def test_what_cannot_be_reached_is_said_with_a_way_on(browser: Browser, address: str) -> None:
    with watched(browser, address) as seen:
        seen.expected = ("Failed to load resource",)
        page = seen.page
        seen.open("/console/#/default/document/nothing-of-that-name")
        page.get_by_role("alert").wait_for()
        seen.open("/console/#/default/read/0123?span=zero")
        page.get_by_role("heading", name="This link is not complete").wait_for()
        seen.open("/console/#/default/library")
        page.get_by_role("heading", name="Library").wait_for()
        page.route("**/api/v1/kbs/default/documents*", lambda route: route.abort())
        page.get_by_role("searchbox").fill("handbook")
        page.get_by_role("alert").wait_for()
        page.unroute("**/api/v1/kbs/default/documents*")
        page.get_by_role("button", name="Try again").click()
        page.get_by_role("link", name=re.compile("Handbook")).wait_for()


def test_hostile_text_stays_text(browser: Browser, address: str, tmp_path: Path) -> None:
    evil = tmp_path / "evil.md"
    evil.write_text(
        "# <img src=x onerror=alert(1)>\n\nThe fee for owls is <script>alert(2)</script> 12 crowns.\n", encoding="utf-8"
    )
    with watched(browser, address) as seen:
        page = seen.page
        page.on("dialog", lambda dialog: seen.errors.append(f"dialog: {dialog.message}"))
        seen.open("/console/#/default/library")
        page.locator("input[type=file]").first.set_input_files(evil)
        page.locator(".run-card").first.wait_for()
        page.get_by_text("Published as snapshot").wait_for()
        seen.open("/console/#/default/ask?q=" + "What is the fee for owls?")
        page.locator(".turn.done").wait_for()
        page.locator(".cite").first.click()
        page.locator(".reader mark").first.wait_for()
        assert page.locator("main img, main script").count() == 0


@pytest.mark.parametrize(
    "view",
    [
        *("ask", "library", "library?tab=runs", "library?tab=snapshots", "review", "playground?q=backup", "glossary"),
        *("feedback", "evaluation", "health", "health?tab=access"),
    ],
)
def test_nothing_is_wider_than_a_phone(browser: Browser, address: str, view: str) -> None:
    with watched(browser, address, size=MOBILE) as seen:
        seen.open(f"/console/#/default/{view}")
        seen.page.locator("main h1").wait_for()
        seen.page.wait_for_load_state("networkidle")
        sizes: dict[str, Any] = seen.page.evaluate(
            "() => ({page: document.documentElement.scrollWidth, main: document.querySelector('main').scrollWidth,"
            " seen: document.documentElement.clientWidth})"
        )
        assert sizes["page"] <= sizes["seen"]
        assert sizes["main"] <= sizes["seen"]
