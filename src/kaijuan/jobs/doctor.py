"""Is everything well? Every check says what it looked at, and what to do when it is not."""

from __future__ import annotations

import shutil
import time
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kaijuan.core.documents import Version
from kaijuan.core.snapshots import OPEN
from kaijuan.errors import KaijuanError
from kaijuan.index.catalog import Catalog, KnowledgeBase
from kaijuan.index.ports import BlobStore, Embedder, Index
from kaijuan.index.reconcile import check
from kaijuan.jobs.owner import is_gone

LEAST_FREE_BYTES = 200 * 2**20
_NAMED = 5
"""Damaged documents named in one check; the rest is counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing that was looked at."""

    name: str
    ok: bool
    detail: str
    hint: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DoctorReport:
    """All checks, in the order in which they were made."""

    checks: tuple[Check, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return all(item.ok for item in self.checks)


@dataclass(frozen=True, slots=True, kw_only=True)
class Patient:
    """What is examined. `index` opens the index of the knowledge base, None when it has none yet."""

    home: Path
    kb: KnowledgeBase
    catalog: Catalog
    blobs: BlobStore
    index: Callable[[], Awaitable[Index | None]]
    embedder: Embedder
    clock: Callable[[], float] = time.time


async def examine(patient: Patient) -> DoctorReport:
    """Run every check. One that fails with an error is a finding like any other, never the end of the rest."""
    checks = []
    for name, look in CHECKS.items():
        try:
            checks.append(await look(patient, name))
        except KaijuanError as error:
            checks.append(Check(name=name, ok=False, detail=error.message, hint=error.hint))
    return DoctorReport(checks=tuple(checks))


async def _disk(patient: Patient, name: str) -> Check:
    free = shutil.disk_usage(patient.home).free
    return Check(
        name=name,
        ok=free >= LEAST_FREE_BYTES,
        detail=f"{free / 2**30:.1f} GiB free",
        hint="Free some space before adding documents.",
    )


async def _runs(patient: Patient, name: str) -> Check:
    catalog, kb = patient.catalog, patient.kb.id
    runs = await catalog.unfinished_runs(kb)
    if runs and await _at_work(patient):
        return Check(name=name, ok=True, detail=f"{len(runs)} under way")
    # Asked again: a run that ended since the first look gave its lease back, and was not dead.
    still = {run.id for run in await catalog.unfinished_runs(kb)}
    dead = sum(run.id in still for run in runs)
    return Check(
        name=name,
        ok=not dead,
        detail=f"{dead} unfinished",
        hint="Run `kaijuan doctor --repair`; nothing published is affected.",
    )


async def _at_work(patient: Patient) -> bool:
    """Say whether somebody lives who holds the lease, as every run does from before its beginning to its end."""
    lease = await patient.catalog.lease(patient.kb.id)
    return lease is not None and lease.expires_at > patient.clock() and not is_gone(lease.owner)


async def _index(patient: Patient, name: str) -> Check:
    index = await patient.index()
    if index is None:
        return Check(name=name, ok=patient.kb.head == 0, detail="not built yet", hint="Run `kaijuan rebuild`.")
    report = await check(patient.catalog, index, patient.kb)
    faults = ", ".join(f"{count} {fault}" for fault, count in report.faults.items())
    return Check(
        name=name,
        ok=report.problems == 0,
        detail=f"{report.points} points, {faults or 'all as the catalog says'}",
        hint="Run `kaijuan doctor --repair`, after adding documents with damaged blobs again.",
    )


async def _blobs(patient: Patient, name: str) -> Check:
    versions = await patient.catalog.all_versions(patient.kb.id)
    blobs = {blob for version in versions for blob in _blobs_of(version)}
    bad = {blob for blob in sorted(blobs) if not await _readable(patient.blobs, blob)}
    hurt = [version for version in versions if not bad.isdisjoint(_blobs_of(version))]
    return Check(
        name=name,
        ok=not bad,
        detail=f"{len(blobs)} blobs, {len(bad)} missing or damaged" + (f": {_named(hurt)}" if hurt else ""),
        hint="Add these documents again, or restore the folder `blobs` of the home folder from a backup.",
    )


def _blobs_of(version: Version) -> tuple[str, str]:
    return version.text_hash, version.original_hash


async def _readable(blobs: BlobStore, name: str) -> bool:
    try:
        await blobs.get(name)
    except KaijuanError:
        return False
    return True


def _named(hurt: Iterable[Version]) -> str:
    """Return the documents of these versions by source; one that is whole at head is said to have an old fault."""
    live: dict[str, bool] = {}
    for version in hurt:
        live[version.source] = live.get(version.source, False) or version.valid_to == OPEN
    # Those that readers miss now come first.
    names = sorted(live, key=lambda source: (not live[source], source))
    shown = [source if live[source] else f"{source} (an earlier version)" for source in names[:_NAMED]]
    more = len(names) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")


async def _embedder(patient: Patient, name: str) -> Check:
    vectors = await patient.embedder.embed_passages(["开卷有益。 Reading is rewarding."])
    length = float(np.linalg.norm(vectors[0]))
    info = patient.embedder.info
    return Check(
        name=name,
        ok=vectors.shape == (1, info.dimensions) and abs(length - 1) < 1e-3,
        detail=f"{info.name}, {vectors.shape[1]} dimensions",
        hint="Check the embedder's settings.",
    )


CHECKS: dict[str, Callable[[Patient, str], Awaitable[Check]]] = {
    "disk": _disk,
    "runs": _runs,
    "blobs": _blobs,
    "index": _index,
    "embedder": _embedder,
}
