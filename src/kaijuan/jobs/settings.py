"""Settings of runs."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class JobSettings(BaseModel):
    """How a run works."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    lease_seconds: float = Field(default=60.0, gt=0, le=86_400)
    """How long a run that is not heard of keeps others from publishing. Renewed three times within that time."""
    ahead: int = Field(default=3, ge=1, le=64)
    """Documents that are read while earlier ones wait to be stored; bounds memory with the largest document."""
    group_documents: int = Field(default=64, ge=1, le=1000)
    """Small documents that are looked up and stored together; large ones make a group earlier."""
    find_duplicates: bool = True
    """Whether a run looks for documents that say what others say; `kaijuan duplicates` shows what follows."""
    backlog_chunks: int = Field(default=256, ge=1)
    """Chunks stored before the index is told to follow; at most three times as many wait for it."""
