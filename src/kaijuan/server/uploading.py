"""Uploads: streamed to disk, counted, and given to a run."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import uuid
from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from fastapi import Request
from starlette.datastructures import FormData, UploadFile
from starlette.formparsers import MultiPartException

from kaijuan.core.identity import Who
from kaijuan.engine import Kaijuan
from kaijuan.errors import BusyError, KaijuanError, NotFoundError
from kaijuan.index.catalog_queue import JobState
from kaijuan.jobs.report import RunReport
from kaijuan.server.problems import RequestError
from kaijuan.server.service import Service, by
from kaijuan.server.tickets import PostponedError, Ticket
from kaijuan.verbs.holding import Upload, upload_address
from kaijuan.verbs.wiring import ProgressCallback, viewed

_MOST_FIELDS = 100
_PAUSE = 1.0
UPLOAD_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "properties": {"files": {"type": "array", "items": {"type": "string", "format": "binary"}}},
                    "required": ["files"],
                }
            }
        },
    }
}


async def received(request: Request, service: Service, base: Kaijuan, who: Who) -> Ticket:
    """Store the files of a request and begin the run that takes them in."""
    if not request.headers.get("content-type", "").lower().startswith("multipart/form-data"):
        raise RequestError(415, "Files are sent as multipart/form-data.", hint="curl -F files=@report.pdf ...")
    await service.quotas.check_room(who)
    most = service.engine.config.serve.upload_files
    try:
        form = await request.form(max_files=most, max_fields=_MOST_FIELDS)
    except MultiPartException as error:
        raise RequestError(400, f"The upload cannot be read: {error.message}") from error
    try:
        return await _begun(service, base, who, lambda folder: asyncio.to_thread(_stored, form, folder))
    finally:
        await form.close()


async def assembled(service: Service, base: Kaijuan, who: Who, ids: Sequence[str]) -> Ticket:
    """Begin the run that takes in uploads that came in pieces."""
    uploads = [service.pieces.find(who, base.kb_name, id) for id in dict.fromkeys(ids)]

    async def moved(folder: Path) -> list[Upload]:
        await asyncio.to_thread(folder.mkdir, 0o700, True)
        files = []
        for number, one in enumerate(uploads):
            path = folder / str(number)
            await service.pieces.finished(one, path)
            files.append(Upload(path=one.name, file=path))
        return files

    for one in uploads:
        service.pieces.check_whole(one)
    return await _begun(service, base, who, moved)


async def _begun(service: Service, base: Kaijuan, who: Who, store: Callable[[Path], Awaitable[list[Upload]]]) -> Ticket:
    """Store files in a folder of their own and ask for the run that takes them in: a job, which outlives us."""
    folder = service.uploads / uuid.uuid4().hex
    try:
        files = await store(folder)
        await service.quotas.check_room(who, [one.file.stat().st_size for one in files])
        await asyncio.to_thread(_settle, folder)
        await base.enqueue_upload(folder.name, {one.file.name: one.path for one in files}, by=by(who))
    except BaseException:
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
        raise
    return _watched(service, base, folder.name, by(who))


def _settle(folder: Path) -> None:
    """Let files survive a power cut before anybody is told that they were taken."""
    for path in (*folder.iterdir(), folder, folder.parent):
        opened = os.open(path, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)


def _watched(service: Service, base: Kaijuan, job: str, sender: str) -> Ticket:
    """Begin the work that a job asks for, whoever does it; its ticket has the job's id."""

    async def work(progress: ProgressCallback) -> RunReport | None:
        done = await base.work_on(job, progress=progress)
        if done is None:
            if any(one.id == job for one in await base.jobs()):
                raise PostponedError(_PAUSE)  # another process is at it, or an earlier one of the same file goes first
            return None
        if done.cause is None:
            return done.report
        if done.again_at is not None:
            told = done.cause if isinstance(done.cause, KaijuanError) else KaijuanError(done.error)
            raise PostponedError(max(_PAUSE, done.again_at - service.clock()), told)
        if done.job.attempts < base.config.queue.attempts:
            await base.drop_job(job)  # trying again cannot help
        raise done.cause

    async def forget() -> None:
        with suppress(NotFoundError, BusyError):
            await base.drop_job(job)

    return service.tickets.begin(base.tenant, base.kb_name, by=sender, kind="upload", work=work, id=job, forget=forget)


async def go_on(service: Service) -> None:
    """Take up the uploads that an earlier service did not get to; what belongs to no job is cleared away."""
    known: set[str] = set()
    for kb in await service.engine.catalog.every_kb() if service.engine.home.exists() else ():
        for job in await service.engine.catalog.jobs(kb.id):
            request = json.loads(job.request)
            if request.get("verb") == "upload":
                known.add(job.id)
                if job.state is not JobState.DEAD:
                    base = viewed(service.engine, kb=kb.name, tenant=kb.tenant)
                    _watched(service, base, job.id, str(request["by"]))
    await asyncio.to_thread(_clear, service.uploads, known)


def _clear(place: Path, known: Collection[str]) -> None:
    for folder in place.iterdir() if place.is_dir() else ():
        if folder.name not in known:
            shutil.rmtree(folder, ignore_errors=True)


def _stored(form: FormData, folder: Path) -> list[Upload]:
    sent = [value for _, value in form.multi_items() if isinstance(value, UploadFile) and value.filename]
    if not sent:
        raise RequestError(422, "No file was sent.", hint="Send at least one part with a file name.")
    # Before a byte is stored: a wrong name refuses the whole request. What is on disk is named by number alone.
    for one in sent:
        upload_address(one.filename or "")
    folder.mkdir(mode=0o700, parents=True)
    files = []
    for number, one in enumerate(sent):
        path = folder / str(number)
        with path.open("wb") as file:
            shutil.copyfileobj(one.file, file, 1 << 20)
        files.append(Upload(path=one.filename or "", file=path))
    return files
