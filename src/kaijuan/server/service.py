"""What every route works with: the one engine, the gate before it, work under way, and what was answered before."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, cast

from fastapi import Depends, Request
from fastapi import Path as PathParameter
from fastapi.responses import JSONResponse

from kaijuan.core.identity import Action, Role, Who, user_principal
from kaijuan.engine import Kaijuan
from kaijuan.errors import AccessError
from kaijuan.server.gate import Gate
from kaijuan.server.pieces import Pieces
from kaijuan.server.quotas import Quotas
from kaijuan.server.tickets import Tickets
from kaijuan.verbs.shapes import Json

KB_NAME = r"^[^/\\\x00-\x1f\x7f]{1,100}$"


class Reply(JSONResponse):
    """A JSON response. Halves of surrogate pairs, which file names may hold, are written as escapes."""

    def render(self, content: object) -> bytes:
        """Return the body."""
        import json

        text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        return text.encode("utf-8", "backslashreplace")


@dataclass(slots=True, kw_only=True)
class Service:
    """One running service."""

    engine: Kaijuan
    """Of the whole home; requests get views of it."""
    clock: Callable[[], float] = time.time
    tickets: Tickets = field(init=False)
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    started_at: float = field(init=False)
    gate: Gate = field(init=False)
    quotas: Quotas = field(init=False)
    pieces: Pieces = field(init=False)

    def __post_init__(self) -> None:
        self.gate = Gate(self.engine, self.clock)
        self.tickets = Tickets(self.clock)
        self.quotas = Quotas(self.engine)
        self.pieces = Pieces(self.engine.home / "uploads" / "pieces", self.engine.config.serve, self.clock)
        self.started_at = self.clock()

    @property
    def uploads(self) -> Path:
        """Folder for uploads on their way in, a folder for each job of the queue."""
        return self.engine.coming

    def runs_home(self, who: Who) -> bool:
        """Say whether the caller owns the tenant that the home was opened for, whose configuration it is."""
        return who.is_owner and who.tenant == self.engine.tenant and who.bases is None

    async def bases(self, who: Who) -> list[Json]:
        """Return the bases that the caller sees, with what they may do there."""
        all_ = await self.gate.view(who, "").bases()
        allowed = [(one, await self.gate.actions(who, one.name)) for one in all_]
        return [
            {"name": one.name, "head": one.head, "actions": sorted(act.value for act in acts)}
            for one, acts in allowed
            if acts
        ]

    async def make_base(self, request: Request, who: Who, name: str) -> tuple[Json, bool]:
        """Return a base, made now if missing, and whether it was. Its maker owns it."""
        allowed = await self.gate.actions(who, name)
        view = self.gate.view(who, name)
        there = name in {one.name for one in await view.bases()}
        may = (who.is_owner or who.role is Role.EDITOR) and Action.WRITE in who.scopes
        may = may and (bool(allowed) if there else who.bases is None or name in who.bases)
        await self.gate.note(request, who, Action.MANAGE, name, allowed=may)
        if not may:
            raise AccessError(
                f"You may not make a knowledge base {name!r}.", hint="Owners and editors of a tenant may."
            )
        if not there:
            await self.quotas.check_base(who)
        made = await view.make_base()
        if not there and not who.is_owner:
            # Not the verb: users of tokens need no account here, and nothing is indexed yet.
            await view.catalog.grant(made.id, made.id, user_principal(who.name), Role.OWNER)
        return {"name": made.name, "head": made.head}, not there

    async def close(self) -> None:
        """Undo work under way and release the engine."""
        await self.tickets.close()
        await self.gate.close()
        await self.engine.close()


def service_of(request: Request) -> Service:
    """Return the service that a request came to."""
    return cast(Service, request.app.state.service)


async def _caller(request: Request) -> Who:
    known = getattr(request.state, "who", None)
    if isinstance(known, Who):
        return known
    return await service_of(request).gate.caller(request)


Caller = Annotated[Who, Depends(_caller)]
KbName = Annotated[str, PathParameter(pattern=KB_NAME, description="Name of the knowledge base.")]


async def _reading(request: Request, who: Caller, kb: KbName) -> Kaijuan:
    return await service_of(request).gate.enter(request, who, kb, Action.READ)


async def _writing(request: Request, who: Caller, kb: KbName) -> Kaijuan:
    return await service_of(request).gate.enter(request, who, kb, Action.WRITE)


async def _managing(request: Request, who: Caller, kb: KbName) -> Kaijuan:
    return await service_of(request).gate.enter(request, who, kb, Action.MANAGE)


Reading = Annotated[Kaijuan, Depends(_reading)]
"""The base as the caller may read it."""
Writing = Annotated[Kaijuan, Depends(_writing)]
"""The base for a caller who may change it."""
Managing = Annotated[Kaijuan, Depends(_managing)]
"""The base for a caller who may say who else may use it."""
The = Annotated[Service, Depends(service_of)]


def note_question(request: Request, text: str) -> None:
    """Let the log and spans of a request hold what was asked, where telemetry.questions allows it."""
    if service_of(request).engine.config.telemetry.questions:
        request.state.question = text


def by(who: Who) -> str:
    """Return the name that decisions are recorded under."""
    return who.name
