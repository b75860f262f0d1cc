"""The console's evidence reader on a long PDF: time to the highlighted words, frames while scrolling, memory.

python -m bench.console_reader [--pages N] [--jumps N]

Needs Playwright, Chromium and reportlab. The index is built by a stub: reading needs none of it.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from bench.machine import machine
from kaijuan.sync import Kaijuan
from kaijuan.testing.embedders import HashEmbedder

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.browsing import chromium, serving, watched  # noqa: E402 the tests stand beside the package

if TYPE_CHECKING:
    from playwright.sync_api import Page

LINES = 44
STEP = 600
"""Pixels a turn of the wheel scrolls."""
TURNS = 120
WORDS = """the valve pressure of each pump was measured before winter and written into the station log by the engineer
on duty who compared it with the limit that the manual gives for this type and ordered a part where needed"""

FRAMES = """() => {
  window.frames_ = [];
  let before = performance.now();
  const tick = (now) => {
    window.frames_.push(now - before);
    before = now;
    window.ticking = requestAnimationFrame(tick);
  };
  requestAnimationFrame((now) => { before = now; requestAnimationFrame(tick); });
}"""


def write_pdf(path: Path, pages: int) -> None:
    """Write a PDF whose every page is full of text and holds one sentence of its own."""
    from reportlab.lib.pagesizes import A4
    from reportlab.pdfgen.canvas import Canvas

    chance = random.Random(3)
    canvas = Canvas(str(path), pagesize=A4)
    canvas.setTitle("Station log")
    for page in range(1, pages + 1):
        text = canvas.beginText(60, 780)
        text.setFont("Helvetica", 10)
        for line in range(LINES):
            text.textLine(mark(page) if line == LINES // 2 else " ".join(chance.choices(WORDS.split(), k=15)) + ".")
        canvas.drawText(text)
        canvas.showPage()
    canvas.save()


def mark(page: int) -> str:
    """Return the sentence that stands on one page only."""
    return f"Entry {page} says that gauge G-{page:04d} was replaced."


def measure(folder: Path, pages: int, jumps: int) -> dict[str, Any]:
    """Take the PDF in, open it in the reader, scroll and jump."""
    source = folder / "log.pdf"
    write_pdf(source, pages)
    home = folder / "home"
    with Kaijuan(home, "demo", embedder=HashEmbedder(dimensions=384)) as base:
        started = time.perf_counter()
        report = base.add([str(source)])
        assert not report.failed, report.failed  # a busy machine may need a larger ingest.parse_seconds
        taken_in = time.perf_counter() - started
        view = base.show("log.pdf")
    at = view.text.index(mark(pages * 3 // 4))
    link = f"/console/#/demo/read/{view.version.id}?span={at}-{at + len(mark(pages * 3 // 4))}"
    with serving(home) as address, chromium() as browser, watched(browser, address) as seen:
        page = seen.page
        session = page.context.new_cdp_session(page)
        session.send("Performance.enable")
        started = time.perf_counter()
        seen.open(link)
        page.locator(".highlight").first.wait_for()
        page.locator(f'.pdf-page[data-page="{pages * 3 // 4}"][data-ready]').wait_for()
        opened = time.perf_counter() - started
        wire = page.evaluate(
            "performance.getEntriesByType('resource').filter((one) => one.name.endsWith('/original'))"
            ".reduce((sum, one) => sum + one.transferSize, 0)"
        )
        frames = _scroll(page)
        waits = _jump(page, pages, jumps)
        metrics = {one["name"]: one["value"] for one in session.send("Performance.getMetrics")["metrics"]}
        drawn = page.locator(".pdf-page canvas").count()
        nodes = page.evaluate("document.querySelectorAll('*').length")
    return {
        "load": round(os.getloadavg()[0], 1),
        "pages": pages,
        "pdf_mb": round(source.stat().st_size / 2**20, 1),
        "added_seconds": round(taken_in, 1),
        "opened_seconds": round(opened, 2),
        "transferred_mb": round(wire / 2**20, 2),
        "frame_ms": _spread(frames),
        "frames_over_50_ms": round(sum(one > 50 for one in frames) / len(frames), 4),
        "jump_ms": _spread([one * 1000 for one in waits]),
        "canvases": drawn,
        "elements": nodes,
        "heap_mb": round(metrics["JSHeapUsedSize"] / 2**20, 1),
    }


def _scroll(page: Page) -> list[float]:
    page.locator(".pdf-scroll").hover()
    page.evaluate(FRAMES)
    for turn in range(TURNS):
        page.mouse.wheel(0, STEP if turn < TURNS * 2 // 3 else -STEP)
        page.wait_for_timeout(30)
    frames: list[float] = page.evaluate("() => { cancelAnimationFrame(window.ticking); return window.frames_; }")
    return frames


def _jump(page: Page, pages: int, jumps: int) -> list[float]:
    chance = random.Random(5)
    waits = []
    for _ in range(jumps):
        number = chance.randint(1, pages)
        started = time.perf_counter()
        page.locator(".page-number").fill(str(number))
        page.keyboard.press("Enter")
        page.locator(f'.pdf-page[data-page="{number}"][data-ready]').wait_for()
        waits.append(time.perf_counter() - started)
    return waits


def _spread(values: list[float]) -> dict[str, float]:
    ordered = sorted(values)
    return {f"p{p}": round(ordered[min(len(ordered) - 1, len(ordered) * p // 100)], 1) for p in (50, 95, 100)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--pages", type=int, default=1600)
    parser.add_argument("--jumps", type=int, default=30)
    options = parser.parse_args()
    with TemporaryDirectory() as spare:
        row = measure(Path(spare), options.pages, options.jumps)
    print(json.dumps({"machine": machine(), **row}, ensure_ascii=False, indent=1))


if __name__ == "__main__":
    main()
