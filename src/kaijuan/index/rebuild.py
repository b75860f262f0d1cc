"""Index spaces of a knowledge base: opened for what they were built for, built anew beside the old, switched."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

from kaijuan.core.documents import Version
from kaijuan.core.filters import EVERYTHING
from kaijuan.core.ids import stable_id
from kaijuan.core.text.analyse import ANALYSER
from kaijuan.errors import CorruptStoreError, NotFoundError
from kaijuan.index.catalog import Catalog, KnowledgeBase
from kaijuan.index.ports import Embedder, Index, IndexStore, SpaceSpec
from kaijuan.index.write import IndexWriter, Skipped, write_versions

Told = Callable[[int, int], None]
"""Told how many of how many versions are written."""
_VERSIONS = 64
OPTIMISE_FROM = 10_000
"""Points from which optimising is worth a child process."""


def spec_of(name: str, embedder: Embedder) -> SpaceSpec:
    """Return what a space of that name must have been built for."""
    info = embedder.info
    return SpaceSpec(name=name, dimensions=info.dimensions, model=info.fingerprint, analyser=ANALYSER)


async def open_space(catalog: Catalog, store: IndexStore, kb: KnowledgeBase, embedder: Embedder) -> Index:
    """Open the space that serves a base, made now if nothing was ever published.

    CorruptStoreError when it should be there and is not; SpaceMismatchError when it is for another model.
    """
    name = kb.space or f"{kb.id}-g1"
    try:
        # An empty space in place of a lost one would answer every question with nothing.
        index = await store.open(spec_of(name, embedder), create=kb.head == 0)
    except NotFoundError as error:
        raise CorruptStoreError(f"The index of the knowledge base {kb.name!r} is gone.") from error
    if not kb.space:
        await catalog.set_space(kb.id, name)
    return index


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What to build anew, and where. `writer_of` gives the writer to a space."""

    kb: KnowledgeBase
    store: IndexStore
    embedder: Embedder
    writer_of: Callable[[Index], IndexWriter]


async def rebuild(plan: Plan, told: Told, skipped: Skipped) -> str:
    """Build a new space from every version kept, switch readers to it, drop the others. Return the new space's name.

    For the holder of the lease. Readers are never interrupted: the old space answers until the switch, and for
    `grace_seconds` after it. Dying anywhere leaves the base on one whole space. Versions whose text cannot be read
    are left out and told; CorruptStoreError when that is all of them, for then the blobs are gone and not damaged.
    """
    name = await _next_space(plan.store, plan.kb)
    index = await plan.store.open(spec_of(name, plan.embedder), create=True)
    try:
        writer = plan.writer_of(index)
        await _fill(writer, told, skipped)
        await index.flush()
    finally:
        await index.close()
    await writer.catalog.set_space(plan.kb.id, name)
    await asyncio.sleep(writer.settings.grace_seconds)
    models = await writer.catalog.spaces_of_models(plan.kb.id)
    await drop_others(plan.store, replace(plan.kb, space=name), {model.space for model in models})
    return name


async def _fill(writer: IndexWriter, told: Told, skipped: Skipped) -> None:
    versions = [version.id for version in await writer.catalog.all_versions(writer.kb.id)]
    lost = 0

    def leave_out(version: Version) -> None:
        nonlocal lost
        lost += 1
        skipped(version)

    for at in range(0, len(versions), _VERSIONS):
        await write_versions(writer, versions[at : at + _VERSIONS], leave_out)
        told(min(at + _VERSIONS, len(versions)), len(versions))
    if versions and lost == len(versions):
        # A folder that was moved or not mounted: switching to an empty index would throw the good one away.
        raise CorruptStoreError(
            f"None of the {lost} stored texts can be read; the index was left as it is.",
            hint="Check the folder `blobs` in the home folder, or restore it from a backup.",
        )
    await optimise_large(writer.index)


async def optimise_large(index: Index) -> None:
    """Optimise an index that was filled, if it is large enough for that to be worth a child process."""
    if await index.count(EVERYTHING) >= OPTIMISE_FROM:
        await index.optimise()


async def _next_space(store: IndexStore, kb: KnowledgeBase) -> str:
    numbers = [_generation(kb, name) for name in [*await store.spaces(), kb.space]]
    return f"{kb.id}-g{max((number for number in numbers if number is not None), default=0) + 1}"


def _generation(kb: KnowledgeBase, name: str) -> int | None:
    found = re.fullmatch(re.escape(kb.id) + r"-g(\d+)", name)
    return int(found[1]) if found else None


def model_space_name(kb: KnowledgeBase, *parts: str | int) -> str:
    """Return a name for the space of a model of a base, unlike those of rebuilds."""
    return f"{kb.id}-m{stable_id('space', *parts)[:8]}"


def _is_of(kb: KnowledgeBase, name: str) -> bool:
    return re.fullmatch(re.escape(kb.id) + r"-(g\d+|m[0-9a-f]{8})", name) is not None


async def drop_others(store: IndexStore, kb: KnowledgeBase, kept: Collection[str] = ()) -> list[str]:
    """Drop the spaces of a base that neither serve it nor belong to one of its models, left by a rebuild that died;
    return their names."""
    others = [name for name in await store.spaces() if _is_of(kb, name) and name != kb.space and name not in kept]
    for name in others:
        await store.drop(name)
    return others
