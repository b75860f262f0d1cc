"""Tables of PDF: cells at their places with spans, over page ends, and every character where it is printed."""

import io
import random
import re
from collections.abc import Callable, Sequence

import pypdfium2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reportlab.lib.styles import ParagraphStyle
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfgen import canvas
from reportlab.platypus import Flowable, PageBreak, Paragraph, SimpleDocTemplate, Spacer, Table

from kaijuan.core.documents import BlockKind, ParsedBlock, ParsedDocument
from kaijuan.core.spans import Span
from kaijuan.ingest.parsers.pdf import PdfParser
from kaijuan.ingest.parsers.pdf_blocks import Group, written
from kaijuan.ingest.parsers.pdf_lines import Line, PrintedCell, PrintedTable
from kaijuan.ingest.parsers.pipes import words_in
from kaijuan.testing.contracts.parser import check_document

pdfmetrics.registerFont(UnicodeCIDFont("STSong-Light"))
HAN = ParagraphStyle("han", fontName="STSong-Light", fontSize=10, leading=13, wordWrap="CJK")
GRID = ("GRID", (0, 0), (-1, -1), 0.5, "black")
FONT = ("FONT", (0, 0), (-1, -1), "STSong-Light", 10)
Cells = dict[tuple[int, int], str]


def flowing(*parts: Flowable, numbered: bool = False) -> bytes:
    out = io.BytesIO()

    def number(paper: canvas.Canvas, document: SimpleDocTemplate) -> None:
        if numbered:
            paper.drawString(290, 20, str(document.page))

    template = SimpleDocTemplate(out, pagesize=(595, 400), topMargin=50, bottomMargin=50, invariant=True)
    template.build(list(parts), onFirstPage=number, onLaterPages=number)
    return out.getvalue()


def drawn(draw: Callable[[canvas.Canvas], None]) -> bytes:
    out = io.BytesIO()
    paper = canvas.Canvas(out, pagesize=(595, 842), invariant=True)
    draw(paper)
    paper.save()
    return out.getvalue()


def read(data: bytes) -> ParsedDocument:
    document = PdfParser().parse(data, "made.pdf")
    check_document(document)
    return document


def tables_of(document: ParsedDocument) -> list[ParsedBlock]:
    return [block for block in document.blocks if block.kind is BlockKind.TABLE]


def cells_of(document: ParsedDocument, block: ParsedBlock) -> Cells:
    assert block.table is not None
    return {(cell.row, cell.column): words_in(document.text, cell) for cell in block.table.cells}


def only(document: ParsedDocument) -> tuple[ParsedBlock, Cells]:
    (block,) = tables_of(document)
    return block, cells_of(document, block)


def grid(rows: Sequence[Sequence[str]]) -> Cells:
    return {(at, column): text for at, row in enumerate(rows) for column, text in enumerate(row) if text}


def assert_boxes_hold_the_words(data: bytes, document: ParsedDocument, times: int = 40) -> None:
    """Look into the boxes of chance parts of lines and compare with the characters that they are said to hold."""
    chance = random.Random(3)
    lines = [line for block in document.blocks for line in block.lines if line.edges]
    pdf = pypdfium2.PdfDocument(data)
    for line in chance.sample(lines, min(times, len(lines))):
        start = chance.randrange(line.span.start, line.span.end)
        part = Span(start, chance.randrange(start, line.span.end) + 1)
        box = line.box_of(part)
        assert box is not None
        page = pdf[box.page - 1]
        height = page.get_height()
        there = page.get_textpage().get_text_bounded(box.x0, height - box.y1, box.x1, height - box.y0)
        words = re.sub(r"\s", "", part.of(document.text).replace("\\|", "|"))
        assert words in re.sub(r"[\s\ufffe]", "", there)
    pdf.close()


