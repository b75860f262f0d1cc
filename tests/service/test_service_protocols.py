"""OpenAI's protocol with the official client, MCP with the official SDK's, the audit log, and an orderly end."""

from __future__ import annotations

import itertools
import json
import os
import sqlite3
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest
from mcp import Client as McpClient
from mcp import StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from tests.serving import Served, config_of, in_process, on_a_port

from kaijuan.client import Client
from kaijuan.core.chat import ChatRequest
from kaijuan.core.identity import Role
from kaijuan.sync import Kaijuan
from kaijuan.testing.chat import ScriptedChat
from kaijuan.testing.embedders import HashEmbedder

NOTE = "# Cellar\n\nThe cellar holds forty barrels of cider.\n"
SECRET = "# Vault\n\nThe vault code is 4711 and nobody else knows.\n"
QUESTION = "How many barrels does the cellar hold?"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with identity on: olga owns it, rita reads the open document of one base."""
    return tmp_path_factory.mktemp("protocols") / "home"


@pytest.fixture(scope="module")
def keys(home: Path) -> dict[str, str]:
    with Kaijuan(home, config=config_of(), embedder=HashEmbedder()) as engine:
        engine.put_user("olga", role=Role.OWNER)
        engine.put_user("rita")
        return {name: engine.create_key(name)[1] for name in ("olga", "rita")}


@pytest.fixture(scope="module")
def address(home: Path, keys: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("papers")
    (folder / "cellar.md").write_text(NOTE)
    (folder / "vault.md").write_text(SECRET)
    with on_a_port(home) as (started, _app):
        with Client(started, kb="house", key=keys["olga"]) as base:
            base.make_base()
            base.add([folder / "cellar.md", folder / "vault.md"])
        at = httpx.Client(base_url=f"{started}/api/v1", headers={"Authorization": f"Bearer {keys['olga']}"})
        assert at.post("/kbs/house/access/grant", json={"principal": "rita"}).status_code == 200
        closed = {"principal": "olga", "on": "vault.md"}
        assert at.post("/kbs/house/access/grant", json=closed).status_code == 200
        at.close()
        yield started


# --- OpenAI's protocol --------------------------------------------------------------------------------------------


@pytest.fixture
def oai(address: str, keys: dict[str, str]) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{address}/v1", api_key=keys["rita"], max_retries=0) as client:
        yield client


def _ask(client: openai.OpenAI, *texts: str, **options: Any) -> Any:
    messages: Any = [{"role": "user", "content": text} for text in texts]
    return client.chat.completions.create(model="house", messages=messages, **options)


def test_a_base_is_a_model(oai: openai.OpenAI) -> None:
    assert [model.id for model in oai.models.list()] == ["house", "hash"]


def test_a_completion_has_its_sources_as_notes_and_as_data(oai: openai.OpenAI) -> None:
    answer = _ask(oai, QUESTION)
    content = answer.choices[0].message.content
    assert "forty barrels" in content
    assert "[1]" in content.partition("\n\n")[0]
    assert "[1] Cellar" in content.partition("\n\n")[2]
    assert answer.choices[0].finish_reason == "stop"
    assert answer.kaijuan["citations"][0]["quote"].startswith("The cellar")
    assert answer.kaijuan["status"] == "answered"


def test_a_stream_says_the_same_in_pieces(oai: openai.OpenAI) -> None:
    whole = _ask(oai, QUESTION).choices[0].message.content
    chunks = list(_ask(oai, QUESTION, stream=True, stream_options={"include_usage": True}))
    said = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    assert said == whole
    usage = _ask(oai, QUESTION).usage
    assert chunks[-1].usage == usage
    # No model was asked: what stands in the message, and what was said.
    assert usage.prompt_tokens == len(list(HashEmbedder().token_spans(QUESTION))) > 0
    assert usage.completion_tokens == len(list(HashEmbedder().token_spans(whole))) > 0
    assert usage.total_tokens == usage.prompt_tokens + usage.completion_tokens
    assert [chunk.choices[0].finish_reason for chunk in chunks if chunk.choices][-1] == "stop"


FORM: dict[str, Any] = {
    "type": "json_schema",
    "json_schema": {
        "name": "cellar",
        "schema": {"type": "object", "properties": {"barrels": {"type": "integer"}}, "required": ["barrels"]},
    },
}


def test_an_object_needs_a_model(oai: openai.OpenAI) -> None:
    with pytest.raises(openai.BadRequestError, match="none is configured"):
        _ask(oai, QUESTION, response_format=FORM)


async def test_an_object_is_the_whole_content(tmp_path: Path) -> None:
    def said(request: ChatRequest) -> str:
        return '{"barrels": 40}' if request.purpose == "shape" else "The cellar holds forty barrels of cider [1]."

    (tmp_path / "cellar.md").write_text(NOTE)
    async with in_process(tmp_path / "home", config_of(), ScriptedChat(said)) as served:
        await served.engine.add([tmp_path / "cellar.md"])
        body = {"model": "default", "messages": [{"role": "user", "content": QUESTION}], "response_format": FORM}
        reply = (await served.http.post("/v1/chat/completions", json=body)).json()
        assert json.loads(reply["choices"][0]["message"]["content"]) == {"barrels": 40}
        assert reply["kaijuan"]["structured"]["status"] == "fits"
        assert reply["usage"]["completion_tokens"] > 0
        body["response_format"] = {"type": "json_schema"}
        assert (await served.http.post("/v1/chat/completions", json=body)).status_code == 400
        asked = {"question": QUESTION, "response_schema": FORM["json_schema"]["schema"]}
        direct = (await served.http.post("/api/v1/kbs/default/ask", json=asked)).json()
        assert direct["structured"]["data"] == {"barrels": 40}
        asked["response_schema"] = {"type": "array"}
        assert (await served.http.post("/api/v1/kbs/default/ask", json=asked)).status_code == 400


def test_what_may_not_be_read_is_refused_in_this_protocol_too(oai: openai.OpenAI) -> None:
    assert "4711" not in str(_ask(oai, "What is the vault code?").model_dump())
    with pytest.raises(openai.NotFoundError):
        oai.chat.completions.create(model="nowhere", messages=[{"role": "user", "content": "x"}])


def test_errors_are_those_of_the_protocol(oai: openai.OpenAI, address: str) -> None:
    wrong = openai.OpenAI(base_url=f"{address}/v1", api_key="wrong", max_retries=0)
    with wrong, pytest.raises(openai.AuthenticationError) as refused:
        wrong.models.list()
    assert refused.value.code == "unauthenticated"
    with pytest.raises(openai.BadRequestError):
        oai.chat.completions.create(model="house", messages=[{"role": "assistant", "content": "x"}])


def test_texts_become_vectors(oai: openai.OpenAI) -> None:
    found = oai.embeddings.create(model="hash", input=["one barrel", "zwei"], encoding_format="float").data
    packed = oai.embeddings.create(model="hash", input=["one barrel", "zwei"]).data
    assert len(found) == 2
    assert found[0].embedding == pytest.approx(packed[0].embedding, abs=1e-6)
    with pytest.raises(openai.BadRequestError):
        oai.embeddings.create(model="hash", input="")


# --- MCP ----------------------------------------------------------------------------------------------------------


@asynccontextmanager
async def _assistant(address: str, key: str) -> AsyncIterator[McpClient]:
    async with AsyncExitStack() as opened:
        import httpx2

        http = await opened.enter_async_context(httpx2.AsyncClient(headers={"Authorization": f"Bearer {key}"}))
        transport = streamable_http_client(f"{address}/mcp", http_client=http)
        yield await opened.enter_async_context(McpClient(transport))


def _told(result: Any) -> dict[str, Any]:
    found: dict[str, Any] = result.structured_content or json.loads(result.content[0].text)
    return found


async def test_tools_over_http_are_what_the_caller_may_read(address: str, keys: dict[str, str]) -> None:
    async with _assistant(address, keys["rita"]) as assistant:
        tools = {tool.name for tool in (await assistant.list_tools()).tools}
        assert tools >= {"search", "ask", "read_document", "list_documents", "cite"}
        answer = _told(await assistant.call_tool("ask", {"question": QUESTION}))
        assert "forty barrels" in answer["answer"]
        cited = _told(await assistant.call_tool("cite", {"ref": answer["citations"][0]["ref"]}))
        assert cited["citation"]["quote"] == answer["citations"][0]["quote"]
        listed = _told(await assistant.call_tool("list_documents", {}))
        assert [one["title"] for one in listed["documents"]] == ["Cellar"]
        read = _told(await assistant.call_tool("read_document", {"document": "cellar.md", "start": 0, "length": 6}))
        assert read["text"] == "Cellar"
        assert read["next"] == 6
        found = _told(await assistant.call_tool("search", {"query": "vault code"}))
        assert "4711" not in json.dumps(found)
        closed = await assistant.call_tool("read_document", {"document": "vault.md"})
        assert closed.is_error
        assert "not_found" in str(closed.content[0])
    async with _assistant(address, keys["olga"]) as owner:
        assert "4711" in json.dumps(_told(await owner.call_tool("read_document", {"document": "vault.md"})))


async def test_nobody_unknown_gets_a_tool(address: str) -> None:
    async with httpx.AsyncClient() as http:
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
        headers = {"Accept": "application/json, text/event-stream"}
        assert (await http.post(f"{address}/mcp", json=body, headers=headers)).status_code == 401
        # A stream that only waits would hold a connection for nothing.
        assert (await http.get(f"{address}/mcp", headers=headers)).status_code == 405


@pytest.mark.slow
async def test_tools_over_standard_input_and_output(tmp_path: Path) -> None:
    (tmp_path / "cellar.md").write_text(NOTE)
    (tmp_path / "vault.md").write_text(SECRET)
    home = tmp_path / "home"
    with Kaijuan(home) as engine:
        engine.add([str(tmp_path / "cellar.md"), str(tmp_path / "vault.md")])
        engine.put_user("rita")
        engine.grant("rita", on="cellar.md")
    for user, wanted in (("", {"Cellar", "Vault"}), ("rita", {"Cellar"})):
        words = ["-m", "kaijuan", "--home", str(home), *(["--as", user] if user else []), "mcp"]
        server = StdioServerParameters(command=sys.executable, args=words, env=dict(os.environ))
        async with McpClient(stdio_client(server)) as assistant:
            listed = _told(await assistant.call_tool("list_documents", {}))
            assert {one["title"] for one in listed["documents"]} == wanted


# --- the audit log ------------------------------------------------------------------------------------------------


@pytest.fixture
async def served(tmp_path: Path) -> AsyncIterator[Served]:
    async with in_process(tmp_path / "home") as service:
        yield service


async def test_every_decision_is_recorded_in_a_chain_that_shows_what_was_changed(served: Served) -> None:
    await served.upload("default", {"cellar.md": NOTE})
    await served.user("olga", role=Role.OWNER)
    await served.user("rita")
    await served.of("default").grant("rita")
    mark = {"X-Request-Id": "look-1"}
    await served.post("/kbs/default/ask", {"question": "a private question"}, user="rita", headers=mark)
    await served.get("/kbs/default/access", user="rita")
    told = (await served.get("/audit?limit=500", user="olga")).json()["events"]
    by_rita = [one for one in told if one["who"] == "rita"]
    assert [(one["action"], one["decision"]) for one in by_rita] == [("read", "allowed"), ("manage", "denied")]
    assert (by_rita[0]["request"], by_rita[0]["snapshot"], by_rita[0]["resource"]) == ("look-1", 1, "default")
    assert "private" not in json.dumps(told)
    assert {"put_user", "create_key", "grant"} <= {one["action"] for one in told}
    assert (await served.get("/audit", user="rita")).status_code == 403

    exported = [json.loads(line) for line in (await served.get("/audit/export", user="olga")).text.splitlines()]
    assert [one["hash"] for one in exported][: len(told)] == [one["hash"] for one in told]
    assert all(later["previous"] == earlier["hash"] for earlier, later in itertools.pairwise(exported))
    assert (await served.get("/audit/check", user="olga")).json()["ok"] is True


@pytest.mark.parametrize(
    "change", ["update audit_event set who = 'eve' where sequence = 2", "delete from audit_event where sequence = 2"]
)
async def test_a_line_that_was_changed_or_dropped_is_found(served: Served, change: str) -> None:
    await served.user("olga", role=Role.OWNER)
    await served.user("rita")
    with sqlite3.connect(served.engine.home / "catalog.db") as database:
        for name in [row[0] for row in database.execute("select name from sqlite_master where type = 'trigger'")]:
            database.execute(f"drop trigger {name}")
        database.execute(change)
    database.close()
    told = (await served.get("/audit/check", user="olga")).json()
    assert told["ok"] is False
    assert told["broken_at"] is not None


# --- an orderly end -----------------------------------------------------------------------------------------------


def test_a_request_under_way_ends_before_the_service_does(tmp_path: Path) -> None:
    entered, go_on = threading.Event(), threading.Event()
    answers: list[int] = []
    with on_a_port(tmp_path / "home") as (address, app):

        @app.get("/api/v1/waiting", include_in_schema=False)
        def waiting() -> dict[str, bool]:
            entered.set()
            return {"ended": go_on.wait(30)}

        # The console's files may catch everything behind them.
        app.router.routes.insert(0, app.router.routes.pop())
        caller = threading.Thread(target=lambda: answers.append(httpx.get(f"{address}/api/v1/waiting").status_code))
        caller.start()
        assert entered.wait(30)
        threading.Timer(0.2, go_on.set).start()
    caller.join(30)
    assert answers == [200]
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{address}/api/v1/health")
