"""What the service tells those who run it: a line for each request, and figures. Never keys, questions or documents."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from tests.serving import Served, config_of, in_process

from kaijuan.core.identity import Role
from kaijuan.server.access_log import JsonLines

ACCESS = "kaijuan.server.access"
TEXTS = {"secretplum.md": "# Secretplum\n\nBarrel seven holds 49 litres of quincewine.\n"}


class _Lines(logging.Handler):
    """Keeps the lines of a log."""

    def __init__(self) -> None:
        super().__init__()
        self.setFormatter(JsonLines())
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(self.format(record))

    @property
    def last(self) -> dict[str, object]:
        return dict(json.loads(self.lines[-1]))


@pytest.fixture
def lines() -> Iterator[_Lines]:
    log, handler = logging.getLogger(ACCESS), _Lines()
    level = log.level
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    try:
        yield handler
    finally:
        log.removeHandler(handler)
        log.setLevel(level)


@pytest.fixture
async def served(tmp_path: Path) -> AsyncIterator[Served]:
    async with in_process(tmp_path / "home") as service:
        await service.upload("default", TEXTS)
        yield service


async def test_a_request_is_one_line_that_says_who_and_what_and_how_it_ended(served: Served, lines: _Lines) -> None:
    await served.user("ada", role=Role.OWNER)
    lines.lines.clear()
    await served.post("/kbs/default/search", {"query": "x"}, user="ada", headers={"X-Request-Id": "r-1"})
    [line] = lines.lines
    told = json.loads(line)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:.]+\+00:00", told.pop("at"))
    assert told.pop("ms") > 0
    assert told == {
        "level": "info",
        "logger": ACCESS,
        "request_id": "r-1",
        "method": "POST",
        "route": "/api/v1/kbs/{kb}/search",
        "status": 200,
        "tenant": "default",
        "user": "ada",
        "kb": "default",
        "snapshot": 1,
    }


async def test_lines_hold_no_key_question_or_word_of_a_document(served: Served, lines: _Lines) -> None:
    key = await served.user("ada", role=Role.OWNER)
    await served.post("/kbs/default/ask", {"question": "quincewine litres"}, user="ada")
    await served.get("/kbs/default/documents/secretplum.md", user="ada")
    await served.get("/kbs/default/suggest", params={"q": "secretplum"}, user="ada")
    await served.post("/v1/chat/completions", {"model": "default", "messages": []}, user="ada")
    await served.http.get("/made/up/secretplum", headers={"X-Api-Key": key})
    await served.call("SECRETPLUM", "/health")
    await served.get("/kbs/secretplum/documents", user="ada")
    told = "\n".join(lines.lines).lower()
    assert len(lines.lines) >= 7
    assert not [word for word in ("quincewine", "secretplum", key.lower()) if word in told]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/kbs/default/search", {"query": "年假几天？"}),
        ("/kbs/default/ask", {"question": "年假几天？"}),
        ("/kbs/default/explain", {"question": "年假几天？", "contains": "litres"}),
        ("/kbs/default/conversations/one", {"text": "年假几天？"}),
        ("/v1/chat/completions", {"model": "default", "messages": [{"role": "user", "content": "年假几天？"}]}),
    ],
)
async def test_questions_are_told_where_a_setting_allows_it(
    tmp_path: Path, lines: _Lines, path: str, body: object
) -> None:
    for allowed in (True, False):
        config = config_of(telemetry={"questions": allowed})
        async with in_process(tmp_path / str(allowed), config) as service:
            await service.upload("default", TEXTS)
            assert (await service.post(path, body)).status_code == 200
            assert lines.last.get("question") == ("年假几天？" if allowed else None)


@pytest.mark.parametrize(
    ("method", "path", "route"),
    [
        ("GET", "/api/v1/health", "/api/v1/health"),
        ("GET", "/v1/models", "/v1/models"),
        ("GET", "/api/v1/kbs/default/documents/secretplum.md", "/api/v1/kbs/{kb}/documents/{id}"),
        ("GET", "/console/index.html", "/console/{path}"),
        ("POST", "/mcp", "/mcp"),
        ("GET", "/made/up", "other"),
    ],
)
async def test_routes_are_told_by_their_templates(
    served: Served, lines: _Lines, method: str, path: str, route: str
) -> None:
    await served.http.request(method, path)
    assert lines.last["route"] == route


def test_what_is_no_text_and_what_went_wrong_are_lines_too() -> None:
    form = JsonLines()
    record = logging.LogRecord("kaijuan", logging.ERROR, "", 0, "name %s\nand more", ("\ud800",), None)
    told = form.format(record)
    assert "\n" not in told
    assert told.encode("utf-8")
    assert json.loads(told)["message"] == "name \ud800\nand more"
    try:
        raise ValueError("年假")
    except ValueError as error:
        failed = logging.LogRecord("k", logging.ERROR, "", 0, "failed", (), (ValueError, error, error.__traceback__))
    assert "ValueError: 年假" in json.loads(form.format(failed))["exception"]


# --- figures ----------------------------------------------------------------------------------------------------


def _figure(text: str, name: str) -> float:
    return sum(float(line.rpartition(" ")[2]) for line in text.splitlines() if line.startswith(name))


async def test_figures_tell_of_routes_answers_and_freshness(served: Served) -> None:
    before = (await served.get("/metrics")).text
    await served.post("/kbs/default/ask", {"question": "What is the boiling point of tungsten?"})
    await served.post("/kbs/default/search", {"query": ""})
    after = (await served.get("/metrics")).text

    def grown(name: str) -> float:
        return _figure(after, name) - _figure(before, name)

    assert grown("kaijuan_answers_total{") == 1
    assert grown('kaijuan_http_requests_total{route="/api/v1/kbs/{kb}/ask",method="POST",status="200"}') == 1
    assert grown('kaijuan_http_requests_total{route="/api/v1/kbs/{kb}/search",method="POST",status="422"}') == 1
    assert grown('kaijuan_http_request_seconds_count{route="/api/v1/kbs/{kb}/ask",method="POST"}') == 1
    assert 'kaijuan_queue_jobs{kb="default",state="waiting"} 0' in after
    assert _figure(after, 'kaijuan_snapshot_age_seconds{kb="default"}') > 0


async def test_jobs_that_wait_have_an_age(served: Served, tmp_path: Path) -> None:
    (tmp_path / "later.md").write_text("# Later\n")
    await served.of("default").enqueue([str(tmp_path / "later.md")])
    told = (await served.get("/metrics")).text
    assert 'kaijuan_queue_jobs{kb="default",state="waiting"} 1' in told
    assert _figure(told, 'kaijuan_queue_oldest_seconds{kb="default"}') >= 0


async def test_figures_have_the_form_that_prometheus_reads(served: Served) -> None:
    await served.of("default", 'odd"name\\').make_base()
    told = (await served.get("/metrics")).text
    name, label = r"[a-z_]+", r'[a-z]+="(?:[^"\\\n]|\\[\\"n])*"'
    sample = re.compile(rf"{name}(?:\{{{label}(?:,{label})*\}})? -?[\d.e+]+")
    for line in told.splitlines():
        assert re.fullmatch(rf"# (?:HELP {name} .+|TYPE {name} (?:gauge|counter|histogram))", line) or sample.fullmatch(
            line
        ), line


async def test_figures_are_for_owners_and_auditors_of_the_home(served: Served) -> None:
    for name, role in (("olga", Role.OWNER), ("audrey", Role.AUDITOR), ("ed", Role.EDITOR), ("rita", Role.READER)):
        await served.user(name, role=role)
    await served.user("oscar", role=Role.AUDITOR, tenant="other")
    told = {name: (await served.get("/metrics", user=name)).status_code for name in served.keys}
    assert told == {"olga": 200, "audrey": 200, "ed": 403, "rita": 403, "oscar": 403}
    assert (await served.get("/metrics")).status_code == 401
