"""Is everything well? Every check says what it looked at, and what to do when it is not."""

from __future__ import annotations

import shutil
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kaijuan.errors import KaijuanError
from kaijuan.index.catalog import Catalog, KnowledgeBase
from kaijuan.index.ports import BlobStore, Embedder, Index
from kaijuan.index.reconcile import check

LEAST_FREE_BYTES = 200 * 2**20


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
    runs = await patient.catalog.unfinished_runs(patient.kb.id)
    return Check(
        name=name,
        ok=not runs,
        detail=f"{len(runs)} unfinished",
        hint="If no other command is at work, run `kaijuan doctor --repair`; nothing published is affected.",
    )


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
        hint="Run `kaijuan doctor --repair`.",
    )


async def _blobs(patient: Patient, name: str) -> Check:
    names = set()
    for version in await patient.catalog.all_versions(patient.kb.id):
        names |= {version.text_hash, version.original_hash}
    bad = []
    for blob in sorted(names):
        try:
            await patient.blobs.get(blob)
        except KaijuanError:
            bad.append(blob)
    return Check(
        name=name,
        ok=not bad,
        detail=f"{len(names)} blobs, {len(bad)} missing or damaged",
        hint="Restore the home folder from a backup, or remove and add the documents again.",
    )


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
