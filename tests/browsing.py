"""A browser and a service for the tests of the console. Chromium is taken where the machine has one."""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
DESKTOP = {"width": 1280, "height": 860}
MOBILE = {"width": 390, "height": 844}
SECONDS = 60
SAID = 1500
"""Characters of a page that a failure quotes."""


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start a browser; skip the tests where there is none."""
    playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if path is None:
        pytest.skip("no Chromium on this machine: apt-get install chromium")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=path, args=list(FLAGS))
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def serving(home: Path, *options: str) -> Iterator[str]:
    """Serve a home as a user does, on a free port; yield the address."""
    command = [sys.executable, "-m", "kaijuan", "--home", str(home), "serve", "--port", "0", *options]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        told = ""
        try:
            for line in process.stderr:
                told += line
                if found := re.search(r"https?://\S+?(?=/)", line):
                    yield found[0]
                    break
            else:
                raise AssertionError(f"the service did not start: {told}")
        finally:
            process.send_signal(signal.SIGINT)
            try:
                process.wait(SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()


@dataclass(slots=True)
class Watched:
    """A page, and what went wrong in it: messages of errors, and hosts beyond the service."""

    page: Page
    address: str
    errors: list[str] = field(default_factory=list)
    strangers: set[str] = field(default_factory=set)
    expected: tuple[str, ...] = ()
    """Errors that a test brings about, each by a part of its message."""

    def open(self, path: str = "/") -> None:
        """Go to a page of the service."""
        self.page.goto(self.address + path)

    def check(self) -> None:
        """Say that nothing went wrong."""
        surprising = [one for one in self.errors if not any(part in one for part in self.expected)]
        assert surprising == []
        assert self.strangers == set()


@contextmanager
def watched(
    browser: Browser, address: str, *, size: dict[str, int] = DESKTOP, locale: str = "en-GB", dark: bool = False
) -> Iterator[Watched]:
    """Open a page of its own; at its end nothing may have gone wrong in it."""
    context = browser.new_context(
        viewport=size,  # type: ignore[arg-type]
        locale=locale,
        color_scheme="dark" if dark else "light",
        reduced_motion="reduce",
        permissions=["clipboard-read", "clipboard-write"],
    )
    page = context.new_page()
    page.set_default_timeout(SECONDS * 1000 / 2)
    seen = Watched(page, address)
    own = urlsplit(address).netloc
    page.on("console", lambda told: seen.errors.append(told.text) if told.type == "error" else None)
    page.on("pageerror", lambda error: seen.errors.append(str(error)))
    page.on(
        "request",
        lambda request: (
            None
            if urlsplit(request.url).scheme in ("blob", "data") or urlsplit(request.url).netloc == own
            else seen.strangers.add(request.url)
        ),
    )
    try:
        yield seen
        seen.check()
    except BaseException as error:
        error.add_note(f"The page said: {_said(page)}\nIts errors: {seen.errors}")
        raise
    finally:
        context.close()


def _said(page: Page) -> str:
    from playwright.sync_api import Error

    try:
        return page.evaluate("document.body.innerText")[:SAID]  # type: ignore[no-any-return]
    except Error as error:
        return str(error)
