"""Real files of every format: each ends well, partial or with a named error, and cited words stand in their boxes."""

from __future__ import annotations

import random
import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pypdfium2
import pytest

from kaijuan import registry
from kaijuan.core.documents import BlockKind, PageBox, ParsedDocument
from kaijuan.core.spans import Span
from kaijuan.errors import DocumentError
from kaijuan.ingest.detect import kind_of
from kaijuan.ingest.isolate import ParserPool, load_parser
from kaijuan.testing.contracts.parser import check_document

FILES = Path(__file__).parents[2].parent / "shared" / "data" / "files"
pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(not FILES.is_dir(), reason="the shared files are not here: ../shared/data/files"),
]
PARSERS = registry.targets("parser")
WORD = re.compile(r"[^\W_]{2,}")

# What must come of files whose end is known. Everything else must only end well or named.
EXPECTED_ERRORS = {
    "broken/empty.pdf": "document_empty",
    "broken/password.pdf": "document_encrypted",
    "broken/libreoffice-writer-password.pdf": "document_encrypted",
    "broken/2206.01062_pg3.pdf": "document_encrypted",
    "derived/password-zh.pdf": "document_encrypted",
    "broken/password_protected.xlsx": "document_encrypted",
    "broken/testWORD_protected_passtika.docx": "document_encrypted",
    "broken/testPPT_protected_passtika.pptx": "document_encrypted",
    "broken/testWORD_truncated.docx": "document_broken",
    "derived/truncated.docx": "document_broken",
    "derived/truncated-zh.pdf": "document_broken",
    "derived/really-a-pdf.docx": "document_broken",
    "derived/scan-zh.pdf": "document_empty",
    "broken/random.bin": "document_unsupported",
    "broken/empty_black.jpg": "document_empty",
}
# A piece of text that must be found in a block of the given kind.
EXPECTED_TEXT = [
    ("html/wiki_duck.html", BlockKind.HEADING, "Etymology"),
    ("html/html_rich_table_cells.html", BlockKind.TABLE, "| Mallard | Ponds, lakes, rivers | Quack |"),
    ("html/fake-html-cp1252.html", BlockKind.CODE, "Die schöne Frau"),
    ("html/getting-debian.zh-cn.html", BlockKind.HEADING, "2.1. Debian 的最新版本是哪个？"),
    ("html/example-steelJIS-datasheet-utf-16.html", BlockKind.PARAGRAPH, "Chemical composition 成分 %"),
    ("office/word_tables.docx", BlockKind.TABLE, "| Cell 1.0 | Merged Cell 1.1 1.2 |"),
    ("office/docx_lists.docx", BlockKind.LIST, "- List item 2\n  - List item 1.1"),
    ("office/unit_test_headers_numbered.docx", BlockKind.HEADING, "1.2.1. Section 1.2.3"),
    ("office/textbox.docx", BlockKind.PARAGRAPH, "The Health Bureau will handle reporting"),
    ("office/equations.docx", BlockKind.FORMULA, "a^{2}+b^{2}=c^{2}"),
    ("derived/合同编.docx", BlockKind.HEADING, "第一章 一般规定"),
    ("derived/statute-gb18030.txt", BlockKind.PARAGRAPH, "第三条 公司是企业法人"),
    ("derived/statute-utf16.txt", BlockKind.PARAGRAPH, "第三条 公司是企业法人"),
    ("text/fake-text-utf-32.txt", BlockKind.PARAGRAPH, "This is a test document"),
    ("text/test_mskanji.csv", BlockKind.TABLE, "佐藤太郎"),
    ("text/choose-index.md", BlockKind.TABLE, "| PointGet/BatchPointGet |"),
    ("text/choose-index.md", BlockKind.CODE, "mysql> CREATE TABLE t(a INT PRIMARY KEY"),
    ("text/stanley-cups-utf-16.csv", BlockKind.TABLE, "| Maple Leafs | TOR | 13 |"),
    ("text/README.rst", BlockKind.HEADING, "XBRL 10-K"),
    ("text/asciidoc_02.asciidoc", BlockKind.LIST, "    - Deeper nested unordered item"),
    ("text/test_notebook.ipynb", BlockKind.CODE, "print(42)"),
    ("text/test_rss.xml", BlockKind.HEADING, "Ignite 2024"),
    ("text/pntd.0008301.nxml", BlockKind.HEADING, "Introduction"),
    ("text/test.epub", BlockKind.QUOTE, "This is a blockquote for testing."),
    ("text/testRTFJapanese.rtf", BlockKind.PARAGRAPH, "ゾルゲと尾崎、淡々と最期"),
    ("text/webvtt_example_01.vtt", BlockKind.PARAGRAPH, "Neil deGrasse Tyson: Laughs"),
    ("email/testMSG_chinese.msg", BlockKind.PARAGRAPH, "恭喜 HQ 保全課 陳奎良 高票當選"),
    ("email/email-no-utf8-2008-07-16.062410.eml", BlockKind.HEADING, "RE: שלום"),
    ("office/pptx_01.pptx", BlockKind.TABLE, "|  | Class1 |  |  | Class2 |  |  |"),
    ("office/pptx_chart.pptx", BlockKind.TABLE, "| 2022 | 175 | 130 |"),
    ("office/odf_presentation_01.odp", BlockKind.HEADING, "Second slide title"),
    ("office/text_document_01.odt", BlockKind.LIST, "- bullet list 2.1\n  - bullet list 2.2"),
    ("office/odf_table_with_title_01.ods", BlockKind.TABLE, "| 2019 | 120 |"),
    ("office/2023-half-year-analyses-by-segment.xlsx", BlockKind.TABLE, "| Zone NA | 12,553 | 2,713 | 2,632 | (81)"),
    ("office/testEXCEL-formats.xlsx", BlockKind.TABLE, "19 dollars and .99 cents"),
    ("office/tests-example.xls", BlockKind.TABLE, "| TF | Bagpipes are awesome. | true |"),
    ("office/fake.doc", BlockKind.PARAGRAPH, "Lorem ipsum dolor sit amet."),
    ("office/fake-power-point.ppt", BlockKind.LIST, "  - Use _TextFrame.text for first bullet"),
    ("pdf/tracemonkey.pdf", BlockKind.PARAGRAPH, "difficult to compile than statically typed ones"),
    ("pdf/tracemonkey.pdf", BlockKind.HEADING, "2. Overview: Example Tracing Run"),
    ("pdf/Java开发手册(黄山版).pdf", BlockKind.PARAGRAPH, "经历了多次大规模一线实战的检验及不断完善"),
    ("pdf/debian-reference.zh-cn.pdf", BlockKind.HEADING, "1.1.1 shell 提示符"),
    ("pdf/rotated-page-90.pdf", BlockKind.PARAGRAPH, "Second line of text here"),
    ("pdf/header-test-doc.pdf", BlockKind.HEADING, "Title"),
    ("pdf/vertical.pdf", BlockKind.PARAGRAPH, "日本語"),
]
OPENED_BY_SOURCES = frozenset({"zip", "mbox"})
"""Kinds that hold documents and are none."""
BOXED = [
    "pdf/tracemonkey.pdf",
    "pdf/multi-column-2p.pdf",
    "pdf/ULTABEAUTY_2023Q4_EARNINGS.pdf",
    "pdf/Java开发手册(黄山版).pdf",
    "pdf/install-latex-guide-zh-cn.pdf",
    "pdf/table_mislabeled_as_picture.pdf",
    "pdf/WARN-Report-for-7-1-2015-to-03-25-2016.pdf",
    "pdf/2305.03393v1-pg9.pdf",
    "pdf/demo1.pdf",
    "pdf/SPARSE-2024-INV-1234_borderless_table.pdf",
]


