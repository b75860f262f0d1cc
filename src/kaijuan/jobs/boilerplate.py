"""Which paragraphs of a base are furniture, once a run has staged what it changes (spec B1).

A function of the documents that the snapshot will show and of nothing else: whatever the order in which they came, and
however often a run was broken off, the same paragraphs are decided. Only digests and signatures are read, no text.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from kaijuan.core.boilerplate import Boilerplate
from kaijuan.index.catalog import Catalog, Holders, Run
from kaijuan.ingest.clean.recurring import enough, kin
from kaijuan.jobs.settings import JobSettings


async def find_boilerplate(catalog: Catalog, run: Run, settings: JobSettings, now: float) -> int:
    """Decide which paragraphs the run's snapshot holds for furniture; return how many."""
    if not settings.find_boilerplate:
        await catalog.record_boilerplate(run, [])
        return 0
    held = await catalog.holders(run, settings.boilerplate_documents)
    found = await asyncio.to_thread(lambda: list(_decided(held, run, settings, now)))
    await catalog.record_boilerplate(run, found)
    return len(found)


def _decided(held: Holders, run: Run, settings: JobSettings, now: float) -> Iterator[Boilerplate]:
    least = enough(held.total, settings.boilerplate_documents, settings.boilerplate_share)
    likely = {digest: versions for digest, versions in held.versions.items() if len(versions) >= least}
    if not likely:
        return
    # Ten editions of one regulation are one witness.
    first = kin({version: held.signatures[version] for versions in likely.values() for version in versions})
    for digest, versions in sorted(likely.items()):
        witnesses = len({first[version] for version in versions})
        if witnesses >= least:
            yield Boilerplate(digest=digest, kb_id=run.kb_id, documents=witnesses, total=held.total, created_at=now)
