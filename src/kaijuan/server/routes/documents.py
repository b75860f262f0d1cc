"""Documents and their versions: lists, uploads, texts, blocks, originals, page pictures."""

from __future__ import annotations

import re
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import Response

from kaijuan.core.documents import Block, Version, boxes_of
from kaijuan.server.problems import RequestError
from kaijuan.server.service import Caller, Reading, Reply, The, Writing
from kaijuan.server.tickets import ticket_shape
from kaijuan.server.uploading import UPLOAD_BODY, received
from kaijuan.verbs.opening import MOST_LISTED
from kaijuan.verbs.shapes import (
    Json,
    boxes_shape,
    chains_shape,
    chunk_line,
    citation_shape,
    fields_of,
    plain,
    run_shape,
    version_shape,
)

router = APIRouter(tags=["documents"])
Id = Annotated[str, Path(pattern=r"^[0-9a-f]{32}$", description="Id of a version.")]
AsOf = Annotated[str | None, Query(max_length=40, description="A snapshot number, or a date or time.")]
_MOST_BLOCKS = 2000


@router.get("/kbs/{kb}/documents")
async def documents(
    base: Reading,
    after: Annotated[str, Query(max_length=4000, description="The `next` of the page before.")] = "",
    limit: Annotated[int, Query(ge=1, le=MOST_LISTED)] = 100,
    q: Annotated[str, Query(max_length=200, description="Only those whose title or address holds this.")] = "",
    kind: Annotated[str, Query(max_length=40)] = "",
    prefix: Annotated[str, Query(max_length=4000, description="Only those whose address begins so.")] = "",
    as_of: AsOf = None,
) -> Reply:
    """List documents by address, a page at a time. `next` is null on the last page."""
    found: list[Version] = []
    at = after
    while True:
        page = await base.documents(after=at, limit=MOST_LISTED if q or kind else limit, prefix=prefix, as_of=as_of)
        found += [one for one in page if _fits(one, q.casefold(), kind)]
        ended = len(page) < (MOST_LISTED if q or kind else limit)
        if ended or len(found) >= limit:
            break
        at = page[-1].source
    shown = found[:limit]
    more = len(found) > limit or not ended
    following = shown[-1].source if more and shown else None
    return Reply({"documents": [version_shape(one) for one in shown], "next": following})


def _fits(version: Version, words: str, kind: str) -> bool:
    named = f"{version.title}\n{version.source}".casefold()
    return (not kind or version.kind == kind) and (not words or words in named or quote(words) in named)


@router.post("/kbs/{kb}/documents", status_code=202, openapi_extra=UPLOAD_BODY)
async def upload(request: Request, base: Writing, who: Caller, service: The) -> Reply:
    """Take in files, sent as multipart/form-data; every part with a file name counts.

    The file name may hold folders (`reports/2024/q1.pdf`); it decides the document's address, so that the same name
    again is the next version. Answers at once with a run to watch.
    """
    ticket = await received(request, service, base, who)
    return Reply(ticket_shape(ticket), status_code=202, headers={"Location": _place(request, base.kb_name, ticket.id)})


def _place(request: Request, kb: str, id: str) -> str:
    return f"{request.scope.get('root_path', '')}/api/v1/kbs/{quote(kb, safe='')}/runs/{id}"


@router.get("/kbs/{kb}/editions")
async def editions(
    base: Reading,
    document: Annotated[str | None, Query(max_length=2000, description="Document id or file name: its chain.")] = None,
    at: Annotated[str | None, Query(max_length=10, description="A day like 2023-06-30; today by default.")] = None,
    as_of: AsOf = None,
) -> Reply:
    """List the documents that replace each other or say when they are in force, and how each stands on a day."""
    return Reply(chains_shape(await base.editions(document, at=at, as_of=as_of)))