@cache  # the long PDFs are needed by several tests
def parsed(path: Path) -> ParsedDocument:
    data = path.read_bytes()
    return load_parser(PARSERS[kind_of(data, path.name)]).parse(data, path.name)


def outcome(path: Path) -> tuple[ParsedDocument | None, DocumentError | None]:
    try:
        return parsed(path), None
    except DocumentError as error:
        return None, error


def every_file() -> Iterator[str]:
    if FILES.is_dir():
        for path in sorted(FILES.rglob("*")):
            if path.is_file() and path.parent.name not in {"expected", "files"} and not _holds_documents(path):
                yield str(path.relative_to(FILES))


def _holds_documents(path: Path) -> bool:
    try:
        return kind_of(path.read_bytes(), path.name) in OPENED_BY_SOURCES
    except DocumentError:
        return False


@pytest.mark.parametrize("name", list(every_file()))
def test_every_file_ends_well_or_named(name: str) -> None:
    document, error = outcome(FILES / name)
    assert (error.code if error else None) == EXPECTED_ERRORS.get(name, error.code if error else None)
    if document is None:
        assert str(error).endswith(".")
        return
    check_document(document)
    assert bool(document.unread_pages) <= bool(document.warnings), "unread pages must be told"
    # Slides, sheets and chapters are counted as pages and have no size.
    assert document.page_sizes == () or document.pages == len(document.page_sizes)
    assert document.kind != "pdf" or document.pages == len(document.page_sizes)


