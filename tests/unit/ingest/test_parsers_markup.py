"""Markup, data and books: the shape of what is read, and where each block says that it stands."""

from __future__ import annotations

import io
import zipfile

import pytest
from tests import sample_files

from kaijuan.core.documents import BlockKind, ParsedDocument
from kaijuan.errors import BrokenDocumentError, EncryptedDocumentError
from kaijuan.ingest.parsers.asciidoc import AsciiDocParser
from kaijuan.ingest.parsers.asciidoc_text import plain
from kaijuan.ingest.parsers.epub import EpubParser
from kaijuan.ingest.parsers.json_text import JsonParser
from kaijuan.ingest.parsers.notebook import NotebookParser
from kaijuan.ingest.parsers.rst import RstParser
from kaijuan.ingest.parsers.rtf import RtfParser
from kaijuan.ingest.parsers.subtitles import SubtitleParser
from kaijuan.ingest.parsers.xml_text import XmlParser

Shown = list[tuple[str, str, str]]


def shown(document: ParsedDocument) -> Shown:
    return [(str(block.kind), block.place, block.span.of(document.text)) for block in document.blocks]


def test_restructured_text() -> None:
    document = RstParser().parse(sample_files.RST, "x.rst")
    assert (document.title, dict(document.metadata)) == ("制度", {"author": "李雷", "version": "2.1"})
    assert shown(document) == [
        ("heading", "line 2", "制度"),
        ("heading", "line 13", "第一节"),
        ("paragraph", "line 16", "一段 needle 文字，见 网址。"),
        ("list", "line 18", "- 甲\n- 乙\n  1. 丙"),
        ("code", "line 26", "x = 1"),
        ("caption", "", "表一"),
        ("table", "line 27", "| 名称 | 数量 |\n| --- | --- |\n| 甲 | 1 |"),
        ("figure", "line 35", "两只鸭子"),
        ("formula", "line 38", "$$a^2$$"),
    ]
    assert [block.syntax for block in document.blocks if block.syntax] == ["python", "latex"]
    assert "不要" not in document.text
    assert "root:" not in document.text


def test_asciidoc() -> None:
    document = AsciiDocParser().parse(sample_files.ASCIIDOC, "x.adoc")
    assert (document.title, document.metadata["author"], document.metadata["published"]) == (
        "制度",
        "李雷",
        "2024-01-31",
    )
    assert shown(document)[1:] == [
        ("heading", "line 7", "第一节"),
        ("paragraph", "line 9", "一段 needle 文字，用 系统，见 网址。"),
        ("list", "line 11", "- 甲\n  - 乙\n    1. 一\n    2. 二"),
        ("code", "line 17", "x = 1"),
        ("caption", "line 23", "表一"),
        ("table", "line 23", "| 名称 | 数量 |\n| --- | --- |\n| 甲 | 1 |\n|  | 2 |"),
        ("paragraph", "line 29", "Note: 注意。"),
        ("quote", "line 32", "引文"),
        ("figure", "line 35", "两只鸭子"),
    ]
    table = next(block.table for block in document.blocks if block.table)
    assert [(cell.rows, cell.header) for cell in table.cells] == [
        (1, True),
        (1, True),
        (2, False),
        (1, False),
        (1, False),
    ]


def test_a_cell_of_asciidoc_goes_on_in_the_next_lines() -> None:
    text = "= T\n\n|===\n|a |b\n\n|first\ngoes on\n|second\n|===\n"
    document = AsciiDocParser().parse(text.encode(), "x.adoc")
    assert shown(document)[-1] == ("table", "line 3", "| a | b |\n| --- | --- |\n| first goes on | second |")


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("*a* _b_ `c` #d#", "a b c d"),
        ("2 * 3 * 4", "2 * 3 * 4"),
        ("snake_case_name", "snake_case_name"),
        ("<<sec,节>> xref:a.adoc[文]", "节 文"),
        ("x{nbsp}y {unknown}", "x y {unknown}"),
        ("词footnote:[注释]", "词 (注释)"),
        ("stem:[x^2]", "$x^2$"),
    ],
)
def test_marks_of_asciidoc_are_taken_away(text: str, read: str) -> None:
    assert plain(text, {}) == read


def test_json() -> None:
    document = JsonParser().parse(sample_files.JSON, "x.json")
    assert document.title == "配置"
    assert shown(document) == [
        ("list", "/", "title: 配置"),
        ("heading", "/server", "server"),
        ("list", "/server", "host: needle\nports: 80, 443"),
        ("heading", "/server/log", "log"),
        ("list", "/server/log", "level: info"),
        ("heading", "/users", "users"),
        ("table", "/users", "| name | age |\n| --- | --- |\n| 张三 | 20 |\n| 李四 | 30 |"),
        ("heading", "/text", "text"),
        ("paragraph", "/text", "长文。" * 150),
    ]


