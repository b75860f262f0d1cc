"""Conversations: questions that go on from each other, kept by name for one reader."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Annotated

from fastapi import APIRouter, Path, Request
from fastapi.responses import Response
from pydantic import Field

from kaijuan.engine import Kaijuan
from kaijuan.server.events import Event, streamed, wants_events
from kaijuan.server.routes.asking import MOST_CHARACTERS, Search, event_shape, within
from kaijuan.server.service import Reading, Reply, The, note_question
from kaijuan.verbs.shapes import answer_shape, fields_of

router = APIRouter(tags=["conversations"])
Name = Annotated[str, Path(max_length=100, pattern=r"^[^/\x00-\x1f]+$")]


class Turn(Search):
    """What is said next."""

    text: str = Field(min_length=1, max_length=MOST_CHARACTERS)
    extractive: bool = False


@router.get("/kbs/{kb}/conversations")
async def conversations(base: Reading) -> Reply:
    """List one's own conversations."""
    return Reply({"conversations": [fields_of(one) for one in await base.conversations()]})


@router.get("/kbs/{kb}/conversations/{name}")
async def conversation(base: Reading, name: Name) -> Reply:
    """Show a conversation with its turns; those whose documents may no longer be read are blank."""
    talk = await base.conversation(name)
    return Reply({"conversation": fields_of(talk.conversation), "turns": [fields_of(turn) for turn in talk.turns]})


@router.post("/kbs/{kb}/conversations/{name}", response_model=None)
async def converse(request: Request, body: Turn, base: Reading, name: Name, service: The) -> Response:
    """Say something; a conversation of that name is begun where there is none. Answers as `ask` does, events too."""
    note_question(request, body.text)
    seconds = service.engine.config.serve.ask_seconds
    if wants_events(request):
        return streamed(request, within(seconds, _saying(base, body, name)))
    async with asyncio.timeout(seconds):
        answer = await base.converse(
            body.text,
            session=name,
            k=body.k,
            filters=body.filters,
            as_of=body.as_of,
            at=body.at,
            preset=body.preset,
            extractive=body.extractive,
        )
    return Reply(answer_shape(answer))


async def _saying(base: Kaijuan, body: Turn, name: str) -> AsyncIterator[Event]:
    events = base.converse_stream(
        body.text,
        session=name,
        k=body.k,
        filters=body.filters,
        as_of=body.as_of,
        at=body.at,
        preset=body.preset,
        extractive=body.extractive,
    )
    async with aclosing(events):
        async for event in events:
            yield event.kind, event_shape(event)


@router.delete("/kbs/{kb}/conversations/{name}")
async def forget(base: Reading, name: Name) -> Reply:
    """Forget a conversation."""
    await base.forget_conversation(name)
    return Reply({"forgotten": name})
