"""Verbs that go on: a folder watched, named sources brought up to date by their schedules."""

from __future__ import annotations

import asyncio
import builtins
import os
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from kaijuan import telemetry
from kaijuan.core import arguments
from kaijuan.core.arguments import Targets
from kaijuan.errors import BusyError, KaijuanError, MissingExtraError, UsageError
from kaijuan.ingest.sources.files import is_junk
from kaijuan.jobs.report import RunReport
from kaijuan.jobs.schedules import next_time
from kaijuan.verbs.upkeep import Caring
from kaijuan.verbs.wiring import ProgressCallback

BUSY_SECONDS = 5.0
"""How long a watcher waits before it tries again where somebody else is writing."""
_SLICE = 30.0
"""Longest sleep at once: the clock may be set, and a machine may sleep."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """What a watcher did, told after every run."""

    name: str
    """The folder, or the name of the source."""
    why: str
    """start, change, sweep or schedule."""
    report: RunReport | None = None
    error: KaijuanError | None = None


Told = Callable[[Heard], None]


class Watching(Caring):
    """Runs that start by themselves. Both verbs go on until they are cancelled."""

    async def watch(
        self,
        folders: Targets,
        *,
        told: Told,
        quiet_seconds: float = 1.6,
        sweep_seconds: float = 300.0,
        progress: ProgressCallback | None = None,
    ) -> None:
        """Mirror folders now and after every change in them, once it has been quiet; every now and then all the same,
        for what the system did not tell. What fails is told and tried again with the next change or sweep."""
        roots = [_real(folder) for folder in arguments.targets(folders)]
        if not roots:
            raise UsageError("No folder to watch was named.")
        for root in roots:
            if not await asyncio.to_thread(os.path.isdir, root):
                raise UsageError(f"{root} is not a folder.", hint="Watch a folder; `kaijuan add` takes single files.")
        for root in roots:
            await self._mirror(root, "start", told, progress)
        async for changed in self._changes(roots, quiet_seconds, sweep_seconds):
            # An empty set is the sweep's.
            for root in roots:
                if not changed or any(_is_below(path, root) for path in changed):
                    await self._mirror(root, "change" if changed else "sweep", told, progress)

    async def _mirror(self, root: str, why: str, told: Told, progress: ProgressCallback | None) -> None:
        while True:
            try:
                report = await self.add([root], mirror=True, progress=progress)
            except BusyError as error:
                telemetry.event("watch.busy", folder=root, message=error.message)
                await asyncio.sleep(BUSY_SECONDS)
                continue
            except KaijuanError as error:
                told(Heard(name=root, why=why, error=error))
                return
            told(Heard(name=root, why=why, report=report))
            return

    async def _changes(self, roots: builtins.list[str], quiet: float, sweep: float) -> AsyncIterator[frozenset[str]]:
        try:
            from watchfiles import awatch  # late: only watching needs it
        except ImportError as error:  # pragma: no cover - part of the default installation
            raise MissingExtraError("Watching needs the package watchfiles.", hint="pip install watchfiles") from error
        home = str(self.home)

        def counts(_change: object, path: str) -> bool:
            # Our own files change with every run; a home inside the folder would wake the watcher for ever.
            below = next((path[len(root) :] for root in roots if _is_below(path, root)), path)
            return not _is_below(path, home) and not any(is_junk(part) for part in Path(below).parts if part != "/")

        async for found in awatch(
            *roots,
            watch_filter=counts,
            debounce=max(50, round(quiet * 1000)),
            step=max(50, min(500, round(quiet * 500))),
            rust_timeout=max(1000, round(sweep * 1000)),
            yield_on_timeout=True,
            raise_interrupt=False,
        ):
            yield frozenset(path for _, path in found)

    async def keep_in_sync(self, names: Targets = (), *, told: Told, progress: ProgressCallback | None = None) -> None:
        """Bring named sources up to date whenever their `schedule` says so; all that have one by default."""
        given = [name.removesuffix(":") for name in arguments.targets(names)]
        known = self.config.sources
        schedules = {name: known[name].schedule for name in given or known if name in known and known[name].schedule}
        if not schedules or set(given) - set(schedules):
            named = ", ".join(sorted(set(given) - set(schedules))) or "No source"
            raise UsageError(f"{named} has no schedule.", hint='Give it one: schedule = "0 3 * * *".')
        due = {name: next_time(schedule, self._clock()) for name, schedule in schedules.items()}
        while True:
            name = min(due, key=lambda one: due[one])
            await self._until(due[name])
            await self._sync_one(name, told, progress)
            due[name] = next_time(schedules[name], max(self._clock(), due[name]))

    async def _until(self, moment: float) -> None:
        while (left := moment - self._clock()) > 0:
            telemetry.event("sync.waiting", until=datetime.fromtimestamp(moment).astimezone().isoformat())
            await asyncio.sleep(min(left, _SLICE))

    async def _sync_one(self, name: str, told: Told, progress: ProgressCallback | None) -> None:
        try:
            report = (await self.sync([name], progress=progress))[name]
        except KaijuanError as error:
            # A source that is away tonight may be there tomorrow.
            told(Heard(name=name, why="schedule", error=error))
        else:
            told(Heard(name=name, why="schedule", report=report))


def _real(folder: str) -> str:
    return os.path.realpath(os.path.expanduser(folder))


def _is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")