def test_json_lines_are_a_table() -> None:
    document = JsonParser().parse('{"问": "甲", "答": "乙"}\n{"问": "丙", "答": "丁"}\n'.encode(), "x.jsonl")
    assert document.text == "| 问 | 答 |\n| --- | --- |\n| 甲 | 乙 |\n| 丙 | 丁 |"


def test_xml_of_any_shape() -> None:
    document = XmlParser().parse(sample_files.XML, "x.xml")
    assert document.title == "手册"
    assert shown(document) == [
        ("heading", "/manual/title", "手册"),
        ("paragraph", "/manual/note", "说明 needle 文字"),
        ("table", "/manual/items", "| name | price |\n| --- | --- |\n| 甲 | 1 |\n| 乙 | 2 |"),
        ("list", "/manual", "setting: 开"),
    ]


def test_an_entity_bomb_does_not_go_off() -> None:
    bomb = "<!DOCTYPE a [<!ENTITY x0 'ha'>" + "".join(f"<!ENTITY x{at + 1} '{f'&x{at};' * 10}'>" for at in range(12))
    with pytest.raises(BrokenDocumentError, match="amplification"):
        XmlParser().parse(f"{bomb}]><a>&x12;</a>".encode(), "bomb.xml")


def test_entities_of_the_text_are_put_in_and_files_from_outside_are_not() -> None:
    inside = "<!DOCTYPE a [<!ENTITY x '文'>]><a><b>一 &x; 二</b><c>3</c></a>"
    assert "一 文 二" in XmlParser().parse(inside.encode(), "x.xml").text
    outside = b"<!DOCTYPE a [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><a><b>one &x; two</b><c>3</c></a>"
    assert XmlParser().parse(outside, "x.xml").text == "one &x; two\n\nc: 3"


def test_a_feed() -> None:
    feed = (
        "<rss version='2.0'><channel><title>新闻</title><item><title>甲</title><pubDate>2024</pubDate>"
        "<description>&lt;p&gt;正文&lt;/p&gt;&lt;script&gt;x&lt;/script&gt;</description></item></channel></rss>"
    )
    document = XmlParser().parse(feed.encode(), "x.rss")
    assert document.title == "新闻"
    assert [(kind, text) for kind, _, text in shown(document)] == [
        ("heading", "甲"),
        ("list", "pubDate: 2024"),
        ("paragraph", "正文"),
    ]


def test_a_journal_article() -> None:
    article = (
        "<article><front><article-meta><article-id pub-id-type='doi'>10.1/x</article-id><title-group>"
        "<article-title>文题"
        "</article-title></title-group><contrib-group><contrib contrib-type='author'><name name-style='eastern'>"
        "<surname>李"
        "</surname><given-names>雷</given-names></name></contrib></contrib-group><pub-date><year>2024</year>"
        "<month>3</month>"
        "</pub-date><abstract><p>摘要文字</p></abstract></article-meta></front><body><sec><title>方法</title><p>一段"
        "<disp-formula><tex-math>x^2</tex-math></disp-formula>后文</p><list list-type='order'><list-item>"
        "<p>甲</p><list>"
        "<list-item><p>乙</p></list-item></list></list-item></list></sec></body><back><ref-list><ref><label>1</label>"
        "<mixed-citation>某书</mixed-citation></ref></ref-list></back></article>"
    )
    document = XmlParser().parse(article.encode(), "x.nxml")
    assert dict(document.metadata) == {"author": "李雷", "doi": "10.1/x", "published": "2024-03"}
    assert [(kind, text) for kind, _, text in shown(document)] == [
        ("heading", "文题"),
        ("paragraph", "李雷"),
        ("heading", "Abstract"),
        ("paragraph", "摘要文字"),
        ("heading", "方法"),
        ("paragraph", "一段后文"),
        ("formula", "x^2"),
        ("list", "1. 甲\n  - 乙"),
        ("heading", "References"),
        ("list", "1. 某书"),
    ]


