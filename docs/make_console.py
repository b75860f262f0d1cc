"""Take the pictures of docs/console.md: a service over the bundled samples, seen in Chromium.

    python docs/make_console.py [FOLDER]

Writes docs/console/*.png, or into FOLDER. Needs Playwright and Chromium, as the tests of the console do.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.browsing import DESKTOP, MOBILE, chromium, serving, watched  # noqa: E402 the tests stand beside the package

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

COLOURS = 128
"""A page of text needs no more, and its picture is a third of the size."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shot:
    """One picture: where to go, what to do there, and how it is seen."""

    name: str
    path: str
    act: Callable[[Page], None] = lambda _: None
    locale: str = "en-GB"
    dark: bool = False
    mobile: bool = False


def _example(page: Page, at: int) -> None:
    page.locator(".example").nth(at).click()
    page.locator(".turn.done").wait_for()


def _manual(page: Page) -> None:
    _example(page, 1)
    page.locator(".cite").first.click()
    page.locator(".highlight").first.wait_for()
    page.locator(".pdf-page[data-ready]").first.wait_for()


def _leave(page: Page) -> None:
    _example(page, 2)
    page.locator(".cite").first.click()
    page.locator(".reader mark").first.wait_for()


def _travel(page: Page) -> None:
    _example(page, 0)
    page.locator(".cite").first.click()
    page.locator(".reader mark").first.wait_for()


def _chunk(page: Page) -> None:
    page.get_by_role("link", name="Q7", exact=False).first.click()
    page.locator(".chunk-body").nth(2).click()
    page.locator(".highlight").first.wait_for()
    page.locator(".pdf-page[data-ready]").first.wait_for()


def _explain(page: Page) -> None:
    page.locator(".passage").first.wait_for()


def _compare(page: Page) -> None:
    page.locator(".play-side .passage").nth(1).wait_for()


SHOTS = (
    Shot(name="home", path="#/demo/ask"),
    Shot(name="evidence", path="#/demo/ask", act=_manual),
    Shot(name="evidence-zh-dark", path="#/demo/ask", act=_travel, locale="zh-CN", dark=True),
    Shot(name="evidence-text", path="#/demo/ask", act=_leave),
    Shot(name="refused-zh", path="#/demo/ask", act=lambda page: _example(page, 3), locale="zh-CN"),
    Shot(name="library", path="#/demo/library"),
    Shot(name="document", path="#/demo/library", act=_chunk),
    Shot(name="playground", path="#/demo/playground?q=ERR-9988", act=_explain),
    Shot(
        name="playground-both-zh",
        path="#/demo/playground?q=ERR-9988&both=1&b=fast",
        act=_compare,
        locale="zh-CN",
        dark=True,
    ),
    Shot(name="review", path="#/demo/review"),
    Shot(name="glossary-zh", path="#/demo/glossary", locale="zh-CN"),
    Shot(name="feedback", path="#/demo/feedback"),
    Shot(name="health-dark", path="#/demo/health", dark=True),
    Shot(name="mobile-home-zh", path="#/demo/ask", locale="zh-CN", mobile=True),
    Shot(name="mobile-answer", path="#/demo/ask", act=lambda page: _example(page, 2), mobile=True),
    Shot(name="mobile-evidence", path="#/demo/ask", act=_manual, mobile=True),
    Shot(name="mobile-library-dark", path="#/demo/library", mobile=True, dark=True),
)


def take(browser: Browser, address: str, shot: Shot, folder: Path) -> None:
    """Take one picture."""
    size = MOBILE if shot.mobile else DESKTOP
    with watched(browser, address, size=size, locale=shot.locale, dark=shot.dark) as seen:
        seen.open(f"/console/{shot.path}")
        seen.page.locator("main h1").first.wait_for()
        seen.page.wait_for_load_state("networkidle")
        shot.act(seen.page)
        seen.page.wait_for_load_state("networkidle")
        seen.page.wait_for_timeout(300)
        target = folder / f"{shot.name}.png"
        seen.page.screenshot(path=target)
    _shrink(target)


def _shrink(path: Path) -> None:
    from PIL import Image

    with Image.open(path) as picture:
        picture.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)


def main() -> None:
    """Prepare a home as `make demo` does, serve it, take all pictures."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "console"
    wanted = set(sys.argv[2:])
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as made:
        home = Path(made) / "home"
        _demo(home)
        with serving(home) as address, chromium() as browser:
            for shot in SHOTS:
                if not wanted or shot.name in wanted:
                    take(browser, address, shot, folder)
                    print(folder / f"{shot.name}.png")


def _demo(home: Path) -> None:
    from kaijuan.samples import sample_folder
    from kaijuan.sync import Kaijuan

    with Kaijuan(home, "demo") as base:
        base.add([str(sample_folder())])


if __name__ == "__main__":
    main()
