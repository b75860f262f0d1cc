"""Runs as people look at them: how far, how fast, how long still, what failed, and how to go on."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kaijuan.errors import NotFoundError, UsageError
from kaijuan.index.catalog import Catalog, ItemState, KnowledgeBase, Run, RunItem, RunState
from kaijuan.index.history import RunNote
from kaijuan.jobs.owner import described, is_gone

_SHORTEST_ID = 4
_ALL = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class RunView:
    """One run at a glance. Of a part of a long run, `counts` are those of the part."""

    run: Run
    counts: Mapping[str, int] = field(default_factory=dict)
    """Lines of its report by state; what was unchanged has no line."""
    stage: str = ""
    done: int = 0
    total: int | None = None
    failed: int = 0
    chunks: int = 0
    indexed: int = 0
    source: str = ""
    """The one dealt with last."""
    seconds: float = 0.0
    documents_a_second: float | None = None
    remaining_seconds: float | None = None
    """None where nobody knows."""
    worker: str = ""
    """Who is at work, of a run that is under way; "" where its process has ended."""
    cancelled: str = ""
    """Who asked it to stop."""
    can_resume: bool = False
    """Whether it is known what was asked for."""


async def views(
    catalog: Catalog, kb: KnowledgeBase, now: float, *, limit: int = 20, running_only: bool = False
) -> list[RunView]:
    """Return the newest runs, newest first."""
    runs = await catalog.runs(kb.id, limit=limit)
    if running_only:
        runs = [run for run in runs if run.state is RunState.RUNNING]
    ids = [run.id for run in runs]
    notes, counts = await catalog.run_notes(ids), await catalog.item_counts(ids)
    worker = await _worker(catalog, kb)
    return [_view(run, notes.get(run.id, RunNote()), counts.get(run.id, {}), now, worker) for run in runs]


async def _worker(catalog: Catalog, kb: KnowledgeBase) -> str:
    lease = await catalog.lease(kb.id)
    return "" if lease is None or is_gone(lease.owner) else described(lease.owner)


def _view(run: Run, note: RunNote, counts: Mapping[str, int], now: float, worker: str) -> RunView:
    told: dict[str, Any] = json.loads(note.progress) if note.progress else {}
    running = run.state is RunState.RUNNING
    seconds = max(0.0, (now if running or run.finished_at is None else run.finished_at) - run.started_at)
    done, total = int(told.get("done", 0)), told.get("total")
    reached = max(0.0, float(told.get("at", now)) - run.started_at)
    rate = done / reached if done and reached > 0 else None
    left = (total - done) / rate if running and rate and total is not None else None
    return RunView(
        run=run,
        counts=dict(counts),
        stage=str(told.get("stage", "")) if running else "",
        done=done,
        total=total,
        failed=int(told.get("failed", 0)),
        chunks=int(told.get("chunks", 0)),
        indexed=int(told.get("indexed", 0)),
        source=str(told.get("source", "")),
        seconds=round(seconds, 3),
        documents_a_second=None if rate is None else round(rate, 2),
        remaining_seconds=None if left is None else round(left, 1),
        worker=worker if running else "",
        cancelled=note.cancelled,
        can_resume=bool(note.request),
    )


async def named(catalog: Catalog, kb: KnowledgeBase, word: str) -> Run:
    """Return the run that a word means: an id, its beginning (four characters or more), or "last"."""
    runs = await catalog.runs(kb.id, limit=_ALL)
    if word == "last" and runs:
        return runs[0]
    found = [run for run in runs if len(word) >= _SHORTEST_ID and run.id.startswith(word)]
    if not found:
        raise NotFoundError(f"There is no run {word!r}.", hint="`kaijuan runs list` shows them.")
    if len(found) > 1:
        raise UsageError(f"{word!r} could be {len(found)} runs.", hint="Give more of the id.")
    return found[0]


async def request_of(catalog: Catalog, run: Run) -> dict[str, Any]:
    """Return what was asked for; UsageError where it is not known."""
    note = (await catalog.run_notes([run.id])).get(run.id, RunNote())
    if not note.request:
        raise UsageError(
            f"Run {run.id[:8]} ({run.kind}) cannot be asked for again.", hint="Give the command that started it."
        )
    found: dict[str, Any] = json.loads(note.request)
    return found


def failed_targets(items: Sequence[RunItem]) -> list[str]:
    """Return what to add again so that the failed sources of a report are tried once more, each file once."""
    failed = [item.source.partition("#")[0] for item in items if item.state is ItemState.FAILED]
    return list(dict.fromkeys(failed))


def is_address(source: str) -> bool:
    """Say whether a source is one that can be added by itself."""
    return source.startswith(("file://", "http://", "https://", "s3://"))
