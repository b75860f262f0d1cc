"""Words that mean the same in one knowledge base: what people entered, and abbreviations that documents explain."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from kaijuan.core.ids import DocumentId, KbId, VersionId, stable_id
from kaijuan.core.spans import Span
from kaijuan.core.text.normalise import folded

LONGEST_TERM = 100
"""Characters of a term; what is longer is a sentence."""
MOST_SYNONYMS = 50
"""Other words of one term."""
HEAD = 4
"""Characters by which a full name is looked up; what begins alike is then compared in full."""


class TermState(StrEnum):
    """Whether a term of the glossary is in use."""

    LIVE = "live"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True, kw_only=True)
class TermChange:
    """One change of a term by a person, with what holds from then on."""

    state: TermState
    at: float
    """Seconds since 1970, UTC."""
    synonyms: tuple[str, ...] = ()
    by: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class GlossaryTerm:
    """A term and the words that are said in its place. Each of them stands for all others when it is asked for."""

    kb_id: KbId
    term: str
    synonyms: tuple[str, ...]
    state: TermState = TermState.LIVE
    history: tuple[TermChange, ...] = ()
    """Every change, oldest first; the last says who entered what holds now, and when."""

    @property
    def id(self) -> str:
        """Names the term, however it is written."""
        return term_id(self.kb_id, self.term)

    @property
    def words(self) -> tuple[str, ...]:
        """The term and its synonyms."""
        return (self.term, *self.synonyms)


@dataclass(frozen=True, slots=True, kw_only=True)
class Abbreviation:
    """A short name that a document explains: "个人信息保护法（以下简称个保法）", "Service Level Agreement (SLA)"."""

    short: str
    long: str
    span: Span
    """Where the document explains it, in its canonical text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnedAbbreviation:
    """An abbreviation with the document that explains it."""

    short: str
    long: str
    span: Span
    version_id: VersionId
    document_id: DocumentId
    source: str


def term_id(kb: KbId, term: str) -> str:
    """Return the id of a term: the same however it is written (case, width, traditional characters)."""
    return stable_id("glossary", kb, folded(term).strip())


def short_key(short: str) -> str:
    """Return the key by which a short name is looked up."""
    return folded(short).strip()


def long_head(long: str) -> str:
    """Return the beginning by which a full name is looked up."""
    return folded(long).strip()[:HEAD]
