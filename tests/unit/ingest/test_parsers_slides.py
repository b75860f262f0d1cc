"""Presentations: what stands on which slide, in the order in which people read it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from lxml import etree
from tests import sample_files

from kaijuan.core.documents import ParsedDocument
from kaijuan.ingest.parsers.omml import latex
from kaijuan.ingest.parsers.pptx import PptxParser, diagram_lines
from kaijuan.ingest.parsers.slide_order import Placed, in_reading_order


def shown(document: ParsedDocument) -> list[tuple[str, str, str]]:
    return [(str(block.kind), block.place, block.span.of(document.text)) for block in document.blocks]


def test_slides_are_read_in_order() -> None:
    document = PptxParser().parse(sample_files.pptx_file(), "x.pptx")
    assert (document.title, document.pages) == ("年度报告", 3)
    assert shown(document) == [
        ("heading", "slide 1", "年度报告"),
        ("list", "slide 1", "- 收入 needle\n  - 国内"),
        ("paragraph", "slide 1 notes", "讲慢一些"),
        ("paragraph", "slide 2", "左上"),
        ("paragraph", "slide 2", "右上"),
        ("paragraph", "slide 2", "左下"),
        ("paragraph", "slide 2", "右下"),
        ("heading", "slide 3 (hidden)", "表和图"),
        ("table", "slide 3 (hidden)", "| 名称 | 数量 |\n| --- | --- |\n| 甲 | 1 |\n|  | 2 |"),
        ("caption", "slide 3 (hidden)", "占比"),
        ("table", "slide 3 (hidden)", "|  | 占比 |\n| --- | --- |\n| 一月 | 25% |\n| 二月 | 50% |"),
    ]
    assert [block.pages for block in document.blocks] == [(1,)] * 3 + [(2,)] * 4 + [(3,)] * 4
    # A slide without a title does not belong to the one before it.
    assert {block.title_path for block in document.blocks[3:7]} == {()}
    table = document.blocks[8].table
    assert table is not None
    assert [(cell.rows, cell.header) for cell in table.cells] == [
        (1, True),
        (1, True),
        (2, False),
        (1, False),
        (1, False),
    ]


Boxes = list[tuple[str, tuple[float, float, float, float] | None]]


def order(boxes: Boxes) -> str:
    return "".join(in_reading_order([Placed(name, box) for name, box in boxes]))


def test_columns_below_a_headline_are_read_one_after_the_other() -> None:
    boxes: Boxes = [
        ("d", (60, 40, 100, 90)),
        ("a", (0, 0, 100, 10)),
        ("c", (0, 50, 45, 90)),
        ("b", (0, 20, 45, 52)),
        ("e", (60, 88, 100, 99)),
        ("f", None),
    ]
    assert order(boxes) == "abcdef"


def test_boxes_that_lie_over_each_other_keep_the_order_in_which_they_were_laid() -> None:
    assert order([("b", (0, 0, 50, 50)), ("a", (10, 10, 60, 60)), ("c", (20, 20, 30, 80))]) == "bac"
    assert order([("x", None), ("b", (0, 50, 10, 60)), ("y", None), ("a", (0, 0, 10, 10))]) == "xaby"


@given(st.lists(st.none() | st.tuples(*[st.floats(0, 100)] * 4), max_size=12))
def test_every_box_is_read_once(boxes: list[tuple[float, float, float, float] | None]) -> None:
    placed = [Placed(at, box) for at, box in enumerate(boxes)]
    assert sorted(in_reading_order(placed)) == list(range(len(boxes)))


def test_a_diagram_is_a_nested_list() -> None:
    point = "<pt modelId='{}'><t><p><r><t>{}</t></r></p></t></pt>"
    link = "<cxn srcId='{}' destId='{}' srcOrd='{}'/>"
    model = (
        "<dataModel><ptLst><pt modelId='0' type='doc'/>"
        + "".join(point.format(id, text) for id, text in (("1", "甲"), ("2", "乙"), ("3", "丙")))
        + "<pt modelId='9' type='pres'/></ptLst><cxnLst>"
        + link.format("0", "3", 1)
        + link.format("0", "1", 0)
        + link.format("1", "2", 0)
        + link.format("2", "1", 0)
        + "</cxnLst></dataModel>"
    )
    assert diagram_lines(etree.fromstring(model)) == ["- 甲", "  - 乙", "- 丙"]


def test_formulas_become_latex() -> None:
    run = "<m:r><m:t>{}</m:t></m:r>"
    base = "<m:e>" + run.format("x") + "</m:e>"
    parts = (
        "<m:f><m:num>" + run.format("α") + "</m:num><m:den>" + run.format("2") + "</m:den></m:f>"
        "<m:rad><m:radPr><m:degHide m:val='1'/></m:radPr><m:deg/>" + base + "</m:rad>"
        "<m:nary><m:naryPr><m:chr m:val='∑'/></m:naryPr><m:sub>"
        + run.format("i")
        + "</m:sub><m:sup/>"
        + base
        + "</m:nary>"
        "<m:d><m:dPr><m:begChr m:val='['/><m:endChr m:val=''/></m:dPr>" + base + "</m:d>"
        "<m:m><m:mr>" + base + base + "</m:mr><m:mr>" + base + base + "</m:mr></m:m>"
        "<m:acc>" + base + "</m:acc><m:bar><m:barPr><m:pos m:val='top'/></m:barPr>" + base + "</m:bar>"
    )
    node = etree.fromstring(
        f"<m:oMath xmlns:m='http://schemas.openxmlformats.org/officeDocument/2006/math'>{parts}</m:oMath>"
    )
    assert latex(node) == (
        r"\frac{\alpha}{2}\sqrt{x}\sum_{i} x\left[x\right."
        r"\begin{matrix}x & x \\ x & x\end{matrix}\hat{x}\overline{x}"
    )
