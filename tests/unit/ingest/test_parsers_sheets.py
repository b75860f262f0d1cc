"""Workbooks of all formats: what a cell shows, where it stands, and what is one table."""

from __future__ import annotations

import io

import openpyxl
import pytest
from tests import sample_files

from kaijuan.core.documents import BlockKind, ParsedBlock, ParsedDocument
from kaijuan.ingest.parsers.csv_table import CsvParser
from kaijuan.ingest.parsers.pipes import words_in
from kaijuan.ingest.parsers.xls import XlsParser
from kaijuan.ingest.parsers.xlsx import XlsxParser

Rows = list[list[object]]


def workbook(rows: Rows) -> bytes:
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def blocks_of(rows: Rows) -> tuple[ParsedDocument, list[ParsedBlock]]:
    document = XlsxParser().parse(workbook(rows), "x.xlsx")
    return document, [block for block in document.blocks if block.kind is not BlockKind.HEADING]


def cells_of(document: ParsedDocument, block: ParsedBlock) -> dict[tuple[int, int], str]:
    assert block.table is not None
    return {(cell.row, cell.column): words_in(document.text, cell) for cell in block.table.cells}


def test_a_workbook_is_read_as_it_is_shown() -> None:
    document = XlsxParser().parse(sample_files.xlsx(), "x.xlsx")
    assert (document.title, document.pages, document.metadata["author"]) == ("报表", 2, "韩梅梅")
    shown = [(str(block.kind), block.place, block.pages, block.span.of(document.text)) for block in document.blocks]
    assert shown[:3] == [
        ("heading", "sheet 销售", (1,), "销售"),
        ("paragraph", "sheet 销售!A1", (1,), "2024 年销售表"),
        (
            "table",
            "sheet 销售!A2:D4",
            (1,),
            "| 地区 | 产品 | 金额 | 占比 |\n| --- | --- | --- | --- |\n"
            "| 华东 | needle | ¥1,234,567.50 | 12.5% |\n|  | 乙 | -¥20.00 | 50.0% |",
        ),
    ]
    assert ("table", "sheet 销售!F8:G9", (1,), "| 日期 | 次数 |\n| --- | --- |\n| 2024年1月31日 | 3 |") in shown
    assert ("caption", "sheet 销售!A12", (1,), "次数图") in shown
    assert ("footnote", "sheet 销售!B3", (1,), "李雷: 要核对") in shown
    assert shown[-1][1:] == ("sheet 旧表!A1 (hidden)", (2,), "机密")
    assert document.warnings == ("The sheet '旧表' is hidden in its workbook.",)
    assert {block.title_path for block in document.blocks[1:5]} == {("销售",)}


def test_cells_know_their_spans_headers_and_what_is_hidden() -> None:
    document = XlsxParser().parse(sample_files.xlsx(), "x.xlsx")
    block = document.blocks[2]
    table = block.table
    assert table is not None
    assert [words_in(document.text, cell) for cell in table.cells if cell.header] == ["地区", "产品", "金额", "占比"]
    merged = next(cell for cell in table.cells if words_in(document.text, cell) == "华东")
    assert (merged.row, merged.column, merged.rows, merged.columns) == (1, 0, 2, 1)
    assert table.hidden_rows == (2,)


def test_an_old_workbook_is_read_like_a_new_one() -> None:
    document = XlsParser().parse(sample_files.xls(), "x.xls")
    table = document.blocks[1].table
    assert table is not None
    assert document.blocks[1].place == "sheet 销售!A1:C3"
    assert cells_of(document, document.blocks[1])[2, 2] == "2024年1月31日"
    assert cells_of(document, document.blocks[1])[1, 2] == "¥1,234,567.50"
    assert [cell.header for cell in table.cells][:4] == [True, True, True, False]
    assert (table.cells[3].rows, table.hidden_rows) == (2, (2,))
    assert document.blocks[-1].place == "sheet 旧表!A1 (hidden)"


def test_a_blank_row_or_column_before_numbers_is_no_border() -> None:
    rows: Rows = [
        ["名称", None, "2023", "2022"],
        [],
        ["资产"],
        ["现金", None, 1, 2],
        [],
        ["负债"],
        ["借款", None, 3, 4],
    ]
    _, blocks = blocks_of(rows)
    assert [block.place for block in blocks] == ["sheet Sheet!A1:D7"]
    assert blocks[0].table is not None
    assert sum(cell.header for cell in blocks[0].table.cells) == 3


