"""The page: whole in itself, hostile words shown as words, both languages complete, numbers those of the runs."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from importlib.resources import files

import pytest
from lxml import html

from kaijuan.errors import EvalDataError, MissingExtraError, UsageError
from kaijuan.evals.experiments.outcome import outcome_of
from kaijuan.evals.experiments.store import StoredRun
from kaijuan.evals.kinds import KINDS
from kaijuan.evals.report.page import report_page
from kaijuan.evals.report.texts import TEXTS
from kaijuan.evals.results import STAGES

MakeRun = Callable[..., StoredRun]


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    return {}


@pytest.fixture(params=["en", "zh"])
def page(request: pytest.FixtureRequest, evil: list[StoredRun], pages: dict[str, str]) -> str:
    """The page about hostile runs, made once for each language."""
    if request.param not in pages:
        pages[request.param] = report_page(evil, language=request.param)
    return pages[request.param]


def test_hostile_words_stay_words(page: str) -> None:
    tree = html.fromstring(page)
    assert not tree.xpath("//script | //img | //iframe | //object | //embed | //form | //base")
    assert not [name for element in tree.iter() for name in element.attrib if name.lower().startswith("on")]
    text = tree.text_content()
    assert "<script>alert('x')</script>" in text
    assert "{{7*7}}" in text
    assert not {"\u202e", "\x00"} & set(page)


def test_nothing_comes_from_elsewhere(page: str) -> None:
    tree = html.fromstring(page)
    (policy,) = tree.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")
    assert policy.startswith("default-src 'none'")
    links = [value for name in ("href", "src", "action", "data") for value in tree.xpath(f"//@{name}")]
    assert links
    assert all(link.startswith("#") or link == "data:," for link in links)
    styles = "".join(tree.xpath("//style/text() | //@style"))
    assert not re.findall(r"@import|https?:|url\((?!#)", styles)


def test_names_in_the_page_are_there_once_and_every_anchor_leads_somewhere(page: str) -> None:
    tree = html.fromstring(page)
    names = Counter(tree.xpath("//@id"))
    assert not [name for name, count in names.items() if count > 1]
    for link in tree.xpath("//a/@href | //@*[name()='xlink:href']"):
        assert link.removeprefix("#") in names


def test_plots_keep_their_text_and_take_the_colours_of_the_page(page: str) -> None:
    tree = html.fromstring(page)
    drawn = tree.xpath("//svg")
    assert len(drawn) == 1 + 2 + 2 * 2 + 1
    for plot in drawn:
        assert plot.get("role") == "img"
        assert plot.get("aria-label")
        assert "width" not in plot.attrib
        assert plot.xpath(".//text")
        assert "font-family" not in html.tostring(plot, encoding="unicode")
        assert "#0a0" not in html.tostring(plot, encoding="unicode")
    assert "better" in drawn[0].text_content()


def test_the_language_is_said(page: str) -> None:
    (language,) = html.fromstring(page).xpath("/html/@lang")
    assert language in ("en", "zh-Hans")
    assert ("Variants against the baseline" in page) == (language == "en")
    assert ("变体与基线" in page) == (language != "en")


def test_both_languages_say_everything_that_the_page_asks_for() -> None:
    assert TEXTS["en"].keys() == TEXTS["zh"].keys()
    source = (files("kaijuan.evals.report") / "page.html").read_text(encoding="utf-8")
    asked = set(re.findall(r"\bt\.(\w+)", source))
    assert asked <= TEXTS["en"].keys()
    assert {*STAGES, *KINDS} <= TEXTS["en"].keys()
    for key, text in TEXTS["en"].items():
        assert set(re.findall(r"{\w+}", text)) == set(re.findall(r"{\w+}", TEXTS["zh"][key])), key


def test_the_numbers_are_those_of_the_outcome(evil: list[StoredRun], page: str) -> None:
    better, mixed = outcome_of(evil).variants
    rows = [
        re.sub(r"\s+", " ", row.text_content()) for row in html.fromstring(page).xpath("//section[@id='variants']//tr")
    ]
    for arm, row in ((better, rows[1]), (mixed, rows[4])):
        found = arm.pooled.comparison
        for number in (found.baseline, found.variant):
            assert f"{number:.3f}" in row
        assert f"{found.wins} / {found.losses} / {found.ties}" in row
    assert "+0.500" in rows[1]
    assert better.pooled.verdict() == "better"


def test_each_stage_is_held_against_the_whole(make_run: MakeRun) -> None:
    run = make_run()
    queries = tuple(
        replace(query, rankings={**query.rankings, "lexical": ("x", *query.rankings["lexical"])})
        for query in run.run.queries
    )
    page = report_page([replace(run, run=replace(run.run, queries=queries))])
    rows = html.fromstring(page).xpath("//section[@id='stages']//div[last()]/table/tbody/tr")[-3:]
    shown = [[cell.text_content().strip() for cell in row] for row in rows]
    assert [cells[:2] for cells in shown] == [["dense", "0"], ["lexical", "\u22120.500"], ["fused", "0"]]
    assert [cells[-1].split()[-1] for cells in shown] == ["significant", "worse", "significant"]


def test_a_run_alone_shows_its_hardest_questions(make_run: MakeRun) -> None:
    page = report_page([make_run(places=(0, 3, 120, 0, 0, 0, 0, 0))])
    tree = html.fromstring(page)
    assert not tree.xpath("//section[@id='variants']")
    assert [case.text_content().split()[0] for case in tree.xpath("//details[@class='case']")] == ["0.000", "0.250"]
    assert "not found" not in tree.xpath("//details[@class='case']")[1].text_content()


def test_perfect_runs_and_runs_that_found_nothing_make_a_page(make_run: MakeRun) -> None:
    perfect = make_run()
    assert "None." in report_page([perfect, replace(perfect, variant="same", changes={"retrieve.route_k": 50})])
    nothing = tuple(replace(query, rankings={}) for query in perfect.run.queries)
    page = report_page([replace(perfect, run=replace(perfect.run, queries=nothing))])
    assert "Nothing was found." in page
    assert "nan" not in html.fromstring(page).text_content().lower().split()


def test_another_metric_can_decide(evil: list[StoredRun]) -> None:
    assert "by hit@1." in report_page(evil, metric="hit@1")


def test_what_cannot_be_shown_is_refused(make_run: MakeRun, monkeypatch: pytest.MonkeyPatch) -> None:
    run = make_run()
    with pytest.raises(UsageError, match="no report in 'fr'"):
        report_page([run], language="fr")
    with pytest.raises(EvalDataError, match="different experiments"):
        report_page([run, replace(run, variant="v", experiment="other")])
    with pytest.raises(EvalDataError, match="no runs"):
        report_page([])
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(MissingExtraError, match="jinja2"):
        report_page([run])


def test_without_matplotlib_the_extra_is_named(make_run: MakeRun, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r"kaijuan\[eval\]"):
        report_page([make_run()])
