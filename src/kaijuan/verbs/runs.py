"""Verbs about runs: watched, cancelled, asked for again."""

from __future__ import annotations

import builtins
from collections.abc import Mapping
from typing import Any

from kaijuan.errors import UsageError
from kaijuan.index.catalog import RunItem, RunState
from kaijuan.jobs.report import RunReport
from kaijuan.jobs.run_views import RunView, failed_targets, is_address, named, request_of, views
from kaijuan.verbs.changing import Changing
from kaijuan.verbs.wiring import ProgressCallback


class Running(Changing):
    """Runs of this and of other processes."""

    async def run_views(self, *, limit: int = 20) -> builtins.list[RunView]:
        """Return the newest runs with how far they are, newest first."""
        return await views(self.catalog, await self._kb(), self._clock(), limit=limit)

    async def run_view(self, word: str) -> tuple[RunView, builtins.list[RunItem]]:
        """Return one run, and the lines of its report about documents that may be read.

        `word` is the id, its beginning, or "last".
        """
        kb = await self._kb()
        run = await named(self.catalog, kb, word)
        found = await views(self.catalog, kb, self._clock(), limit=1_000_000)
        items = await self.catalog.items(run.id)
        readers = await self.catalog.readers_of(kb.id, {item.source for item in items})
        shown = [item for item in items if readers[item.source] & self._principals]
        return next(view for view in found if view.run.id == run.id), shown

    async def cancel_run(self, word: str = "", *, by: str = "") -> RunView:
        """Stop a run that is under way (the one there is, by default); what it published before stays.

        A run whose process has ended is undone at once.
        """
        kb = await self._kb()
        running = await self.catalog.unfinished_runs(kb.id)
        if not running:
            raise UsageError("No run is under way.", hint="`kaijuan runs list` shows the newest.")
        run = await named(self.catalog, kb, word) if word else running[-1]
        await self.catalog.cancel_run(run.id, by or "somebody")
        view = next(one for one in await views(self.catalog, kb, self._clock(), limit=1000) if one.run.id == run.id)
        if not view.worker:
            async with self._ingest().holding(kb) as (fresh, _):
                await self._ingest().end_dead_runs(fresh, reason=f"It was cancelled by {by or 'somebody'}.")
            view = next(one for one in await views(self.catalog, kb, self._clock(), limit=1000) if one.run.id == run.id)
        return view

    async def resume_run(self, word: str, *, progress: ProgressCallback | None = None) -> RunReport:
        """Ask again for what a run was asked for. What it had published, and what did not change, is not done again."""
        kb = await self._kb()
        run = await named(self.catalog, kb, word)
        if run.state is RunState.RUNNING and any(
            one.worker for one in await views(self.catalog, kb, self._clock(), limit=1000) if one.run.id == run.id
        ):
            raise UsageError(f"Run {run.id[:8]} is under way.", hint="`kaijuan runs show` says how far it is.")
        return await self._asked_again(await request_of(self.catalog, run), progress)

    async def retry_failed(self, word: str, *, progress: ProgressCallback | None = None) -> RunReport:
        """Try the sources again that failed in a run; the whole of it where they cannot be asked for one by one."""
        kb = await self._kb()
        run = await named(self.catalog, kb, word)
        targets = failed_targets(await self.catalog.items(run.id))
        if not targets:
            raise UsageError(f"Nothing failed in run {run.id[:8]}.")
        if all(is_address(target) for target in targets):
            return await self.add(targets, check_content=True, progress=progress)
        return await self._asked_again(await request_of(self.catalog, run), progress)

    async def _asked_again(self, request: Mapping[str, Any], progress: ProgressCallback | None) -> RunReport:
        if request.get("verb") == "add":
            return await self.add(
                request["targets"],
                mirror=bool(request["mirror"]),
                include=tuple(request["include"]),
                exclude=tuple(request["exclude"]),
                depth=request["depth"],
                check_content=bool(request.get("check_content")),
                progress=progress,
            )
        if request.get("verb") == "remove":
            return await self.remove(request["words"], progress=progress)
        raise UsageError(f"A run of the kind {request.get('verb')!r} cannot be asked for again.")
