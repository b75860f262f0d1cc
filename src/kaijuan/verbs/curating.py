"""Verbs of the people who watch over a base: the review desk and duplicates."""

from __future__ import annotations

import builtins
from collections.abc import Collection

from kaijuan.core import arguments
from kaijuan.core.arguments import Targets
from kaijuan.core.boilerplate import BoilerplateRuling, BoilerplateState
from kaijuan.core.duplicates import DuplicateState, Ruling
from kaijuan.core.reviews import Review, ReviewState
from kaijuan.jobs.desk import (
    PassedRuling,
    SeenBoilerplate,
    SeenDuplicate,
    on_desk,
    picked,
    rule,
    rule_boilerplate,
    seen_boilerplate,
    seen_duplicates,
)
from kaijuan.jobs.run import RunReport
from kaijuan.verbs.wiring import WAITING, ProgressCallback, Wired


class Curating(Wired):
    """What the gate held back, and what says the same twice."""

    async def approve(
        self, words: Targets, *, by: str = "", note: str = "", progress: ProgressCallback | None = None
    ) -> RunReport:
        """Publish documents that the gate held back, named by review id or source, as one snapshot."""
        kb = await self._kb()
        chosen = await picked(self.catalog, kb, self._principals, arguments.targets(words))
        return await self._ingest().approve(kb, chosen, by=by, note=note, progress=progress)

    async def reject(self, words: Targets, *, by: str = "", note: str = "") -> builtins.list[str]:
        """Keep contents out, named by review id or source; return the sources that were live and are removed."""
        kb = await self._kb()
        chosen = await picked(self.catalog, kb, self._principals, arguments.targets(words))
        return await self._ingest().reject(kb, chosen, by=by, note=note)

    async def rule_duplicates(self, words: Targets, *, merge: bool, by: str = "", note: str = "") -> int:
        """Merge or keep apart documents that say the same, named by decision id or source; return how many pairs."""
        state = DuplicateState.MERGED if merge else DuplicateState.KEPT
        ruling = Ruling(state=state, at=self._clock(), by=by, note=note)
        return await rule(self.catalog, await self._kb(), self._principals, arguments.targets(words), ruling)

    async def reviews(self, states: Collection[ReviewState] = WAITING) -> builtins.list[Review]:
        """Return what the gate held back, oldest first: what waits for a decision, or reviews in these states."""
        return await on_desk(self.catalog, await self._kb(), self._principals, states)

    async def review(self, word: str) -> Review:
        """Return one review; `word` is its id, the beginning of it, or a source."""
        return (await picked(self.catalog, await self._kb(), self._principals, [word]))[0]

    async def boilerplate(self) -> builtins.list[SeenBoilerplate]:
        """Return which paragraphs many documents share, what was decided, and why; only what may be read."""
        return await seen_boilerplate(self.catalog, self.blobs, await self._kb(), self._principals)

    async def rule_boilerplate(self, words: Targets, *, lower: bool, by: str = "", note: str = "") -> int:
        """Let paragraphs that many documents share rank lower or count like others, named by id; return how many."""
        state = BoilerplateState.LOWERED if lower else BoilerplateState.KEPT
        ruling = BoilerplateRuling(state=state, at=self._clock(), by=by, note=note)
        passed = PassedRuling(words=arguments.targets(words), ruling=ruling)
        return await rule_boilerplate(self.catalog, self.blobs, await self._kb(), self._principals, passed)

    async def duplicates(self) -> builtins.list[SeenDuplicate]:
        """Return which documents say the same, what was decided, and why; only those of which both may be read."""
        return await seen_duplicates(self.catalog, await self._kb(), self._principals)
