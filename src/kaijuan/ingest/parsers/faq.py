"""One question with its answer, as a source of such pairs writes it. Kept to the letter, in one block."""

from __future__ import annotations

from kaijuan.core.documents import BlockKind, ParsedBlock, ParsedDocument
from kaijuan.core.spans import Span, trim
from kaijuan.errors import EmptyDocumentError
from kaijuan.ingest.encoding import normal_newlines


class FaqParser:
    """Parser of kind "faq". The pair stays together: an answer says little without what was asked."""

    def parse(self, data: bytes, name: str) -> ParsedDocument:
        """Return the pair as one paragraph; the canonical text is the source's own, line ends made `\\n`."""
        text = normal_newlines(data.decode("utf-8", "replace")).replace("\x00", "")
        whole = trim(text, Span(0, len(text)))
        if whole.start == whole.end:
            raise EmptyDocumentError(f"{name} holds no text.")
        return ParsedDocument(
            text=text, blocks=(ParsedBlock(kind=BlockKind.PARAGRAPH, span=whole),), kind="faq", title=name
        )
