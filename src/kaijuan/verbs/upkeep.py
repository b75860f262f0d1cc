"""Verbs that keep a base well: the doctor, and removing so that it can be proved."""

from __future__ import annotations

import asyncio
import builtins
import shutil
from dataclasses import dataclass, replace

from kaijuan.core import arguments
from kaijuan.core.arguments import Targets
from kaijuan.core.documents import Version
from kaijuan.core.ids import VersionId
from kaijuan.errors import NotFoundError
from kaijuan.index.catalog import KnowledgeBase
from kaijuan.index.history import Dropped
from kaijuan.jobs.deep import Deep
from kaijuan.jobs.doctor import Check, DoctorReport, Patient, examine
from kaijuan.jobs.health import Health, health_of
from kaijuan.jobs.proof import Fingerprints, Proof, Ways, fingerprints, prove, traces_with
from kaijuan.jobs.report import RunReport
from kaijuan.jobs.retention import GcReport, former_places, purge
from kaijuan.verbs.holding import COMING
from kaijuan.verbs.runs import Running
from kaijuan.verbs.wiring import ProgressCallback


@dataclass(frozen=True, slots=True, kw_only=True)
class Removed:
    """What a removal with a proof did. `report` is None where nothing was live."""

    report: RunReport | None
    proof: Proof
    dropped: Dropped | None = None
    """Versions that left every snapshot, of a purge."""
    collected: GcReport | None = None


class Caring(Running):
    """A base that is well, and documents that are gone for good."""

    async def doctor(self, *, repair: bool = False, deep: bool = False) -> DoctorReport:
        """Look whether everything is well; with `repair`, roll back dead runs and mend the index first.

        `deep` also reads every stored text, original and cached vector, looks for what belongs to nothing, and makes a
        sample of vectors again; with `repair` it heals what can be healed.
        """
        kb = await self._kb()
        found: builtins.list[Check] = []
        if deep:
            # Before the index is mended: points are made from texts.
            found = await self._deep(kb, repair=repair)
        if repair and kb.head:
            await self._ingest().reconcile(kb)
            kb = await self._kb()
        patient = Patient(
            home=self.home,
            kb=kb,
            catalog=self.catalog,
            blobs=self.blobs,
            index=lambda: self._index(kb),
            embedder=(await self._model(kb)).embedder,
        )
        report = await examine(patient)
        return replace(report, checks=(*report.checks, *found))

    async def health(self) -> Health:
        """Say how soon changes are found, what waits, what failed and why, how large the base is, whether scores move.

        For who runs the base: what it tells of sources and requests is everybody's.
        """
        kb = await self._kb()
        return await health_of(self.catalog, kb, await self._index(kb), self.home, self._clock())

    async def _deep(self, kb: KnowledgeBase, *, repair: bool) -> builtins.list[Check]:
        ingest = self._ingest()
        if repair:
            # What dead runs left is no fault of its own.
            async with ingest.opened(kb):
                pass
        return await Deep(ingest=ingest, kb=kb, index=await self._index(kb), repair=repair).checks()

    async def remove_and_prove(self, words: Targets, *, progress: ProgressCallback | None = None) -> Removed:
        """Remove documents, then try every way to their words and ids; say what is left in earlier snapshots."""
        kb = await self._kb()
        versions = await self._all_meant(kb, words)
        known = await fingerprints(self.catalog, self.blobs, kb, versions)
        report = await self.remove(words, progress=progress)
        return Removed(report=report, proof=await self._proof(known, purged=False))

    async def purge(self, words: Targets, *, progress: ProgressCallback | None = None) -> Removed:
        """Remove documents from every snapshot, with points, blobs, saved requests, reports and reviews, and prove it.

        Words may also name documents that were removed before. Documents that are gone and held the same content go
        with them: the places where a document stood before it was moved. This cannot be undone.
        """
        kb = await self._kb()
        versions = await self._all_meant(kb, words, removed_too=True)
        versions += await former_places(self.catalog, kb, versions)
        known = await fingerprints(self.catalog, self.blobs, kb, versions)
        live = [version.id for version in versions if version.valid_from <= kb.head < version.valid_to]
        report = await self._ingest().remove(kb, live, progress=progress) if live else None
        waiting = {job.id for job in await self.catalog.jobs(kb.id)}
        dropped, collected = await purge(self._ingest(), await self._kb(), known.documents)
        # Files that were sent and wait for another try go with their job.
        for id in waiting - {job.id for job in await self.catalog.jobs(kb.id)}:
            await asyncio.to_thread(shutil.rmtree, self.home / COMING / id, ignore_errors=True)
        traces = traces_with(await self.catalog.trace_texts(kb.id), known)
        await self.catalog.drop_traces(kb.id, traces)
        await self.catalog.compact()
        self.written.forget(known.documents)
        proof = await self._proof(known, purged=True)
        return Removed(report=report, proof=proof, dropped=dropped, collected=collected)

    async def _proof(self, known: Fingerprints, *, purged: bool) -> Proof:
        kb = await self._kb()
        ways = Ways(
            home=self.home,
            kb=kb,
            catalog=self.catalog,
            blobs=self.blobs,
            index=await self._index(kb),
            embedder=(await self._model(kb)).embedder,
            keep_days=self.config.retention.keep_days,
            purged=purged,
        )
        return await prove(ways, known)

    async def _all_meant(
        self, kb: KnowledgeBase, words: Targets, *, removed_too: bool = False
    ) -> builtins.list[Version]:
        found: dict[VersionId, Version] = {}
        for word in arguments.targets(words):
            try:
                meant = await self._meant(kb, word)
            except NotFoundError:
                if not removed_too:
                    raise
                meant = await self._once_meant(kb, word)
            found.update({version.id: version for version in meant})
        return list(found.values())

    async def _once_meant(self, kb: KnowledgeBase, word: str) -> builtins.list[Version]:
        """Return the versions of documents that an earlier snapshot still shows under this word."""
        for snapshot in reversed(await self.catalog.snapshots(kb.id)):
            if found := await self._readable(kb, await self._named(kb, word, snapshot.number)):
                return found
        raise NotFoundError(
            f"No document of any snapshot that is kept is called {word!r}.", hint="`kaijuan list --as-of` shows them."
        )
