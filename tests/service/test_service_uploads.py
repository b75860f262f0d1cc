"""Files on their way in: at once and in pieces, their names, their limits, and what becomes of hostile ones."""

from __future__ import annotations

import hashlib
import io
import time
import zipfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.requests import ClientDisconnect, Request
from tests.serving import Served, config_of, in_process

from kaijuan.core.identity import Role
from kaijuan.engine import Kaijuan
from kaijuan.errors import ModelError
from kaijuan.index.catalog_queue import JobState
from kaijuan.jobs.settings import QueueSettings

PIECE = "application/offset+octet-stream"
NOTE = b"# Cellar\n\nThe cellar holds forty barrels of cider.\n"


@pytest.fixture
async def served(tmp_path: Path) -> AsyncIterator[Served]:
    async with in_process(tmp_path / "home", config_of(serve={"upload_mb": 1, "upload_files": 5})) as service:
        await service.of("default").make_base()
        yield service


async def _sources(service: Served) -> list[str]:
    return [one["source"] for one in (await service.get("/kbs/default/documents")).json()["documents"]]


async def test_a_file_becomes_a_document_and_the_same_name_its_next_version(served: Served) -> None:
    first = await served.upload("default", {"cellar/note.md": NOTE})
    assert first["report"]["added"] == 1
    second = await served.upload("default", {"cellar/note.md": NOTE.replace(b"forty", b"fifty")})
    assert second["report"]["updated"] == 1
    shown = (await served.get("/kbs/default/documents/note.md?include=text")).json()
    assert "fifty" in shown["text"]
    assert len(shown["history"]) == 2
    assert list(served.service.uploads.glob("*")) == []


async def test_a_folder_of_files_is_one_snapshot(served: Served) -> None:
    ticket = await served.upload("default", {f"folder/{name}.md": f"# {name}\n\nWords.\n" for name in "abc"})
    assert (ticket["report"]["added"], ticket["report"]["snapshots"]) == (3, [1])


@pytest.mark.parametrize("name", ["../../etc/passwd", "a/../../b.md", "..", "/..", "a\x01b.md", "x" * 1001 + ".md"])
async def test_names_that_lead_elsewhere_are_refused(served: Served, name: str) -> None:
    answer = await served.call("POST", "/kbs/default/documents", files=[("files", (name, NOTE))])
    # A client may quote what a header cannot hold; then it is a harmless name.
    if answer.status_code == 202:
        await served.ended("default", answer.json()["id"])
        assert all("%" in source and ".." not in source for source in await _sources(served))
    else:
        assert answer.status_code in (400, 422)
    assert not (served.engine.home.parent / "etc").exists()


async def test_absolute_names_and_backslashes_stay_below_the_base(served: Served) -> None:
    await served.upload("default", {"/etc/hosts.md": NOTE, "C:\\Users\\me\\plan.md": NOTE + b"More.\n"})
    assert await _sources(served) == ["upload:/etc/hosts.md", "upload:/plan.md"]


def _archive(names: dict[str, bytes]) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in names.items():
            archive.writestr(name, content)
    return data.getvalue()


def _notes(folder: Path) -> set[Path]:
    return set(folder.rglob("*.md"))


async def test_archives_cannot_write_elsewhere_or_burst(served: Served, tmp_path: Path) -> None:
    before = _notes(tmp_path)
    ticket = await served.upload(
        "default",
        {
            "slip.zip": _archive(
                {"../../../evil.md": NOTE, "/abs.md": NOTE + b"Absolute.\n", "good.md": NOTE + b"Good.\n"}
            )
        },
    )
    assert ticket["state"] == "done"
    assert all(".." not in source for source in await _sources(served))
    assert _notes(tmp_path) == before
    bomb = await served.upload("default", {"bomb.zip": _archive({"zeros.txt": b"0" * 300_000_000})})
    assert bomb["report"]["failed"]
    assert (await served.get("/health")).status_code == 200


async def test_what_is_no_document_is_a_failed_line_and_no_failed_service(served: Served) -> None:
    ticket = await served.upload(
        "default", {"program.exe": b"MZ" + bytes(range(256)) * 40, "broken.pdf": b"%PDF-1.7\nnonsense", "note.md": NOTE}
    )
    assert ticket["state"] == "done"
    assert ticket["report"]["added"] == 1
    assert {one["source"] for one in ticket["report"]["failed"]} == {"upload:/program.exe", "upload:/broken.pdf"}


