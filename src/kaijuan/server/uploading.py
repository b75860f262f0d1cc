"""Uploads: streamed to disk, counted, and given to a run."""

from __future__ import annotations

import asyncio
import shutil
import uuid
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

from fastapi import Request
from starlette.datastructures import FormData, UploadFile
from starlette.formparsers import MultiPartException

from kaijuan.core.identity import Who
from kaijuan.engine import Kaijuan
from kaijuan.server.problems import RequestError
from kaijuan.server.service import Service, by
from kaijuan.server.tickets import Ticket
from kaijuan.verbs.holding import Upload, upload_address
from kaijuan.verbs.wiring import ProgressCallback

_MOST_FIELDS = 100
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
    """Store files in a folder of their own, and begin the run that takes them in and clears the folder away."""
    folder = service.uploads / uuid.uuid4().hex
    try:
        files = await store(folder)
        await service.quotas.check_room(who, [one.file.stat().st_size for one in files])
    except BaseException:
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
        raise

    async def work(progress: ProgressCallback) -> Any:
        try:
            return await base.upload(files, progress=progress)
        finally:
            await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)

    return service.tickets.begin(base.tenant, base.kb_name, by=by(who), kind="upload", work=work)


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
