"""The verb that opens a citation: the very words in the version they were taken from, or what is left of the place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from kaijuan.core.citations import Citation, Reference, check_of
from kaijuan.core.documents import Block, Version, boxes_of, pages_of, title_path_at
from kaijuan.core.ids import ChunkId, piece_of
from kaijuan.core.spans import Span
from kaijuan.core.text.normalise import normalise
from kaijuan.errors import KaijuanError, UsageError
from kaijuan.verbs.opening import Opening

AROUND = 160
"""Characters shown on either side of the words."""


class Match(StrEnum):
    """How exactly the place was found again."""

    EXACT = "exact"
    """The words themselves."""
    MOVED = "moved"
    """The words, at another place of the version than the reference says."""
    BLOCK = "block"
    """The paragraph, table or list in which they stood."""
    PAGE = "page"
    """Only the page; the text of the version cannot be read."""


class Standing(StrEnum):
    """How the cited version stands today."""

    CURRENT = "current"
    OLDER = "older"
    """The document has a newer version."""
    REMOVED = "removed"
    """The document is no longer in the base; the version is still kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedCitation:
    """A citation as it was found again. `citation.quote` are the words, empty where only the page is known."""

    citation: Citation
    match: Match
    standing: Standing
    number: int
    """Of the version among those of its document, from 1."""
    newest: int
    """Number of the version that is current, 0 for a removed document."""
    valid_from: int
    """First snapshot that shows the version."""
    before: str
    """Words before and after it, to the end of their blocks at most."""
    after: str


class Citing(Opening):
    """Citations of earlier answers."""

    async def cite(self, ref: str, *, quote: str = "") -> OpenedCitation:
        """Open a citation by its `ref`, for whoever may read its document now, however old the version.

        `quote` are the words as they were cited: should the place not have them, they are looked for. UsageError for
        what is no reference, NotFoundError for a version that is gone or may not be read.
        """
        reference = Reference.read(ref)
        if reference is None:
            raise UsageError(
                f"{ref!r} is no citation.", hint="Give the `ref` of a citation, as `ask --json` prints it."
            )
        version = await self.version(reference.version)
        kb = await self._kb()
        live = (await self.catalog.standing([version.document_id], kb.head))[version.document_id].live
        text = await self._text_or_none(version)
        match, span = found_again(reference, text, quote)
        blocks = await self.catalog.blocks_of(version.id)
        if match is Match.BLOCK:
            block = _nearest(blocks, reference.span.start)
            match, span = (Match.BLOCK, block.span) if block else (Match.PAGE, reference.span)
        return OpenedCitation(
            citation=await self._citation(version, blocks, span, text if match is not Match.PAGE else None),
            match=match,
            standing=_standing(version, live),
            number=version.number,
            newest=live.number if live else 0,
            valid_from=version.valid_from,
            before=_before(text, blocks, span) if match is not Match.PAGE else "",
            after=_after(text, blocks, span) if match is not Match.PAGE else "",
        )

    async def _text_or_none(self, version: Version) -> str | None:
        try:
            return await self.texts.read(version.text_hash)
        except KaijuanError:
            # Its blocks still tell page and section; the reader is told that the words are lost.
            return None

    async def _citation(self, version: Version, blocks: Sequence[Block], span: Span, text: str | None) -> Citation:
        chunks = await self.catalog.chunks_of(version.id)
        inside = next((chunk.id for chunk in chunks if chunk.span.start <= span.start < chunk.span.end), ChunkId(""))
        held = [block for block in blocks if block.span.intersect(span) is not None]
        return Citation(
            id="",
            document_id=version.document_id,
            version_id=version.id,
            chunk_id=piece_of(inside),
            block_id=held[0].id if held else None,
            source=version.source,
            title=version.title,
            title_path=title_path_at(blocks, span.start),
            pages=tuple(pages_of(held, span)),
            boxes=tuple(boxes_of(held, span)),
            span=span,
            quote=span.of(text) if text is not None else "",
            content_hash=version.content_hash,
        )


def found_again(reference: Reference, text: str | None, quote: str = "") -> tuple[Match, Span]:
    """Return where the words stand in a version's text, and how surely; `Match.BLOCK` where they do not."""
    if text is None:
        return Match.PAGE, reference.span
    span = reference.span
    words = span.of(text)
    if span.end <= len(text) and len(span) and (not reference.check or check_of(words) == reference.check):
        return Match.EXACT, span
    if quote.strip():
        at = _nearest_occurrence(text, quote, span.start)
        if at is not None:
            return Match.MOVED, at
    return Match.BLOCK, span


def _nearest_occurrence(text: str, quote: str, near: int) -> Span | None:
    """Return where a quote stands in a text, nearest to a place; width, case and layout do not count."""
    matched, offsets = normalise(text)
    wanted = normalise(quote)[0].strip()
    found: list[Span] = []
    at = matched.find(wanted) if wanted else -1
    while at >= 0:
        found.append(offsets.back(Span(at, at + len(wanted))))
        at = matched.find(wanted, at + 1)
    return min(found, key=lambda span: abs(span.start - near), default=None)


def _nearest(blocks: Sequence[Block], place: int) -> Block | None:
    return min(blocks, key=lambda block: _distance(block.span, place), default=None)


def _distance(span: Span, place: int) -> int:
    return 0 if span.start <= place < span.end else min(abs(span.start - place), abs(span.end - place))


def _standing(version: Version, live: Version | None) -> Standing:
    if live is None:
        return Standing.REMOVED
    return Standing.CURRENT if live.id == version.id else Standing.OLDER


def _before(text: str | None, blocks: Sequence[Block], span: Span) -> str:
    if text is None:
        return ""
    start = max((block.span.start for block in blocks if block.span.start <= span.start), default=0)
    cut = max(start, span.start - AROUND)
    return ("…" if cut > start else "") + text[cut : span.start].lstrip()


def _after(text: str | None, blocks: Sequence[Block], span: Span) -> str:
    if text is None:
        return ""
    end = min((block.span.end for block in blocks if block.span.end >= span.end), default=len(text))
    cut = min(end, span.end + AROUND)
    return text[span.end : cut].rstrip() + ("…" if cut < end else "")


def with_id(opened: OpenedCitation, id: str) -> OpenedCitation:
    """Return an opened citation under the short name it had in its answer."""
    return replace(opened, citation=replace(opened.citation, id=id))
