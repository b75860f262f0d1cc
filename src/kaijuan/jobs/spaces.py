"""The index spaces of a base: the one that serves readers, and those of other models, which follow it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace

from kaijuan import telemetry
from kaijuan.core.ids import KbId
from kaijuan.errors import KaijuanError
from kaijuan.index.catalog import Catalog, KnowledgeBase
from kaijuan.index.model_spaces import ModelSpace
from kaijuan.index.ports import BlobStore, Embedder, Index, IndexStore
from kaijuan.index.rebuild import open_space, spec_of
from kaijuan.index.settings import IndexSettings
from kaijuan.index.write import Beside, IndexWriter


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """A model that is ready to be asked, with how chunks become points for it."""

    embedder: Embedder
    settings: IndexSettings
    measured: bool = True
    """Whether the tokens that chunks were measured in are this model's."""


ModelOf = Callable[[ModelSpace | None], Model]
"""Gives the model of a space; None stands for the one of the settings."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spaces:
    """Opens the spaces of a base, each for its own model, so that vectors of two models never meet."""

    catalog: Catalog
    blobs: BlobStore
    indexes: IndexStore
    model_of: ModelOf
    clock: Callable[[], float]

    async def serving(self, kb: KnowledgeBase) -> Model:
        """Return the model whose space serves readers."""
        rows = await self.catalog.spaces_of_models(kb.id)
        return self.model_of(next((row for row in rows if row.space == kb.space), None))

    async def open_serving(self, kb: KnowledgeBase) -> Index:
        """Open the space that serves readers."""
        return await open_space(self.catalog, self.indexes, kb, (await self.serving(kb)).embedder)

    @asynccontextmanager
    async def opened(self, kb: KnowledgeBase) -> AsyncIterator[IndexWriter]:
        """Open the space that serves readers and those that follow it. For the holder of the lease."""
        rows = await self.catalog.spaces_of_models(kb.id)
        async with AsyncExitStack() as stack:
            model = await self.serving(kb)
            index = await open_space(self.catalog, self.indexes, kb, model.embedder)
            stack.push_async_callback(index.close)
            beside = []
            for row in rows:
                if row.is_followed and row.space != kb.space:
                    side = await self._beside(kb, row)
                    if side is not None:
                        stack.push_async_callback(side.writer.index.close)
                        beside.append(side)
            yield self.writer(kb, index, model, beside)

    def writer(self, kb: KnowledgeBase, index: Index, model: Model, beside: Sequence[Beside] = ()) -> IndexWriter:
        """Return what writes the points of a base to one of its spaces."""
        return IndexWriter(
            kb=kb,
            catalog=self.catalog,
            blobs=self.blobs,
            embedder=model.embedder,
            index=index,
            settings=model.settings,
            measured=model.measured,
            beside=list(beside),
        )

    async def renewed(self, kb: KbId, space: str, model: Model) -> None:
        """Keep which version of its model a space was built anew for."""
        info = model.embedder.info
        for row in await self.catalog.spaces_of_models(kb):
            if row.space == space and row.fingerprint != info.fingerprint:
                made = replace(row, fingerprint=info.fingerprint, dimensions=info.dimensions)
                await self.catalog.save_model_space(kb, made)

    async def _beside(self, kb: KnowledgeBase, row: ModelSpace) -> Beside | None:
        async def fall_behind(error: KaijuanError) -> None:
            if not await self.catalog.fall_behind(kb.id, row.space, error.message, now=self.clock()):
                raise error

        try:
            model = self.model_of(row)
            index = await self.indexes.open(spec_of(row.space, model.embedder), create=False)
        except KaijuanError as error:
            # A model that cannot be had must not keep documents from those that can.
            await fall_behind(error)
            telemetry.event("index.fell_behind", space=row.space, code=error.code)
            return None
        return Beside(writer=self.writer(kb, index, model), fall_behind=fall_behind)
