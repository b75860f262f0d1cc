"""Laws of parsing: whatever the bytes, a parser ends with sound blocks or a named error; what was written is found."""

from __future__ import annotations

import copy
import io
import random
import re
import zipfile
from functools import cache

import docx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree
from reportlab.pdfgen import canvas

from kaijuan.core.documents import BlockKind, ParsedDocument, table_from
from kaijuan.core.spans import Span
from kaijuan.errors import DocumentError
from kaijuan.ingest.encoding import decode
from kaijuan.ingest.frames import document_from_plain, document_to_plain
from kaijuan.ingest.isolate import ParserPool
from kaijuan.ingest.metadata import storable
from kaijuan.ingest.parsers.html import HtmlParser
from kaijuan.ingest.parsers.joining import join_lines, squeeze
from kaijuan.ingest.parsers.markdown import MarkdownParser
from kaijuan.ingest.parsers.pdf import PdfParser
from kaijuan.ingest.parsers.pipes import Cell, pipe_table, table_of, words_in
from kaijuan.ingest.parsers.record import RecordParser
from kaijuan.ingest.parsers.text import TextParser
from kaijuan.stores.index.checks import check_payload
from kaijuan.testing.contracts.parser import check_document

_MARKS = (
    "# ,## ,- ,  - ,1. ,> ,```,`x`,**,$$,<table><tr><td>,</td></tr></table>,<b>,<div>,</div>,<script>,<!--,-->,&amp;,"
    "<pre>,中文,word ,é,\t,\u3000,🐉,\u200b,<ul><li>,</li></ul>"
)
LINES = ["\n", "\n\n", "\r\n", "---\n", "第一章 总则\n", "1.2 Title\n", "| a | b |\n| - | - |\n| c | d |\n"]
PIECES = st.sampled_from([*_MARKS.split(","), *LINES])
TEXTS = st.lists(PIECES | st.text(max_size=8), max_size=40).map("".join)
LETTERS = st.text(alphabet="abcdefghij中文字天地", min_size=1, max_size=6)


@pytest.mark.parametrize("parser", [TextParser(), RecordParser(), MarkdownParser(), HtmlParser()])
@given(text=TEXTS)
@settings(max_examples=120, deadline=None)
def test_any_text_ends_in_sound_blocks_or_a_named_error(
    parser: TextParser | RecordParser | MarkdownParser | HtmlParser, text: str
) -> None:
    data = text.encode("utf-8", "replace")
    try:
        document = parser.parse(data, "x")
    except DocumentError:
        return
    check_document(document)
    assert parser.parse(data, "x") == document
    assert document_from_plain(document_to_plain(document)) == document


@given(text=TEXTS)
@settings(max_examples=150, deadline=None)
def test_a_text_file_loses_no_visible_character(text: str) -> None:
    try:
        document = TextParser().parse(text.encode("utf-8", "replace"), "x")
    except DocumentError:
        return
    expected = re.sub(r"\s", "", decode(text.encode("utf-8", "replace")).text)
    assert re.sub(r"\s", "", document.text) == expected


@given(text=TEXTS)
@settings(max_examples=100, deadline=None)
def test_a_record_is_kept_to_the_letter(text: str) -> None:
    try:
        document = RecordParser().parse(text.encode("utf-8", "replace"), "x")
    except DocumentError:
        return
    assert document.text == re.sub("\r\n?|[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]", "\n", text).replace("\x00", "")


@given(data=st.binary(max_size=300))
@settings(max_examples=150, deadline=None)
def test_decoding_any_bytes_ends(data: bytes) -> None:
    try:
        text = decode(data).text
    except DocumentError:
        return
    assert "\r" not in text
    assert "\x00" not in text
    text.encode()


@given(
    rows=st.lists(
        st.lists(st.tuples(LETTERS, st.integers(1, 3), st.integers(1, 3)), min_size=1, max_size=4), max_size=5
    )
)
@settings(max_examples=150, deadline=None)
def test_every_cell_value_is_in_a_table_once(rows: list[list[tuple[str, int, int]]]) -> None:
    number = iter(range(10_000))
    cells = [[Cell(f"{text}-{next(number)}-", down, across) for text, down, across in row] for row in rows]
    table = pipe_table(cells)
    for cell in (cell for row in cells for cell in row):
        assert table.count(f"| {cell.text} |") == 1
    widths = {line.count("|") for line in table.split("\n")}
    assert len(widths) == 1


