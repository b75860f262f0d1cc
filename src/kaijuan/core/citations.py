"""A citation leads from a sentence of an answer to exact characters of one version (spec I2)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from kaijuan.core.documents import PageBox
from kaijuan.core.ids import BlockId, ChunkId, DocumentId, VersionId, content_hash
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
    ref: str = field(init=False, default="")
    """Name that holds outside the answer, for as long as the version is kept: `kaijuan cite REF` opens it."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "ref", str(Reference.of(self.version_id, self.span, self.quote)))


@dataclass(frozen=True, slots=True)
class Reference:
    """What a citation is known by anywhere: version, place, and a check of the words.

    Written VERSION-START-END-CHECK. It is no secret and gives no rights: whoever opens it must be allowed to read the
    document at that moment.
    """

    version: VersionId
    span: Span
    check: str
    """First characters of the hash of the words, or "" where they are not known."""

    @classmethod
    def of(cls, version: VersionId, span: Span, quote: str) -> Reference:
        """Return the reference of words at a place."""
        return cls(version, span, check_of(quote))

    @classmethod
    def read(cls, text: str) -> Reference | None:
        """Return the reference that a text is, or None."""
        found = _REFERENCE.fullmatch(text.strip())
        if found is None or int(found["start"]) > int(found["end"]):
            return None
        return cls(VersionId(found["version"]), Span(int(found["start"]), int(found["end"])), found["check"] or "")

    def __str__(self) -> str:
        return f"{self.version}-{self.span.start}-{self.span.end}" + (f"-{self.check}" if self.check else "")


_REFERENCE = re.compile(r"(?P<version>[0-9a-f]{32})-(?P<start>\d{1,10})-(?P<end>\d{1,10})(?:-(?P<check>[0-9a-f]{6}))?")


def check_of(quote: str) -> str:
    """Return six characters by which words are known again; no protection against forgery."""
    return content_hash(quote.encode("utf-8", "surrogatepass"))[:6]
