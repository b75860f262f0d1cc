"""Verbs that open what is stored: pages of the list, originals, texts, blocks, page pictures, places in a text.

Everything is asked for by the id of a version; whoever may not read its document is told that there is none.
"""

from __future__ import annotations

import builtins
from collections.abc import Sequence

from kaijuan.core.arguments import Moment
from kaijuan.core.citations import Citation
from kaijuan.core.documents import Block, Chunk, Version, boxes_of, pages_of, title_path_at
from kaijuan.core.ids import ChunkId, VersionId, piece_of
from kaijuan.core.spans import Span
from kaijuan.errors import DocumentError, NotFoundError, UsageError
from kaijuan.ingest.page_images import RENDER_TASK, SIZES_TASK, WIDTHS
from kaijuan.verbs.wiring import Wired

MOST_LISTED = 1000
MOST_LOCATED = 100_000
"""Characters of one place."""


class Opening(Wired):
    """What a reader sees behind a citation."""

    async def documents(
        self, *, after: str = "", limit: int = 100, prefix: str = "", as_of: Moment = None
    ) -> builtins.list[Version]:
        """Return one page of the documents visible at a snapshot, by source: those beyond `after`, at most `limit`.

        Fewer than `limit` mean that there are no more.
        """
        if not 1 <= limit <= MOST_LISTED:
            raise UsageError(f"{limit} documents cannot be asked for.", hint=f"Ask for 1 to {MOST_LISTED}.")
        kb = await self._kb()
        snapshot = await self._snapshot(kb, as_of)
        found: builtins.list[Version] = []
        while len(found) < limit:
            page = await self.catalog.versions(kb.id, snapshot, after=after, limit=MOST_LISTED, prefix=prefix)
            found += await self._readable(kb, page)
            if len(page) < MOST_LISTED:
                break
            after = page[-1].source
        return found[:limit]

    async def version(self, id: str) -> Version:
        """Return one published version that is kept, old or new; NotFoundError too where it may not be read."""
        kb = await self._kb()
        found = (await self.catalog.versions_by_id([VersionId(id)])).get(VersionId(id))
        if found is not None and found.kb_id == kb.id and found.valid_from <= kb.head:
            readable = await self._readable(kb, [found])
            if readable:
                return readable[0]
        raise NotFoundError(f"There is no version {id!r}.", hint="`kaijuan show` lists the versions of a document.")

    async def original(self, id: str) -> bytes:
        """Return the bytes of a version as they came from its source."""
        return await self.blobs.get((await self.version(id)).original_hash)

    async def version_text(self, id: str) -> str:
        """Return the canonical text of a version, in which all spans count."""
        return await self.texts.read((await self.version(id)).text_hash)

    async def version_blocks(self, id: str, *, within: Sequence[Span] | None = None) -> builtins.list[Block]:
        """Return the blocks of a version in order; with `within`, those that share characters with one of the spans."""
        return await self.catalog.blocks_of((await self.version(id)).id, within)

    async def version_chunks(self, id: str) -> builtins.list[Chunk]:
        """Return the chunks of a version in order of span."""
        return [chunk.shown() for chunk in await self.catalog.chunks_of((await self.version(id)).id)]

    async def page_sizes(self, id: str) -> builtins.list[tuple[float, float]]:
        """Return width and height of every page in points; of a picture in dots; nothing for formats without pages."""
        version = await self.version(id)
        if version.kind not in ("pdf", "image"):
            return []
        data = await self.blobs.get(version.original_hash)
        found = await self._pool().run(SIZES_TASK, data, version.title, kind=version.kind)
        return [(float(width), float(height)) for width, height in found]

    async def page_image(self, id: str, page: int, *, width: int = 1000) -> bytes:
        """Return one page (counted from 1) of a PDF or picture as PNG, `width` dots wide."""
        if not WIDTHS[0] <= width <= WIDTHS[1]:
            raise UsageError(f"A picture cannot be {width} dots wide.", hint=f"Ask for {WIDTHS[0]} to {WIDTHS[1]}.")
        version = await self.version(id)
        if version.kind not in ("pdf", "image") or not 1 <= page <= max(version.pages, 1):
            raise NotFoundError(f"Version {id!r} has no page {page} that can be shown.", hint="")
        data = await self.blobs.get(version.original_hash)
        try:
            picture = await self._pool().run(
                RENDER_TASK, data, version.title, kind=version.kind, page=page, width=width
            )
        except DocumentError as error:
            raise NotFoundError(f"Page {page} cannot be shown: {error.message}", hint=error.hint) from error
        return bytes(picture)

    async def locate(self, id: str, start: int, end: int) -> Citation:
        """Return the words at characters `start` to `end` of a version with their pages and boxes, as a citation."""
        version = await self.version(id)
        text = await self.texts.read(version.text_hash)
        if not 0 <= start < end <= len(text) or end - start > MOST_LOCATED:
            raise UsageError(f"{start} to {end} is no place in this text.", hint=f"It has {len(text)} characters.")
        span = Span(start, end)
        blocks = await self.catalog.blocks_of(version.id, [span])
        chunks = await self.catalog.chunks_of(version.id)
        inside = next((one.id for one in chunks if one.span.start <= start < one.span.end), ChunkId(""))
        return Citation(
            id="",
            document_id=version.document_id,
            version_id=version.id,
            chunk_id=piece_of(inside),
            block_id=blocks[0].id if blocks else None,
            source=version.source,
            title=version.title,
            title_path=title_path_at(blocks, start),
            pages=tuple(pages_of(blocks, span)),
            boxes=tuple(boxes_of(blocks, span)),
            span=span,
            quote=span.of(text),
            content_hash=version.content_hash,
        )
