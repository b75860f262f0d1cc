"""Runs: work under way with its progress, and what earlier runs did."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field

from kaijuan.core.identity import Action, Who
from kaijuan.engine import Kaijuan
from kaijuan.errors import AccessError, NotFoundError
from kaijuan.jobs.run_views import RunView
from kaijuan.samples import sample_folder
from kaijuan.server.events import Event, streamed, wants_events
from kaijuan.server.problems import RequestError
from kaijuan.server.service import Caller, Reading, Reply, Service, The, Writing, by
from kaijuan.server.tickets import Ticket, Work, ticket_shape
from kaijuan.verbs.shapes import Json, fields_of, path_of

router = APIRouter(tags=["runs"])
Id = Annotated[str, Path(pattern=r"^[0-9a-f]{32}$")]


class NewRun(BaseModel):
    """Work to begin."""

    model_config = ConfigDict(extra="forbid")

    kind: Literal["add", "sync", "samples", "rebuild"]
    targets: list[Annotated[str, Field(max_length=4000)]] = Field(
        default_factory=list,
        max_length=1000,
        description="add: web addresses; paths and other sources only from the local user. sync: names of sources.",
    )
    depth: int | None = Field(default=None, ge=0, le=20, description="add: how many links of a page are followed.")


@router.get("/kbs/{kb}/runs")
async def runs(base: Reading, who: Caller, service: The, limit: Annotated[int, Query(ge=1, le=200)] = 20) -> Reply:
    """List work under way and ended since the service started (`tickets`), and the newest runs of the base."""
    mine = service.tickets.of(who.tenant, base.kb_name)
    tickets = [ticket for ticket in mine if await _may_see(service, who, base, ticket)]
    return Reply(
        {
            "tickets": [ticket_shape(ticket) for ticket in tickets[:limit]],
            "runs": [_seen(view) for view in await base.run_views(limit=limit)],
        }
    )


@router.post("/kbs/{kb}/runs", status_code=202)
async def begin(body: NewRun, base: Writing, who: Caller, service: The) -> Reply:
    """Begin work that takes a while: add web addresses, sync named sources, load the samples, rebuild the index."""
    ticket = service.tickets.begin(
        who.tenant, base.kb_name, by=by(who), kind=body.kind, work=await _work(body, base, who, service)
    )
    return Reply(ticket_shape(ticket), status_code=202)


async def _work(body: NewRun, base: Kaijuan, who: Who, service: Service) -> Work:
    if body.kind in ("add", "samples"):
        await service.quotas.check_room(who)
    if body.kind == "samples":
        return lambda progress: base.add([str(sample_folder())], progress=progress)
    if body.kind == "rebuild":
        return lambda progress: base.rebuild(progress=progress)
    if not body.targets:
        raise RequestError(422, "Nothing was named.", hint="Give targets.")
    if body.kind == "sync":
        if not service.runs_home(who):
            # What a configured source holds is not for everybody who may write to a base.
            raise AccessError("Only who runs the service may read its named sources.")
        known = set(base.config.sources)
        if unknown := [name for name in body.targets if name.removesuffix(":") not in known]:
            raise NotFoundError(f"There is no source called {unknown[0]!r}.", hint="Named sources are configured.")
        # Without a kind or path before it: a name is a name, whatever else the engine could make of it.
        targets = [f"{name.removesuffix(':')}:" for name in body.targets]
        return lambda progress: base.add(targets, progress=progress)
    addresses = all(target.startswith(("https://", "http://")) for target in body.targets)
    if not addresses and not who.local:
        raise AccessError("Only web addresses can be added from afar.", hint="Upload the files, or name a source.")
    return lambda progress: base.add(body.targets, depth=body.depth, progress=progress)


@router.get("/kbs/{kb}/runs/{id}", response_model=None)
async def run(request: Request, base: Reading, id: Id, who: Caller, service: The) -> Response:
    """Show one run by the id of its ticket or its own.

    With `Accept: text/event-stream`, a ticket's progress comes as events `progress` until `done` or `failed`.
    """
    ticket = next((one for one in service.tickets.of(who.tenant, base.kb_name) if one.id == id), None)
    if ticket is None:
        return Reply(await _ended(base, id))
    if not await _may_see(service, who, base, ticket):
        raise NotFoundError(f"There is no run {id!r}.")
    if wants_events(request):
        return streamed(request, _watched(service, ticket))
    return Reply(ticket_shape(ticket))


def _seen(view: RunView) -> Json:
    # Without the document dealt with last: it may be one that the caller may not read.
    shape = {**fields_of(view), **fields_of(view.run)}
    return {name: value for name, value in shape.items() if name not in ("run", "source")}


async def _may_see(service: Service, who: Who, base: Kaijuan, ticket: Ticket) -> bool:
    # A report names documents: it is for whoever sent them, and for its owners.
    return ticket.by == by(who) or Action.MANAGE in await service.gate.actions(who, base.kb_name)


async def _ended(base: Kaijuan, id: str) -> Json:
    found = next((run for run in await base.runs(limit=10_000) if run.id == id), None)
    if found is None:
        raise NotFoundError(f"There is no run {id!r}.")
    items = [{**fields_of(item), "path": path_of(item.source)} for item in await base.run_items(id)]
    return {**fields_of(found), "items": items}


async def _watched(service: Service, ticket: Ticket) -> AsyncIterator[Event]:
    async for shape in service.tickets.watch(ticket):
        ended = shape["state"] in ("done", "failed", "cancelled")
        yield ("done" if shape["state"] == "done" else "failed") if ended else "progress", shape
        if service.stopping.is_set():
            return


@router.post("/kbs/{kb}/runs/{id}/cancel")
async def cancel(base: Writing, id: Id, who: Caller, service: The) -> Reply:
    """Stop work under way; what it staged is undone."""
    ticket = service.tickets.find(who.tenant, base.kb_name, id)
    if not await _may_see(service, who, base, ticket):
        # Its report names documents, and it may be the upkeep of whoever runs the base.
        raise NotFoundError(f"There is no run {id!r}.")
    await service.tickets.cancel(ticket)
    return Reply(ticket_shape(ticket))
