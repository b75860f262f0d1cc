"""A citation leads from a sentence of an answer to exact characters of one version (spec I2)."""

from __future__ import annotations

from dataclasses import dataclass

from kaijuan.core.documents import PageBox
from kaijuan.core.ids import BlockId, ChunkId, DocumentId, VersionId
from kaijuan.core.spans import Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """Where a statement comes from. `quote` is exactly `text[span]` of that version."""

    id: str
    """Short name within one answer: "1", "2", ..."""
    document_id: DocumentId
    version_id: VersionId
    chunk_id: ChunkId
    block_id: BlockId | None
    source: str
    title: str
    title_path: tuple[str, ...]
    pages: tuple[int, ...]
    boxes: tuple[PageBox, ...]
    span: Span
    quote: str
    content_hash: str
    """Of the version's original bytes, so that a reader can prove which state was cited."""
