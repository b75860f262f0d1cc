"""Models, optimising, the doctor and backups over the API: what they do, and for whom."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.serving import Served, config_of, in_process

from kaijuan.core.identity import Role

NOTES = {
    f"note{number}.md": f"# Note {number}\n\nRule {number} is about walnuts {number * 7}.\n" for number in range(4)
}


@pytest.fixture
async def served(tmp_path: Path) -> AsyncIterator[Served]:
    async with in_process(tmp_path / "home", config_of()) as service:
        await service.of("default").make_base()
        await service.upload("default", NOTES)
        yield service


async def _done(served: Served, method: str, path: str, **more: Any) -> dict[str, Any]:
    answer = await served.call(method, path, **more)
    assert answer.status_code == 202, answer.text
    ticket = await served.ended("default", answer.json()["id"])
    assert ticket["state"] == "done", ticket
    return ticket


async def test_a_model_is_added_compared_tried_switched_to_rolled_back_and_retired(served: Served) -> None:
    added = await _done(served, "POST", "/kbs/default/models", json={"name": "words"})
    assert added["kind"] == "model"
    listed = (await served.get("/kbs/default/models")).json()["models"]
    assert {one["name"]: one["points"] for one in listed} == {"onboard": 4, "words": 4}
    asked = {"questions": [{"question": "walnuts 14", "relevant": ["note2.md"]}]}
    compared = (await served.call("POST", "/kbs/default/models/words/compare", json=asked)).json()
    assert (compared["serving"], compared["other"], compared["judged"]) == ("onboard", "words", 1)
    share = {"share": 1.0}
    assert (await served.call("POST", "/kbs/default/models/words/canary", json=share)).json()["share"] == 1.0
    assert (await served.call("POST", "/kbs/default/models/words/canary", json={"share": 2})).status_code == 422
    assert (await served.call("POST", "/kbs/default/models/words/switch")).json()["state"] == "serving"
    found = (await served.call("POST", "/kbs/default/search", json={"query": "walnuts 14"})).json()
    assert found["passages"]
    assert (await served.call("DELETE", "/kbs/default/models/words")).status_code == 400
    assert (await served.call("POST", "/kbs/default/models/rollback")).json()["name"] == "onboard"
    assert (await served.get("/kbs/default/models/words/trials")).json()["trials"] is not None
    assert (await served.call("DELETE", "/kbs/default/models/words")).json() == {"retired": "words"}
    assert (await served.call("POST", "/kbs/default/models/words/switch")).status_code == 404


async def test_the_index_is_optimised_and_the_doctor_looks_deep(served: Served) -> None:
    await _done(served, "POST", "/kbs/default/optimise")
    looked = await _done(served, "POST", "/kbs/default/doctor", json={"deep": True, "repair": True})
    report = looked["report"]
    assert isinstance(report, dict)
    assert all(check["ok"] for check in report["checks"])


async def test_a_backup_is_made_listed_and_checked_and_a_damaged_one_is_told(served: Served) -> None:
    await _done(served, "POST", "/backups/monday")
    (listed,) = (await served.get("/backups")).json()["backups"]
    assert listed["path"].endswith("/backups/monday")
    await _done(served, "POST", "/backups/monday/check")
    blob = next(path for path in (served.engine.home / "backups" / "monday" / "blobs").rglob("*") if path.is_file())
    blob.chmod(0o600)
    data = bytearray(blob.read_bytes())
    data[len(data) // 2] ^= 1
    blob.write_bytes(data)
    answer = await served.call("POST", "/backups/monday/check")
    ticket = await served.ended("default", answer.json()["id"])
    assert ticket["state"] == "failed"
    assert ticket["error"]["code"] == "store_corrupt"
    for name in ("..", ".hidden", "a%2Fb"):
        assert (await served.call("POST", f"/backups/{name}")).status_code in (404, 405, 422)


ROUTES = [
    ("GET", "/kbs/default/models", None),
    ("POST", "/kbs/default/models", {"name": "words"}),
    ("POST", "/kbs/default/models/words/compare", {"questions": [{"question": "walnuts"}]}),
    ("POST", "/kbs/default/models/words/canary", {"share": 0}),
    ("GET", "/kbs/default/models/words/trials", None),
    ("POST", "/kbs/default/models/words/switch", None),
    ("POST", "/kbs/default/models/rollback", None),
    ("DELETE", "/kbs/default/models/words", None),
    ("POST", "/kbs/default/optimise", None),
    ("POST", "/kbs/default/doctor", {}),
    ("GET", "/backups", None),
    ("POST", "/backups/mine", None),
    ("POST", "/backups/mine/check", None),
]


@pytest.mark.parametrize(("method", "path", "body"), ROUTES)
async def test_upkeep_is_for_owners_and_recorded(served: Served, method: str, path: str, body: object) -> None:
    await served.user("wang", role=Role.OWNER)
    await served.user("li", role=Role.EDITOR)
    base = await served.of("default").catalog.kb("default", "default")
    await served.engine.catalog.grant(base.id, base.id, "user:li", Role.EDITOR)
    more = {} if body is None else {"json": body}
    refused = await served.call(method, path, user="li", **more)
    assert refused.status_code == 403, refused.text
    allowed = await served.call(method, path, user="wang", **more)
    assert allowed.status_code not in (401, 403), allowed.text
    await served.service.gate.flush()
    events = [one for one in await served.engine.catalog.audit(None) if one.detail.endswith(path)]
    assert {(one.who, one.decision) for one in events} == {("li", "denied"), ("wang", "allowed")}
