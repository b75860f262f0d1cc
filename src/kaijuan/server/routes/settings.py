"""How the service is set, and how it does, for those who run it."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import PlainTextResponse

from kaijuan.errors import AccessError
from kaijuan.server import metrics
from kaijuan.server.service import Caller, Reply, The

router = APIRouter(tags=["service"])


@router.get("/settings")
async def settings(who: Caller, service: The) -> Reply:
    """Show all settings in force. Keys and other secrets are blotted out, by the settings themselves."""
    # They are the whole home's: owners of other tenants have no business with its sources and services.
    if not service.runs_home(who):
        raise AccessError("Only who runs the service sees its settings.")
    return Reply({"settings": service.engine.config.model_dump(mode="json")})


@router.get("/metrics", response_class=PlainTextResponse)
async def figures(who: Caller, service: The) -> PlainTextResponse:
    """Return counters and gauges in the text format of Prometheus."""
    if not service.runs_home(who):
        raise AccessError("Only who runs the service sees its figures.")
    seconds = service.clock() - service.started_at
    told = metrics.exposed(seconds=seconds, tickets=service.tickets.by_state())
    return PlainTextResponse(told, media_type=metrics.MEDIA_TYPE)
