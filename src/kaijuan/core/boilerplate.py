"""Paragraphs that many documents of a base share, word for word: which, in how many, and who decided otherwise (B1)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from kaijuan.core.ids import DocumentId, KbId, VersionId
from kaijuan.core.snapshots import OPEN
from kaijuan.core.spans import Span

BOILERPLATE = "boilerplate"
"""The mark of a passage that is made of such paragraphs."""


class BoilerplateState(StrEnum):
    """What follows."""

    LOWERED = "lowered"
    """A passage made of it ranks lower, and what a passage says besides it is what counts."""
    KEPT = "kept"
    """It counts like any other text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BoilerplateRuling:
    """A change of state by a person."""

    state: BoilerplateState
    at: float
    """Seconds since 1970, UTC."""
    by: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Boilerplate:
    """One decision about a paragraph, from the snapshot in which it became one to that in which it no longer is.

    The words themselves stand in the documents alone, so that they go when those go.
    """

    digest: str
    """Names the paragraph: a hash of its letters, digits and ideographs in one case and width."""
    kb_id: KbId
    documents: int
    """How many documents shared it when it was decided; copies and revisions of one another count once."""
    total: int
    """Documents of the base at that time."""
    created_at: float
    state: BoilerplateState = BoilerplateState.LOWERED
    valid_from: int = 0
    valid_to: int = OPEN
    history: tuple[BoilerplateRuling, ...] = ()
    """What people decided, oldest first."""

    @property
    def reason(self) -> str:
        """Say why, in a sentence."""
        return f"{self.documents} of {self.total} documents begin or end with the same paragraph"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where such a paragraph stands."""

    version_id: VersionId
    document_id: DocumentId
    span: Span