async def test_a_page_with_a_script_is_never_shown_as_a_page(served: Served) -> None:
    await served.upload("default", {"page.html": b"<h1>Hi</h1><p>Some words here.</p><script>alert(1)</script>"})
    answer = await served.get("/kbs/default/documents/page.html/original")
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["content-disposition"].startswith("attachment")
    assert "sandbox" in answer.headers["content-security-policy"]


async def test_ranges_of_an_original_are_understood(served: Served) -> None:
    await served.upload("default", {"note.md": NOTE})
    path = "/kbs/default/documents/note.md/original"
    part = await served.get(path, headers={"Range": "bytes=2-7"})
    assert (part.status_code, part.content) == (206, NOTE[2:8])
    assert (await served.get(path, headers={"Range": "bytes=-5"})).content == NOTE[-5:]
    assert (await served.get(path, headers={"Range": "bytes=999-"})).status_code == 416
    whole = await served.get(path)
    assert (await served.get(path, headers={"If-None-Match": whole.headers["etag"]})).status_code == 304


async def test_limits_of_files_and_bytes(served: Served) -> None:
    many = [("files", (f"{number}.md", NOTE)) for number in range(6)]
    assert (await served.call("POST", "/kbs/default/documents", files=many)).status_code == 400
    large = [("files", ("large.md", b"word " * 300_000))]
    assert (await served.call("POST", "/kbs/default/documents", files=large)).status_code == 413
    assert (await served.call("POST", "/kbs/default/documents", files=[("x", (None, b"no name"))])).status_code == 422


# --- in pieces --------------------------------------------------------------------------------------------------


async def _begin(service: Served, data: bytes = NOTE, **more: Any) -> dict[str, Any]:
    body = {"name": "cellar/note.md", "size": len(data), **{name: more[name] for name in more if name != "user"}}
    answer = await service.post("/kbs/default/uploads", body, user=more.get("user", ""))
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def _send(service: Served, id: str, at: int, data: Any, **options: Any) -> httpx.Response:
    headers = {"Content-Type": PIECE, "Upload-Offset": str(at)}
    return await service.call("PATCH", f"/kbs/default/uploads/{id}", content=data, headers=headers, **options)


async def _finish(service: Served, *ids: str, **options: Any) -> httpx.Response:
    return await service.post("/kbs/default/uploads/finish", {"uploads": list(ids)}, **options)


async def test_an_upload_in_pieces_goes_on_where_it_broke_off(served: Served) -> None:
    begun = await _begin(served, sha256=hashlib.sha256(NOTE).hexdigest())
    assert (await _send(served, begun["id"], 0, NOTE[:20])).json()["offset"] == 20

    async def breaking() -> AsyncIterator[bytes]:
        yield NOTE[20:30]
        raise ConnectionError

    await _send(served, begun["id"], 20, breaking())
    at = (await served.get(f"/kbs/default/uploads/{begun['id']}")).json()["offset"]
    assert at == 30
    assert (await _finish(served, begun["id"])).status_code == 409
    assert (await _send(served, begun["id"], at + 1, NOTE[at + 1 :])).status_code == 409
    assert (await _send(served, begun["id"], at, NOTE[at:])).json()["offset"] == len(NOTE)
    ticket = await _finish(served, begun["id"])
    assert ticket.status_code == 202
    assert (await served.ended("default", ticket.json()["id"]))["report"]["added"] == 1
    assert (await served.get("/kbs/default/documents/note.md/original")).content == NOTE
    assert (await served.get("/kbs/default/uploads")).json()["uploads"] == []


