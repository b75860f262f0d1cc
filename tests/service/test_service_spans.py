"""Requests and their steps as spans: what ran within what, and nothing that is nobody's business."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode
from tests.serving import Served, config_of, in_process

from kaijuan import telemetry
from kaijuan.core.service_settings import TelemetrySettings
from kaijuan.errors import UsageError
from kaijuan.server import app as app_module
from kaijuan.server.spans import Spans, spans_of
from kaijuan.testing.chat import ScriptedChat

TEXTS = {"secretplum.md": "# Secretplum\n\nBarrel seven holds 49 litres of quincewine.\n"}


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> InMemorySpanExporter:
    """Keep spans in memory instead of sending them."""
    exporter, provider = InMemorySpanExporter(), TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(app_module, "spans_of", lambda _: Spans(provider))
    return exporter


@pytest.fixture
async def served(tmp_path: Path, kept: InMemorySpanExporter) -> AsyncIterator[Served]:
    async with in_process(tmp_path / "home") as service:
        await service.upload("default", TEXTS)
        kept.clear()
        yield service


def _tree(spans: list[ReadableSpan]) -> set[tuple[str, str]]:
    """Return (step, step it ran within), "" for none that is here."""
    names = {span.context.span_id: span.name for span in spans}
    return {(span.name, names.get(span.parent.span_id, "") if span.parent else "") for span in spans}


async def test_a_question_is_a_tree_of_steps(served: Served, kept: InMemorySpanExporter) -> None:
    await served.post("/kbs/default/ask", {"question": "How many litres does barrel seven hold?"})
    found = _tree(list(kept.get_finished_spans()))
    root = "POST /api/v1/kbs/{kb}/ask"
    assert {
        (root, ""),
        ("search", root),
        ("understand", "search"),
        ("gather", "search"),
        ("route dense", "gather"),
        ("route lexical", "gather"),
        ("order", "search"),
        ("expand", "search"),
        ("answer", root),
        ("read", "answer"),
        ("embed", "answer"),
        ("judge", "answer"),
    } <= found
    assert len({span.context.trace_id for span in kept.get_finished_spans()}) == 1


async def test_streams_and_many_at_once_keep_their_steps_apart(served: Served, kept: InMemorySpanExporter) -> None:
    headers = {"Accept": "text/event-stream"}
    asked = [served.post("/kbs/default/ask", {"question": f"litres {n}?"}, headers=headers) for n in range(6)]
    await asyncio.gather(*asked)
    spans = list(kept.get_finished_spans())
    roots = {span.context.trace_id for span in spans if span.name.startswith("POST")}
    assert len(roots) == 6
    for trace in roots:
        names = [span.name for span in spans if span.context.trace_id == trace]
        assert names.count("search") >= 1
        assert sum(name.startswith("POST") for name in names) == 1


async def test_calls_of_a_model_are_told_as_the_conventions_want(tmp_path: Path, kept: InMemorySpanExporter) -> None:
    chat = ScriptedChat(["Barrel seven holds 49 litres of quincewine. [1]"] * 9)
    async with in_process(tmp_path / "home", chat=chat) as service:
        await service.upload("default", TEXTS)
        await service.post("/kbs/default/ask", {"question": "How many litres does barrel seven hold?"})
    calls = [span for span in kept.get_finished_spans() if span.name.startswith("chat ")]
    assert calls
    for call in calls:
        assert call.kind is SpanKind.CLIENT
        assert call.attributes is not None
        assert call.attributes["gen_ai.operation.name"] == "chat"
        assert call.attributes["gen_ai.request.model"] == chat.info.name
        assert int(str(call.attributes["gen_ai.usage.input_tokens"])) > 0


async def test_spans_hold_no_key_question_or_word_of_a_document(served: Served, kept: InMemorySpanExporter) -> None:
    key = await served.user("ada")
    await served.of("default").grant("ada")
    await served.post("/kbs/default/ask", {"question": "quincewine litres"}, user="ada")
    await served.get("/kbs/default/documents/secretplum.md", user="ada")
    await served.get("/kbs/default/documents/secretpear.md", user="ada")
    await served.post("/kbs/default/search", {"query": "x", "filters": ["secretplum =="]}, user="ada")
    told = "\n".join(span.to_json() for span in kept.get_finished_spans()).lower()
    assert "ada" in told
    assert not [word for word in ("quincewine", "secretplum", "secretpear", key.lower()) if word in told]


async def test_questions_are_in_spans_where_a_setting_allows_it(tmp_path: Path, kept: InMemorySpanExporter) -> None:
    async with in_process(tmp_path / "home", config_of(telemetry={"questions": True})) as service:
        await service.upload("default", TEXTS)
        await service.post("/kbs/default/search", {"query": "年假几天？"})
    last = kept.get_finished_spans()[-1]
    assert last.attributes is not None
    assert last.attributes["kaijuan.question"] == "年假几天？"


async def test_a_request_is_part_of_what_its_caller_does(served: Served, kept: InMemorySpanExporter) -> None:
    await served.get("/health", headers={"traceparent": f"00-{'a' * 32}-{'b' * 16}-01"})
    [span] = kept.get_finished_spans()
    assert f"{span.context.trace_id:x}" == "a" * 32
    kept.clear()
    await served.get("/health", headers={"traceparent": "nonsense"})
    assert kept.get_finished_spans()[0].parent is None


async def test_what_fails_is_marked_and_its_message_left_out(
    served: Served, kept: InMemorySpanExporter, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: object, **__: object) -> None:
        raise RuntimeError("the secretplum")

    monkeypatch.setattr(type(served.engine), "status", broken)
    await served.get("/kbs/default/status")
    [span] = kept.get_finished_spans()
    assert span.status.status_code is StatusCode.ERROR
    assert "secretplum" not in span.to_json()


async def test_nothing_is_made_unless_wanted(tmp_path: Path) -> None:
    async with in_process(tmp_path / "home") as service:
        assert (await service.get("/health")).status_code == 200
        assert telemetry._spans is None
    assert spans_of(TelemetrySettings()) is None


# --- sent -------------------------------------------------------------------------------------------------------


@contextmanager
def _collector() -> Iterator[tuple[str, list[tuple[str, bytes]]]]:
    """Take what is sent to a port of this machine: the header `key`, and the body."""
    came: list[tuple[str, bytes]] = []

    class Taking(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            came.append((self.headers.get("key", ""), body))
            self.send_response(200)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Taking)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1/traces", came
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


async def test_spans_are_sent_where_the_setting_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with _collector() as (url, came):
        config = config_of(telemetry={"otlp_url": url, "otlp_headers": "key=k1, other=2"})
        async with in_process(tmp_path / "home", config) as service:
            await service.get("/health")
        assert telemetry._spans is None
    [(key, body), *_] = came
    assert key == "k1"
    sent = ExportTraceServiceRequest.FromString(body).resource_spans[0]
    assert "kaijuan" in {one.value.string_value for one in sent.resource.attributes if one.key == "service.name"}
    assert [span.name for scope in sent.scope_spans for span in scope.spans] == ["GET /api/v1/health"]


def test_headers_that_are_none_are_refused_and_not_shown() -> None:
    with pytest.raises(UsageError) as told:
        spans_of(TelemetrySettings.model_validate({"otlp_url": "http://127.0.0.1:1", "otlp_headers": "sk-secret"}))
    assert "sk-secret" not in str(told.value)
