"""The bundled samples' questions, with which a first visit begins."""

from __future__ import annotations

from fastapi import APIRouter

from kaijuan.samples import questions
from kaijuan.server.service import Caller, Reply
from kaijuan.verbs.shapes import fields_of

router = APIRouter(tags=["service"])


@router.get("/samples")
async def samples(who: Caller) -> Reply:
    """List questions about the bundled documents; a run of the kind `samples` takes these in."""
    del who  # It is asked for so that nobody unknown learns anything at all.
    return Reply({"questions": [fields_of(one) for one in questions()]})