@given(
    rows=st.lists(
        st.lists(
            st.tuples(st.sampled_from(["", "a", "b|c", "\\|", "中\n文", " "]), st.integers(1, 3), st.integers(1, 3)),
            min_size=1,
            max_size=4,
        ),
        max_size=5,
    )
)
@settings(max_examples=200, deadline=None)
def test_every_cell_of_a_table_knows_where_its_words_stand(rows: list[list[tuple[str, int, int]]]) -> None:
    made = table_of([[Cell(*cell) for cell in row] for row in rows])
    said = [squeeze(text) for row in rows for text, _, _ in row if text.strip()]
    if made is None:
        assert not said
        return
    assert sorted(words_in(made.text, cell) for cell in made.table.cells) == sorted(said)
    lines = made.text.split("\n")
    for cell in made.table.cells:
        # The rule is the second line of the text and no row of the table.
        assert made.text.count("\n", 0, cell.span.start) == cell.row + (cell.row > 0)
    assert len(lines) == made.table.rows + 1
    assert table_from(made.table.shift(7).numbers()) == made.table.shift(7)


def test_an_html_table_in_markdown_is_stored_once() -> None:
    table = "<table>\n<tr><th>名称</th><th>数量</th></tr>\n\n<tr><td>苹果</td><td>31</td></tr>\n</table>"
    text = f"前文。\n\n{table}\n\n后文。\n"
    document = MarkdownParser().parse(text.encode(), "x.md")
    assert [str(block.kind) for block in document.blocks] == ["paragraph", "table", "paragraph"]
    for value in ("名称", "数量", "苹果", "31"):
        assert document.text.count(value) == 1


@pytest.mark.parametrize(
    ("text", "joined"),
    [
        ("知识\n产权", "知识产权"),
        ("first\nsecond", "first second"),
        ("使用\nPython", "使用 Python"),
        ("第3\n条", "第3条"),
        ("他说：\n“好”", "他说：“好”"),
        ("a\n  b", "a b"),
        ("第一章 总则", "第一章 总则"),
    ],
)
def test_line_ends_between_han_vanish(text: str, joined: str) -> None:
    assert squeeze(text) == joined
    assert join_lines(text.split("\n")) == joined


@pytest.mark.parametrize("mark", ["<br>", "\n"])
def test_a_broken_word_in_a_cell_is_one_word(mark: str) -> None:
    page = f"<table><tr><th>知识{mark}产权</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>"
    assert "| 知识产权 | b |" in HtmlParser().parse(page.encode(), "x").text


@given(words=st.lists(LETTERS, min_size=1, max_size=12), at=st.integers(40, 300), size=st.sampled_from([8, 12, 20]))
@settings(max_examples=60, deadline=None)
def test_boxes_of_any_part_lie_on_the_page(words: list[str], at: int, size: int) -> None:
    out = io.BytesIO()
    page = canvas.Canvas(out, pagesize=(400, 400), invariant=True)
    page.setFont("Helvetica", size)
    text = " ".join(re.sub(r"[^a-j]", "x", word) for word in words)
    page.drawString(20, at, text)
    page.drawString(20, at - 2 * size, "A second line.")
    page.save()
    document = PdfParser().parse(out.getvalue(), "x.pdf")
    check_document(document)
    for block in document.blocks:
        for line in block.lines:
            for start in range(line.span.start, line.span.end):
                box = line.box_of(Span(start, min(start + 3, line.span.end)))
                assert box is not None
                assert 0 <= box.x0 <= box.x1 <= 400.11
                assert 0 <= box.y0 < box.y1 <= 400.11


@cache
def sample(kind: str) -> bytes:
    out = io.BytesIO()
    if kind == "docx":
        document = docx.Document()
        document.add_heading("Title", 1)
        for number in range(5):
            document.add_paragraph(f"item {number}", style="List Number")
        document.add_table(2, 2).cell(0, 0).text = "cell"
        document.save(out)
    elif kind == "pdf":
        page = canvas.Canvas(out, invariant=True, pageCompression=0)
        for number in range(3):
            page.drawString(50, 700, f"Page {number} holds words.")
            page.bookmarkPage(str(number))
            page.addOutlineEntry(f"Page {number}", str(number))
            page.showPage()
        page.save()
    elif kind == "html":
        out.write(
            "<html><body><h1>题</h1><table><tr><td>a<td>b</table><ul><li>x<ol><li>y</ol></ul></body>".encode() * 3
        )
    else:
        out.write("# 题\n\n- a\n  - b\n\n| x | y |\n|---|---|\n| 1 | 2 |\n\n> q\n\n```\nc\n```\n".encode() * 3)
    return out.getvalue()


