"""Take the pictures of docs/console.md: a service over the bundled samples, seen in Chromium.

    python docs/make_console.py [FOLDER [NAME ...]]

Writes docs/console/*.webp, or into FOLDER; all pictures, or those named. Needs Playwright and Chromium, as the tests of
the console do. Inter and Noto CJK are used where they are installed, as a desktop would have such fonts.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.browsing import DESKTOP, MOBILE, chromium, serving, watched  # noqa: E402 the tests stand beside the package

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

QUALITY = 88
FONTS = """<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <include>/etc/fonts/fonts.conf</include>
  <selectfont><rejectfont><pattern><patelt name="family"><string>DejaVu Sans</string></patelt></pattern></rejectfont>
  </selectfont>
  <match target="pattern"><test name="family" qual="any"><string>sans</string></test>
    <edit name="family" mode="prepend" binding="strong"><string>Inter</string></edit></match>
  <match target="pattern"><test name="family" qual="any"><string>sans-serif</string></test>
    <edit name="family" mode="prepend" binding="strong"><string>Inter</string></edit></match>
</fontconfig>
"""
KEY_BODY = "MIIEpAIBAAKCAQEA7bq0m3pG3V2H5k8nq6b1c2u3r4t5y6u7i8o9p0a1s2d3f4g5"
HELD = f"""# VPN

The gateway knows this key.

-----BEGIN RSA PRIVATE KEY-----
{KEY_BODY}
-----END RSA PRIVATE KEY-----
"""
PLAN = """sets = ["company_zh_en"]
limit = 0
seed = 7
metric = "ndcg@10"
[variants.rrf]
retrieve.fusion = "rrf"
[variants.words_alone]
retrieve.dense_weight = 0.0
[variants.meaning_alone]
retrieve.dense_weight = 1.0
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shot:
    """One picture: where to go, what to do there, and how it is seen."""

    name: str
    path: str
    act: Callable[[Page], None] = lambda _: None
    locale: str = "en-GB"
    dark: bool = False
    mobile: bool = False
    key: str = ""
    """Whose key is entered at the door; only where people are told apart."""


def _example(page: Page, at: int) -> None:
    page.locator(".example").nth(at).click()
    page.locator(".turn.done").wait_for()


def _cited(page: Page, at: int) -> None:
    _example(page, at)
    page.locator(".cite").first.click()
    page.locator(".highlight, .reader mark").first.wait_for()
    if page.locator(".pdf-page").count():
        page.locator(".pdf-page[data-ready] .highlight").first.wait_for()


def _upload(page: Page) -> None:
    with tempfile.TemporaryDirectory() as made:
        good, bad = Path(made) / "parking.md", Path(made) / "scan-2019.pdf"
        good.write_text("# Parking\n\nVisitors park on level B3 and pay 7 francs an hour.\n", encoding="utf-8")
        bad.write_bytes(b"%PDF-1.7\nnothing else\n")
        page.locator("input[type=file]").first.set_input_files([good, bad])
        page.locator(".run-card .reasons").wait_for()
    page.get_by_role("link", name="Parking").wait_for()


def _document(page: Page) -> None:
    page.get_by_role("link", name="Q7", exact=False).first.click()
    page.locator(".chunk-body").nth(2).click()
    page.locator(".pdf-page[data-ready] .highlight").first.wait_for()


def _panel(page: Page, link: str, tab: str) -> None:
    page.get_by_role("link", name=link, exact=False).first.click()
    page.locator(f"[data-tab={tab}]").click()
    page.locator(".table").first.wait_for()


def _compare(page: Page) -> None:
    page.locator(".panel .button").first.click()
    page.locator(".diff li").first.wait_for()


def _why(page: Page) -> None:
    page.locator(".passage").first.wait_for()
    page.locator(".why input").fill("Gifts worth more than")
    page.locator(".why .button").first.click()
    page.locator(".stages li").first.wait_for()
    page.locator(".why").evaluate("(part) => part.scrollIntoView({ block: 'end' })")


def _run(page: Page) -> None:
    page.locator("summary").first.click()
    page.locator(".run-card .table").first.wait_for()


def _wait(selector: str, nth: int = 0) -> Callable[[Page], None]:
    return lambda page: page.locator(selector).nth(nth).wait_for()