@router.get("/kbs/{kb}/documents/{id}")
async def document(
    base: Reading,
    id: Annotated[str, Path(max_length=2000, description="Document id, version id or file name.")],
    include: Annotated[str, Query(description="text, blocks, chunks; several with commas.")] = "",
    as_of: AsOf = None,
) -> Reply:
    """Show one document with its versions; text, blocks and chunks on request."""
    view = await base.show(id, as_of=as_of)
    wanted = {part.strip() for part in include.split(",") if part.strip()}
    if unknown := wanted - {"text", "blocks", "chunks"}:
        raise RequestError(422, f"{sorted(unknown)[0]!r} cannot be included.", hint="Known: text, blocks, chunks.")
    body: Json = {
        "version": version_shape(view.version),
        "history": [version_shape(version) for version in view.history],
        "counts": {"characters": len(view.text), "blocks": len(view.blocks), "chunks": len(view.chunks)},
    }
    if "text" in wanted:
        body["text"] = view.text
    if "blocks" in wanted:
        body["blocks"] = [_block(block, view.text) for block in view.blocks]
    if "chunks" in wanted:
        body["chunks"] = [{**chunk_line(chunk), "text": chunk.span.of(view.text)} for chunk in view.chunks]
    return Reply(body)


@router.delete("/kbs/{kb}/documents/{id}")
async def remove(base: Writing, id: Annotated[str, Path(max_length=2000)], who: Caller, service: The) -> Reply:
    """Remove a document, with what was attached to it. Earlier snapshots still show it."""
    async with service.tickets.lock(who.tenant, base.kb_name):
        return Reply(run_shape(await base.remove([id])))


@router.get("/kbs/{kb}/documents/{id}/original")
async def original_of_document(request: Request, base: Reading, id: str, as_of: AsOf = None) -> Response:
    """Send the file as it was taken in. Ranges are understood."""
    view = await base.show(id, as_of=as_of)
    return _file(request, view.version, await base.original(view.version.id))


@router.get("/kbs/{kb}/versions/{id}")
async def version(base: Reading, id: Id) -> Reply:
    """Show one version, old or new."""
    return Reply(version_shape(await base.version(id)))


@router.get("/kbs/{kb}/versions/{id}/original")
async def original(request: Request, base: Reading, id: Id) -> Response:
    """Send the file of a version as it was taken in. Ranges are understood."""
    return _file(request, await base.version(id), await base.original(id))


@router.get("/kbs/{kb}/versions/{id}/text")
async def text(base: Reading, id: Id) -> Response:
    """Send the canonical text, in which all spans count in code points."""
    return Response(
        (await base.version_text(id)).encode("utf-8", "replace"),
        media_type="text/plain; charset=utf-8",
        headers={"Content-Disposition": "inline"},
    )


@router.get("/kbs/{kb}/versions/{id}/blocks")
async def blocks(
    base: Reading,
    id: Id,
    first: Annotated[int, Query(ge=0, description="Ordinal of the first block.")] = 0,
    limit: Annotated[int, Query(ge=1, le=_MOST_BLOCKS)] = 500,
    page: Annotated[int | None, Query(ge=1, description="Only those that touch this page.")] = None,
) -> Reply:
    """Return the blocks of a version in reading order, each with its words, boxes and cells. `next` is an ordinal."""
    whole = await base.version_text(id)
    found = await base.version_blocks(id)
    if page is not None:
        found = [block for block in found if page in block.pages or any(line.box.page == page for line in block.lines)]
    found = [block for block in found if block.ordinal >= first]
    following = found[limit].ordinal if len(found) > limit else None
    return Reply({"blocks": [_block(block, whole) for block in found[:limit]], "next": following})


@router.get("/kbs/{kb}/versions/{id}/chunks")
async def chunks(base: Reading, id: Id) -> Reply:
    """Return the chunks of a version, with their words."""
    whole = await base.version_text(id)
    found = await base.version_chunks(id)
    return Reply({"chunks": [{**chunk_line(chunk), "text": chunk.span.of(whole)} for chunk in found]})


