"""What users of other systems suffered with tables: cells twice, and words cut by the layout of a cell."""

from __future__ import annotations

import io
from collections.abc import Callable

import docx
import openpyxl
import pptx
import pytest
from pptx.util import Inches
from tests.sample_files import open_document

from kaijuan.core.documents import BlockKind, ParsedDocument
from kaijuan.ingest.parsers.csv_table import CsvParser
from kaijuan.ingest.parsers.docx import DocxParser
from kaijuan.ingest.parsers.html import HtmlParser
from kaijuan.ingest.parsers.markdown import MarkdownParser
from kaijuan.ingest.parsers.odf import OdtParser
from kaijuan.ingest.parsers.pptx import PptxParser
from kaijuan.ingest.parsers.xlsx import XlsxParser

VALUES = ("差旅费", "1200", "办公费", "350", "480", "Q3-A")
Cells = list[list[str]]
ROWS: Cells = [["项目", "金额", "备注"], ["差旅费", "1200", "Q3-A"], ["办公费", "350", "480"]]


def saved(document: object) -> bytes:
    out = io.BytesIO()
    document.save(out)  # type: ignore[attr-defined]
    return out.getvalue()


def in_docx(rows: Cells) -> ParsedDocument:
    document = docx.Document()
    document.add_paragraph("前一段")
    table = document.add_table(len(rows), len(rows[0]))
    for row, cells in zip(table.rows, rows, strict=True):
        for cell, text in zip(row.cells, cells, strict=True):
            cell.text = text  # a newline becomes a break within the paragraph
    document.add_paragraph("后一段")
    return DocxParser().parse(saved(document), "a.docx")


def in_pptx(rows: Cells) -> ParsedDocument:
    slides = pptx.Presentation()
    slide = slides.slides.add_slide(slides.slide_layouts[5])
    table = slide.shapes.add_table(len(rows), len(rows[0]), 0, 0, Inches(4), Inches(2)).table
    for at, cells in enumerate(rows):
        for column, text in enumerate(cells):
            table.cell(at, column).text_frame.text = text.replace("\n", "\v")
    return PptxParser().parse(saved(slides), "a.pptx")


def in_xlsx(rows: Cells) -> ParsedDocument:
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    return XlsxParser().parse(saved(book), "a.xlsx")


def in_csv(rows: Cells) -> ParsedDocument:
    lines = [",".join(f'"{cell}"' for cell in row) for row in rows]
    return CsvParser().parse("\n".join(lines).encode(), "a.csv")


def _html(rows: Cells) -> str:
    lines = ["".join(f"<td>{cell}</td>" for cell in row).replace("\n", "<br>") for row in rows]
    return "<table>" + "".join(f"<tr>{line}</tr>" for line in lines) + "</table>"


def in_html(rows: Cells) -> ParsedDocument:
    page = f"<!doctype html><meta charset=utf-8><body><p>前一段</p>{_html(rows)}<p>后一段</p>"
    return HtmlParser().parse(page.encode(), "a.html")


def in_markdown(rows: Cells) -> ParsedDocument:
    return MarkdownParser().parse(f"前一段\n\n{_html(rows)}\n\n后一段\n".encode(), "a.md")


def in_pipes(rows: Cells) -> ParsedDocument:
    lines = ["| " + " | ".join(row).replace("\n", "<br>") + " |" for row in rows]
    lines.insert(1, "| --- " * len(rows[0]) + "|")
    return MarkdownParser().parse(("前一段\n\n" + "\n".join(lines) + "\n\n后一段\n").encode(), "a.md")


def in_odt(rows: Cells) -> ParsedDocument:
    def cell(text: str) -> str:
        return f"<table:table-cell><text:p>{text}</text:p></table:table-cell>".replace("\n", "<text:line-break/>")

    lines = "".join(f"<table:table-row>{''.join(map(cell, row))}</table:table-row>" for row in rows)
    body = f"<text:p>前一段</text:p><table:table>{lines}</table:table><text:p>后一段</text:p>"
    return OdtParser().parse(open_document("text", body), "a.odt")


FORMATS = [in_docx, in_pptx, in_xlsx, in_csv, in_html, in_markdown, in_pipes, in_odt]


@pytest.mark.parametrize("made", FORMATS)
def test_every_cell_is_there_once(made: Callable[[Cells], ParsedDocument]) -> None:
    """Pitfall ragflow#12686: a table between paragraphs was stored inline and once more by itself (C20)."""
    document = made(ROWS)
    tables = [block for block in document.blocks if block.kind is BlockKind.TABLE]
    assert len(tables) == 1
    for value in VALUES:
        assert document.text.count(value) == 1, value
        assert value in tables[0].span.of(document.text)
    assert not any(
        value in block.span.of(document.text) for block in document.blocks if block not in tables for value in VALUES
    )


@pytest.mark.parametrize("made", FORMATS)
def test_a_line_break_in_a_cell_cuts_no_chinese_word(made: Callable[[Cells], ParsedDocument]) -> None:
    """Pitfall docling#539 (C16): the break became a blank inside the word, which was then not found."""
    rows = [["应收\n账款", "合\n计\n金\n额", "net\nincome"], ["2024\n年度", "1", "A 类\nB 类"]]
    text = made(rows).text
    for word in ("应收账款", "合计金额", "net income", "2024年度"):
        assert word in text


def test_tables_in_cells_are_read_once() -> None:
    inner = "<table><tr><td>inner</td><td>7</td></tr></table>"
    page = f"<!doctype html><body><table><tr><th>a</th><th>b</th></tr><tr><td>{inner}</td><td>outer</td></tr></table>"
    text = HtmlParser().parse(page.encode(), "a.html").text
    assert [text.count(word) for word in ("inner", "7", "outer")] == [1, 1, 1]


def test_equal_tables_are_two_tables() -> None:
    """C19: the same words in two places are two records; nothing is folded away while reading."""
    document = MarkdownParser().parse(f"{_html(ROWS)}\n\n中间\n\n{_html(ROWS)}\n".encode(), "a.md")
    assert [block.kind for block in document.blocks].count(BlockKind.TABLE) == 2
    assert document.text.count("差旅费") == 2