ASK, LIBRARY = "#/demo/ask", "#/demo/library"
OPEN = (
    Shot(name="click-1", path=ASK),
    Shot(name="click-2", path=ASK, act=lambda page: _example(page, 1)),
    Shot(name="click-3", path=ASK, act=lambda page: _cited(page, 1)),
    Shot(name="conflict-zh-dark", path=ASK, act=lambda page: _cited(page, 0), locale="zh-CN", dark=True),
    Shot(name="evidence-text", path=ASK, act=lambda page: _cited(page, 2)),
    Shot(name="refused-zh", path=ASK, act=lambda page: _example(page, 3), locale="zh-CN"),
    Shot(name="library", path=LIBRARY),
    Shot(name="runs-zh", path=f"{LIBRARY}?tab=runs", act=_run, locale="zh-CN"),
    Shot(name="snapshots", path=f"{LIBRARY}?tab=snapshots", act=_compare),
    Shot(name="duplicates", path=f"{LIBRARY}?tab=duplicates", act=_wait(".panel")),
    Shot(name="document", path=LIBRARY, act=_document),
    Shot(name="versions-zh", path=LIBRARY, act=lambda page: _panel(page, "Handbook", "versions"), locale="zh-CN"),
    Shot(name="review", path="#/demo/review", act=_wait(".panel")),
    Shot(name="playground", path="#/demo/playground?q=ERR-9988", act=_wait(".passage")),
    Shot(name="why-not", path="#/demo/playground?q=annual+leave", act=_why),
    Shot(
        name="playground-both-zh-dark",
        path="#/demo/playground?q=ERR-9988&both=1&b=fast",
        act=_wait(".play-side .passage", 1),
        locale="zh-CN",
        dark=True,
    ),
    Shot(name="glossary-zh", path="#/demo/glossary", act=_wait(".table"), locale="zh-CN"),
    Shot(name="feedback", path="#/demo/feedback", act=_wait(".table")),
    Shot(name="evaluation", path="#/demo/evaluation/company", act=_wait(".interval")),
    Shot(name="health-dark", path="#/demo/health", act=_wait(".verdict"), dark=True),
    Shot(name="settings", path="#/demo/health?tab=settings", act=lambda page: page.locator("summary").first.click()),
    Shot(name="mobile-home-zh", path=ASK, locale="zh-CN", mobile=True),
    Shot(name="mobile-answer-dark", path=ASK, act=lambda page: _example(page, 2), mobile=True, dark=True),
    Shot(name="mobile-evidence", path=ASK, act=lambda page: _cited(page, 1), mobile=True),
    Shot(name="mobile-library-zh", path=LIBRARY, act=_wait(".doc-name"), mobile=True, locale="zh-CN"),
    # Last, for it changes the base.
    Shot(name="upload", path=LIBRARY, act=_upload),
)
CLOSED = (
    Shot(name="door", path=ASK),
    Shot(name="users", path="#/demo/health?tab=users", act=_wait(".table"), key="mei"),
    Shot(name="access", path="#/demo/health?tab=access", act=_wait(".table"), key="mei"),
    Shot(name="audit-zh", path="#/demo/health?tab=audit", act=_wait(".table"), key="mei", locale="zh-CN"),
    Shot(name="reader", path=LIBRARY, act=_wait(".table"), key="jonas"),
)


def take(browser: Browser, address: str, shot: Shot, folder: Path) -> None:
    """Take one picture."""
    size = MOBILE if shot.mobile else DESKTOP
    with watched(browser, address, size=size, locale=shot.locale, dark=shot.dark) as seen:
        seen.expected = ("Failed to load resource",)  # the door itself: nobody has said yet who they are
        seen.open(f"/console/{shot.path}")
        if shot.key:
            seen.page.locator("#key").fill(shot.key)
            seen.page.keyboard.press("Enter")
        seen.page.locator("main h1").first.wait_for()
        seen.page.wait_for_load_state("networkidle")
        shot.act(seen.page)
        seen.page.wait_for_load_state("networkidle")
        seen.page.wait_for_timeout(300)
        target = folder / f"{shot.name}.png"
        seen.page.screenshot(path=target)
    _shrink(target)
    print(target.with_suffix(".webp"), flush=True)


