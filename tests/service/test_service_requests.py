"""The ground rules of the interface: problems, ids, pages, keys against doing a thing twice, names and origins."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.serving import Served, config_of, in_process

from kaijuan.core.identity import Role

TEXTS = {
    f"note-{number:02}.md": f"# Note {number}\n\nBarrel {number} holds {number * 7} litres.\n" for number in range(7)
}


@pytest.fixture
async def served(tmp_path: Path) -> AsyncIterator[Served]:
    async with in_process(tmp_path / "home", config_of(serve={"body_kb": 8, "upload_mb": 1})) as service:
        yield service


@pytest.fixture
async def filled(served: Served) -> Served:
    await served.upload("default", TEXTS)
    return served


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "code"),
    [
        ("GET", "/kbs/nowhere/documents", None, 404, "not_found"),
        ("GET", "/kbs/default/documents/none.md", None, 404, "not_found"),
        ("GET", "/nothing", None, 404, "not_found"),
        ("PUT", "/kbs", {}, 405, "method_not_allowed"),
        ("POST", "/kbs/default/search", {"query": ""}, 422, "usage"),
        ("POST", "/kbs/default/search", {"query": "x", "unknown": 1}, 422, "usage"),
        ("POST", "/kbs/default/search", {"query": "x", "filters": ["kind =="]}, 400, "filter_invalid"),
        ("POST", "/kbs/default/search", {"query": "x", "as_of": 99}, 404, "not_found"),
        ("POST", "/kbs/default/documents", {"files": []}, 415, "document_unsupported"),
        ("GET", "/kbs/default/versions/../../etc/passwd", None, 404, "not_found"),
        ("GET", "/kbs/default/documents?limit=0", None, 422, "usage"),
    ],
)
async def test_failures_are_problem_documents(
    filled: Served, method: str, path: str, body: Any, status: int, code: str
) -> None:
    answer = await filled.call(method, path, json=body, headers={"X-Request-Id": "mine-1"})
    told = answer.json()
    assert (answer.status_code, told["code"]) == (status, code)
    assert answer.headers["content-type"] == "application/problem+json"
    assert told["status"] == status
    assert told["request_id"] == answer.headers["x-request-id"] == "mine-1"
    assert told["detail"]


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b"\xff\xfe", b'{"query": "\\ud800"}', b"[" * 5000])
async def test_bodies_that_are_none_are_refused_and_the_service_goes_on(filled: Served, body: bytes) -> None:
    answer = await filled.call(
        "POST", "/kbs/default/search", content=body, headers={"Content-Type": "application/json"}
    )
    assert answer.status_code in (200, 400, 422), answer.text
    assert (await filled.get("/health")).status_code == 200


async def test_a_defect_says_nothing_about_the_inside(filled: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(*_: object, **__: object) -> None:
        raise RuntimeError("the secret path /home/x")

    monkeypatch.setattr(type(filled.engine), "status", broken)
    answer = await filled.get("/kbs/default/status")
    assert answer.status_code == 500
    assert answer.json()["code"] == "internal"
    assert "secret" not in answer.text
    assert answer.headers["x-content-type-options"] == "nosniff"


async def test_ids_that_are_none_are_not_sent_back(served: Served) -> None:
    for given in ("a b", "x" * 65, "<script>", "a\tb"):
        assert (await served.get("/health", headers={"X-Request-Id": given})).headers["x-request-id"] != given


async def test_lists_come_in_pages_that_hold_each_document_once(filled: Served) -> None:
    seen: list[str] = []
    after: str | None = ""
    while after is not None:
        page = (await filled.get("/kbs/default/documents", params={"limit": 3, "after": after})).json()
        assert len(page["documents"]) <= 3
        seen += [one["source"] for one in page["documents"]]
        after = page["next"]
    assert seen == [f"upload:/{name}" for name in sorted(TEXTS)]


async def test_what_is_listed_can_be_narrowed(filled: Served) -> None:
    found = (await filled.get("/kbs/default/documents", params={"q": "NOTE 3"})).json()
    assert [one["title"] for one in found["documents"]] == ["Note 3"]
    assert (await filled.get("/kbs/default/documents", params={"kind": "pdf"})).json()["documents"] == []


# --- done once --------------------------------------------------------------------------------------------------


async def test_a_post_with_a_key_is_done_once(filled: Served) -> None:
    body, headers = {"term": "年假", "synonyms": ["年休假"]}, {"Idempotency-Key": "k1"}
    first = await filled.post("/kbs/default/feedback", {"question": "q", "verdict": "good"}, headers=headers)
    again = await filled.post("/kbs/default/feedback", {"question": "q", "verdict": "good"}, headers=headers)
    assert (first.status_code, again.status_code) == (201, 201)
    assert first.json() == again.json()
    assert len((await filled.get("/kbs/default/feedback")).json()["feedback"]) == 1
    # Keys are of one path: the same one elsewhere is another.
    assert (await filled.post("/kbs/default/glossary", body, headers=headers)).status_code == 201


async def test_the_same_key_with_another_request_is_refused(filled: Served) -> None:
    headers = {"Idempotency-Key": "k1"}
    await filled.post("/kbs/default/feedback", {"question": "q", "verdict": "good"}, headers=headers)
    other = await filled.post("/kbs/default/feedback", {"question": "q", "verdict": "bad"}, headers=headers)
    assert other.status_code == 422
    assert (await filled.post("/kbs", {"name": "x"}, headers={"Idempotency-Key": "k" * 201})).status_code == 400


async def test_two_at_once_with_one_key_are_one(filled: Served) -> None:
    body, headers = {"question": "q", "verdict": "good"}, {"Idempotency-Key": "both"}
    answers = await asyncio.gather(*(filled.post("/kbs/default/feedback", body, headers=headers) for _ in range(5)))
    assert len({answer.json()["id"] for answer in answers}) == 1


async def test_an_upload_sent_again_with_its_key_makes_no_second_run(filled: Served) -> None:
    first = await filled.upload("default", {"again.md": "# Again\n\nOnce.\n"}, headers={"Idempotency-Key": "up"})
    second = await filled.upload("default", {"again.md": "# Again\n\nOnce.\n"}, headers={"Idempotency-Key": "up"})
    assert first["id"] == second["id"]


async def test_kept_responses_are_for_their_caller_and_rights_alone(filled: Served) -> None:
    await filled.user("olga", role=Role.OWNER)
    await filled.user("ed")
    await filled.user("fay")
    base = filled.of("default")
    for name in ("ed", "fay"):
        await base.grant(name, role=Role.EDITOR)
    headers, body = {"Idempotency-Key": "shared"}, {"term": "barrel", "synonyms": ["cask"]}
    assert (await filled.post("/kbs/default/glossary", body, headers=headers, user="ed")).status_code == 201
    other = await filled.post("/kbs/default/glossary", {**body, "note": "hers"}, headers=headers, user="fay")
    assert other.status_code == 201
    await base.revoke("ed")
    assert (await filled.post("/kbs/default/glossary", body, headers=headers, user="ed")).status_code >= 400


async def test_answers_are_never_kept_for_a_key(filled: Served) -> None:
    headers = {"Idempotency-Key": "ask"}
    body = {"query": "barrel 3", "cut": False}
    first = (await filled.post("/kbs/default/search", body, headers=headers)).json()
    await filled.call("DELETE", "/kbs/default/documents/note-03.md")
    again = (await filled.post("/kbs/default/search", body, headers=headers)).json()
    assert first["snapshot"] != again["snapshot"]


# --- the edge ---------------------------------------------------------------------------------------------------


async def test_the_service_answers_to_its_own_names_alone(served: Served) -> None:
    """A page elsewhere that lets its name point at this machine must not read anything."""
    assert (await served.get("/health", headers={"Host": "evil.example"})).status_code == 403
    for host in ("127.0.0.1:8470", "localhost", "[::1]:8470"):
        assert (await served.get("/health", headers={"Host": host})).status_code == 200


async def test_pages_of_other_sites_cannot_make_a_browser_change_anything(served: Served) -> None:
    for origin in ("https://evil.example", "null", "http://127.0.0.1:9999", "http://127.0.0.1.evil.example"):
        answer = await served.post("/kbs", {"name": "theirs"}, headers={"Origin": origin})
        assert answer.status_code == 403, origin
    # Forms need no leave of a browser to be sent elsewhere: they are no JSON, and come with an origin.
    form = await served.call("POST", "/kbs", data={"name": "theirs"}, headers={"Origin": "https://evil.example"})
    assert form.status_code == 403
    assert (await served.get("/kbs")).json()["kbs"] == []
    assert (await served.post("/kbs", {"name": "ours"}, headers={"Origin": "http://127.0.0.1"})).status_code == 201
    assert (
        "access-control-allow-origin" not in (await served.get("/kbs", headers={"Origin": "https://e.example"})).headers
    )


async def test_every_response_has_the_headers_that_browsers_heed(filled: Served) -> None:
    paths = [
        "/api/v1/health",
        "/api/v1/kbs/none/documents",
        "/v1/models",
        "/mcp",
        "/openapi.json",
        "/console/",
        "/none",
    ]
    for path in paths:
        headers = (await filled.http.get(path)).headers
        policy = headers["content-security-policy"]
        assert "unsafe-inline" not in policy, path
        assert "unsafe-eval" not in policy.replace("wasm-unsafe-eval", ""), path
        assert "default-src 'none'" in policy, path
        assert headers["x-content-type-options"] == "nosniff", path
        assert headers["referrer-policy"] == "no-referrer", path
        assert headers["x-frame-options"] == "DENY", path
        assert "set-cookie" not in headers, path


async def test_giant_bodies_are_refused_by_their_length_and_as_they_come(served: Served) -> None:
    sent = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal sent
        while True:
            sent += 4096
            yield b" " * 4096

    await served.of("default").make_base()
    assert (await served.post("/kbs/default/search", {"query": "x" * 20_000})).status_code == 413
    lied = await served.call(
        "POST", "/kbs/default/search", content=endless(), headers={"Content-Type": "application/json"}
    )
    assert lied.status_code == 413
    assert sent < 100_000


def test_the_service_leaves_the_log_of_the_process_alone(tmp_path: Path) -> None:
    told = subprocess.run(
        [
            sys.executable,
            "-c",
            "import logging, sys; from kaijuan import Kaijuan; from kaijuan.server.app import make_app; "
            f"make_app(Kaijuan({str(tmp_path)!r})); print(logging.getLogger().handlers, logging.getLogger().level)",
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout.split() == ["[]", "30"]


async def test_one_document_says_everything_there_is(served: Served) -> None:
    told = json.loads((await served.http.get("/openapi.json")).text)
    assert len(told["paths"]) > 50
    for path, methods in told["paths"].items():
        for method, operation in methods.items():
            assert operation.get("summary"), (method, path)
            assert operation.get("description"), (method, path)


async def test_figures_are_for_whoever_runs_the_home(filled: Served) -> None:
    await filled.get("/health")
    told = (await filled.get("/metrics")).text
    assert 'kaijuan_http_requests_total{route="/api/v1/health",method="GET",status="200"}' in told
    assert 'kaijuan_tickets{state="done"} 1' in told
    await filled.user("omar", role=Role.OWNER, tenant="other")
    assert (await filled.get("/metrics", user="omar")).status_code == 403
    assert (await filled.get("/settings", user="omar")).status_code == 403


async def test_settings_show_no_secret(tmp_path: Path) -> None:
    config = config_of(embedder={"key": "sk-very-secret"})
    async with in_process(tmp_path / "home", config) as service:
        told = await service.get("/settings")
        assert told.status_code == 200
        assert "very-secret" not in told.text


@pytest.mark.parametrize("address", ["http://127.0.0.1:1/", "http://169.254.169.254/latest/", "http://[::1]:1/x"])
async def test_addresses_of_the_inner_network_are_not_fetched(filled: Served, address: str) -> None:
    begun = await filled.post("/kbs/default/runs", {"kind": "add", "targets": [address]})
    ticket = await filled.ended("default", begun.json()["id"])
    failed = (ticket["report"] or {}).get("failed") or [{"message": ticket.get("error", {})}]
    assert "not a public address" in json.dumps(failed)


@pytest.mark.parametrize(
    "target", ["/etc/passwd", "file:///etc/passwd", "git+https://host/x", "faq:/etc/passwd", "wiki:"]
)
async def test_paths_and_sources_are_for_the_local_user_alone(filled: Served, target: str) -> None:
    await filled.user("olga", role=Role.OWNER)
    answer = await filled.post("/kbs/default/runs", {"kind": "add", "targets": [target]}, user="olga")
    assert answer.status_code == 403