@pytest.mark.parametrize(("name", "kind", "words"), EXPECTED_TEXT, ids=lambda value: str(value)[:40])
def test_what_must_be_found(name: str, kind: BlockKind, words: str) -> None:
    document = parsed(FILES / name)
    assert any(words in block.span.of(document.text) for block in document.blocks if block.kind is kind)


def test_no_word_of_a_docx_statute_is_lost() -> None:
    document = parsed(FILES / "derived/合同编.docx")
    source = (FILES / "text/合同编.md").read_text(encoding="utf-8")
    body = re.sub(r"<!--.*?-->|[#*\s]", "", source)
    assert re.sub(r"[*\s]", "", document.text) == body


def test_a_paragraph_over_a_page_end_keeps_both_pages() -> None:
    document = parsed(FILES / "pdf/tracemonkey.pdf")
    paragraphs = [block for block in document.blocks if block.kind is BlockKind.PARAGRAPH]
    crossing = [block for block in paragraphs if len({line.box.page for line in block.lines}) > 1]
    assert crossing
    for block in crossing:
        pages = [line.box.page for line in block.lines]
        assert pages == sorted(pages)


def test_a_table_over_pages_is_one_and_each_row_stands_on_its_page() -> None:
    document = parsed(FILES / "pdf/WARN-Report-for-7-1-2015-to-03-25-2016.pdf")
    block = max((block for block in document.blocks if block.table), key=lambda block: len(block.lines))
    assert block.table is not None
    assert len({line.box.page for line in block.lines}) == 15
    assert sum(1 for cell in block.table.cells if cell.header) == block.table.columns
    assert document.text.count("Notice Date") == 1


def test_running_headers_are_gone_and_pages_without_text_are_listed() -> None:
    document = parsed(FILES / "pdf/Java开发手册(黄山版).pdf")
    assert document.unread_pages == (1, 55)
    assert document.text.count("Java 开发手册（黄山版）") <= 1
    assert not re.search(r"^\d{1,2}/51$", document.text, re.M)


@pytest.mark.parametrize("name", BOXED)
def test_the_words_inside_the_boxes_are_the_words_cited(name: str) -> None:
    path = FILES / name
    document = parsed(path)
    chance = random.Random(7)
    places = [
        (line, Span(line.span.start + found.start(), line.span.start + found.end()))
        for block in document.blocks
        for line in block.lines
        if line.edges
        for found in WORD.finditer(line.span.of(document.text))
    ]
    assert len(places) > 50
    chosen = chance.sample(places, 50)
    pdf = pypdfium2.PdfDocument(path)
    wrong = []
    for line, span in chosen:
        box = line.box_of(span)
        assert box is not None
        there = words_in(pdf, box)
        cited = plain(span.of(document.text))
        # The library counts a neighbour whose box only touches ours: one on each side is no error.
        if cited not in there or len(there) > len(cited) + 2:
            wrong.append((cited, there))
    pdf.close()
    assert not wrong


def words_in(pdf: pypdfium2.PdfDocument, box: PageBox) -> str:
    """Return the text that the library finds inside a box, which counts from the top left of the page as shown."""
    page = pdf[box.page - 1]
    left, bottom, right, top = page.get_bbox()
    turned = page.get_rotation() // 90
    corners = {
        0: (left + box.x0, top - box.y1, left + box.x1, top - box.y0),
        1: (left + box.y0, bottom + box.x0, left + box.y1, bottom + box.x1),
        2: (right - box.x1, bottom + box.y0, right - box.x0, bottom + box.y1),
        3: (right - box.y1, top - box.x1, right - box.y0, top - box.x0),
    }[turned]
    text = page.get_textpage()
    found = text.get_text_bounded(*corners)
    text.close()
    page.close()
    return plain(found)


def plain(text: str) -> str:
    return re.sub(r"[\s\x00-\x1f\ufffe]", "", unicodedata.normalize("NFKC", text))


async def test_the_pool_gives_what_the_parser_gives() -> None:
    pool = ParserPool(PARSERS, seconds=120, memory_mb=1200)
    try:
        for name in ("pdf/multi-column-2p.pdf", "office/docx_lists.docx", "html/wiki_duck.html"):
            data = (FILES / name).read_bytes()
            assert await pool.parse(kind_of(data, name), data, Path(name).name) == parsed(FILES / name)
    finally:
        await pool.close()
