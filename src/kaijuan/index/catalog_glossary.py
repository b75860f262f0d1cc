"""The part of the catalog port that keeps words which mean the same, and what is shown to people who type."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol

from kaijuan.core.glossary import GlossaryTerm, LearnedAbbreviation, TermChange, TermState
from kaijuan.core.ids import KbId

LIVE = frozenset({TermState.LIVE})


class GlossaryWriter(Protocol):
    """Changes of the glossary. What documents explain is staged with them."""

    async def put_terms(self, kb: KbId, terms: Sequence[str], changes: Sequence[TermChange]) -> None:
        """Enter one change for each term, all or none; no change is ever forgotten.

        NotFoundError for removing what the glossary does not have.
        """


class GlossaryReader(Protocol):
    """Words that mean the same."""

    async def glossary(self, kb: KbId, states: Collection[TermState] = LIVE) -> list[GlossaryTerm]:
        """Return the terms in these states, by term. They belong to the base: whoever reads it may see them."""

    async def abbreviations(
        self, kb: KbId, snapshot: int, shorts: Collection[str], heads: Collection[str], principals: Collection[str]
    ) -> list[LearnedAbbreviation]:
        """Return abbreviations with one of these `short_key`s, or whose full name has one of these `long_head`s.

        Only of documents that the snapshot shows and that a principal may read now.
        """

    async def headings(self, kb: KbId, snapshot: int, principals: Collection[str]) -> list[tuple[str, str]]:
        """Return (source, heading) of all headings in documents that the snapshot shows and a principal may read now,
        each once, in order."""