def test_a_ruled_table_with_merged_cells() -> None:
    rows = [
        ["部门", "收入", "", "备注"],
        ["", "上半年", "下半年", ""],
        ["研发", "1,200", "1,350", "含补贴"],
        ["销售", "980", "1,020", ""],
    ]
    spans = [("SPAN", (0, 0), (0, 1)), ("SPAN", (1, 0), (2, 0)), ("SPAN", (3, 0), (3, 1))]
    data = flowing(Table(rows, colWidths=90, style=[GRID, FONT, *spans]))
    document = read(data)
    block, cells = only(document)
    assert cells == grid(rows)
    assert block.table is not None
    reach = {(cell.row, cell.column): (cell.rows, cell.columns) for cell in block.table.cells}
    assert reach[0, 0] == (2, 1)
    assert reach[0, 1] == (1, 2)
    assert reach[2, 1] == (1, 1)
    assert {cell.row for cell in block.table.cells if cell.header} == {0, 1}
    assert_boxes_hold_the_words(data, document)


def test_a_header_that_wraps_in_a_narrow_column_is_one_word() -> None:
    # docling#539: the header stands in two lines, and was read with a blank in the middle.
    rows = [[Paragraph("知识产权", HAN), Paragraph("数量", HAN)], ["专利", "12"], ["商标", "7"]]
    data = flowing(Table(rows, colWidths=[34, 80], style=[GRID, FONT]))
    document = read(data)
    block, cells = only(document)
    assert cells[0, 0] == "知识产权"
    assert "知识产权" in document.text
    assert len([line for line in block.lines if line.span.of(document.text) in {"知识", "产权"}]) == 2


def test_words_that_wrap_in_a_cell_keep_their_blank_and_lose_the_hyphen_of_the_line_end() -> None:
    style = ParagraphStyle("plain", fontName="Helvetica", fontSize=10, leading=12)
    cell = Paragraph("several words in a cell<br/>that inter-<br/>rupts a word", style)
    rows = [["name", "meaning"], ["first", cell], ["second | third", "short"]]
    document = read(flowing(Table(rows, colWidths=[110, 150], style=[GRID])))
    _, cells = only(document)
    assert cells[1, 1] == "several words in a cell that interrupts a word"
    assert cells[2, 0] == "second | third"


def test_a_table_over_page_ends_is_one_with_one_header() -> None:
    # ragflow#16735: the second page of a table had no place.
    rows = [["编号", "名称", "金额"]] + [[f"A{n:03}", f"项目{n}", f"{n * 11:,}.00"] for n in range(60)]
    data = flowing(Table(rows, colWidths=100, repeatRows=1, style=[GRID, FONT]), numbered=True)
    document = read(data)
    block, cells = only(document)
    assert document.pages > 3
    assert cells == grid(rows)
    assert document.text.count("编号") == 1
    assert block.table is not None
    wanted = next(cell for cell in block.table.cells if words_in(document.text, cell) == "项目40")
    (line,) = [line for line in block.lines if line.span.intersect(wanted.span)]
    page = pypdfium2.PdfDocument(data)[line.box.page - 1].get_textpage().get_text_bounded()
    assert line.box.page > 1
    assert "项目40" in page
    assert_boxes_hold_the_words(data, document)


@pytest.mark.parametrize("again", ["续表 3", "表 3 各年产量（续）", "Table 3: output (continued)"])
def test_a_line_that_says_that_a_table_goes_on_goes_with_the_second_header(again: str) -> None:
    head = ["年份", "产量"]
    first, second = [head, ["2020", "300"], ["2021", "310"]], [head, ["2022", "355"], ["2023", "360"]]
    style = [GRID, FONT]
    data = flowing(
        Paragraph("表 3 各年产量", HAN),
        Table(first, colWidths=80, style=style),
        PageBreak(),
        Paragraph(again, HAN),
        Table(second, colWidths=80, style=style),
        Paragraph("表后的正文说明产量为什么逐年增长。", HAN),
    )
    document = read(data)
    _, cells = only(document)
    assert cells == grid([*first, *second[1:]])
    assert [block.kind for block in document.blocks] == [BlockKind.CAPTION, BlockKind.TABLE, BlockKind.PARAGRAPH]


