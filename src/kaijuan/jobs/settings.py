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
    find_boilerplate: bool = True
    """Whether a run looks for paragraphs that many documents share; `kaijuan boilerplate` shows what follows."""
    boilerplate_documents: int = Field(default=5, ge=2)
    """Documents that must at least share a paragraph; copies and revisions of one another count once."""
    boilerplate_share: float = Field(default=0.01, ge=0, le=1)
    """The same as a share of all documents of the base."""
    publish_seconds: float = Field(default=60.0, ge=0, le=86_400)
    """After so long a run publishes what it has taken in so far and goes on, so that early documents are found soon and
    a run that dies loses no more than that; 0 publishes once, at the end."""
    publish_documents: int = Field(default=0, ge=0)
    """The same after so many documents; 0 leaves it to the time."""
    note_seconds: float = Field(default=1.0, gt=0, le=3600)
    """How often a run notes how far it is, and looks whether somebody cancelled it."""
    backlog_chunks: int = Field(default=256, ge=1)
    """Chunks stored before the index is told to follow; at most three times as many wait for it."""


class QueueSettings(BaseModel):
    """How `kaijuan queue work` works off what waits."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    attempts: int = Field(default=6, ge=1, le=1000)
    """How often a job is tried before it is given up. What was asked wrongly is given up at once."""
    retry_seconds: float = Field(default=5.0, ge=0, le=86_400)
    """Pause after the first attempt that failed; twice as long after each further one."""
    longest_pause_seconds: float = Field(default=600.0, ge=0, le=604_800)
    """Longest pause between two attempts."""
    claim_seconds: float = Field(default=60.0, gt=0, le=86_400)
    """How long a worker on another machine that is not heard of keeps its job; renewed three times within that time."""


class RetentionSettings(BaseModel):
    """What `kaijuan gc` keeps. The newest snapshot and every snapshot with a tag are always kept."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    keep_days: float = Field(default=90.0, ge=0, le=36_500)
    """How long a snapshot is kept after the next one took its place."""
    keep_snapshots: int = Field(default=10, ge=1, le=1_000_000)
    """Newest snapshots that are kept whatever their age."""
    grace_seconds: float = Field(default=300.0, ge=0, le=86_400)
    """How long a snapshot is kept at least after the next one took its place, for readers who are in it."""
    report_days: float = Field(default=365.0, ge=0, le=36_500)
    """How long the lines of the reports of runs are kept."""
