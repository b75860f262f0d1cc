"""Uploads in pieces, for large files and lines that break."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Header, Path, Request
from pydantic import BaseModel, ConfigDict, Field

from kaijuan.server.edge import PIECE
from kaijuan.server.problems import RequestError
from kaijuan.server.service import Caller, Reply, The, Writing
from kaijuan.server.tickets import ticket_shape
from kaijuan.server.uploading import assembled

router = APIRouter(tags=["documents"])
Id = Annotated[str, Path(pattern=r"^[0-9a-f]{32}$", description="Id of an upload.")]
_PIECE_BODY: dict[str, Any] = {
    "requestBody": {"required": True, "content": {PIECE: {"schema": {"type": "string", "format": "binary"}}}}
}


class NewUpload(BaseModel):
    """A file to come in pieces."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(min_length=1, max_length=1000, description="File name; it may hold folders.")
    size: int = Field(ge=0, le=2**40, description="Bytes of the whole.")
    sha256: str = Field(default="", pattern=r"^([0-9a-fA-F]{64})?$", description="Of the whole, to be checked.")


class Finish(BaseModel):
    """Whole uploads to be taken in as one snapshot."""

    model_config = ConfigDict(extra="forbid")

    uploads: list[Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]] = Field(min_length=1, max_length=1000)


@router.post("/kbs/{kb}/uploads", status_code=201)
async def begin(body: NewUpload, base: Writing, who: Caller, service: The) -> Reply:
    """Begin an upload in pieces."""
    await service.quotas.check_room(who, [body.size])
    made = service.pieces.begin(who, base.kb_name, name=body.name, size=body.size, sha256=body.sha256)
    return Reply(made, status_code=201)


@router.get("/kbs/{kb}/uploads")
async def uploads(base: Writing, who: Caller, service: The) -> Reply:
    """List one's own uploads under way."""
    return Reply({"uploads": service.pieces.of(who, base.kb_name)})


@router.get("/kbs/{kb}/uploads/{id}")
async def upload(base: Writing, id: Id, who: Caller, service: The) -> Reply:
    """Say how far an upload is: the next piece begins at `offset`."""
    return Reply(service.pieces.shape(who, base.kb_name, id))


@router.patch("/kbs/{kb}/uploads/{id}", openapi_extra=_PIECE_BODY)
async def send(
    request: Request,
    base: Writing,
    id: Id,
    who: Caller,
    service: The,
    upload_offset: Annotated[int, Header(ge=0, le=2**40, description="Where the piece begins.")],
) -> Reply:
    """Send the next piece, its bytes as they are. What came of a piece that broke off stays; GET says how much."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != PIECE:
        raise RequestError(415, f"Pieces are sent as {PIECE}.", hint="They are the bytes as they are.")
    found = service.pieces.find(who, base.kb_name, id)
    return Reply(await service.pieces.take(found, upload_offset, request.stream()))


@router.delete("/kbs/{kb}/uploads/{id}")
async def drop(base: Writing, id: Id, who: Caller, service: The) -> Reply:
    """Give an upload up."""
    service.pieces.drop(service.pieces.find(who, base.kb_name, id))
    return Reply({"dropped": id})


@router.post("/kbs/{kb}/uploads/finish", status_code=202)
async def finish(body: Finish, base: Writing, who: Caller, service: The) -> Reply:
    """Take in uploads that are whole, as one snapshot. Answers at once with a run to watch."""
    return Reply(ticket_shape(await assembled(service, base, who, body.uploads)), status_code=202)
