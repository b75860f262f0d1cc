"""Verbs about work that waits: asked for now, done by a worker, whenever and in whatever process that runs."""

from __future__ import annotations

import asyncio
import builtins
import json
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from kaijuan.core import arguments
from kaijuan.core.arguments import Targets
from kaijuan.errors import NotFoundError, UsageError
from kaijuan.index.catalog_queue import Job
from kaijuan.ingest.opening import Narrowing
from kaijuan.jobs.queue import Done, Worker
from kaijuan.jobs.report import RunReport
from kaijuan.verbs.holding import COMING, UPLOADED, Holding, Upload
from kaijuan.verbs.runs import Running
from kaijuan.verbs.wiring import ProgressCallback, new_id, viewed

_SHORTEST_ID = 4
LOOK_SECONDS = 1.0
"""How often a worker with nothing to do looks whether something has come."""


class Queueing(Running, Holding):
    """Jobs of one base."""

    async def enqueue(
        self,
        targets: Targets,
        *,
        mirror: bool = False,
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
        depth: int | None = None,
        check_content: bool = False,
    ) -> builtins.list[Job]:
        """Let targets be taken in by a worker, a job each; the arguments are those of `add`.

        Asking for what waits already changes nothing. Jobs of one target are done in the order asked for.
        """
        wanted = arguments.targets(targets)
        if not wanted:
            raise UsageError("Nothing to add was named.", hint="Give a file, a folder or an address.")
        narrowing = Narrowing(include=arguments.patterns(include), exclude=arguments.patterns(exclude), depth=depth)
        for target in wanted:
            self._opener.open(target, narrowing)  # what cannot be is said now, and not to nobody later
        self._make_home()
        kb = await self.catalog.create_kb(self.tenant, self.kb_name, now=self._clock())
        kept = []
        for target in wanted:
            lasting = _lasting(target)
            request = {
                "verb": "add",
                "targets": [lasting],
                "mirror": mirror,
                "include": narrowing.include,
                "exclude": narrowing.exclude,
                "depth": depth,
                "check_content": check_content,
            }
            job = Job(id=new_id(), kb_id=kb.id, key=lasting, request=json.dumps(request), created_at=self._clock())
            kept.append(await self.catalog.enqueue(job))
        return kept

    async def jobs(self) -> builtins.list[Job]:
        """Return what waits, is under way, or was given up, in order; what is done is among the runs."""
        return await self.catalog.jobs((await self._kb()).id)

    async def work_off(
        self,
        *,
        forever: bool = False,
        told: Callable[[Done], None] = lambda _: None,
        progress: ProgressCallback | None = None,
    ) -> builtins.list[Done]:
        """Do what waits, one job after the other; `forever` waits for more, and tells of each without keeping it.

        Several workers may do this at once, in any number of processes. One that dies leaves its job to the others.
        """
        worker = await self._worker(progress)
        came: builtins.list[Done] = []
        while True:
            done = await worker.one()
            if done is not None:
                await self._clear_away(done)
                told(done)
                if not forever:
                    came.append(done)
            elif forever:
                await asyncio.sleep(LOOK_SECONDS)
            else:
                return came

    async def enqueue_upload(self, id: str, paths: Mapping[str, str], *, by: str) -> Job:
        """Let files be taken in that lie in the folder `id` of `coming`, as one snapshot; they go when it is done.

        `paths` has the name that each file of the folder was sent under. They are taken in with the rights of this
        view, whoever does the work and whenever.
        """
        kb = await self.make_base()
        key = UPLOADED + next(iter(paths.values())) if len(paths) == 1 else f"{UPLOADED} {id}"
        request = {
            "verb": "upload",
            "folder": id,
            "paths": dict(paths),
            "by": by,
            "principals": sorted(self._principals),
            "actor": self.actor,
        }
        job = Job(id=id, kb_id=kb.id, key=key, request=json.dumps(request), created_at=self._clock())
        return await self.catalog.enqueue(job)

    async def work_on(self, id: str, *, progress: ProgressCallback | None = None) -> Done | None:
        """Do one job if it may be done now; None where it may not, or is not there any more."""
        done = await (await self._worker(progress)).one(id)
        if done is not None:
            await self._clear_away(done)
        return done

    @property
    def coming(self) -> Path:
        """The folder of files that were sent and wait to be taken in."""
        return self.home / COMING

    async def _worker(self, progress: ProgressCallback | None) -> Worker:
        kb = await self._kb()
        return Worker(
            catalog=self.catalog,
            kb=kb.id,
            perform=lambda request: self._perform(request, progress),
            settings=self.config.queue,
            clock=self._clock,
        )

    async def _perform(self, request: Mapping[str, Any], progress: ProgressCallback | None) -> RunReport:
        if request.get("verb") != "upload":
            return await self._asked_again(request, progress)
        folder = self.coming / str(request["folder"])
        files = [Upload(path=path, file=folder / name) for name, path in request["paths"].items()]
        sender = viewed(self, principals=request["principals"], actor=request["actor"])
        return await sender.upload(files, progress=progress, request=json.dumps(request))

    async def _clear_away(self, done: Done) -> None:
        """Remove the files of an upload that is in the base. Of one that was given up they wait for another try."""
        request = json.loads(done.job.request)
        if request.get("verb") == "upload" and not done.error:
            await asyncio.to_thread(shutil.rmtree, self.coming / str(request["folder"]), ignore_errors=True)

    async def revive_job(self, word: str) -> Job:
        """Let a job be done now that was given up or waits for its time."""
        job = await self._job(word)
        await self.catalog.revive(job.id, now=self._clock())
        return await self._job(job.id)

    async def drop_job(self, word: str) -> Job:
        """Forget a job; BusyError while it is being done."""
        job = await self._job(word)
        await self.catalog.drop(job.id)
        if (self.coming / job.id).is_dir():
            await asyncio.to_thread(shutil.rmtree, self.coming / job.id, ignore_errors=True)
        return job

    async def _job(self, word: str) -> Job:
        if len(word) < _SHORTEST_ID:
            raise UsageError(f"{word!r} is too short.", hint=f"Give at least {_SHORTEST_ID} characters of the id.")
        found = [job for job in await self.jobs() if job.id.startswith(word)]
        if len(found) != 1:
            raise NotFoundError(
                f"{len(found) or 'No'} jobs begin with {word!r}.", hint="`kaijuan queue list` shows what waits."
            )
        return found[0]


def _lasting(target: str) -> str:
    """Return a target that means the same in any folder."""
    return os.path.abspath(target) if os.path.lexists(target) else target
