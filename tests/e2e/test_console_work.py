"""Work in the console: folders, drops, chunks by hand, snapshots, long highlights, answers that stream and stop."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.browsing import chromium, serving, watched
from tests.e2e.test_console import WORDS_UNDER_BOXES

from kaijuan.sync import Kaijuan
from kaijuan.testing.chat import ChatService, Handler, says, stalls

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.slow

HANDBOOK = """# Handbook

## Leave

Staff get 25 days of leave. Leave is asked for a week before.

## Travel

Trains are booked second class.
"""
SENTENCE = "Gauge G-17 in the northern pump house was replaced on the fourth of May because its needle had bent."
DROP = """([name, text]) => {
  const transfer = new DataTransfer();
  transfer.items.add(new File([text], name, { type: 'text/markdown' }));
  const event = (kind) => new DragEvent(kind, { dataTransfer: transfer, bubbles: true, cancelable: true });
  window.dispatchEvent(event('dragover'));
  const veiled = !document.querySelector('.drop-veil').hidden;
  window.dispatchEvent(event('drop'));
  return veiled;
}"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as started:
        yield started


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Path:
    """Make two bases with a handbook of two versions and a PDF with a paragraph over the end of a page."""
    root = tmp_path_factory.mktemp("work")
    files = root / "files"
    files.mkdir()
    _pdf(files / "log.pdf")
    for name in ("work", "past"):
        with Kaijuan(root / "home", name) as base:
            for days in ("25 days", "27 days"):
                (files / "handbook.md").write_text(HANDBOOK.replace("25 days", days), encoding="utf-8")
                base.add([str(files)])
    return root / "home"


@pytest.fixture(scope="module")
def address(home: Path) -> Iterator[str]:
    with serving(home) as started:
        yield started


def _pdf(path: Path) -> None:
    """Two full pages of lines; the sentence begins on the last line of the first and ends on the second."""
    from reportlab.lib.pagesizes import A4
    from reportlab.pdfgen.canvas import Canvas

    words = SENTENCE.split()
    pages = (
        [*(f"Line {number} of the log says that all was well that day." for number in range(40)), " ".join(words[:9])],
        [" ".join(words[9:]), *(f"Line {number} of the log says that nothing was found." for number in range(40))],
    )
    canvas = Canvas(str(path), pagesize=A4)
    for lines in pages:
        text = canvas.beginText(60, 780)
        text.setFont("Helvetica", 11)
        text.textLines("\n".join(lines))
        canvas.drawText(text)
        canvas.showPage()
    canvas.save()


def _squeezed(text: str) -> str:
    return re.sub(r"\s+", "", text)


def test_a_span_over_two_pages_is_highlighted_on_both(browser: Browser, address: str) -> None:
    with watched(browser, address) as seen:
        page = seen.page
        told = page.request.get(f"{address}/api/v1/kbs/work/documents/log.pdf?include=text").json()
        text: str = told["text"]
        start = text.index("Gauge G-17")
        end = text.index("bent.") + len("bent.")
        seen.open(f"/console/#/work/read/{told['version']['version_id']}?span={start}-{end}")
        page.locator('.pdf-page[data-page="2"] .highlight').first.wait_for()
        for number in (1, 2):
            page.locator(f'.pdf-page[data-page="{number}"][data-ready] .textLayer span').first.wait_for()
        assert page.locator('.pdf-page[data-page="1"] .highlight').count() == 1
        assert _squeezed(page.evaluate(WORDS_UNDER_BOXES)) == _squeezed(SENTENCE)


def test_a_folder_is_taken_in_with_its_folders(browser: Browser, address: str, tmp_path: Path) -> None:
    inner = tmp_path / "policies" / "2026"
    inner.mkdir(parents=True)
    (inner / "bikes.md").write_text("# Bikes\n\nBikes stand behind the gate.\n", encoding="utf-8")
    (tmp_path / "policies" / "dogs.md").write_text("# Dogs\n\nDogs stay outside.\n", encoding="utf-8")
    with watched(browser, address) as seen:
        page = seen.page
        seen.open("/console/#/work/library")
        page.locator("input[webkitdirectory]").set_input_files(tmp_path / "policies")
        page.locator(".run-card", has_text="2 added").wait_for()
        page.get_by_role("link", name="Bikes").click()
        page.get_by_role("tab", name="Metadata").click()
        assert "policies/2026/bikes.md" in page.locator(".facts").first.inner_text()


def test_a_dropped_file_is_taken_in(browser: Browser, address: str) -> None:
    with watched(browser, address) as seen:
        page = seen.page
        seen.open("/console/#/work/library")
        page.get_by_role("link", name="Handbook").wait_for()
        assert page.evaluate(DROP, ["cats.md", "# Cats\n\nCats may come in.\n"])
        page.locator(".run-card", has_text="1 added").wait_for()
        page.get_by_role("link", name="Cats").wait_for()


