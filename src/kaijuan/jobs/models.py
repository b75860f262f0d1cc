"""Another embedding model for a base: its space is built beside the one that serves, from what is stored.

Building is mending an empty space: whatever is missing is written, so that a build that died goes on where it was. It
needs no lease, and runs go on meanwhile; only at its end the lease is held for a moment, in which the space is compared
with the catalog in full. From then on every run writes to it too.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace

from kaijuan.core.documents import Version
from kaijuan.core.filters import EVERYTHING
from kaijuan.errors import BusyError, KaijuanError, OverlongInputError, SpaceMismatchError, UsageError
from kaijuan.index.catalog import KnowledgeBase
from kaijuan.index.model_spaces import ModelSpace, SpaceState
from kaijuan.index.ports import Index, SpaceSpec
from kaijuan.index.rebuild import optimise_large, spec_of
from kaijuan.index.reconcile import catch_up, reconcile
from kaijuan.index.write import IndexWriter, Skipped, write_versions
from kaijuan.jobs.run import Ingest

Told = Callable[[int, int], None]
_GROUP = 64
_WAIT_SECONDS = 2.0


async def build(
    ingest: Ingest, kb: KnowledgeBase, row: ModelSpace, told: Told, skipped: Skipped = lambda _version: None
) -> ModelSpace:
    """Fill the space of a model and let it be ready; return how it stands. Again after a kill, it goes on.

    The row is in the catalog already, as one that is being built. Versions whose text cannot be read are left out and
    told, as by a rebuild.
    """
    spaces = ingest.spaces()
    model = spaces.model_of(row)
    index = await _opened(ingest, spec_of(row.space, model.embedder))
    try:
        writer = spaces.writer(kb, index, model)
        await _fill(ingest, writer, told, skipped)
        ingest.reached("fill")
        await optimise_large(index)
        await index.flush()
        ingest.reached("optimise")
        return await _finish(ingest, writer, row)
    except OverlongInputError as error:
        raise UsageError(
            f"The chunks are too long for the model {row.name!r}. {error.message}",
            hint="Cut smaller chunks first: chunk.max_tokens, then `kaijuan add`.",
        ) from error
    finally:
        await index.close()


async def _opened(ingest: Ingest, spec: SpaceSpec) -> Index:
    try:
        return await ingest.indexes.open(spec, create=True)
    except SpaceMismatchError:
        # The model or the analysis is another since: nothing in it can be kept, and it serves nobody.
        await ingest.indexes.drop(spec.name)
        return await ingest.indexes.open(spec, create=True)


async def _fill(ingest: Ingest, writer: IndexWriter, told: Told, skipped: Skipped) -> None:
    """Write the versions of which the space has nothing. What else is missing is found when it is compared."""
    there = await _known(writer.index)
    versions = [
        version for version in await ingest.catalog.all_versions(writer.kb.id) if version.valid_from <= writer.kb.head
    ]
    todo: list[Version] = [version for version in versions if version.id not in there]
    done = len(versions) - len(todo)
    told(done, len(versions))
    for at in range(0, len(todo), _GROUP):
        page = todo[at : at + _GROUP]
        await write_versions(writer, [version.id for version in page], skipped)
        ingest.reached("fill_group")
        told(done + at + len(page), len(versions))


async def _known(index: Index) -> set[str]:
    return {str(header.payload.get("version_id", "")) async for header in index.scan(EVERYTHING)}


async def _finish(ingest: Ingest, writer: IndexWriter, row: ModelSpace) -> ModelSpace:
    """Catch up with what was published meanwhile, and be ready, in a moment in which nobody publishes."""
    seen = -1
    while True:
        fresh = await ingest.catalog.kb(writer.kb.tenant, writer.kb.name)
        if fresh.head != seen:
            # Outside the lease, as far as it goes: the shorter others wait.
            await catch_up(replace(writer, kb=fresh), fresh.head)
            seen = fresh.head
        try:
            async with ingest.holding(fresh) as (held, _):
                await ingest.end_dead_runs(held)
                return await _ready(ingest, replace(writer, kb=held), row)
        except BusyError:
            await asyncio.sleep(_WAIT_SECONDS)


async def _ready(ingest: Ingest, writer: IndexWriter, row: ModelSpace) -> ModelSpace:
    await reconcile(writer)
    await writer.index.flush()
    ingest.reached("compared")
    known = {space.name: space for space in await ingest.catalog.spaces_of_models(writer.kb.id)}
    if row.name not in known or known[row.name].space != row.space:
        raise UsageError(f"The model {row.name!r} was retired while it was being built.")
    info = writer.embedder.info
    made = replace(
        known[row.name],
        state=SpaceState.READY,
        fingerprint=info.fingerprint,
        dimensions=info.dimensions,
        note="",
        changed_at=ingest.clock(),
    )
    await ingest.catalog.save_model_space(writer.kb.id, made)
    return made


async def retire(ingest: Ingest, kb: KnowledgeBase, row: ModelSpace) -> None:
    """Forget a model and drop its space. Readers that still ask in it are told that it is gone; UsageError while it
    serves."""
    async with ingest.holding(kb) as (fresh, _):
        # The row first: a space without one is found and dropped by `doctor`, a row without a space would be missed.
        await ingest.catalog.drop_model_space(fresh.id, row.name)
        ingest.reached("drop_model_space")
        await ingest.indexes.drop(row.space)


async def failed(ingest: Ingest, kb: KnowledgeBase, row: ModelSpace, error: KaijuanError) -> None:
    """Keep why a build ended."""
    await ingest.catalog.fall_behind(kb.id, row.space, error.message, now=ingest.clock())
