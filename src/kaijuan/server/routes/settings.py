"""How the service is set, for those who run it."""

from __future__ import annotations

from fastapi import APIRouter

from kaijuan.errors import AccessError
from kaijuan.server.service import Caller, Reply, The

router = APIRouter(tags=["service"])


@router.get("/settings")
async def settings(who: Caller, service: The) -> Reply:
    """Show all settings in force. Keys and other secrets are blotted out, by the settings themselves."""
    if not who.is_owner:
        raise AccessError("Only owners see the settings.")
    return Reply({"settings": service.engine.config.model_dump(mode="json")})
