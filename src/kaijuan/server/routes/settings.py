"""How the service is set, and how it does, for those who run it."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import PlainTextResponse

from kaijuan.core.identity import Action
from kaijuan.errors import AccessError
from kaijuan.index.catalog_queue import JobState
from kaijuan.server import metrics
from kaijuan.server.service import Caller, Reply, Service, The

router = APIRouter(tags=["service"])


@router.get("/settings")
async def settings(who: Caller, service: The) -> Reply:
    """Show all settings in force. Keys and other secrets are blotted out, by the settings themselves."""
    # They are the whole home's: owners of other tenants have no business with its sources and services.
    if not service.runs_home(who):
        raise AccessError("Only who runs the service sees its settings.")
    return Reply({"settings": service.engine.config.model_dump(mode="json")})


@router.get("/metrics", response_class=PlainTextResponse)
async def figures(request: Request, who: Caller, service: The) -> PlainTextResponse:
    """Return counters and gauges in the text format of Prometheus, for owners and auditors of the home's tenant."""
    if who.tenant != service.engine.tenant:
        raise AccessError("Only who runs the service sees its figures.")
    await service.gate.owning(request, who, Action.AUDIT)
    told = metrics.exposed(
        metrics.Figures(
            uptime=service.clock() - service.started_at,
            tickets=service.tickets.by_state(),
            bases=await _bases(service),
        )
    )
    return PlainTextResponse(told, media_type=metrics.MEDIA_TYPE)


async def _bases(service: Service) -> list[metrics.BaseFigures]:
    """Return how fresh the bases of the home's tenant are; those of other tenants are not named."""
    if not service.engine.home.exists():
        return []
    now, catalog = service.clock(), service.engine.catalog
    figures = []
    for base in await catalog.kbs(service.engine.tenant):
        jobs = await catalog.jobs(base.id)
        open_ = [job for job in jobs if job.state is not JobState.DEAD]
        newest = next((one for one in await catalog.snapshots(base.id) if one.number == base.head), None)
        figures.append(
            metrics.BaseFigures(
                kb=base.name,
                age=None if newest is None else max(0.0, now - newest.created_at),
                waiting=len(open_),
                failed=len(jobs) - len(open_),
                oldest=max((now - job.created_at for job in open_), default=0.0),
            )
        )
    return figures
