"""How a base is doing: how soon changes are found, what waits, what fails and why, its size, whether scores move.

Everything is told from what is stored already; nothing is counted in processes, so that any of them can say it.
"""

from __future__ import annotations

import asyncio
import json
import math
import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import unquote, urlsplit

from kaijuan.core.filters import EVERYTHING, at_snapshot
from kaijuan.core.reviews import ReviewState
from kaijuan.index.catalog import Catalog, ItemState, KnowledgeBase, Run, RunState, StoredTrace
from kaijuan.index.ports import Index
from kaijuan.jobs.owner import is_gone

IsThere = Callable[[str], bool]
"""Whether there is a file or folder at a path."""
_RUNS = 200
_FRESH_RUNS = 50
_TRACES = 2000
_LEAST = 30
"""Requests on either side from which distributions are compared."""
_RECENT = 4
"""The newest of so many parts of the requests is compared with the others."""
_SURE = 0.001


@dataclass(frozen=True, slots=True, kw_only=True)
class Freshness:
    """How long from the beginning of a run, which sees the change, until readers find it. Newest published runs."""

    runs: int
    seconds_p50: float | None
    seconds_p95: float | None
    seconds_max: float | None
    published_ago: float | None
    """Seconds since the newest snapshot."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Queue:
    """What waits."""

    running: int
    oldest_seconds: float | None
    """Since when the oldest run that is under way runs."""
    stalled: int
    """Runs whose process has ended; the next one goes on with it, or undoes it."""
    documents: int | None
    """Documents that the runs under way still have before them; None where nobody knows."""
    reviews: int
    """Documents that wait for somebody's decision."""
    oldest_review_seconds: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """One reason why sources fail, by the newest runs: of what was taken in since, or is gone, nothing is told."""

    code: str
    sources: int
    last_at: float
    example: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """How large things are."""

    points: int
    points_shown: int
    """Of these, what the newest snapshot shows; the others belong to earlier ones."""
    spaces: Mapping[str, int] = field(default_factory=dict)
    """Bytes on disk by index space of this base."""
    catalog: int = 0
    blobs: int = 0
    cache: int = 0
    """Bytes of the whole home."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """Whether the scores of the newest requests are like those before (two-sample Kolmogorov-Smirnov)."""

    measure: str
    recent: int
    before: int
    recent_quartiles: tuple[float, float, float]
    before_quartiles: tuple[float, float, float]
    distance: float
    """Largest difference of the two distributions, 0 to 1."""
    p_value: float
    moved: bool
    """Whether that is too much for chance (p below 0.001)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """A base as who runs it looks at it."""

    freshness: Freshness
    queue: Queue
    failures: tuple[Cause, ...]
    sizes: Sizes
    drift: tuple[Drift, ...]
    """Nothing where too few requests were kept."""
    refused: Mapping[str, float] = field(default_factory=dict)
    """Share of the requests that were not answered: `recent` and `before`."""


async def health_of(
    catalog: Catalog,
    kb: KnowledgeBase,
    index: Index | None,
    home: Path,
    now: float,
    *,
    is_there: IsThere = os.path.lexists,
) -> Health:
    """Return how a base is doing."""
    runs = await catalog.runs(kb.id, limit=_RUNS)
    traces = await catalog.traces(kb.id, limit=_TRACES)
    snapshots = await catalog.snapshots(kb.id)
    return Health(
        freshness=_freshness(runs, snapshots[-1].created_at if snapshots else None, now),
        queue=await _queue(catalog, kb, runs, now),
        failures=await _failures(catalog, runs, is_there),
        sizes=await _sizes(kb, index, home),
        drift=tuple(_drifts(traces)),
        refused=_refused(traces),
    )


