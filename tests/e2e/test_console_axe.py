"""The console's pages have no serious fault that axe finds: names, contrast, roles, order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
from tests.browsing import DESKTOP, MOBILE, chromium, serving, watched

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.slow
SERIOUS = {"serious", "critical"}
VIEWS = (
    *("ask", "library", "library?tab=runs", "library?tab=snapshots", "library?tab=duplicates", "review"),
    *("playground?q=backup", "glossary", "feedback", "evaluation"),
    *("health", "health?tab=settings", "health?tab=access", "health?tab=users", "health?tab=keys", "health?tab=audit"),
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as started:
        yield started


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[str]:
    with serving(tmp_path_factory.mktemp("axe") / "home") as started:
        with watched(browser, started) as seen:
            seen.open()
            seen.page.get_by_role("heading", name="This knowledge base is empty").wait_for()
            assert _faults(seen.page) == []
            seen.page.get_by_role("button", name="Load the samples").click()
            seen.page.locator(".example").first.wait_for(timeout=120_000)
        yield started


def _faults(page: Page) -> list[str]:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed")
    found: list[dict[str, Any]] = axe.Axe().run(page).response["violations"]
    return [
        f"{one['id']}: {node['html'][:160]} {node['any'][0]['message'] if node['any'] else ''}"
        for one in found
        if one["impact"] in SERIOUS
        for node in one["nodes"]
    ]


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("size", [DESKTOP, MOBILE], ids=["desktop", "mobile"])
def test_every_page_passes(browser: Browser, address: str, size: dict[str, int], dark: bool) -> None:
    with watched(browser, address, size=size, dark=dark) as seen:
        for view in VIEWS:
            seen.open(f"/console/#/default/{view}")
            seen.page.reload()
            seen.page.locator("main h1").wait_for()
            seen.page.wait_for_load_state("networkidle")
            assert _faults(seen.page) == [], view


@pytest.mark.parametrize("locale", ["en-GB", "zh-CN"])
def test_an_answer_with_its_evidence_passes(browser: Browser, address: str, locale: str) -> None:
    with watched(browser, address, locale=locale) as seen:
        page = seen.page
        seen.open()
        page.locator(".example").nth(1).click()
        page.locator(".turn.done .cite").first.click()
        page.locator(".pdf-page[data-ready]").first.wait_for()
        assert _faults(page) == []
        page.get_by_role("link", name="Library").or_(page.get_by_role("link", name="文档", exact=True)).click()
        page.locator(".doc-name a").first.click()
        page.locator(".chunk-body").first.click()
        assert _faults(page) == []