def spoiled(data: bytes, seed: int) -> bytes:
    chance = random.Random(seed)
    out = bytearray(data)
    for _ in range(chance.randint(1, 12)):
        at = chance.randrange(len(out))
        kind = chance.randrange(3)
        if kind == 0:
            out[at] = chance.randrange(256)
        elif kind == 1:
            del out[at : at + chance.randint(1, 40)]
        else:
            out[at:at] = chance.randbytes(chance.randint(1, 20))
        if not out:
            return b"x"
    return bytes(out)


def spoiled_docx(data: bytes, seed: int) -> bytes:
    """Bytes of a zip are guarded by checksums; so the XML inside is moved about, and stays well formed."""
    chance = random.Random(seed)
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w") as new:
        for member in old.namelist():
            part = old.read(member)
            if member in {"word/document.xml", "word/styles.xml", "word/numbering.xml", "docProps/core.xml"}:
                part = shuffled(part, chance)
            new.writestr(member, part)
    return out.getvalue()


def shuffled(part: bytes, chance: random.Random) -> bytes:
    root = etree.fromstring(part)
    for _ in range(chance.randint(1, 10)):
        nodes = list(root.iter("*"))
        node, other = chance.choice(nodes), chance.choice(nodes)
        change = chance.randrange(4)
        if change == 0 and node is not root:
            node.getparent().remove(node)
        elif change == 1 and node is not root:
            other.append(copy.deepcopy(node))
        elif change == 2 and node.attrib:
            node.set(chance.choice(list(node.attrib)), chance.choice(["", "-1", "999999999", "x", "0"]))
        else:
            node.text = chance.choice(["", "words", None])
    return bytes(etree.tostring(root))


PARSERS = {
    "docx": "kaijuan.ingest.parsers.docx:DocxParser",
    "pdf": "kaijuan.ingest.parsers.pdf:PdfParser",
    "html": "kaijuan.ingest.parsers.html:HtmlParser",
    "markdown": "kaijuan.ingest.parsers.markdown:MarkdownParser",
}


@pytest.mark.parametrize("kind", list(PARSERS))
async def test_spoiled_files_never_take_the_parent_down(kind: str) -> None:
    pool = ParserPool(PARSERS, seconds=20, memory_mb=500)
    good = 0
    for seed in range(100):
        try:
            spoil = spoiled_docx if kind == "docx" and seed % 4 else spoiled
            document = await pool.parse(kind, spoil(sample(kind), seed), "spoiled")
        except DocumentError:
            continue
        check_document(document)
        good += 1
    whole: ParsedDocument = await pool.parse(kind, sample(kind), "whole")
    await pool.close()
    assert good, "spoiling was so hard that nothing was tried"
    assert any(block.kind is not BlockKind.CODE for block in whole.blocks)


ANY_VALUE = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.sampled_from([2**63, -(2**63) - 1, 2**63 - 1, -(2**63), 10**400]),
    st.floats(),
    st.text(alphabet=st.characters(exclude_categories=()), max_size=4),
    st.lists(st.text(alphabet=st.characters(exclude_categories=()), max_size=3) | st.integers(), max_size=3),
    st.dictionaries(st.text(max_size=2), st.integers(), max_size=1),
)
ANY_NAME = st.text(alphabet=st.characters(exclude_categories=()), max_size=4) | st.sampled_from(
    ["valid_from", "valid_to", "\x00a"]
)


@given(values=st.dictionaries(ANY_NAME, ANY_VALUE, max_size=5))
@settings(max_examples=300, deadline=None)
def test_an_index_takes_whatever_metadata_is_left(values: dict[str, object]) -> None:
    kept, warnings = storable(values)
    assert check_payload(kept) == kept
    assert len(kept) + len(warnings) == len(values)
    assert storable(kept) == (kept, ())
