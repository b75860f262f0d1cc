"""OpenDocument files: text, sheets and slides."""

from __future__ import annotations

from tests import sample_files

from kaijuan.core.documents import ParsedDocument
from kaijuan.ingest.parsers.odf import OdpParser, OdsParser, OdtParser


def shown(document: ParsedDocument) -> list[tuple[str, str, str]]:
    return [(str(block.kind), block.place, block.span.of(document.text)) for block in document.blocks]


def test_a_text() -> None:
    document = OdtParser().parse(sample_files.ODT, "x.odt")
    assert (document.title, dict(document.metadata)) == ("标题", {"author": "李雷", "keywords": "甲"})
    assert shown(document) == [
        ("heading", "para 1", "第一章"),
        ("paragraph", "para 2", "一段 needle"),
        ("footnote", "para 2", "注"),
        ("list", "para 3", "1. 甲\n  - 乙\n2. 丙"),
        ("table", "table after para 5", "| 名称 | 数量 |\n| --- | --- |\n| 丁 | 1 |\n|  | 2 |"),
        ("figure", "para 6", "两只鸭子"),
        ("code", "para 6", "x = 1\ny"),
    ]
    table = document.blocks[4].table
    assert table is not None
    assert [(cell.rows, cell.header) for cell in table.cells] == [
        (1, True),
        (1, True),
        (2, False),
        (1, False),
        (1, False),
    ]


def test_a_spreadsheet() -> None:
    document = OdsParser().parse(sample_files.ODS, "x.ods")
    assert document.pages == 1
    assert shown(document) == [
        ("heading", "sheet 销售", "销售"),
        ("table", "sheet 销售!A1:B2", "| 名称 | 数量 |\n| --- | --- |\n| needle | ¥1.50 |"),
        ("footnote", "sheet 销售!A2", "李雷: 核对"),
    ]
    table = document.blocks[1].table
    assert table is not None
    assert (table.hidden_columns, [cell.header for cell in table.cells]) == ((1,), [True, True, False, False])


def test_slides() -> None:
    document = OdpParser().parse(sample_files.ODP, "x.odp")
    assert shown(document) == [
        ("heading", "slide 1", "年度"),
        ("paragraph", "slide 1", "上"),
        ("paragraph", "slide 1", "下 needle"),
        ("paragraph", "slide 1 notes", "讲慢"),
    ]
    assert {block.pages for block in document.blocks} == {(1,)}
