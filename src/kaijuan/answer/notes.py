"""What must be said beside an answer, as data: its kind, its words, and the passages it speaks of (spec I4)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from kaijuan.core.ids import ChunkId


class NoteKind(StrEnum):
    """What a note says."""

    CONFLICT = "conflict"
    """Documents say different things, and nothing tells which is right."""
    SUPERSEDED = "superseded"
    """An older edition says otherwise; the newer one is followed."""
    STALE = "stale"
    """What is cited is no longer in force, or not yet."""
    LOW_CONFIDENCE = "low_confidence"
    MISSING = "missing"
    """Something asked for was not found."""
    CLOSEST = "closest"
    """Of a refusal: the nearest document."""
    UNSUPPORTED = "unsupported"
    """Something was left out because its sources do not carry it."""
    OTHER = "other"


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """One note. `text` is for people, in the language of the question."""

    kind: NoteKind
    text: str
    citations: tuple[str, ...] = ()
    """Ids of this answer's citations that it speaks of; what another edition says is cited too."""
    chunks: tuple[ChunkId, ...] = ()
    """Chunks of the passages that it speaks of."""
