"""Plain text: which short numbered lines head what is below them, and blanks that mean something."""

import re

import pytest

from kaijuan.core.documents import BlockKind
from kaijuan.ingest.parsers.html import HtmlParser
from kaijuan.ingest.parsers.joining import join_lines
from kaijuan.ingest.parsers.text import TextParser


def headings(text: str) -> list[tuple[str, int]]:
    document = TextParser().parse(text.encode(), "file.txt")
    found = [block for block in document.blocks if block.kind is BlockKind.HEADING]
    return [(block.span.of(document.text), block.level) for block in found]


@pytest.mark.parametrize("gap", ["\n", "\n\n"])
@pytest.mark.parametrize(
    ("lines", "wanted"),
    [
        (["一、预订会议室", "通过 OA 预订。", "二、使用", "请保持整洁。"], [("一、预订会议室", 4), ("二、使用", 4)]),
        (["（一）申请", "填写表格。", "（二）审批", "经理批准。"], [("（一）申请", 5), ("（二）审批", 5)]),
        (["1. Booking", "Use the portal.", "2. Leaving", "Clean it."], [("1. Booking", 6), ("2. Leaving", 6)]),
        (["第三条　目的", "为了规范管理，制定本办法。"], [("第三条 目的", 4)]),
        (["第一章 总则", "一、目的", "为了规范管理。"], [("第一章 总则", 2), ("一、目的", 4)]),
        (["一、打开", "二、关上", "三、走开", "然后就结束了。"], []),
        (["1. Open the box", "2. Close the box", "3. Go", "Then you are done."], []),
        (["1. Open the box and", "wait for the light.", "2. Close the box and", "go away."], []),
        (["第三条　为了规范管理，制定本办法。", "第四条　本办法适用于员工。"], []),
        (["1.5 million were sold", "That is a lot.", "2.5 million were not", "That is more."], []),
    ],
)  # fmt: skip
def test_a_short_numbered_line_heads_the_text_below(gap: str, lines: list[str], wanted: list[tuple[str, int]]) -> None:
    assert headings("开头的一段话。\n\n" + gap.join(lines) + "\n") == wanted


def test_the_text_below_has_the_heading_in_its_path() -> None:
    document = TextParser().parse("办法\n\n一、预订\n通过 OA 系统预订，\n至少提前一天。\n".encode(), "手册.txt")
    block = document.blocks[-1]
    assert block.span.of(document.text) == "通过 OA 系统预订，\n至少提前一天。"
    assert block.title_path == ("一、预订",)
    assert document.title == "手册", "an item is no title of the whole"


@pytest.mark.parametrize(
    "text", ["第九十六条　股份有限公司", "　　第九十六条　股份有限公司。\n　　第九十七条　发起人。"]
)
def test_the_blank_after_an_article_number_stays(text: str) -> None:
    assert "第九十六条　股份" in TextParser().parse(text.encode(), "a.txt").text
    page = "".join(f"<p>{line}</p>" for line in text.split("\n"))
    assert "第九十六条　股份" in HtmlParser().parse(page.encode(), "a.html").text


def test_an_article_number_on_a_line_of_its_own_is_not_glued() -> None:
    assert join_lines(["第九十六条　", "股份有限", "公司"]) == "第九十六条 股份有限公司"
    assert join_lines(["依照第九十六条", "的规定"]) == "依照第九十六条的规定"


CONTENTS = "目录\n\n第一章 总则 ........ 1\n第二章 预订会议室……………… 3\n\n第三章 附则. . . . . . 12\n\n"
CHAPTERS = "第一章 总则\n\n一段话。\n\n第二章 预订会议室\n\n又一段话。\n\n第三章 附则\n\n完。\n"


@pytest.mark.parametrize("leader", ["........", "………", " … … … … "])
def test_a_table_of_contents_is_left_out(leader: str) -> None:
    contents = re.sub(r" ?[.…]{2,} ?", leader, CONTENTS)
    assert leader in contents
    text = TextParser().parse((contents + CHAPTERS).encode(), "a.txt").text
    assert text == "目录\n\n" + CHAPTERS.strip()


@pytest.mark.parametrize(
    "text",
    [
        CONTENTS,
        "Tea ........ 3\nCoffee ........ 4\nCake ........ 5\n\nWe sell tea, coffee and cake.",
        "第一章 总则 ........ 1\n第二章 附则 ........ 3\n\n第一章 总则\n\n第二章 附则\n\n完。",
        "a ........ 9\nb ........ 5\nc ........ 1\n\na\n\nb\n\nc",
    ],
)
def test_what_only_looks_like_one_stays(text: str) -> None:
    kept = TextParser().parse(text.encode(), "a.txt").text
    assert [line.strip() for line in kept.split("\n") if line.strip()] == [line for line in text.split("\n") if line]