async def test_a_caller_who_goes_is_no_defect(
    served: Served, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = await _begin(served)

    async def gone(self: Request) -> AsyncIterator[bytes]:
        yield NOTE[:10]
        raise ClientDisconnect

    monkeypatch.setattr(Request, "stream", gone)
    assert (await _send(served, begun["id"], 0, NOTE)).status_code == 400
    monkeypatch.undo()
    assert (await served.get(f"/kbs/default/uploads/{begun['id']}")).json()["offset"] == 10
    assert not [one for one in caplog.records if one.levelname == "ERROR"]


async def test_an_upload_outlives_the_service(tmp_path: Path) -> None:
    home = tmp_path / "home"
    async with in_process(home) as service:
        await service.of("default").make_base()
        begun = await _begin(service)
        await _send(service, begun["id"], 0, NOTE[:20])
    async with in_process(home) as service:
        assert (await service.get(f"/kbs/default/uploads/{begun['id']}")).json()["offset"] == 20
        await _send(service, begun["id"], 20, NOTE[20:])
        ticket = await service.ended("default", (await _finish(service, begun["id"])).json()["id"])
        assert ticket["report"]["added"] == 1


async def test_more_or_other_bytes_than_announced_are_refused(served: Served) -> None:
    begun = await _begin(served)
    assert (await _send(served, begun["id"], 0, NOTE + b"more")).status_code == 413
    wrong = await _begin(served, sha256="0" * 64)
    await _send(served, wrong["id"], 0, NOTE)
    assert (await _finish(served, wrong["id"])).status_code == 422
    assert (await served.get(f"/kbs/default/uploads/{wrong['id']}")).status_code == 404
    headers = {"Upload-Offset": "0", "Content-Type": "text/plain"}
    path = f"/kbs/default/uploads/{begun['id']}"
    assert (await served.call("PATCH", path, content=b"x", headers=headers)).status_code == 415
    assert (await served.post("/kbs/default/uploads", {"name": "a.md", "size": 2**21})).status_code == 413
    assert (await served.post("/kbs/default/uploads", {"name": "../a.md", "size": 2})).status_code == 400


async def test_uploads_are_their_senders_alone_and_limited_in_number(served: Served) -> None:
    await served.user("olga", role=Role.OWNER)
    await served.user("ed")
    await served.of("default").grant("ed", role=Role.EDITOR)
    begun = await _begin(served, user="ed")
    for method in ("GET", "DELETE"):
        answer = await served.call(method, f"/kbs/default/uploads/{begun['id']}", user="olga")
        assert answer.status_code == 404
    assert (await _send(served, begun["id"], 0, NOTE, user="olga")).status_code == 404
    assert (await _finish(served, begun["id"], user="olga")).status_code == 404
    for _ in range(4):
        await _begin(served, user="ed")
    full = await served.post("/kbs/default/uploads", {"name": "a.md", "size": 1}, user="ed")
    assert full.status_code == 403
    assert full.json()["code"] == "quota_exceeded"
    await served.call("DELETE", f"/kbs/default/uploads/{begun['id']}", user="ed")
    await _begin(served, user="ed")


async def test_uploads_that_nothing_comes_to_are_forgotten(served: Served) -> None:
    begun = await _begin(served)
    served.service.pieces._clock = lambda: time.time() + 25 * 3600
    assert (await served.get("/kbs/default/uploads")).json()["uploads"] == []
    assert (await served.get(f"/kbs/default/uploads/{begun['id']}")).status_code == 404


# --- quotas -----------------------------------------------------------------------------------------------------


async def test_a_tenant_has_no_more_than_its_quotas(tmp_path: Path) -> None:
    config = config_of(identity={"tenant_documents": 2, "tenant_bases": 2, "tenant_mb": 1})
    async with in_process(tmp_path / "home", config) as service:
        await service.user("olga", role=Role.OWNER)
        await service.user("omar", role=Role.OWNER, tenant="other")
        assert (await service.post("/kbs", {"name": "one"}, user="olga")).status_code == 201
        assert (await service.post("/kbs", {"name": "two"}, user="olga")).status_code == 201
        assert (await service.post("/kbs", {"name": "two"}, user="olga")).status_code == 200
        refused = await service.post("/kbs", {"name": "three"}, user="olga")
        assert (refused.status_code, refused.json()["code"]) == (403, "quota_exceeded")
        assert (await service.post("/kbs", {"name": "three"}, user="omar")).status_code == 201

        large = [("files", ("large.md", b"# Large\n\n" + b"word " * 250_000))]
        assert (await service.call("POST", "/kbs/one/documents", files=large, user="olga")).status_code == 403
        assert list(service.service.uploads.glob("*")) == []
        await service.upload("one", {"a.md": NOTE, "b.md": NOTE + b"More.\n"}, user="olga")
        more = await service.call("POST", "/kbs/two/documents", files=[("f", ("c.md", NOTE))], user="olga")
        assert (more.status_code, more.json()["code"]) == (403, "quota_exceeded")
        assert (await service.post("/kbs/two/runs", {"kind": "samples"}, user="olga")).status_code == 403
        await service.call("DELETE", "/kbs/one/documents/a.md", user="olga")
        await service.upload("two", {"c.md": NOTE}, user="olga")


async def test_what_a_service_had_promised_the_next_one_takes_in(tmp_path: Path) -> None:
    home, config = tmp_path / "home", config_of()
    async with in_process(home, config) as service:
        base = service.of("default")
        await base.make_base()
        for number, (name, text) in enumerate({"one.md": NOTE, "two.md": NOTE + b"More.\n"}.items()):
            folder = base.coming / f"{number:032x}"
            folder.mkdir(parents=True)
            (folder / "0").write_bytes(text)
            # As when it is killed between its answer and the run.
            await base.enqueue_upload(folder.name, {"0": name}, by="wang")
        (base.coming / ("f" * 32)).mkdir(parents=True)
    async with in_process(home, config) as service:
        for number in range(2):
            ticket = await service.ended("default", f"{number:032x}")
            assert (ticket["state"], ticket["kind"], ticket["by"]) == ("done", "upload", "wang")
            assert ticket["report"]["added"] == 1
        assert await _sources(service) == ["upload:/one.md", "upload:/two.md"]
        assert await service.of("default").jobs() == []
        assert list(service.service.uploads.glob("*")) == []


async def test_an_upload_that_is_stopped_is_forgotten(tmp_path: Path) -> None:
    async with in_process(tmp_path / "home", config_of()) as service:
        base = service.of("default")
        await base.make_base()
        async with service.service.tickets.lock("default", "default"):
            answer = await service.call("POST", "/kbs/default/documents", files=[("files", ("note.md", NOTE))])
            assert [job.id for job in await base.jobs()] == [answer.json()["id"]]
            stopped = await service.call("POST", f"/kbs/default/runs/{answer.json()['id']}/cancel")
            assert stopped.json()["state"] == "cancelled"
        assert await base.jobs() == []
        assert list(service.service.uploads.glob("*")) == []
        assert await _sources(service) == []


async def test_work_is_stopped_by_who_began_it_and_by_owners_alone(tmp_path: Path) -> None:
    async with in_process(tmp_path / "home", config_of()) as service:
        base = service.of("default")
        await base.make_base()
        await service.user("olga", role=Role.OWNER)
        for name in ("ed", "fay"):
            await service.user(name)
            await base.grant(name, role=Role.EDITOR)
        async with service.service.tickets.lock("default", "default"):
            begun = [
                await service.call(
                    "POST", "/kbs/default/documents", files=[("files", ("secretplum.md", NOTE))], user=name
                )
                for name in ("olga", "ed")
            ]
            hers, his = (f"/kbs/default/runs/{answer.json()['id']}/cancel" for answer in begun)
            for user, path in (("ed", hers), ("fay", his), ("fay", hers)):
                refused = await service.call("POST", path, user=user)
                assert refused.status_code == 404
                assert "secretplum" not in refused.text
            for user, path in (("ed", his), ("olga", hers)):
                assert (await service.call("POST", path, user=user)).json()["state"] == "cancelled"


async def test_an_upload_waits_for_a_model_that_does_not_answer(tmp_path: Path) -> None:
    config = config_of().model_copy(update={"queue": QueueSettings(attempts=2, retry_seconds=0.01)})
    async with in_process(tmp_path / "home", config) as service:
        base = service.of("default")
        await base.make_base()
        failing = 1

        async def upload(self: Kaijuan, *given: Any, **named: Any) -> Any:
            nonlocal failing
            failing -= 1
            if failing >= 0:
                raise ModelError("The model does not answer.")
            return await real(self, *given, **named)

        real, Kaijuan.upload = Kaijuan.upload, upload  # type: ignore[method-assign, assignment]
        try:
            ticket = await service.upload("default", {"note.md": NOTE})
            assert (ticket["state"], ticket["report"]["added"], ticket["error"]) == ("done", 1, None)
            failing = 2
            ticket = await service.upload("default", {"other.md": NOTE + b"Other."})
            assert (ticket["state"], ticket["error"]["code"]) == ("failed", ModelError.code)
            (job,) = await base.jobs()
            assert (job.state, job.reason) == (JobState.DEAD, "The model does not answer.")
            await base.revive_job(job.id)
            (done,) = await base.work_off()
            assert done.report is not None
            assert done.report.added == 1
            assert list(service.service.uploads.glob("*")) == []
        finally:
            Kaijuan.upload = real  # type: ignore[method-assign]