def _shrink(path: Path) -> None:
    from PIL import Image

    with Image.open(path) as picture:
        picture.convert("RGB").save(path.with_suffix(".webp"), quality=QUALITY, method=6)
    path.unlink()


def main() -> None:
    """Prepare a home as `make demo` does, with a little history, serve it, take all pictures."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "console"
    wanted = set(sys.argv[2:])
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as made:
        fonts = Path(made) / "fonts.conf"
        fonts.write_text(FONTS, encoding="utf-8")
        os.environ["FONTCONFIG_FILE"] = str(fonts)
        home = Path(made) / "home"
        _demo(home, Path(made))
        _take_all(home, folder, [shot for shot in OPEN if not wanted or shot.name in wanted])
        closed = [shot for shot in CLOSED if not wanted or shot.name in wanted]
        if closed:
            keys = _people(home)
            _take_all(home, folder, [replace(shot, key=keys.get(shot.key, "")) for shot in closed])


def _take_all(home: Path, folder: Path, shots: Iterable[Shot]) -> None:
    with serving(home) as address, chromium() as browser:
        _warm(browser, address)
        for shot in shots:
            take(browser, address, shot, folder)


def _warm(browser: Browser, address: str) -> None:
    """Let the models load: the first question is not the one to time."""
    with watched(browser, address) as seen:
        for question in ("How long are backups kept?", "年假有几天？"):
            seen.page.request.post(f"{address}/api/v1/kbs/demo/search", data={"query": question})


def _demo(home: Path, made: Path) -> None:
    """The samples, a second snapshot with what makes a base interesting, words, opinions, an experiment."""
    from kaijuan.core.feedback import FeedbackVerdict
    from kaijuan.samples import sample_folder
    from kaijuan.sync import Kaijuan

    files = made / "company"
    shutil.copytree(sample_folder(), files)
    with Kaijuan(home, "demo") as base:
        base.add([str(files)])
        handbook = files / "employee-handbook.md"
        handbook.write_text(handbook.read_text(encoding="utf-8") + "\n## Cycling\n\nCyclists get 40 euros a month.\n")
        shutil.copy(files / "it-runbook.html", files / "it-runbook-copy.html")
        (files / "vpn-setup.md").write_text(HELD, encoding="utf-8")
        base.add([str(files)])
        base.add_term("PTO", ["annual leave", "年假"], by="mei")
        base.add_term("网关", ["gateway", "Q7"], by="mei")
        for question, verdict, comment in (
            ("When are expenses paid back?", FeedbackVerdict.INCOMPLETE, "The day of the month is missing."),
            ("住宿费上限是多少？", FeedbackVerdict.GOOD, ""),
            ("Who approves remote work abroad?", FeedbackVerdict.BAD, "The handbook does say it, in section 5."),
        ):
            answer = base.ask(question)
            base.give_feedback(question, verdict, trace_id=answer.trace_id, comment=comment, by="jonas")
    asyncio.run(_experiment(home, made))


async def _experiment(home: Path, made: Path) -> None:
    from kaijuan.config import load_config
    from kaijuan.evals.experiments.run import evals_results, run_experiment
    from kaijuan.evals.experiments.variants import read_experiment

    shutil.copytree(ROOT / "bench" / "gate" / "company_zh_en", made / "company_zh_en")
    plan = made / "company.toml"
    plan.write_text(PLAN, encoding="utf-8")
    await run_experiment(read_experiment(plan, load_config(home)), home, evals_results(home))


def _people(home: Path) -> dict[str, str]:
    """Tell people apart from now on; return keys by name."""
    from kaijuan.core.identity import Role
    from kaijuan.sync import Kaijuan

    keys = {}
    with Kaijuan(home, "demo") as base:
        for name, role, group in (("mei", Role.OWNER, "board"), ("jonas", Role.READER, "support")):
            base.put_user(name, role=role)
            base.join_group(group, name)
            keys[name] = base.create_key(name, label="laptop")[1]
        base.put_user("audra", role=Role.AUDITOR)
        base.grant("group:support")
        base.grant("group:board", on="it-runbook.html")
    return keys


if __name__ == "__main__":
    main()
