"""Old Office files. The samples are written by hand; another reader of these formats (docling) reads them alike."""

from __future__ import annotations

import pytest
from tests import ole_files

from kaijuan.core.documents import ParsedDocument
from kaijuan.errors import BrokenDocumentError, EncryptedDocumentError
from kaijuan.ingest.parsers.doc import DocParser
from kaijuan.ingest.parsers.ppt import PptParser

WORDS: list[ole_files.Paragraph] = [
    ("第一章 总则", "\r", {"style": 1}),
    ("正文一段 needle。", "\r", {}),
    ("甲", "\r", {"list": 1}),
    ("乙", "\r", {"list": 1, "depth": 1}),
    ("名称", "\x07", {"in_table": 1}),
    ("数量", "\x07", {"in_table": 1}),
    ("", "\x07", {"in_table": 1, "row_end": 1}),
    ("丙", "\x07", {"in_table": 1}),
    ("1", "\x07", {"in_table": 1}),
    ("", "\x07", {"in_table": 1, "row_end": 1}),
    ('见\x13 HYPERLINK "x" \x14链\x13 \x14接\x15\x15后文\x01', "\r", {}),
]
SLIDES = [("年度报告", ["收入", "支出"], "页边 needle", "讲慢一些"), ("", [], "只有文字", "")]


def shown(document: ParsedDocument) -> list[tuple[str, str, str]]:
    return [(str(block.kind), block.place, block.span.of(document.text)) for block in document.blocks]


def test_an_old_word_file() -> None:
    document = DocParser().parse(ole_files.doc(WORDS, notes="\x02注释一\r"), "x.doc")
    assert shown(document) == [
        ("heading", "para 1", "第一章 总则"),
        ("paragraph", "para 2", "正文一段 needle。"),
        ("list", "para 3", "- 甲\n  - 乙"),
        ("table", "table after para 4", "| 名称 | 数量 |\n| --- | --- |\n| 丙 | 1 |"),
        ("paragraph", "para 11", "见链接后文"),
        ("footnote", "notes", "注释一"),
    ]
    assert document.title == "第一章 总则"


def test_an_old_presentation() -> None:
    document = PptParser().parse(ole_files.ppt(SLIDES), "x.ppt")
    assert (document.title, document.pages) == ("年度报告", 2)
    assert shown(document) == [
        ("heading", "slide 1", "年度报告"),
        ("list", "slide 1", "- 收入\n- 支出"),
        ("paragraph", "slide 1", "页边 needle"),
        ("paragraph", "slide 1 notes", "讲慢一些"),
        ("paragraph", "slide 2", "只有文字"),
    ]
    assert document.blocks[-1].title_path == ()


def test_protected_ones_need_a_password() -> None:
    with pytest.raises(EncryptedDocumentError):
        DocParser().parse(ole_files.doc(WORDS, encrypted=True), "x.doc")
    with pytest.raises(EncryptedDocumentError):
        PptParser().parse(ole_files.ppt(SLIDES, encrypted=True), "x.ppt")


@pytest.mark.parametrize(
    "streams", [{}, {"WordDocument": b"x" * 99}, {"WordDocument": bytes(5000), "0Table": bytes(9)}]
)
def test_what_only_looks_like_word_is_broken(streams: dict[str, bytes]) -> None:
    with pytest.raises(BrokenDocumentError):
        DocParser().parse(ole_files.container(streams), "x.doc")