def test_a_workbook_as_xml() -> None:
    book = (
        "<?xml version='1.0'?><Workbook xmlns='urn:schemas-microsoft-com:office:spreadsheet' "
        "xmlns:ss='urn:schemas-microsoft-com:office:spreadsheet'><Worksheet ss:Name='表'><Table><Row><Cell><Data "
        "ss:Type='String'>名称</Data></Cell><Cell><Data ss:Type='String'>数量</Data></Cell></Row><Row ss:Index='2'>"
        "<Cell>"
        "<Data ss:Type='String'>甲</Data></Cell><Cell><Data ss:Type='Number'>1</Data></Cell></Row></Table>"
        "</Worksheet></Workbook>"
    )
    document = XmlParser().parse(book.encode(), "x.xls")
    assert shown(document)[1] == ("table", "sheet 表!A1:B2", "| 名称 | 数量 |\n| --- | --- |\n| 甲 | 1 |")


def test_subtitles_are_joined_to_sentences_of_one_voice() -> None:
    document = SubtitleParser().parse(sample_files.VTT, "x.vtt")
    assert shown(document) == [
        ("paragraph", "00:01.000 --> 00:03.500", "张三: 这是第一句，还没有说完。"),
        ("paragraph", "00:04.000 --> 00:05.000", "李四: needle & 好。"),
    ]
    assert document.metadata["speakers"] == ("张三", "李四")


def test_a_notebook() -> None:
    document = NotebookParser().parse(sample_files.NOTEBOOK, "x.ipynb")
    assert shown(document) == [
        ("heading", "cell 1 line 1", "题"),
        ("paragraph", "cell 1 line 3", "needle"),
        ("code", "cell 2", "x = 1"),
        ("code", "cell 2", "一"),
        ("table", "cell 2", "| a | b |\n| --- | --- |\n| 1 | 2 |"),
    ]
    assert [block.syntax for block in document.blocks] == ["", "", "python", "", ""]


def test_a_book_is_read_in_the_order_of_its_spine() -> None:
    document = EpubParser().parse(sample_files.epub(), "x.epub")
    assert (document.title, document.pages) == ("书名", 2)
    assert dict(document.metadata) == {"author": "作者甲", "isbn": "978-7-302-51237-1"}
    texts = [(str(block.kind), block.pages, block.span.of(document.text)) for block in document.blocks]
    assert texts == [
        ("heading", (1,), "第一章"),
        ("paragraph", (1,), "needle"),
        ("heading", (2,), "第二章"),
        ("paragraph", (2,), "后面一章"),
    ]
    assert document.blocks[-1].place == "OPS/text/一.xhtml /html/body/p"
    assert document.blocks[0].kind is BlockKind.HEADING


def test_a_book_with_encrypted_chapters_needs_a_key_one_with_encrypted_fonts_does_not() -> None:
    def book(method: str) -> bytes:
        out = io.BytesIO(sample_files.epub())
        with zipfile.ZipFile(out, "a") as archive:
            archive.writestr(
                "META-INF/encryption.xml",
                f"<e><EncryptedData><EncryptionMethod Algorithm='{method}'/></EncryptedData></e>",
            )
        return out.getvalue()

    with pytest.raises(EncryptedDocumentError):
        EpubParser().parse(book("http://www.w3.org/2001/04/xmlenc#aes128-cbc"), "x.epub")
    EpubParser().parse(book("http://ns.adobe.com/pdf/enc#RC/obfuscation"), "x.epub")


def test_rich_text_in_several_code_pages() -> None:
    document = RtfParser().parse(sample_files.RTF, "x.rtf")
    assert (document.title, dict(document.metadata)) == ("制度", {"author": "Li Lei", "created": "2024-01-31"})
    assert shown(document) == [
        ("heading", "para 1", "第一章"),
        ("heading", "para 2", "second"),
        ("paragraph", "para 3", "一段 needle 文字日本"),
        ("footnote", "para 3", "注"),
        ("list", "para 4", "- A\n  2. B"),
        ("table", "table after para 6", "| name | number |\n| --- | --- |\n| a | 1 |\n|  | 2 |\n| wide |  |"),
        ("paragraph", "para 7", "after"),
    ]
    assert [block.level for block in document.blocks[:2]] == [1, 2]
    table = document.blocks[5].table
    assert table is not None
    cells = [(cell.row, cell.column, cell.rows, cell.columns, cell.header) for cell in table.cells]
    assert cells == [
        (0, 0, 1, 1, True),
        (0, 1, 1, 1, True),
        (1, 0, 2, 1, False),
        (1, 1, 1, 1, False),
        (2, 1, 1, 1, False),
        (3, 0, 1, 2, False),
    ]


def test_bytes_of_pictures_in_rich_text_are_no_marks() -> None:
    data = b"{\\rtf1{\\pict\\bin6 }}{{{{}a\\par{\\pict 00ffaa}b}"
    assert RtfParser().parse(data, "x.rtf").text == "a\n\nb"