@router.get("/kbs/{kb}/versions/{id}/pages")
async def pages(base: Reading, id: Id) -> Reply:
    """Return width and height of every page, in points; empty for formats without pages."""
    sizes = await base.page_sizes(id)
    return Reply(
        {"pages": [{"page": at, "width": wide, "height": high} for at, (wide, high) in enumerate(sizes, start=1)]}
    )


@router.get("/kbs/{kb}/versions/{id}/pages/{page}.png")
async def page_image(
    base: Reading, id: Id, page: Annotated[int, Path(ge=1)], width: Annotated[int, Query(ge=16, le=4000)] = 1000
) -> Response:
    """Send one page of a PDF or a picture as PNG."""
    picture = await base.page_image(id, page, width=width)
    return Response(picture, media_type="image/png", headers={"Cache-Control": "private, no-cache"})


@router.get("/kbs/{kb}/versions/{id}/place")
async def place(base: Reading, id: Id, start: Annotated[int, Query(ge=0)], end: Annotated[int, Query(ge=1)]) -> Reply:
    """Return the words at a span of a version, with title path, pages and boxes: what a deep link opens."""
    return Reply(citation_shape(await base.locate(id, start, end)))


def _block(block: Block, whole: str) -> Json:
    shape: Json = {
        "id": block.id,
        "ordinal": block.ordinal,
        "kind": block.kind.value,
        "level": block.level,
        "span": plain(block.span),
        "text": block.span.of(whole),
        "title_path": list(block.title_path),
        "pages": list(block.pages) or sorted({line.box.page for line in block.lines}),
        "boxes": boxes_shape(boxes_of([block], block.span)),
        "language": block.language,
        "confidence": block.confidence,
        "place": block.place,
        "syntax": block.syntax,
    }
    if block.table is not None:
        cells = [{**fields_of(cell), "text": cell.span.of(whole).replace("\\|", "|")} for cell in block.table.cells]
        shape["table"] = {"rows": block.table.rows, "columns": block.table.columns, "cells": cells}
    return shape


# --- files ---------------------------------------------------------------------------------------------------------

_SHOWN = {"pdf": "application/pdf"}
_SIGNATURES = ((b"\x89PNG\r\n\x1a\n", "image/png"), (b"\xff\xd8\xff", "image/jpeg"), (b"GIF8", "image/gif"))
_RANGE = re.compile(r"bytes=(\d{0,15})-(\d{0,15})")


def _media_type(version: Version, data: bytes) -> str:
    """Return a type that browsers show without running anything; everything else is a file to be saved."""
    if version.kind == "image":
        return next((kind for start, kind in _SIGNATURES if data.startswith(start)), "application/octet-stream")
    return _SHOWN.get(version.kind, "application/octet-stream")


def _file(request: Request, version: Version, data: bytes) -> Response:
    kind = _media_type(version, data)
    name = version.source.rpartition("/")[2].rpartition("#")[2] or "document"
    shown = "inline" if kind != "application/octet-stream" else "attachment"
    tag = f'"{version.content_hash}"'
    headers = {
        "Content-Disposition": f"{shown}; filename*=UTF-8''{quote(name, safe='%~-._')}",
        "Accept-Ranges": "bytes",
        "ETag": tag,
        "Cache-Control": "private, no-cache",
    }
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    wanted = _RANGE.fullmatch(request.headers.get("range", ""))
    if wanted is None or not any(wanted.groups()):
        return Response(data, status_code=200, media_type=kind, headers=headers)
    first, last = _bounds(wanted[1], wanted[2], len(data))
    if first > last or first >= len(data):
        return Response(status_code=416, headers={**headers, "Content-Range": f"bytes */{len(data)}"})
    headers["Content-Range"] = f"bytes {first}-{last}/{len(data)}"
    return Response(data[first : last + 1], status_code=206, media_type=kind, headers=headers)


def _bounds(first: str, last: str, size: int) -> tuple[int, int]:
    if not first:
        return max(size - int(last), 0), size - 1
    return int(first), min(int(last), size - 1) if last else size - 1
