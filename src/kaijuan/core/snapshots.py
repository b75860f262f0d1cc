"""Snapshot numbers and the intervals in which points are visible (design section 4)."""

from __future__ import annotations

from dataclasses import dataclass

OPEN = 2**31 - 1
"""`valid_to` of what has not been replaced. Fits a signed 32-bit integer, which every engine can index."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """Documents that came, that have another version, and that went."""

    added: int = 0
    changed: int = 0
    removed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """One published state of a knowledge base. Numbers run from 1; 0 is the empty base."""

    number: int
    created_at: float
    """Seconds since 1970, UTC."""
    run_id: str = ""
    documents: int = 0
    chunks: int = 0
    tags: tuple[str, ...] = ()
    """Names that people gave it, which keep it."""
    changes: Changes | None = None
    """What readers see differently than in the snapshot before that is kept; None where nobody counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotTag:
    """A name that somebody gave a snapshot."""

    name: str
    number: int
    created_at: float
    note: str = ""


def visible(valid_from: int, valid_to: int, snapshot: int) -> bool:
    """Say whether something with this interval is seen by readers at `snapshot`."""
    return valid_from <= snapshot < valid_to
