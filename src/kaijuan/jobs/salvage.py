"""What a killed run had stored is published when the same is asked for again, so that nothing is done twice.

Only what taking documents in left behind: each of its documents was stored whole, and publishing what is there is what
a run does by itself now and then. Removals that people asked for are undone, since they are all or none; and so is
every run when something else is asked for.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

from kaijuan.core.documents import Version
from kaijuan.core.ids import KbId, VersionId
from kaijuan.index.catalog import Catalog, IndexChange, Run
from kaijuan.index.write import IndexWriter, complete_points, follow

KINDS = frozenset({"add"})
"""Runs that leave whole documents."""
_PAGE = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Remains:
    """A run that died, and what it stored that can be published: nothing where it is to be undone."""

    run: Run
    begun: int
    """The snapshot that readers saw when it was asked for first: it may have published parts."""
    versions: tuple[VersionId, ...] = ()
    gone: tuple[Version, ...] = ()
    """Documents that it took out, each of which has gone from its place."""
    scope: str | None = None
    """Where it was to take out what it would not meet."""


async def remains(catalog: Catalog, kb: KbId, kind: str, request: str, rules: str) -> Remains | None:
    """Return what is left of a run that died and was asked for the same; None where there is none.

    What was let in under other rules than these is not published.
    """
    if kind not in KINDS or not request:
        return None
    dead = await catalog.unfinished_runs(kb)
    notes = await catalog.run_notes([run.id for run in dead])
    for run in dead:
        note = notes[run.id]
        if run.kind == kind and note.request == request:
            told: dict[str, Any] = json.loads(note.progress or "{}")
            wanted = not note.cancelled and told.get("rules") == rules
            # One of an earlier program does not tell its scope.
            begun, scope = int(told.get("begun", run.target - 1)), told.get("scope", "")
            found = Remains(run=run, begun=begun, scope=scope)
            return await _whole(catalog, found) if wanted else found
    return None


async def _whole(catalog: Catalog, found: Remains) -> Remains:
    staged = await catalog.versions_staged(found.run.id)
    waiting = await _waiting(catalog, found.run.kb_id)
    if waiting[IndexChange.UPSERT] != set(staged):
        return found  # the head was about to move: what is still to be closed is not known any more
    known = await catalog.versions_by_id(set(staged) | waiting[IndexChange.CLOSE])
    replacing = {known[id].document_id for id in staged}
    gone = [known[id] for id in sorted(waiting[IndexChange.CLOSE]) if known[id].document_id not in replacing]
    return replace(found, versions=tuple(staged), gone=tuple(gone))


async def _waiting(catalog: Catalog, kb: KbId) -> dict[IndexChange, set[VersionId]]:
    waiting: dict[IndexChange, set[VersionId]] = {change: set() for change in IndexChange}
    after = 0
    while page := await catalog.pending(kb, limit=_PAGE, after=after):
        after = page[-1].sequence
        for entry in page:
            waiting[entry.change].add(entry.version_id)
    return waiting


async def keep_points(writer: IndexWriter, found: Remains) -> None:
    """Let the points beyond head be those of what is to be published; what is there already is not made again."""
    head = found.run.target - 1
    await complete_points(writer, found.versions, head)
    await follow(writer, lambda side: complete_points(side, found.versions, head))
