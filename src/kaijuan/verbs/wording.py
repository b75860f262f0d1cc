"""Verbs about words: the glossary, and what is proposed to somebody who types."""

from __future__ import annotations

import asyncio
import builtins
from collections.abc import Iterable

from kaijuan.core import arguments
from kaijuan.core.arguments import Targets
from kaijuan.core.glossary import GlossaryTerm, TermChange, TermState, term_id
from kaijuan.core.glossary_csv import checked, read_csv
from kaijuan.errors import NotFoundError, UsageError
from kaijuan.index.catalog import KnowledgeBase
from kaijuan.retrieve.suggest import Suggestion, past_questions, suggestions, titles_and_headings
from kaijuan.verbs.wiring import Wired

MOST_SUGGESTIONS = 100
TRACES_READ = 500
"""Past questions that are looked through, the newest."""


class Wording(Wired):
    """Words that mean the same in this base."""

    async def glossary(self, *, removed: bool = False) -> builtins.list[GlossaryTerm]:
        """Return the terms of the glossary, by term; with `removed` also those that are no longer in use."""
        states = list(TermState) if removed else [TermState.LIVE]
        return await self.catalog.glossary((await self._kb()).id, states)

    async def add_term(self, term: str, synonyms: Targets, *, by: str = "", note: str = "") -> GlossaryTerm:
        """Let words mean the same from now on; a term that is there keeps its synonyms and gets these too."""
        kb = await self._kb()
        row = checked(term, arguments.targets(synonyms), note)
        known = await self._term(kb, row.term)
        row = checked(row.term, (*(known.synonyms if known else ()), *row.synonyms), row.note)
        await self.catalog.put_terms(kb.id, [row.term], [self._entered(row.synonyms, by, row.note)])
        return await self._existing(kb, row.term)

    async def remove_term(
        self, term: str, synonyms: Targets = (), *, by: str = "", note: str = ""
    ) -> GlossaryTerm | None:
        """Take a term out of use, or only some of its synonyms; return what is left of it.

        Who did it and when is kept. NotFoundError for what the glossary does not have.
        """
        kb = await self._kb()
        known = await self._existing(kb, term)
        gone = {term_id(kb.id, word) for word in arguments.targets(synonyms)}
        missing = gone - {term_id(kb.id, word) for word in known.synonyms}
        if missing:
            raise NotFoundError(f"{known.term!r} has no such synonym.", hint=f"It has: {', '.join(known.synonyms)}.")
        left = tuple(word for word in known.synonyms if gone and term_id(kb.id, word) not in gone)
        change = (
            self._entered(left, by, note)
            if left
            else TermChange(state=TermState.REMOVED, at=self._clock(), by=by, note=note)
        )
        await self.catalog.put_terms(kb.id, [known.term], [change])
        return await self._term(kb, known.term)

    async def import_terms(self, table: str, *, by: str = "") -> int:
        """Enter the rows of a CSV text (term, synonyms between "|", note); return how many. All or none.

        A row replaces the synonyms of a term that is there.
        """
        kb = await self._kb()
        rows = read_csv(table)
        changes = [self._entered(row.synonyms, by, row.note) for row in rows]
        await self.catalog.put_terms(kb.id, [row.term for row in rows], changes)
        return len(rows)

    async def suggest(self, prefix: str, *, k: int = 10) -> builtins.list[Suggestion]:
        """Return at most `k` titles, headings and past questions that go on from what was typed.

        Only of documents that may be read now, and only questions that were answered for the same readers.
        """
        if not 1 <= k <= MOST_SUGGESTIONS:
            raise UsageError(f"{k} suggestions cannot be asked for.", hint=f"Ask for 1 to {MOST_SUGGESTIONS}.")
        kb = await self._kb()
        if not prefix.strip():
            return []
        holdings, headings, traces = await asyncio.gather(
            self._shelf.read(self.catalog, kb, kb.head, self._principals),
            self.catalog.headings(kb.id, kb.head, self._principals),
            self.catalog.traces(kb.id, limit=TRACES_READ),
        )
        titles = ((document.source, document.title) for document in holdings.documents)
        known = [*past_questions(traces, self._principals), *titles_and_headings(titles, headings)]
        return suggestions(prefix, known, k)

    def _entered(self, synonyms: Iterable[str], by: str, note: str) -> TermChange:
        return TermChange(state=TermState.LIVE, at=self._clock(), synonyms=tuple(synonyms), by=by, note=note)

    async def _term(self, kb: KnowledgeBase, term: str) -> GlossaryTerm | None:
        wanted = term_id(kb.id, term)
        return next((one for one in await self.catalog.glossary(kb.id) if one.id == wanted), None)

    async def _existing(self, kb: KnowledgeBase, term: str) -> GlossaryTerm:
        found = await self._term(kb, term)
        if found is None:
            raise NotFoundError(
                f"The glossary has no term {term!r}.", hint="`kaijuan glossary list` shows what it has."
            )
        return found
