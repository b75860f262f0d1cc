"""What people do to chunks by hand, and where it belongs in a later version of the document (spec C6)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from kaijuan.core.ids import DocumentId, KbId, RunId, VersionId, stable_id
from kaijuan.core.snapshots import OPEN
from kaijuan.core.spans import Span

CONTEXT = 64
"""Characters before and after a passage by which it is told from its twins."""
_MOST_PLACES = 1000
"""Places of one passage that are compared; more are a row of dots, not a passage."""


class WorkKind(StrEnum):
    """What is done to a passage."""

    SPLIT = "split"
    """It is searched in parts."""
    MERGE = "merge"
    """It is searched as one."""
    EDIT = "edit"
    """It is found by another text. What is quoted stays."""
    EXCLUDE = "exclude"
    """It is not searched."""
    ALIAS = "alias"
    """It is found by a question, too."""
    STRATEGY = "strategy"
    """The whole document is cut by another strategy than the settings say."""


AUTO = "auto"
"""Origin of a chunk that a strategy cut."""
ORIGINS = {kind: f"manual_{kind.value}" for kind in WorkKind}
"""Origins of chunks that people made."""
ALIAS = ORIGINS[WorkKind.ALIAS]


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A piece of a version's text with what stands around it, by which it is found again in another version."""

    span: Span
    quote: str
    """The characters of `span`."""
    before: str
    after: str

    def place_in(self, text: str) -> Span | None:
        """Return where the passage stands in a text, None where it does not.

        Of several places, the one whose surroundings are most alike; of those, the nearest to where it stood.
        """
        if not self.quote:
            return None
        places = list(_places(text, self.quote))
        if not places:
            return None
        best = min(places, key=lambda at: (-self._likeness(text, at), abs(at - self.span.start), at))
        return Span(best, best + len(self.quote))

    def _likeness(self, text: str, at: int) -> int:
        end = at + len(self.quote)
        before, after = text[max(0, at - CONTEXT) : at], text[end : end + CONTEXT]
        return _shared(before[::-1], self.before[::-1]) + _shared(after, self.after)


def passage_of(text: str, span: Span) -> Passage:
    """Return the passage at a place of a text."""
    return Passage(
        span=span,
        quote=span.of(text),
        before=text[max(0, span.start - CONTEXT) : span.start],
        after=text[span.end : span.end + CONTEXT],
    )


def _places(text: str, quote: str) -> Iterator[int]:
    at = text.find(quote)
    count = 0
    while at >= 0 and count < _MOST_PLACES:
        yield at
        at = text.find(quote, at + 1)
        count += 1


def _shared(one: str, other: str) -> int:
    """Return how many characters both texts begin with."""
    count = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        count += 1
    return count


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkWork:
    """One thing that somebody did to a passage. In force in snapshots `valid_from` <= S < `valid_to`."""

    id: str
    kb_id: KbId
    document_id: DocumentId
    version_id: VersionId
    """The version that it was done to."""
    number: int
    """Its place among the works of its run; work is applied in the order in which it was done."""
    kind: WorkKind
    passage: Passage
    cuts: tuple[int, ...] = ()
    """Where a split cuts, counted from the beginning of the passage."""
    said: str = ""
    """The text to be found by, the question, or the name of the strategy."""
    by: str = ""
    note: str = ""
    at: float = 0.0
    """Seconds since 1970, UTC."""
    valid_from: int = 0
    valid_to: int = OPEN
    ended_by: str = ""
    ended_at: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """Something to be done to a passage, before it has an id."""

    kind: WorkKind
    span: Span
    cuts: tuple[int, ...] = ()
    said: str = ""


def work_id(run: RunId, number: int) -> str:
    """Identify work by the run that published it."""
    return stable_id("chunk work", run, number)


@dataclass(frozen=True, slots=True, kw_only=True)
class Miss:
    """Work that a version could not take over."""

    work_id: str
    why: str
    """A sentence for people."""
