"""What every parser must hold. Derive, give `make`, `good` and `broken`, and pytest does the rest."""

from __future__ import annotations

import pytest

from kaijuan.core.documents import BlockKind, ParsedBlock, ParsedDocument
from kaijuan.errors import DocumentError
from kaijuan.ingest.ports import Parser


def check_document(document: ParsedDocument) -> None:
    """Raise AssertionError when a parsed document breaks a promise that citations rest on."""
    at = 0
    for block in document.blocks:
        assert block.span.start >= at, "blocks overlap or go back"
        assert len(block.span) > 0, "a block is empty"
        assert block.span.end <= len(document.text), "a block reaches beyond the text"
        words = block.span.of(document.text)
        assert words.strip(), "a block holds white space only"
        assert block.kind is not BlockKind.HEADING or block.level >= 1, "a heading has no level"
        _check_lines(document, block, at)
        _check_table(document, block)
        assert not block.pages or 1 <= min(block.pages) <= max(block.pages) <= document.pages, "a page is not there"
        for line in block.lines:
            assert block.span.contains(line.span), "a printed line reaches out of its block"
        at = block.span.end
    outside = _outside(document)
    assert not outside.strip(), f"text stands outside of all blocks: {outside.strip()[:60]!r}"
    document.text.encode("utf-8")  # raises where half a character is left


def _check_lines(document: ParsedDocument, block: ParsedBlock, at: int) -> None:
    for line in block.lines:
        assert line.span.start >= at, "printed lines overlap or go back"
        at = line.span.end
        width, height = document.page_sizes[line.box.page - 1]
        assert 0 <= line.box.x0 <= line.box.x1 <= width + 0.11, "a box leaves the page"
        assert 0 <= line.box.y0 <= line.box.y1 <= height + 0.11, "a box leaves the page"
        if line.edges:
            assert len(line.edges) == len(line.span) + 1, "an edge is missing"
            assert list(line.edges) == sorted(line.edges), "edges go back"
            assert line.edges[0] >= -0.11, "an edge leaves the page"
            assert line.edges[-1] <= width + 0.11, "an edge leaves the page"


def _check_table(document: ParsedDocument, block: ParsedBlock) -> None:
    table = block.table
    if table is None:
        return
    assert block.kind is BlockKind.TABLE, "only tables have cells"
    at, places = block.span.start, set()
    for cell in table.cells:
        assert at <= cell.span.start < cell.span.end <= block.span.end, "a cell's words are not in their order"
        assert cell.span.of(document.text).strip(), "a cell without words is listed"
        assert 0 <= cell.row < table.rows, "a cell begins outside its table"
        assert 0 <= cell.column < table.columns, "a cell begins outside its table"
        places.add((cell.row, cell.column))
        at = cell.span.end
    assert len(places) == len(table.cells), "two cells begin at one place"


def _outside(document: ParsedDocument) -> str:
    parts = []
    at = 0
    for block in document.blocks:
        parts.append(document.text[at : block.span.start])
        at = block.span.end
    parts.append(document.text[at:])
    return "".join(parts)


class ParserContract:
    """Behaviour shared by all parsers."""

    def make(self) -> Parser:
        """Return a fresh parser."""
        raise NotImplementedError

    def good(self) -> bytes:
        """Return a small sound file that holds the word `needle`."""
        raise NotImplementedError

    def broken(self) -> list[bytes]:
        """Return files of the format that no reader opens, if the format knows such files."""
        return []

    def encrypted(self) -> list[bytes]:
        """Return files that need a password, if the format knows such files."""
        return []

    def test_keeps_its_promises(self) -> None:
        document = self.make().parse(self.good(), "good.file")
        check_document(document)
        assert "needle" in document.text

    def test_is_deterministic(self) -> None:
        assert self.make().parse(self.good(), "good.file") == self.make().parse(self.good(), "good.file")

    def test_can_be_used_again(self) -> None:
        parser = self.make()
        assert parser.parse(self.good(), "good.file") == parser.parse(self.good(), "good.file")

    @pytest.mark.parametrize("data", [b"", b" \n\t\r\n "])
    def test_empty_is_a_named_error(self, data: bytes) -> None:
        with pytest.raises(DocumentError):
            self.make().parse(data, "empty.file")

    def test_broken_is_a_named_error(self) -> None:
        for data in self.broken():
            with pytest.raises(DocumentError):
                self.make().parse(data, "broken.file")

    def test_encrypted_is_a_named_error(self) -> None:
        for data in self.encrypted():
            with pytest.raises(DocumentError):
                self.make().parse(data, "locked.file")

    def test_cut_anywhere_ends_well_or_named(self) -> None:
        good = self.good()
        for part in range(1, 12):
            try:
                document = self.make().parse(good[: len(good) * part // 12], "cut.file")
            except DocumentError:
                continue
            check_document(document)
