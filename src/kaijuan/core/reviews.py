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


class ReviewState(StrEnum):
    """Where a review stands."""

    PENDING = "pending"
    APPROVED = "approved"
    REJECTED = "rejected"
    SUPERSEDED = "superseded"
    """The source has other content now, or has gone: there is nothing left to decide."""


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
    """Seconds since 1970, UTC; so is `decided_at`."""
    state: ReviewState = ReviewState.PENDING
    name: str = ""
    kind: str = ""
    """Name, kind, title, metadata and warnings of the source item."""
    title: str = ""
    metadata: Metadata = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    decided_at: float | None = None
    decided_by: str = ""
    note: str = ""

    @property
    def detectors(self) -> frozenset[str]:
        """The detectors that a decision about it has seen."""
        return frozenset(finding.detector for finding in self.reasons)


def review_id(kb: KbId, source: str, content_hash: str, facts: str) -> str:
    """Return the id of the review of one content of one source; `facts` is what its bytes do not hold."""
    return stable_id("review", kb, source, content_hash, facts)
