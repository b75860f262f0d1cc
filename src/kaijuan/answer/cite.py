"""From chosen units to sentences and citations: exact quotes, with blocks, pages and boxes."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kaijuan.answer.phrases import Phrases
from kaijuan.answer.results import AnswerSentence
from kaijuan.answer.units import Unit, blocks_at, cells, folded, one_line
from kaijuan.core.citations import Citation
from kaijuan.core.documents import BlockKind, boxes_of, pages_of
from kaijuan.core.ids import VersionId
from kaijuan.core.spans import Span
from kaijuan.core.text.characters import EAST_ASIAN
from kaijuan.retrieve.results import Passage

_EAST_ASIAN_END = re.compile(f"[{EAST_ASIAN}”’]\\Z")
_OPEN_END = re.compile(r"\w\Z")
"""A title or item without a mark at its end: what follows would run into it."""
_BLOCKS_OF_LINES = frozenset({BlockKind.TABLE, BlockKind.LIST, BlockKind.CODE, BlockKind.FORMULA})


class Citations:
    """The citations of one answer, numbered as they are first used. The same span is cited once."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        self._passages = passages
        self._made: dict[tuple[VersionId, Span], Citation] = {}

    @property
    def all(self) -> tuple[Citation, ...]:
        """All citations made so far, in order of their numbers."""
        return tuple(self._made.values())

    def passage(self, position: int) -> Passage:
        """Return the passage at a position of the search result."""
        return self._passages[position]

    def cite(self, position: int, span: Span) -> str:
        """Return the id of the citation of `span`, which lies in the passage at `position`."""
        passage = self._passages[position]
        key = (passage.version_id, span)
        if key not in self._made:
            self._made[key] = _citation(str(len(self._made) + 1), passage, span)
        return self._made[key].id


def _citation(name: str, passage: Passage, span: Span) -> Citation:
    block = blocks_at(passage.blocks, span.start)
    return Citation(
        id=name,
        document_id=passage.document_id,
        version_id=passage.version_id,
        chunk_id=passage.chunk_id,
        block_id=block.id if block else None,
        source=passage.source,
        title=passage.title,
        title_path=block.title_path if block else passage.title_path,
        pages=tuple(pages_of(passage.blocks, span)),
        boxes=tuple(boxes_of(passage.blocks, span)),
        span=span,
        quote=passage.text[span.start - passage.span.start : span.end - passage.span.start],
        content_hash=passage.content_hash,
    )


def sentence_of(unit: Unit, also: Sequence[Unit], citations: Citations, phrases: Phrases) -> AnswerSentence:
    """Return a unit as a sentence. `also` are units elsewhere that say the same, cited beside it."""
    names = [citations.cite(unit.passage, unit.span)]
    if unit.header is not None:
        names.append(citations.cite(unit.passage, unit.header))
    names.extend(citations.cite(other.passage, other.span) for other in also)
    return AnswerSentence(text=text_of(unit, phrases), citations=tuple(dict.fromkeys(names)))


def text_of(unit: Unit, phrases: Phrases) -> str:
    """Return a unit in the words of the document, without markup; a table row is read with its header."""
    if unit.kind is BlockKind.TABLE:
        values, names = cells(unit.quote), cells(unit.header_quote) if unit.header else []
        if len(names) == len(values):
            pairs = [
                phrases.pair.format(header=header, value=value) if header else value
                for header, value in zip(names, values, strict=True)
                if value
            ]
            return phrases.pairs.join(pairs)
        return phrases.pairs.join(value for value in values if value)
    return folded(unit.quote) if unit.kind in _BLOCKS_OF_LINES else one_line(unit.quote)


def join(sentences: Sequence[AnswerSentence]) -> str:
    """Return the running text of an answer: a blank between sentences, none after Chinese marks, lines kept
    apart."""
    text = ""
    for sentence in sentences:
        if "\n" in sentence.text or "\n" in text.rpartition("\n\n")[2]:
            text += "\n" if text else ""
        elif text and (_OPEN_END.search(text) or not _EAST_ASIAN_END.search(text)):
            text += " "
        text += sentence.text
    return text