def test_two_tables_on_following_pages_stay_two() -> None:
    first = [["a", "b"], *([f"x{n}", f"{n}"] for n in range(10))]
    second = [["c", "d", "e"], *([f"y{n}", f"{n}", "z"] for n in range(3))]
    document = read(flowing(Table(first, colWidths=100, style=[GRID]), Spacer(1, 200), Table(second, style=[GRID])))
    assert [cells_of(document, block) for block in tables_of(document)] == [grid(first), grid(second)]


def test_amounts_in_columns_without_rules_are_a_table() -> None:
    rows = [
        ["", "2023", "2022"],
        ["Net sales", "$ 10,782", "$ 9,857"],
        ["Cost of products sold", "6,018", "5,954"],
        ["Other income", "(411)", "—"],
        ["Net earnings", "$ 4,353", "$ 3,903"],
    ]

    def draw(paper: canvas.Canvas) -> None:
        paper.setFont("Helvetica", 10)
        paper.drawString(
            50, 700, "The following table shows what was earned and spent in both of the years (in millions):"
        )
        for at, row in enumerate(rows):
            paper.drawString(50, 670 - 14 * at, row[0])
            paper.drawRightString(330, 670 - 14 * at, row[1])
            paper.drawRightString(400, 670 - 14 * at, row[2])
        paper.drawString(50, 580, "See the notes for more about what was earned and what was spent in the two years.")

    data = drawn(draw)
    document = read(data)
    block, cells = only(document)
    assert cells == grid(rows)
    assert block.table is not None
    assert {cell.row for cell in block.table.cells if cell.header} == {0}
    assert [other.kind for other in document.blocks] == [BlockKind.PARAGRAPH, BlockKind.TABLE, BlockKind.PARAGRAPH]
    assert_boxes_hold_the_words(data, document)


def test_a_three_line_table_over_both_columns_of_a_page() -> None:
    rows = [
        ["方法", "语料", "优点"],
        ["词典", "人工整理", "可解释"],
        ["统计", "网页", "覆盖广"],
        ["混合", "两者", "稳定"],
    ]

    def draw(paper: canvas.Canvas) -> None:
        paper.setFont("STSong-Light", 10)
        for at in range(12):
            paper.drawString(50, 780 - 15 * at, f"左栏第{at}行的文字足够长可以填满这一栏的宽度")
            paper.drawString(310, 780 - 15 * at, f"右栏第{at}行的文字足够长可以填满这一栏的宽度")
        for at, row in enumerate(rows):
            for text, x in zip(row, (60, 250, 450), strict=True):
                paper.drawString(x, 500 - 16 * at, text)
        for y in (514, 496, 446):
            paper.line(50, y, 545, y)

    document = read(drawn(draw))
    _, cells = only(document)
    assert cells == grid(rows)
    assert document.text.index("左栏第11行") < document.text.index("右栏第0行") < document.text.index("方法")


def test_a_caption_stands_beside_its_table() -> None:
    rows = [["年份", "产量"], ["2021", "310"], ["2022", "355"]]
    caption = Paragraph("表 3 各年产量", HAN)
    document = read(flowing(caption, Spacer(1, 6), Table(rows, colWidths=80, style=[GRID, FONT])))
    assert [block.kind for block in document.blocks] == [BlockKind.CAPTION, BlockKind.TABLE]


PROSE = [
    "The first column of this page tells a story that goes on",
    "from line to line, as the stories of newspapers do, and has",
    "no rows in which anything would stand beside anything else.",
]


@pytest.mark.parametrize("font", ["Helvetica", "Courier"])
def test_two_columns_of_text_are_no_table(font: str) -> None:
    def draw(paper: canvas.Canvas) -> None:
        paper.setFont(font, 8 if font == "Helvetica" else 6)
        for at in range(18):
            paper.drawString(40, 780 - 12 * at, PROSE[at % 3])
            paper.drawString(310, 780 - 12 * at, PROSE[(at + 1) % 3])
        paper.line(40, 795, 555, 795)
        paper.line(40, 560, 555, 560)

    assert not tables_of(read(drawn(draw)))


