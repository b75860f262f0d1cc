"""Rows of tables that a page end cuts in two are one row; what only begins on a new page is a row of its own."""

import re

import pytest
from reportlab.lib.styles import ParagraphStyle
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.platypus import PageBreak, Paragraph, Table
from tests.unit.ingest.test_parsers_pdf_tables import FONT, GRID, assert_boxes_hold_the_words, flowing, read, tables_of

from kaijuan.core.documents import BlockKind
from kaijuan.ingest.parsers.pipes import words_in

pdfmetrics.registerFont(UnicodeCIDFont("STSong-Light"))
TOP = ("VALIGN", (0, 0), (-1, -1), "TOP")
HAN = ParagraphStyle("han", fontName="STSong-Light", fontSize=10, leading=13, wordWrap="CJK")
LATIN = ParagraphStyle("latin", fontName="Helvetica", fontSize=10, leading=13)
LONG = {
    "zh": (
        "乙",
        "差旅住宿",
        "员工出差期间的住宿费用按照所在城市的标准执行，一线城市每晚不超过六百元，其他城市每晚不超过四百元，"
        "超出部分由员工自行承担，特殊情况须事先经部门负责人书面批准后方可报销",
    ),
    "en": (
        "B1",
        "Hotel nights",
        "The cost of a night in a hotel is paid up to the limit of the city in which the traveller stays, and whatever "
        "goes beyond that limit is borne by the traveller unless the head of the department agreed in writing",
    ),
}
SHORT = {"zh": ("甲", "办公用品", "按部门申领"), "en": ("A", "Paper", "as requested")}
STYLE = {"zh": HAN, "en": LATIN}


def over_a_page_end(language: str, *, ruled: bool, before: int = 12) -> bytes:
    rows = [SHORT[language]] * before + [LONG[language]] + [SHORT[language]] * 2
    cells = [[Paragraph(text, STYLE[language]) for text in row] for row in rows]
    return flowing(Table(cells, colWidths=[60, 90, 150], splitInRow=1, style=[TOP, GRID] if ruled else [TOP]))


@pytest.mark.parametrize("language", ["zh", "en"])
@pytest.mark.parametrize("ruled", [True, False])
def test_a_row_over_a_page_end_is_one_row_on_two_pages(language: str, ruled: bool) -> None:
    data = over_a_page_end(language, ruled=ruled)
    document = read(data)
    table = next(block for block in document.blocks if block.kind is BlockKind.TABLE)
    assert table.table is not None
    whole = [cell for cell in table.table.cells if words_in(document.text, cell) == LONG[language][2]]
    assert [(cell.row, cell.column) for cell in whole] == [(12, 2)]
    assert {line.box.page for line in table.lines if whole[0].span.contains(line.span)} == {1, 2}
    assert_boxes_hold_the_words(data, document)


TWO_LONG = {
    "zh": (
        "第二条",
        "各部门应当在每季度结束后十五个工作日内将经费使用情况报送财务处，逾期未报送的由财务处发函催报，"
        "催报后仍未报送的暂停其下一季度经费拨付",
        "首次逾期的给予书面警告并在全院范围内通报，一年之内累计逾期三次以上的取消该部门当年的评优资格，"
        "并扣减负责人绩效百分之十",
    ),
    "en": (
        "2",
        "Every department reports its spending to the finance office within fifteen working days after the end of a "
        "quarter, and is reminded in writing once where it does not",
        "The first delay is answered by a written warning, three delays within one year cost the department its award "
        "and the head a tenth of the bonus for that year",
    ),
}


