"""What a run tells: its progress on the way, and its report at the end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from kaijuan.core.ids import RunId
from kaijuan.index.catalog import ItemState, RunItem


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

    def note(self, lines: Sequence[RunItem]) -> None:
        """Count what became of sources."""
        self.states.update(line.state for line in lines)
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
        return any(self.states[state] for state in (ItemState.ADDED, ItemState.UPDATED, ItemState.REMOVED))
