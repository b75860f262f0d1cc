"""What a run tells: its progress on the way, and its report at the end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from kaijuan.core.ids import RunId
from kaijuan.index.catalog import ItemState, RunItem

MOST_NAMED = 1000
"""Removed documents that a report names."""


class Stage(StrEnum):
    """What a run is doing."""

    READING = "reading"
    """Sources are read and stored; the index follows meanwhile."""
    INDEXING = "indexing"
    """Everything is read; the index catches up."""
    PUBLISHING = "publishing"
    DONE = "done"


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a run is."""

    stage: Stage
    done: int
    """Sources dealt with, failed ones included."""
    total: int | None
    """None while the sources are still being walked."""
    failed: int
    source: str
    """The one dealt with last."""
    chunks: int
    """Searchable chunks stored by this run."""
    indexed: int
    """Chunks that the index has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """One source that could not be taken in, and why."""

    source: str
    code: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """One document that the gate keeps back until somebody decides."""

    source: str
    review: str
    """Id of the review, for `kaijuan review`."""
    reasons: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """One document whose content is at another place than before."""

    before: str
    after: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunReport:
    """What a run did. `documents` and `chunks` are the sizes of the snapshot that readers now see."""

    run_id: RunId
    snapshot: int
    added: int
    updated: int
    unchanged: int
    removed: int
    failed: tuple[Failed, ...]
    documents: int
    chunks: int
    seconds: float
    held: tuple[Waiting, ...] = ()
    """Documents that are not published because they wait for a decision; an earlier version stays live."""
    rejected: int = 0
    """Documents that somebody decided to keep out."""
    removed_sources: tuple[str, ...] = ()
    """Where the removed documents came from; at most 1,000 are named."""
    moved: tuple[Moved, ...] = ()
    """Documents that are at another place now; counted among added and removed too."""
    snapshots: tuple[int, ...] = ()
    """All that this run published: a long one publishes on the way."""
    salvaged: int = 0
    """Documents that a killed run, asked for the same, had stored; they were published first and count as unchanged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RebuildReport:
    """What a rebuild made."""

    space: str
    """The index that serves readers now."""
    unreadable: tuple[str, ...]
    """Sources of versions that were left out because their stored text cannot be read."""


class Tally:
    """Counts of a run under way."""

    def __init__(self) -> None:
        self.states: Counter[ItemState] = Counter()
        self.failed: list[Failed] = []
        self.held: list[RunItem] = []
        self.chunks = 0
        self.source = ""
        self.moved: list[Moved] = []
        self.removed: list[str] = []
        """Sources whose documents left; the first of them."""
        self.expected: int | None = None
        """How many sources there are about, once somebody has counted."""
        self.snapshots: list[int] = []
        """Published by this run so far."""
        self.begun = 0
        """The snapshot that readers saw when the run began, or the one that died and that it goes on with."""
        self.salvaged = 0
        """Documents of a run that died."""
        self._published = 0

    def note(self, lines: Sequence[RunItem]) -> None:
        """Count what became of sources."""
        self.states.update(line.state for line in lines)
        gone = [line.source for line in lines if line.state is ItemState.REMOVED]
        self.removed += gone[: max(0, MOST_NAMED - len(self.removed))]
        self.source = lines[-1].source if lines else self.source

    @property
    def done(self) -> int:
        """Sources dealt with."""
        return sum(self.states.values())

    @property
    def staged(self) -> int:
        """Documents that are new or changed."""
        return self.states[ItemState.ADDED] + self.states[ItemState.UPDATED]

    @property
    def changed(self) -> bool:
        """Whether there is anything to publish."""
        return self.unpublished > 0

    @property
    def unpublished(self) -> int:
        """Changes that readers do not see yet."""
        return self._changes - self._published

    @property
    def _changes(self) -> int:
        return sum(self.states[state] for state in (ItemState.ADDED, ItemState.UPDATED, ItemState.REMOVED))

    def publish(self, snapshot: int) -> None:
        """Say that all changes so far are seen by readers."""
        self._published = self._changes
        self.snapshots.append(snapshot)