@pytest.mark.parametrize("language", ["zh", "en"])
@pytest.mark.parametrize("ruled", [True, False])
def test_two_cells_of_a_row_go_on_behind_the_page_end(language: str, ruled: bool) -> None:
    rows = [SHORT[language]] * 12 + [TWO_LONG[language]] + [SHORT[language]] * 3
    cells = [[Paragraph(text, STYLE[language]) for text in row] for row in rows]
    style = [TOP, GRID] if ruled else [TOP]
    document = read(flowing(Table(cells, colWidths=[60, 130, 130], splitInRow=1, style=style)))
    table = tables_of(document)[0]
    assert table.table is not None
    row = [words_in(document.text, cell) for cell in table.table.cells if cell.row == 12]
    assert row == list(TWO_LONG[language])
    assert {line.box.page for line in table.lines} == {1, 2}


@pytest.mark.parametrize("language", ["zh", "en"])
def test_the_rest_of_a_row_below_a_repeated_header(language: str) -> None:
    header = {"zh": ["编号", "项目", "说明"], "en": ["No.", "Item", "Rule"]}[language]
    at = len(LONG[language][2]) // 2 if language == "zh" else LONG[language][2].index("which")
    start, rest = LONG[language][2][:at], LONG[language][2][at:]
    if language == "zh":  # as much as fills lines of fourteen characters
        start, rest = LONG["zh"][2][:26], LONG["zh"][2][26:]

    def part(rows: list[list[str]]) -> Table:
        cells = [[Paragraph(text, STYLE[language]) for text in row] for row in [header, *rows]]
        return Table(cells, colWidths=[60, 90, 150], style=[TOP, GRID])

    above = [list(SHORT[language]), [*LONG[language][:2], start.strip()]]
    below = [["", "", rest.strip()], list(SHORT[language])]
    document = read(flowing(part(above), PageBreak(), part(below)))
    (table,) = tables_of(document)
    assert table.table is not None
    assert [words_in(document.text, cell) for cell in table.table.cells if cell.row == 2] == list(LONG[language])
    assert table.table.rows == 4


@pytest.mark.parametrize("language", ["zh", "en"])
def test_rows_behind_a_cut_row_keep_their_order(language: str) -> None:
    document = read(over_a_page_end(language, ruled=True))
    (table,) = tables_of(document)
    assert table.table is not None
    assert table.table.rows == 15
    last = [words_in(document.text, cell) for cell in table.table.cells if cell.row == 14]
    assert last == list(SHORT[language])


@pytest.mark.parametrize(
    ("above", "below"),
    [
        (["差旅", "住宿费", "每晚六百元以内"], ["", "交通费", "按实报销"]),
        (["Travel", "hotel", "up to 600 a night"], ["", "trains", "as paid"]),
        (["合计", "本页", "1,200"], ["", "", "3,400"]),
        (["备注", "说明", "到此为止。"], ["", "", "另起一行"]),
    ],
)
def test_the_next_entry_of_a_group_is_a_row_of_its_own(above: list[str], below: list[str]) -> None:
    def part(rows: list[list[str]]) -> Table:
        return Table(rows, colWidths=[60, 90, 150], style=[GRID, FONT])

    first = [["科目", "项目", "标准"], ["办公", "纸张", "按需"], above]
    document = read(flowing(part(first), PageBreak(), part([below, ["培训", "课程", "先批后报"]])))
    (table,) = tables_of(document)
    rows = [re.sub(r"^\||\|$", "", row).split("|") for row in table.span.of(document.text).split("\n")]
    shown = [[cell.strip() for cell in row] for row in rows if "---" not in row[0]]
    assert shown == [*first, below, ["培训", "课程", "先批后报"]]


def test_text_below_a_table_that_ends_a_page_is_no_cell() -> None:
    rows = [[Paragraph(text, HAN) for text in row] for row in [SHORT["zh"]] * 12]
    after = Paragraph(LONG["zh"][2], HAN)
    document = read(flowing(Table(rows, colWidths=[60, 90, 150], style=[TOP]), PageBreak(), after))
    (table,) = tables_of(document)
    assert {line.box.page for line in table.lines} == {1}
    assert LONG["zh"][2] in document.text
