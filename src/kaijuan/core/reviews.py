"""What the gate found in a document, and the record of a document that waits for a person's decision (spec B3)."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from kaijuan.core.documents import Metadata
from kaijuan.core.ids import KbId, stable_id

MOST_EXCERPT = 200
"""Characters of a document that a finding may repeat."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that a detector of the gate saw."""

    detector: str
    """Name of the detector, which is also the setting in `[gate]` that says what follows."""
    said: str
    """What it is, a few words for people."""
    excerpt: str = ""
    """The words around it, bounded; secrets and personal numbers are masked."""
    place: str = ""
    page: int = 0
    """Counted from 1; 0 where the format has none."""
    count: int = 1

    def __str__(self) -> str:
        times = f" ({self.count})" if self.count > 1 else ""
        where = f", page {self.page}" if self.page else f", {self.place}" if self.place else ""
        return f"{self.detector}: {self.said}{times}{where}"


class ReviewState(StrEnum):
    """Where a review stands."""

    PENDING = "pending"
    APPROVED = "approved"
    REJECTED = "rejected"
    SUPERSEDED = "superseded"
    """The source has other content now, or has gone: there is nothing left to decide."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """One change of a review's state."""

    state: ReviewState
    at: float
    """Seconds since 1970, UTC."""
    by: str = ""
    """Who; empty where the engine noticed by itself."""
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """A document that the gate holds back, with all that it takes to publish it after all."""

    id: str
    kb_id: KbId
    source: str
    content_hash: str
    original_hash: str
    """Blob of the original bytes."""
    reasons: tuple[Finding, ...]
    created_at: float
    """Seconds since 1970, UTC."""
    state: ReviewState = ReviewState.PENDING
    name: str = ""
    kind: str = ""
    """Name, kind, title and metadata of the source item."""
    title: str = ""
    metadata: Metadata = field(default_factory=dict)
    history: tuple[Decision, ...] = ()
    """Every decision, oldest first."""

    @property
    def detectors(self) -> frozenset[str]:
        """The detectors that whoever decides about it has seen."""
        return frozenset(finding.detector for finding in self.reasons)


def review_id(kb: KbId, source: str, content_hash: str, facts: str) -> str:
    """Return the id of the review of one content of one source; `facts` is content that its bytes do not hold."""
    return stable_id("review", kb, source, content_hash, facts)
