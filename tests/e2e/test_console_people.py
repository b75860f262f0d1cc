"""The console where people are told apart: who sees what, the door, and a right that is taken away."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.browsing import chromium, serving, watched

from kaijuan.core.identity import Role
from kaijuan.sync import Kaijuan

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.slow

SECRET = "The vault code is 4711 and the guard is called Humboldt."
OPEN = "Lunch is served at noon in the canteen on the second floor."
REFUSED = "Failed to load resource"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as started:
        yield started


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> dict[str, str]:
    """Make a base with an open and a closed document, an owner and a reader; return their keys, and the home."""
    root: Path = tmp_path_factory.mktemp("people")
    files = root / "files"
    files.mkdir()
    (files / "vault.md").write_text(f"# Vault\n\n{SECRET}\n", encoding="utf-8")
    (files / "lunch.md").write_text(f"# Lunch\n\n{OPEN}\n", encoding="utf-8")
    made = {"home": str(root / "home")}
    with Kaijuan(root / "home", "house") as base:
        base.add([str(files)])
        for name, role in (("olga", Role.OWNER), ("rita", Role.READER)):
            base.put_user(name, role=role)
            made[name] = base.create_key(name)[1]
        base.grant("rita")
        base.grant("olga", on="vault.md")
    return made


@pytest.fixture(scope="module")
def address(keys: dict[str, str]) -> Iterator[str]:
    with serving(Path(keys["home"])) as started:
        yield started


def _enter(page: Page, key: str) -> None:
    page.get_by_label("API key").fill(key)
    page.get_by_role("button", name="Come in").click()
    page.locator(".sidebar").wait_for()


def test_a_key_that_is_not_accepted_is_said_to_be_so(browser: Browser, address: str, keys: dict[str, str]) -> None:
    with watched(browser, address) as seen:
        seen.expected = (REFUSED,)
        page = seen.page
        seen.open("/console/#/house/library")
        page.get_by_label("API key").fill("kj_nothing")
        page.keyboard.press("Enter")
        page.get_by_text("That key is not accepted").wait_for()
        _enter(page, keys["rita"])
        page.get_by_role("link", name="Lunch").wait_for()
        page.get_by_role("button", name="Sign out").click()
        page.get_by_label("API key").wait_for()


def test_two_people_see_and_may_do_different_things(browser: Browser, address: str, keys: dict[str, str]) -> None:
    for name, sees, ways in (("olga", True, {"Review", "Evaluation"}), ("rita", False, set())):
        with watched(browser, address) as seen:
            seen.expected = (REFUSED,)
            page = seen.page
            seen.open("/console/#/house/library")
            _enter(page, keys[name])
            page.get_by_role("link", name="Lunch").wait_for()
            assert page.get_by_role("link", name="Vault").is_visible() is sees
            assert page.get_by_role("button", name="Upload files").is_visible() is sees
            assert {"Review", "Evaluation"} & set(page.locator(".way").all_inner_texts()) == ways
            page.get_by_role("link", name="Ask", exact=True).click()
            page.get_by_role("combobox", name="Question").fill("What is the vault code?")
            page.keyboard.press("Enter")
            page.locator(".turn.done").wait_for()
            assert ("4711" in page.locator(".turn").inner_text()) is sees


def test_what_is_taken_away_is_gone_at_the_next_click(browser: Browser, address: str, keys: dict[str, str]) -> None:
    with watched(browser, address) as seen, watched(browser, address) as other:
        seen.expected = other.expected = (REFUSED,)
        owner, reader = seen.page, other.page
        seen.open("/console/#/house/library")
        _enter(owner, keys["olga"])
        owner.get_by_role("link", name="Vault").click()
        owner.get_by_role("tab", name="Who may read it").click()
        owner.get_by_role("button", name="Share").click()
        owner.get_by_role("textbox", name="Who").fill("rita")
        owner.get_by_role("button", name="Save").click()
        owner.get_by_role("cell", name="user:rita").wait_for()

        other.open("/console/#/house/library")
        _enter(reader, keys["rita"])
        reader.get_by_role("link", name="Vault").click()
        reader.locator(".sheet", has_text="4711").wait_for()

        owner.get_by_role("row", name="user:rita").get_by_role("button", name="Take away").click()
        owner.locator("dialog").get_by_role("button", name="Take away").click()
        owner.get_by_role("cell", name="user:rita").wait_for(state="detached")

        reader.reload()
        reader.get_by_role("alert").wait_for()
        assert "4711" not in reader.locator("main").inner_text()
        reader.get_by_role("link", name="Library", exact=True).click()
        reader.get_by_role("link", name="Lunch").wait_for()
        assert not reader.get_by_role("link", name="Vault").is_visible()


def test_a_revoked_key_leads_back_to_the_door(browser: Browser, address: str, keys: dict[str, str]) -> None:
    with watched(browser, address) as seen, watched(browser, address) as other:
        seen.expected = other.expected = (REFUSED,)
        owner, guest = seen.page, other.page
        seen.open("/console/#/house/health?tab=keys")
        _enter(owner, keys["olga"])
        owner.get_by_role("button", name="Create a key").click()
        owner.get_by_role("textbox", name="User").fill("rita")
        owner.get_by_role("textbox", name="Label").fill("lent")
        owner.get_by_role("button", name="Save").click()
        text = owner.locator("dialog code").inner_text()
        owner.get_by_role("button", name="Close").click()
        other.open("/console/#/house/library")
        _enter(guest, text)
        guest.get_by_role("link", name="Lunch").wait_for()
        owner.get_by_role("row", name="lent").get_by_role("button", name="Revoke").click()
        owner.locator("dialog").get_by_role("button", name="Revoke").click()
        owner.get_by_role("row", name="lent").get_by_text("revoked").wait_for()
        guest.get_by_role("link", name="Lunch").click()
        guest.get_by_text("That key is not accepted").wait_for()
        assert "canteen" not in guest.locator("body").inner_text()
