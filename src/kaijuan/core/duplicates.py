"""Documents that say the same: which, how alike, why they count as one or not, and who decided otherwise (spec B2)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from kaijuan.core.ids import DocumentId, KbId, VersionId, stable_id


class DuplicateKind(StrEnum):
    """How two versions of different documents are alike."""

    EXACT = "exact"
    """The same text, and nothing that tells them apart."""
    NEAR = "near"
    """Nearly the same text, with the same numbers, and nothing that tells them apart."""
    REVISION = "revision"
    """Nearly the same text, but number, version, issuer, date or a number in the text differs: another document."""


class DuplicateState(StrEnum):
    """What follows."""

    MERGED = "merged"
    """A search shows an equal passage of both once, and names the other."""
    KEPT = "kept"
    """Both stand for themselves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruling:
    """A change of state by a person."""

    state: DuplicateState
    at: float
    """Seconds since 1970, UTC."""
    by: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Duplicate:
    """One decision: this version says what that one says. Both stay documents of their own, whatever is decided."""

    version_id: VersionId
    other_id: VersionId
    """A version of another document that came before it, or beside it in the same run."""
    group_id: VersionId
    """The first version of all that are merged with one another."""
    kb_id: KbId
    document_id: DocumentId
    other_document_id: DocumentId
    kind: DuplicateKind
    similarity: float
    """Shingles that both texts have, as a share of those that either has (Jaccard)."""
    reason: str
    state: DuplicateState
    created_at: float
    history: tuple[Ruling, ...] = ()
    """What people decided, oldest first."""

    @property
    def id(self) -> str:
        """Names the decision."""
        return stable_id("duplicate", self.version_id, self.other_id)