def _freshness(runs: Sequence[Run], published: float | None, now: float) -> Freshness:
    done = [run for run in runs if run.state is RunState.PUBLISHED and run.finished_at is not None][:_FRESH_RUNS]
    seconds = sorted(max(0.0, (run.finished_at or 0.0) - run.started_at) for run in done)
    return Freshness(
        runs=len(seconds),
        seconds_p50=_at(seconds, 0.5),
        seconds_p95=_at(seconds, 0.95),
        seconds_max=_at(seconds, 1.0),
        published_ago=None if published is None else max(0.0, now - published),
    )


def _at(ordered: Sequence[float], share: float) -> float | None:
    return round(ordered[min(len(ordered) - 1, int(share * len(ordered)))], 3) if ordered else None


async def _queue(catalog: Catalog, kb: KnowledgeBase, runs: Sequence[Run], now: float) -> Queue:
    running = [run for run in runs if run.state is RunState.RUNNING]
    lease = await catalog.lease(kb.id)
    at_work = lease is not None and lease.expires_at > now and not is_gone(lease.owner)
    notes = await catalog.run_notes([run.id for run in running])
    left = [_left(note.progress) for note in notes.values()]
    reviews = await catalog.reviews(kb.id, [ReviewState.PENDING])
    return Queue(
        running=len(running) if at_work else 0,
        oldest_seconds=max((now - run.started_at for run in running), default=None) if at_work else None,
        stalled=0 if at_work else len(running),
        documents=None if None in left else sum(one or 0 for one in left),
        reviews=len(reviews),
        oldest_review_seconds=max((now - review.created_at for review in reviews), default=None),
    )


def _left(progress: str) -> int | None:
    told = json.loads(progress) if progress else {}
    total, done = told.get("total"), told.get("done", 0)
    return max(0, int(total) - int(done)) if total is not None else None


async def _failures(catalog: Catalog, runs: Sequence[Run], is_there: IsThere) -> tuple[Cause, ...]:
    counts = await catalog.item_counts([run.id for run in runs])
    oldest = max((at for at, run in enumerate(runs) if counts.get(run.id, {}).get(ItemState.FAILED.value)), default=-1)
    sources: dict[str, dict[str, None]] = {}
    told: dict[str, tuple[float, str, str]] = {}
    settled: set[str] = set()
    for run in runs[: oldest + 1]:  # the newest first: the last word about a source counts
        items = [item for item in await catalog.items(run.id) if item.source not in settled]
        settled.update(item.source for item in items)
        failed = [item for item in items if item.state is ItemState.FAILED]
        gone = await asyncio.to_thread(_gone, [item.source for item in failed], is_there)
        for item in failed:
            if item.source not in gone:
                sources.setdefault(item.code, {})[item.source] = None
                told.setdefault(item.code, (run.started_at, item.source, item.message))
    causes = [
        Cause(code=code, sources=len(names), last_at=told[code][0], example=told[code][1], message=told[code][2])
        for code, names in sources.items()
    ]
    return tuple(sorted(causes, key=lambda cause: (-cause.sources, cause.code)))


def _gone(sources: Sequence[str], is_there: IsThere) -> set[str]:
    """Return those sources whose file is no longer there: nobody has to mend what is gone."""
    files = {source: urlsplit(source) for source in sources}
    return {
        source
        for source, parts in files.items()
        if parts.scheme == "file" and not is_there(unquote(parts.path, errors="surrogateescape"))
    }


async def _sizes(kb: KnowledgeBase, index: Index | None, home: Path) -> Sizes:
    found = await asyncio.to_thread(_disk, kb, home)
    if index is None:
        return found
    shown = await index.count(at_snapshot(kb.head))
    return replace(found, points=await index.count(EVERYTHING), points_shown=shown)


def _disk(kb: KnowledgeBase, home: Path) -> Sizes:
    folder = home / "index"
    places = sorted(folder.iterdir()) if folder.is_dir() else []
    mine = [place for place in places if place.is_dir() and place.name.startswith(f"{kb.id}-")]
    return Sizes(
        points=0,
        points_shown=0,
        spaces={place.name: bytes_of(place) for place in mine},
        catalog=sum(bytes_of(place) for place in home.glob("catalog.db*")),
        blobs=bytes_of(home / "blobs"),
        cache=bytes_of(home / "cache"),
    )