def test_a_blank_row_before_new_labels_is_a_border() -> None:
    rows: Rows = [["名称", "数量"], ["甲", 1], [], ["城市", "人口"], ["京", 2]]
    _, blocks = blocks_of(rows)
    assert [block.place for block in blocks] == ["sheet Sheet!A1:B2", "sheet Sheet!A4:B5"]


def test_tables_side_by_side_with_labels_of_their_own_are_two() -> None:
    rows: Rows = [["名称", "数量", None, "城市", "人口"], ["甲", 1, None, "京", 2], ["乙", 3, None, "沪", 4]]
    _, blocks = blocks_of(rows)
    assert [block.place for block in blocks] == ["sheet Sheet!A1:B3", "sheet Sheet!D1:E3"]


def test_a_column_of_sentences_is_prose_and_one_of_words_a_table() -> None:
    document, blocks = blocks_of([["本表说明填写方法。"], ["所有金额以元为单位。"], ["请勿改动表头。"]])
    assert [block.kind for block in blocks] == [BlockKind.PARAGRAPH] * 3
    assert [block.place for block in blocks] == ["sheet Sheet!A1", "sheet Sheet!A2", "sheet Sheet!A3"]
    _, blocks = blocks_of([["部门"], ["人事"], ["财务"]])
    assert [block.kind for block in blocks] == [BlockKind.TABLE]
    assert document.title == "x"


@pytest.mark.parametrize(
    ("rows", "headers"),
    [
        ([["甲", 1], ["乙", 2]], 0),
        ([["名称", "数量"], ["甲", 1]], 2),
        ([["名称", "说明"], ["甲", "第一"], ["乙", "第二"]], 2),
        ([["同", "同"], ["甲", "第一"]], 0),
    ],
)
def test_header_rows_are_found_not_guessed(rows: Rows, headers: int) -> None:
    _, blocks = blocks_of(rows)
    assert blocks[0].table is not None
    assert sum(cell.header for cell in blocks[0].table.cells) == headers


def test_a_formula_without_a_stored_value_is_kept_as_written() -> None:
    document, blocks = blocks_of([["数", "和"], [1, "=SUM(A2:A2)"]])
    assert cells_of(document, blocks[0])[1, 1] == "=SUM(A2:A2)"


def test_a_million_cells_far_apart_do_not_blow_up_the_text() -> None:
    book = openpyxl.Workbook()
    for at in range(1, 3000):
        book.active.cell(at * 3, at * 5, f"x{at}") if at * 5 < 16000 else None
    out = io.BytesIO()
    book.save(out)
    document = XlsxParser().parse(out.getvalue(), "far.xlsx")
    assert len(document.text) < 100_000
    assert "x2999" in document.text


@pytest.mark.parametrize(
    ("data", "name"),
    [
        ("姓名,年龄\n张三,20\n李四,30\n".encode("gb18030"), "a.csv"),
        ("姓名;年龄\n张三;20\n李四;30\n".encode(), "a.csv"),
        ("姓名\t年龄\n张三\t20\n李四\t30\n".encode("utf-16"), "a.csv"),
        ("姓名\t年龄\n张三\t20\n李四\t30\n".encode(), "a.tsv"),
        ("姓名|年龄\r\n张三|20\r\n李四|30\r\n".encode("utf-8-sig"), "a.csv"),
        ("sep=;\n姓名;年龄\n张三;20\n李四;30\n".encode(), "a.csv"),
    ],
)
def test_delimiter_and_encoding_are_found(data: bytes, name: str) -> None:
    document = CsvParser().parse(data, name)
    assert document.text == "| 姓名 | 年龄 |\n| --- | --- |\n| 张三 | 20 |\n| 李四 | 30 |"
    table = document.blocks[0].table
    assert table is not None
    assert [cell.header for cell in table.cells] == [True, True, False, False, False, False]


def test_commas_within_cells_are_no_delimiters() -> None:
    document = CsvParser().parse("名称;说明\n甲;一,二,三\n乙;四,五,六\n".encode(), "a.csv")
    assert document.blocks[0].table is not None
    assert document.blocks[0].table.columns == 2


def test_a_title_above_a_table_is_a_paragraph() -> None:
    document = CsvParser().parse("销售表,\n名称,数量\n甲,1\n".encode(), "a.csv")
    assert [(str(block.kind), block.place) for block in document.blocks] == [
        ("paragraph", "row 1"),
        ("table", "rows 2-3"),
    ]