@pytest.mark.parametrize(
    "rows",
    [
        [("1.", "the first of the points that are listed"), ("2.", "another point"), ("3.", "and the last of them")],
        [("x = y + 1", "(1.1)"), ("y = z + 2", "(1.2)"), ("z = x - 3", "(1.3)"), ("w = 4 x", "(1.4)")],
        [("Introduction", "1"), ("Methods", "4"), ("Results", "9"), ("Discussion", "15")],
        [("Signed by the buyer", "Signed by the seller"), ("in the presence of", "in the presence of")],
    ],
    ids=["list", "equations", "contents", "signatures"],
)
def test_what_only_stands_side_by_side_is_no_table(rows: list[tuple[str, str]]) -> None:
    def draw(paper: canvas.Canvas) -> None:
        paper.setFont("Helvetica", 10)
        for at, (left, right) in enumerate(rows):
            paper.drawString(50, 700 - 14 * at, left)
            paper.drawString(50 + (30 if len(left) < 4 else 300), 700 - 14 * at, right)

    assert not tables_of(read(drawn(draw)))


def test_a_frame_around_text_is_no_table() -> None:
    def draw(paper: canvas.Canvas) -> None:
        paper.setFont("Helvetica", 10)
        paper.rect(40, 600, 500, 120)
        paper.line(40, 690, 540, 690)
        paper.drawString(50, 700, "Note")
        for at, line in enumerate(PROSE):
            paper.drawString(50, 670 - 14 * at, line)

    assert not tables_of(read(drawn(draw)))


WORDS = st.text(alphabet="abcdefg中文字表格数|", min_size=1, max_size=6)


@given(
    rows=st.integers(2, 5).flatmap(
        lambda width: st.lists(st.lists(WORDS, min_size=width, max_size=width), min_size=2, max_size=5)
    )
)
@settings(max_examples=40, deadline=None)
def test_every_cell_of_a_ruled_table_is_read_at_its_place(rows: list[list[str]]) -> None:
    document = read(flowing(Table(rows, colWidths=80, style=[GRID, FONT])))
    _, cells = only(document)
    assert {place: text.replace(" ", "") for place, text in cells.items()} == grid(rows)


def printed(text: str) -> Line:
    edges = tuple(float(at) for at in range(len(text) + 1))
    return Line(text=text, edges=edges, page=3, x0=0, y0=0, x1=edges[-1], y1=10, size=10, bold=False)


def test_a_table_whose_words_would_change_is_kept_as_lines() -> None:
    # MinerU#5553, ragflow#10644: tables lost rows or words without a word about it.
    cells = [PrintedCell(0, 0, [printed("two  blanks")]), PrintedCell(0, 1, [printed("b")])]
    table = PrintedTable(3, (0.0, 50.0, 100.0), cells, 0.0, 0.0, 100.0, 10.0, ruled=True)
    made = written(Group(BlockKind.TABLE, [table.line()]), frozenset())
    assert made.unmade
    assert made.table is None
    assert made.text == "two  blanks\nb"
    assert [line.span.of(made.text) for line in made.lines] == ["two  blanks", "b"]


@pytest.mark.parametrize("lines", [200, 3_000])
def test_a_page_full_of_rules_ends(lines: int) -> None:
    def draw(paper: canvas.Canvas) -> None:
        for at in range(lines):
            paper.line(20 + at % 50, at * 800 / lines, 500 + at % 70, at * 800 / lines)
            paper.line(at * 500 / lines, 20 + at % 50, at * 500 / lines, 700 + at % 70)
        paper.drawString(100, 400, "A word among many lines, and a few more of them.")

    assert "A word among many lines" in read(drawn(draw)).text.replace(" | ", " ")
