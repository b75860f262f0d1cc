"""Does a planted marker ever leave? Every endpoint, tool and parameter, called by people who may not read it.

The calls are generated from the OpenAPI document and the schema of the MCP tools, with the ids of what is closed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from tests.serving import Served, config_of, in_process

from bench.leak_calls import QUESTIONS, Call, Caller, Json
from bench.machine import machine
from kaijuan.core.identity import Role

MARKER = "Zqxvault"
"""The word that must never leave. No call holds it, so that nothing echoes it."""
CALLS = 10_000

_SECRET = f"""---
author: {MARKER}author
---
# {MARKER}title of the vault

## {MARKER}heading

The vault code is {MARKER}4711, and the guard is called {MARKER}guard.

| Place | Code |
|---|---|
| cellar | {MARKER}cell |
"""
_OPEN = "# Lunch\n\nLunch is served at noon in the canteen.\n\n## Prices\n\nA meal costs nine coins.\n"
_TWIN = "# Twin of {number}\n\nThe guard {marker}twin walks round the house at night, every hour, with a lamp.\n"


@dataclass(slots=True)
class World:
    """A service with two tenants, and the ids of all that is closed."""

    served: Served
    attackers: tuple[str, ...] = ()
    """Users by name; "" is nobody."""
    ids: dict[str, list[str]] = field(default_factory=dict)
    """By what they name."""

    def note(self, kind: str, *ids: object) -> None:
        self.ids.setdefault(kind, []).extend(str(id) for id in ids if id is not None)


async def make_world(served: Served) -> World:
    """Fill a service: what is closed lies in a base of its own, and in one that others share."""
    world = World(served)
    for name, role, tenant, groups in (
        ("olga", Role.OWNER, "default", ["board"]),
        ("bea", Role.READER, "default", ["board", "staff"]),
        ("ed", Role.READER, "default", ["staff"]),
        ("sam", Role.READER, "default", ["staff", "guests"]),
        ("eve", Role.READER, "default", ["guests"]),
        ("mallory", Role.OWNER, "other", ["board", "staff"]),
        ("mike", Role.EDITOR, "other", ["board"]),
        ("bea2", Role.READER, "other", ["board"]),
    ):
        await served.user(name, role=role, tenant=tenant, groups=groups)
    for kb in ("vault", "shared"):
        await served.post("/kbs", {"name": kb}, user="olga")
        closed = {f"closed/twin{number}.md": _TWIN.format(number=number, marker=MARKER) for number in (1, 2)}
        files = {"closed/secret.md": _SECRET, f"closed/{MARKER}name.md": f"# Named\n\nOnly {MARKER}body.\n"}
        await served.upload(kb, {**files, **closed, "lunch.md": _OPEN}, user="olga")
        # A second version, so that there is something old to be asked for.
        await served.upload(kb, {"closed/secret.md": f"{_SECRET}\nChanged to {MARKER}new.\n"}, user="olga")
    shared = served.of("default", "shared")
    await shared.grant("group:board", on="upload:/closed/")
    await shared.grant("group:staff")
    await shared.grant("ed", role=Role.EDITOR)
    await served.post("/kbs", {"name": "vault"}, user="mallory")
    await served.upload("vault", {"lunch.md": _OPEN}, user="mallory")
    for kb in ("vault", "shared"):
        await _leave_traces(world, kb)
        await _harvest(world, kb)
    world.attackers = ("sam", "ed", "eve", "mallory", "mike", "bea2", "")
    return world


async def _leave_traces(world: World, kb: str) -> None:
    """Let the owner ask, talk, work and hold back, so that what is closed lies in everything derived."""
    served, at = world.served, f"/kbs/{kb}"
    for question in (f"What is the vault code {MARKER}4711?", *QUESTIONS[:3]):
        answer = (await served.post(f"{at}/ask", {"question": question}, user="olga")).json()
        world.note("trace", answer["trace_id"])
        world.note("ref", *(one["ref"] for one in answer["citations"]))
        world.note("chunk", *(one["chunk_id"] for one in answer["citations"]))
        said = {"question": question, "verdict": "good", "trace_id": answer["trace_id"], "answer": answer["answer"]}
        await served.post(f"{at}/feedback", said, user="olga")
    await served.post(f"{at}/conversations/talk", {"text": QUESTIONS[0]}, user="olga")
    world.note("conversation", "talk")
    begun = await served.post(f"{at}/uploads", {"name": f"{MARKER}piece.md", "size": 9}, user="olga")
    world.note("upload", begun.json()["id"])
    await served.post(f"{at}/tags", {"name": "first", "snapshot": 1}, user="olga")
    world.note("tag", "first")


async def _harvest(world: World, kb: str) -> None:
    served, at = world.served, f"/kbs/{kb}"

    async def told(path: str) -> Json:
        answer = await served.get(path if path.startswith("/keys") else at + path, user="olga")
        assert answer.status_code == 200, (path, answer.text)
        found: Json = answer.json()
        return found

    for one in (await told("/documents"))["documents"]:
        if "/closed/" not in one["source"]:
            continue
        history = (await told(f"/documents/{one['document_id']}"))["history"]
        world.note("document", one["document_id"])
        world.note("version", *(each["version_id"] for each in history))
        for each in history:
            world.note("chunk", *(x["id"] for x in (await told(f"/versions/{each['version_id']}/chunks"))["chunks"]))
            world.note("block", *(x["id"] for x in (await told(f"/versions/{each['version_id']}/blocks"))["blocks"]))
    closed = next(id for id in world.ids["chunk"])
    await served.post(f"{at}/chunks/{closed}/alias", {"questions": [f"Where is the {MARKER}?"]}, user="olga")
    runs = await told("/runs")
    world.note("run", *(one["id"] for one in runs["runs"]), *(one["id"] for one in runs["tickets"]))
    world.note("review", *(one["id"] for one in (await told("/reviews?state=all"))["reviews"]))
    world.note("duplicate", *(one["id"] for one in (await told("/duplicates"))["duplicates"]))
    world.note("work", *(one["work"]["id"] for one in (await told("/chunk-work?ended=true"))["work"]))
    world.note("key", *(one["id"] for one in (await told("/keys"))["keys"]))


async def send(served: Served, call: Call) -> httpx.Response:
    """Send one call."""
    options: dict[str, Any] = {"params": {name: one for name, one in call.query.items() if one is not None}}
    headers = {"Accept": "application/json, text/event-stream"} if call.path == "/mcp" else {}
    if call.content_type == "application/json":
        options["json"] = call.body
    elif call.content_type.startswith("multipart"):
        options["files"] = [("files", ("closed/secret.md", b"# Mine\n\nNothing of theirs.\n"))]
    elif call.content_type:
        options["content"] = b"piece"
        headers |= {"Content-Type": call.content_type, "Upload-Offset": "0"}
    path = call.path.removeprefix("/api/v1") if call.path.startswith("/api/v1") else call.path
    return await served.call(call.method, path, user=call.user, headers=headers, **options)


@dataclass(slots=True)
class Outcome:
    """What came of the calls."""

    calls: int = 0
    leaks: list[str] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)
    by_operation: dict[str, Counter[int]] = field(default_factory=dict)

    @property
    def defects(self) -> int:
        return sum(count for status, count in self.statuses.items() if status >= 500)


async def attack(world: World, count: int, seed: int) -> Outcome:
    """Send so many generated calls and look for the marker in all that comes back."""
    served, outcome = world.served, Outcome()
    document = (await served.http.get("/openapi.json")).json()
    caller = Caller(world.attackers, world.ids, document, await tools_of(served), seed)
    for call in caller.calls(count):
        answer = await send(served, call)
        outcome.calls += 1
        outcome.statuses[answer.status_code] += 1
        outcome.by_operation.setdefault(call.what, Counter())[answer.status_code] += 1
        told = answer.text + json.dumps(dict(answer.headers))
        if MARKER.casefold() in told.casefold():
            outcome.leaks.append(f"{call.user}: {call.method} {call.path} {call.query} {call.body}: {told[:300]}")
    return outcome


async def tools_of(served: Served) -> list[Json]:
    """Return the tools with their schemas, as an assistant gets them."""
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    headers = {"Accept": "application/json, text/event-stream"}
    answer = await served.call("POST", "/mcp", user="olga", json=body, headers=headers)
    found: list[Json] = answer.json()["result"]["tools"]
    return found


async def intact(world: World) -> list[str]:
    """Return what of the closed documents was changed by people who may not."""
    faults = []
    for kb in ("vault", "shared"):
        for name in ("secret.md", "twin1.md", "twin2.md"):
            shown = await world.served.get(f"/kbs/{kb}/documents/{name}?include=text", user="olga")
            if MARKER not in shown.json().get("text", ""):
                faults.append(f"{kb}: {name} is gone: {shown.status_code}")
    return faults


async def measured(count: int, seed: int) -> tuple[Outcome, list[str]]:
    """Make a world, attack it, and return what came of it."""
    limits = {"requests_per_minute": 1_000_000, "tenant_requests_per_minute": 10_000_000}
    with tempfile.TemporaryDirectory() as folder:
        async with in_process(Path(folder) / "home", config_of(identity=limits)) as served:
            world = await make_world(served)
            outcome = await attack(world, count, seed)
            return outcome, await intact(world)


def main() -> None:
    """Print what came of the calls."""
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--calls", type=int, default=CALLS)
    words.add_argument("--seed", type=int, default=1)
    given = words.parse_args()
    outcome, faults = asyncio.run(measured(given.calls, given.seed))
    result = {
        "machine": machine(),
        "calls": outcome.calls,
        "operations": len(outcome.by_operation),
        "leaks": len(outcome.leaks),
        "changed": len(faults),
        "statuses": {str(status): count for status, count in sorted(outcome.statuses.items())},
    }
    for one in [*outcome.leaks[:20], *faults]:
        print(one, file=sys.stderr)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