def bytes_of(place: Path) -> int:
    """Return the bytes that a file or folder takes on the disk; what goes away meanwhile counts nothing."""
    total = 0
    try:
        if not place.is_dir():
            return place.lstat().st_blocks * 512
        for entry in os.scandir(place):
            total += bytes_of(Path(entry.path)) if entry.is_dir(follow_symlinks=False) else _blocks(entry)
    except OSError:
        return total
    return total


def _blocks(entry: os.DirEntry[str]) -> int:
    try:
        return entry.stat(follow_symlinks=False).st_blocks * 512
    except OSError:
        return 0


# --- scores ----------------------------------------------------------------------------------------------------------


def _drifts(traces: Sequence[StoredTrace]) -> list[Drift]:
    """Compare the best score of each kind in the newest requests with those before; `traces` are the newest first."""
    found = []
    for measure in ("dense", "lexical", "relevance"):
        values = [value for trace in traces if (value := _best(trace.body, measure)) is not None]
        if (made := drift(measure, values)) is not None:
            found.append(made)
    return found


def _best(body: Mapping[str, object], measure: str) -> float | None:
    listed = body.get("candidates")
    if not isinstance(listed, list):
        return None
    values = []
    for one in listed:
        routes = one.get("routes", {})
        value = one.get("relevance") if measure == "relevance" else routes.get(measure, {}).get("score")
        if isinstance(value, int | float):
            values.append(float(value))
    return max(values, default=None)


def drift(measure: str, newest_first: Sequence[float]) -> Drift | None:
    """Compare the newest values with the others; None where there are too few."""
    part = max(_LEAST, len(newest_first) // _RECENT)
    recent, before = sorted(newest_first[:part]), sorted(newest_first[part:])
    if len(recent) < _LEAST or len(before) < _LEAST:
        return None
    distance = kolmogorov_smirnov(recent, before)
    p_value = _chance(distance, len(recent), len(before))
    return Drift(
        measure=measure,
        recent=len(recent),
        before=len(before),
        recent_quartiles=_quartiles(recent),
        before_quartiles=_quartiles(before),
        distance=round(distance, 4),
        p_value=round(p_value, 6),
        moved=p_value < _SURE,
    )


def _quartiles(ordered: Sequence[float]) -> tuple[float, float, float]:
    first, middle, last = (round(ordered[int(share * (len(ordered) - 1))], 4) for share in (0.25, 0.5, 0.75))
    return first, middle, last


def kolmogorov_smirnov(one: Sequence[float], other: Sequence[float]) -> float:
    """Return the largest difference of the distributions of two sorted samples."""
    at = [0, 0]
    largest = 0.0
    for value in sorted({*one, *other}):
        for place, sample in enumerate((one, other)):
            while at[place] < len(sample) and sample[at[place]] <= value:
                at[place] += 1
        largest = max(largest, abs(at[0] / len(one) - at[1] / len(other)))
    return largest


def _chance(distance: float, one: int, other: int) -> float:
    """Return how likely such a distance is for two samples of one distribution (Stephens, 1970; asymptotic)."""
    size = math.sqrt(one * other / (one + other))
    scaled = (size + 0.12 + 0.11 / size) * distance
    if scaled < 0.2:
        return 1.0
    total = 2 * sum((1 if at % 2 else -1) * math.exp(-2 * (at * scaled) ** 2) for at in range(1, 101))
    return min(1.0, max(0.0, total))


def _refused(traces: Sequence[StoredTrace]) -> Mapping[str, float]:
    states = [str(trace.body.get("status", "")) for trace in traces if trace.body.get("status")]
    part = max(_LEAST, len(states) // _RECENT)
    shares = {}
    for name, some in (("recent", states[:part]), ("before", states[part:])):
        if len(some) >= _LEAST:
            shares[name] = round(Counter(some)["refused"] / len(some), 4)
    return shares