def test_chunks_are_parted_and_put_together_again(browser: Browser, address: str) -> None:
    with watched(browser, address) as seen:
        page = seen.page
        seen.open("/console/#/work/library")
        page.get_by_role("link", name="Handbook").click()
        page.locator(".chunk").first.wait_for()
        before = page.locator(".chunk").count()
        leave = page.locator(".chunk", has_text="27 days")
        leave.get_by_role("button", name="Split").click()
        page.locator("dialog textarea").evaluate(
            "(area) => { const at = area.value.indexOf('Leave is asked'); area.setSelectionRange(at, at); }"
        )
        page.locator("dialog").get_by_role("button", name="Split", exact=True).click()
        page.get_by_text("One change by hand").wait_for()
        assert page.locator(".chunk").count() == before + 1
        page.get_by_text("One change by hand").click()
        page.locator(".work-done").get_by_role("button", name="Undo").click()
        page.get_by_text("One change by hand").wait_for(state="detached")
        page.locator(".chunk").first.wait_for()
        assert page.locator(".chunk").count() == before


def test_snapshots_are_compared_named_and_gone_back_to(browser: Browser, address: str) -> None:
    with watched(browser, address) as seen:
        page = seen.page
        seen.open("/console/#/past/library?tab=snapshots")
        page.locator(".toolbar select").first.select_option("1")
        page.locator(".toolbar select").last.select_option("2")
        page.get_by_role("button", name="Compare").click()
        page.locator(".diff ins", has_text="27 days").wait_for()
        page.locator(".diff del", has_text="25 days").wait_for()
        first = page.get_by_role("row", name=re.compile("#1"))
        first.get_by_role("button", name="Give it a name").click()
        page.locator("dialog input").fill("signed")
        page.get_by_role("button", name="Save").click()
        first.get_by_text("signed").wait_for()
        page.reload()
        first.get_by_text("signed").wait_for()
        first.get_by_role("button", name="Return to snapshot 1").click()
        page.locator("dialog").get_by_role("button", name="Return", exact=True).click()
        page.get_by_text("Published as snapshot").wait_for()
        page.get_by_role("link", name="Library", exact=True).click()
        page.get_by_role("link", name="Handbook").click()
        page.locator(".sheet", has_text="25 days").wait_for()


def test_an_earlier_version_is_read_and_said_not_to_be_current(browser: Browser, address: str) -> None:
    with watched(browser, address) as seen:
        page = seen.page
        seen.open("/console/#/work/document/handbook.md?tab=versions")
        page.get_by_role("link", name="Read").last.click()
        page.locator(".sheet", has_text="25 days").wait_for()
        assert "Version 1" in page.locator(".read").inner_text()


def test_a_conversation_is_found_again_in_another_tab(browser: Browser, address: str) -> None:
    question = "How are trains booked?"
    with watched(browser, address) as seen:
        page = seen.page
        seen.open("/console/#/work/ask")
        page.get_by_role("combobox", name="Question").fill(question)
        page.keyboard.press("Enter")
        page.locator(".turn.done .cite").first.wait_for()
    with watched(browser, address) as seen:
        page = seen.page
        seen.open("/console/#/work/ask")
        page.get_by_role("button", name="History").click()
        page.locator(".history-item", has_text=question).click()
        page.locator(".turn.done .cite").first.click()
        page.locator(".reader mark", has_text="second class").first.wait_for()


def _writing(text: str, *, stall: bool) -> Any:
    """Stream the text where an answer is wanted; say nothing useful where something else is asked."""
    stream, other = (stalls(text, 60) if stall else says(text)), says("{}")

    def behave(handler: Handler, body: dict[str, Any]) -> None:
        (stream if body.get("stream") else other)(handler, body)

    return behave


@pytest.fixture
def chatting(home: Path, tmp_path: Path) -> Iterator[tuple[ChatService, str]]:
    """Serve a copy of nothing but a handbook, with a model that writes."""
    with ChatService(_writing("", stall=False)) as model:
        place = tmp_path / "home"
        source = tmp_path / "handbook.md"
        source.write_text(HANDBOOK, encoding="utf-8")
        with Kaijuan(place, "work") as base:
            base.add([str(source)])
        (place / "config.toml").write_text(
            f'[chat]\nurl = {json.dumps(model.url)}\nmodel = "m"\nkey = "k"\n', encoding="utf-8"
        )
        with serving(place) as started:
            yield model, started


def _asked(page: Page, question: str) -> None:
    page.get_by_role("combobox", name="Question").fill(question)
    page.keyboard.press("Enter")


def test_an_answer_streams_and_can_be_stopped(browser: Browser, chatting: tuple[ChatService, str]) -> None:
    model, address = chatting
    with watched(browser, address) as seen:
        page = seen.page
        model.behaviours = [_writing("Staff get 25 days of leave [1]. And then", stall=True)]
        seen.open("/console/#/work/ask")
        _asked(page, "How many days of leave do staff get?")
        page.locator(".turn", has_text="25 days").wait_for()
        assert page.locator(".turn").get_attribute("aria-busy") == "true"
        page.get_by_role("button", name="Stop").click()
        page.get_by_text("Stopped.").wait_for()
        model.behaviours = [_writing("Staff get 25 days of leave [1].", stall=False)]
        page.get_by_role("button", name="Try again").click()
        page.locator(".turn.done .cite").first.click()
        page.locator(".reader mark", has_text="25 days").wait_for()
