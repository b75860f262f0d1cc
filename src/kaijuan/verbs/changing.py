"""Verbs that publish: add, sync, remove, rebuild."""

from __future__ import annotations

import builtins
import json
import os
from collections.abc import Mapping, Sequence
from functools import partial

from kaijuan.core import arguments
from kaijuan.core.arguments import Targets
from kaijuan.core.ids import VersionId, stable_id
from kaijuan.errors import UsageError
from kaijuan.ingest.opening import Narrowing, Opened, walk_all
from kaijuan.jobs.notebook import Notebook
from kaijuan.jobs.report import RebuildReport
from kaijuan.jobs.run import Progress, RunReport, Stage
from kaijuan.verbs.guarding import open_to
from kaijuan.verbs.wiring import ProgressCallback, Wired, pipeline_fingerprint


class Changing(Wired):
    """Documents come, change and go."""

    async def add(
        self,
        targets: Targets,
        *,
        mirror: bool = False,
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
        depth: int | None = None,
        check_content: bool = False,
        progress: ProgressCallback | None = None,
    ) -> RunReport:
        """Take in files, folders, addresses and named sources, one or several; a long run publishes on the way.

        What fails is named in the report, the run goes on. `include` and `exclude` are patterns as in .gitignore,
        `depth` is how many links of a page are followed. With `mirror`, documents that have gone from the one folder
        given, or that the patterns leave out, are removed. What looks from outside (size and times, ETag) as it did
        when it was taken in is not read, unless `check_content` asks for it.
        """
        wanted = arguments.targets(targets)
        if not wanted:
            raise UsageError("Nothing to add was named.", hint="Give a file, a folder or an address.")
        if mirror and len(wanted) != 1:
            raise UsageError("Mirroring takes exactly one folder.", hint="Call it once for each folder.")
        narrowing = Narrowing(include=arguments.patterns(include), exclude=arguments.patterns(exclude), depth=depth)
        opened = [self._opener.open(target, narrowing) for target in wanted]
        scope = opened[0].scope if mirror else None
        if scope is not None and not scope.endswith(("/", "#")):
            raise UsageError(
                f"{wanted[0]} is not a folder.", hint="Mirroring takes one folder or corpus, or a site with a depth."
            )
        self._make_home()
        kb = await self.catalog.create_kb(self.tenant, self.kb_name, now=self._clock())
        ingest = self._ingest()
        marks = stable_id(
            "marks", pipeline_fingerprint(self.config, self.embedder), self.config.ingest.model_dump_json()
        )
        notebook = await Notebook.opened(self.catalog, kb.id, marks, forgetful=check_content)
        for one in opened:
            one.remember(notebook)
        asked = {
            "targets": _lasting(wanted),
            "mirror": mirror,
            "include": narrowing.include,
            "exclude": narrowing.exclude,
        }
        return await ingest.add(
            kb,
            open_to(walk_all(opened), self.catalog, kb.id, self._principals),
            mirror_scope=scope,
            progress=progress,
            notebook=notebook,
            request=json.dumps({"verb": "add", **asked, "depth": depth, "check_content": check_content}),
            expected=partial(_expected, opened),
        )

    async def sync(self, names: Targets = (), *, progress: ProgressCallback | None = None) -> Mapping[str, RunReport]:
        """Bring named sources of the configuration up to date, all by default, each as a run of its own.

        What has gone from a source is removed, where it is more than one document.
        """
        wanted = arguments.targets(names) or list(self.config.sources)
        if not wanted:
            raise UsageError("No source has a name.", hint="Give them names in the configuration: [sources.NAME].")
        scopes = {name: self._opener.open(f"{name.removesuffix(':')}:").scope for name in wanted}
        return {
            name: await self.add(f"{name.removesuffix(':')}:", mirror=scope.endswith(("/", "#")), progress=progress)
            for name, scope in scopes.items()
        }

    async def remove(self, words: Targets, *, progress: ProgressCallback | None = None) -> RunReport:
        """Remove documents by source, id, file name or folder, as one published snapshot. All or none."""
        kb = await self._kb()
        found: dict[VersionId, None] = {}
        for word in arguments.targets(words):
            found.update(dict.fromkeys(version.id for version in await self._meant(kb, word)))
        request = json.dumps({"verb": "remove", "words": arguments.targets(words)})
        return await self._ingest().remove(kb, list(found), progress=progress, request=request)

    async def rebuild(self, *, progress: ProgressCallback | None = None) -> RebuildReport:
        """Build the index anew from the catalog, beside the one that serves readers, and switch."""

        def told(done: int, total: int) -> None:
            if progress is not None:
                progress(
                    Progress(stage=Stage.INDEXING, done=done, total=total, failed=0, source="", chunks=0, indexed=0)
                )

        lost: builtins.list[str] = []
        kb = await self._ingest().rebuild(await self._kb(), told, lambda version: lost.append(version.source))
        return RebuildReport(space=kb.space, unreadable=tuple(lost))


def _lasting(targets: Sequence[str]) -> builtins.list[str]:
    """Return targets that mean the same in any folder."""
    return [os.path.abspath(target) if os.path.lexists(target) else target for target in targets]


def _expected(opened: Sequence[Opened]) -> int | None:
    """Return how many documents there are about under all targets; None where nobody knows."""
    counts = [one.expected() for one in opened]
    return None if None in counts else sum(count or 0 for count in counts)
