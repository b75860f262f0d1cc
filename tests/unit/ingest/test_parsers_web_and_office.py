import io
import re
import zipfile
from collections.abc import Callable

import docx
import docx.document
import pytest
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from kaijuan.core.documents import BlockKind, ParsedDocument
from kaijuan.errors import EmptyDocumentError, OversizeDocumentError
from kaijuan.ingest.parsers.docx import DocxParser
from kaijuan.ingest.parsers.docx_numbering import written
from kaijuan.ingest.parsers.headings import numbered_level
from kaijuan.ingest.parsers.html import HtmlParser
from kaijuan.ingest.parsers.markdown import MarkdownParser
from kaijuan.ingest.parsers.packages import check_package
from kaijuan.ingest.parsers.text import TextParser


def blocks(document: ParsedDocument) -> list[tuple[str, str]]:
    return [(str(block.kind), block.span.of(document.text)) for block in document.blocks]


def html(body: str, head: str = "") -> ParsedDocument:
    return HtmlParser().parse(f"<html><head>{head}</head><body>{body}</body></html>".encode(), "page.html")


def markdown(text: str) -> ParsedDocument:
    return MarkdownParser().parse(text.encode(), "notes.md")


def saved(document: object) -> bytes:
    out = io.BytesIO()
    document.save(out)  # type: ignore[attr-defined]
    return out.getvalue()


def test_html_furniture_goes() -> None:
    document = html(
        "<header><a>Home</a></header><nav>menu</nav><main><h1>T</h1><p>Keep this text, it is the page.</p>"
        "<div class='share-bar social'>share</div><p hidden>no</p><p style='display:none'>no</p>"
        "<aside>aside</aside><script>no()</script></main><footer>foot</footer>"
    )
    assert document.text == "T\n\nKeep this text, it is the page."


def test_html_that_is_furniture_only_is_still_read() -> None:
    assert html("<nav><a>one</a> <a>two</a></nav>").text == "one two"
    assert html("<form><h1>T</h1><p>A page wrapped in a form.</p></form>").text.endswith("in a form.")


def test_html_title_language_and_description() -> None:
    head = "<title>Page title - Site</title><meta name='description' content='d'><meta name=author content=A>"
    document = HtmlParser().parse(f"<html lang=zh><head>{head}</head><h1>Page title</h1><p>x".encode(), "a.html")
    assert document.title == "Page title"
    assert document.metadata == {"lang": "zh", "description": "d", "author": "A"}
    assert html("<p>only</p>").title == "page"


def test_html_lists_nest_by_indentation() -> None:
    document = html("<ul><li>a<ol start=3><li>b<li><p>c</p><p>d</p></ol><li>e</ul>")
    assert blocks(document) == [("list", "- a\n  3. b\n  4. c\n    d\n- e")]


def test_html_tables_layout_and_data() -> None:
    data = "<table><caption>Cap</caption><tr><th>a<th colspan=2>b<tr><td rowspan=2>1<td>2<td>3<tr><td>4<td>5</table>"
    assert blocks(html(data)) == [
        ("caption", "Cap"),
        ("table", "| a | b |  |\n| --- | --- | --- |\n| 1 | 2 | 3 |\n|  | 4 | 5 |"),
    ]
    layout = "<table><tr><td><h2>H</h2><p>left</p></td><td><table><tr><td>x<td>y</table></td></tr></table>"
    assert [kind for kind, _ in blocks(html(layout))] == ["heading", "paragraph", "table"]
    nested = "<table><tr><th>a<th>b<tr><td><table><tr><td>x<td>y</table><td>z</table>"
    table = html(nested).text
    assert all(table.count(value) == 1 for value in "xyz")


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("<ul>A<li>one</li>B<li>two</li>C</ul>", "A\n- one\nB\n- two\nC"),
        ("<ol>L<li>one</li>M <b>bold</b> N<li>two</li></ol>", "L\n1. one\nM bold N\n2. two"),
        ("<ul><a>one</a> <a>two</a></ul>", "- one\n- two"),
        (
            "<dl>I<dt>t</dt>x<dd>d</dd>y<div>g<dt>u</dt>h<dd>e</dd>k<p>p</p></div></dl>",
            "I\nt\nx\n  d\ny\ng\nu\nh\n  e\nk\np",
        ),
        ("<table>only</table>", "only"),
        ("<table><tr><td>a</td><td>b</td></tr><tr>row</tr></table>", "row\n\n| a | b |\n| --- | --- |"),
        (
            "<table>A<caption>c</caption>B<tbody>C<tr>D<td>a</td>E<td>b</td><p>F</p></tr></tbody>G</table>",
            "A\n\nB\n\nC\n\nD\n\nE\n\nF\n\nG\n\nc\n\n| a | b |\n| --- | --- |",
        ),
        ("<table><td>a</td><form><p>b</p></form></table>", "a\n\nb"),
    ],
)
def test_html_text_outside_items_and_cells_is_kept(body: str, expected: str) -> None:
    assert html(body).text == expected


_PLACES = ["ul", "ol", "dl", "table", "tbody", "tr", "td", "li", "dt", "dd", "div", "p", "b", "caption"]


@given(st.recursive(st.just(""), lambda inner: st.tuples(st.sampled_from(_PLACES), st.lists(inner, max_size=3))))
def test_html_loses_no_word_wherever_it_stands(tree: object) -> None:
    words: list[str] = []

    def word() -> str:
        words.append(f"w{len(words)}w")
        return words[-1]

    def written(node: object) -> str:
        if not isinstance(node, tuple):
            return ""
        tag, children = node
        return f"<{tag}>{word()}" + "".join(f"{written(child)}{word()}" for child in children) + f"</{tag}>"

    body = f"<div>{word()}{written(tree)}</div>"
    text = html(body).text
    assert sorted(re.findall(r"w\d+w", text)) == sorted(words)


def test_html_inline_text_and_code() -> None:
    document = html(
        "<p>知识\n产权 and <b>bold</b>word<br>next&nbsp;x &lt;y&gt;</p><pre>\n  a\n    b</pre>"
        "<blockquote>q</blockquote>"
    )
    assert blocks(document) == [
        ("paragraph", "知识产权 and boldword\nnext x <y>"),
        ("code", "  a\n    b"),
        ("quote", "q"),
    ]


@pytest.mark.parametrize("encoding", ["gb18030", "big5", "utf-16", "utf-8"])
def test_html_encodings(encoding: str) -> None:
    page = "<html><head><meta charset='{}'></head><body><p>中文字在此處</p></body></html>"
    declared = {"utf-16": "utf-8", "utf-8": "iso-8859-1"}.get(encoding, encoding)
    assert HtmlParser().parse(page.format(declared).encode(encoding), "x").text == "中文字在此處"


def test_deep_html_keeps_its_words() -> None:
    assert html("<div>" * 1500 + "needle" + "</div>" * 1500).text == "needle"


def test_markdown_front_matter_and_shapes() -> None:
    document = markdown(
        "---\ntitle: '题'\ntags: [a, b]\nwho:\n  - x\n  - y\ndraft: true\n---\n# H\n\n**注意：**看 List<String>\n\n"
        "$$\na_1 \\\\ b_2\n$$\n\n```py\nx = 1\n```\n\n> q\n"
    )
    assert document.title == "题"
    assert document.metadata == {"title": "题", "tags": ("a", "b"), "who": ("x", "y"), "draft": True}
    assert blocks(document) == [
        ("heading", "H"),
        ("paragraph", "注意：看 List<String>"),
        ("formula", "$$\na_1 \\\\ b_2\n$$"),
        ("code", "x = 1"),
        ("quote", "q"),
    ]


def test_title_paths_follow_the_headings() -> None:
    document = markdown("# Doc\n\n## A\n\n### B\n\nx\n\n## C\n\ny\n")
    paths = {block.span.of(document.text): block.title_path for block in document.blocks}
    assert document.title == "Doc"
    assert paths == {"Doc": (), "A": (), "B": ("A",), "x": ("A", "B"), "C": (), "y": ("C",)}


def test_text_paragraphs_lists_and_wrapped_lines() -> None:
    wrapped = (
        "The quick brown fox jumps over the lazy dog and\nruns away from all the other animals of this old\nforest."
    )
    text = f"第一章　总　则\n第一条 为了规范。\n\n{wrapped}\n\n- a\n- b\n\nroses are red\nviolets are blue\n"
    document = TextParser().parse(text.encode(), "x.txt")
    assert blocks(document) == [
        ("heading", "第一章 总则"),
        ("paragraph", "第一条 为了规范。"),
        ("paragraph", wrapped.replace("\n", " ")),
        ("list", "- a\n- b"),
        ("paragraph", "roses are red\nviolets are blue"),
    ]


@pytest.mark.parametrize(
    ("line", "level"),
    [
        ("第一编 总则", 1),
        ("第十二章", 2),
        ("第三节 合同的效力", 3),
        ("第三条 公司是企业法人。", 0),
        ("第一章规定了公司的设立，", 0),
        ("Chapter 3 Results", 2),
        ("1.2 Title of it", 2),
        ("1.2.3 Title", 3),
        ("1.5 million people", 0),
        ("3.14 159", 0),
        ("2023.12.29 修订", 0),
        ("x" * 100, 0),
    ],
)
def test_headings_by_number(line: str, level: int) -> None:
    assert numbered_level(line) == level


def test_docx_order_headings_lists_tables_and_properties() -> None:
    document = docx.Document()
    document.core_properties.author = "An Author"
    document.core_properties.title = "Core"
    document.add_heading("一、总则", 1)
    document.add_paragraph("before")
    table = document.add_table(2, 3)
    table.cell(0, 0).merge(table.cell(0, 1)).text = "merged"
    table.cell(0, 2).text = "c|d"
    table.cell(1, 0).text = "知识\n产权"
    document.add_paragraph("one", style="List Number")
    document.add_paragraph("two", style="List Number")
    document.add_paragraph("after", style="Quote")
    document.sections[0].header.paragraphs[0].text = "running header"
    parsed = DocxParser().parse(saved(document), "x.docx")
    assert blocks(parsed) == [
        ("heading", "一、总则"),
        ("paragraph", "before"),
        ("table", "| merged | c\\|d |\n| --- | --- |\n| 知识产权 |  |"),
        ("list", "1. one\n2. two"),
        ("quote", "after"),
    ]
    assert parsed.title == "Core"
    assert parsed.metadata["author"] == "An Author"


def test_docx_chinese_style_and_outline_level() -> None:
    document = docx.Document()
    document.styles.add_style("标题 2", 1)
    document.add_paragraph("按样式", style="标题 2")
    level = OxmlElement("w:outlineLvl")
    level.set(qn("w:val"), "2")
    document.add_paragraph("按大纲")._p.get_or_add_pPr().append(level)
    document.add_paragraph("第一章 按编号")
    document.add_paragraph("正文")
    parsed = DocxParser().parse(saved(document), "x.docx")
    levels = [(block.level, block.span.of(parsed.text)) for block in parsed.blocks if block.kind is BlockKind.HEADING]
    assert levels == [(2, "按样式"), (3, "按大纲"), (2, "第一章 按编号")]


def test_an_empty_docx_is_named() -> None:
    with pytest.raises(EmptyDocumentError):
        DocxParser().parse(saved(docx.Document()), "x.docx")


def test_a_zip_bomb_is_refused_before_it_is_unpacked() -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as package:
        package.writestr("word/document.xml", bytes(40_000_000))
    with pytest.raises(OversizeDocumentError):
        check_package(out.getvalue(), "bomb.docx")


@pytest.mark.parametrize(
    ("count", "form", "text"),
    [
        (1, "decimal", "1"),
        (10, "chineseCounting", "十"),
        (11, "chineseCountingThousand", "十一"),
        (21, "chineseCounting", "二十一"),
        (105, "chineseCountingThousand", "一百零五"),
        (110, "chineseCountingThousand", "一百一十"),
        (1020, "chineseCountingThousand", "一千零二十"),
        (3, "chineseLegalSimplified", "叁"),
        (2, "ideographTraditional", "乙"),
        (3, "decimalEnclosedCircle", "③"),
        (28, "lowerLetter", "bb"),
        (1994, "upperRoman", "MCMXCIV"),
        (4, "decimalZero", "04"),
        (4, "no such form", "4"),
    ],
)
def test_numbers_as_word_writes_them(count: int, form: str, text: str) -> None:
    assert written(count, form) == text


def test_cells_places_and_languages_of_a_page_are_known() -> None:
    page = (
        "<body><h1>题</h1><p>一</p><div><p>二</p><pre><code class='hljs language-python'>x = 1</code></pre></div>"
        "<table><thead><tr><td>甲<td>乙</thead><tbody><tr><th rowspan=2>丙<td>1<tr><td>2</table>"
        "<figure><img alt='两只鸭子' src='a.png'><figcaption>图一</figcaption></figure></body>"
    )
    document = HtmlParser().parse(page.encode(), "x.html")
    shown = [(str(block.kind), block.place, block.syntax) for block in document.blocks]
    assert shown == [
        ("heading", "/html/body/h1", ""),
        ("paragraph", "/html/body/p", ""),
        ("paragraph", "/html/body/div/p", ""),
        ("code", "/html/body/div/pre", "python"),
        ("table", "/html/body/table", ""),
        ("figure", "/html/body/figure", ""),
        ("caption", "/html/body/figure/figcaption", ""),
    ]
    table = document.blocks[4].table
    assert table is not None
    cells = [(cell.span.of(document.text), cell.row, cell.column, cell.rows, cell.header) for cell in table.cells]
    assert cells == [
        ("甲", 0, 0, 1, True),
        ("乙", 0, 1, 1, True),
        ("丙", 1, 0, 2, True),
        ("1", 1, 1, 1, False),
        ("2", 2, 1, 1, False),
    ]


def test_blocks_of_markdown_know_their_line() -> None:
    text = (
        "---\ntitle: 题\n---\n\n# 一\n\n段落\n\n- 甲\n- 乙\n\n```sql\nselect 1\n```\n\n| a | b |\n|--|--|\n| 1 | 2 |\n"
    )
    document = MarkdownParser().parse(text.encode(), "x.md")
    assert [(str(block.kind), block.place, block.syntax) for block in document.blocks] == [
        ("heading", "line 5", ""),
        ("paragraph", "line 7", ""),
        ("list", "line 9", ""),
        ("code", "line 12", "sql"),
        ("table", "line 16", ""),
    ]
    table = document.blocks[-1].table
    assert table is not None
    assert [cell.header for cell in table.cells] == [True, True, False, False]


def word_file(change: Callable[[docx.document.Document], None]) -> ParsedDocument:
    document = docx.Document()
    change(document)
    out = io.BytesIO()
    document.save(out)
    return DocxParser().parse(out.getvalue(), "x.docx")


def test_cells_of_word_know_what_they_reach_over_and_which_are_headers() -> None:
    def change(document: docx.document.Document) -> None:
        document.add_paragraph("前文")
        table = document.add_table(3, 3)
        for at, words in enumerate(("名称", "数量", "", "甲", "1", "2", "", "3", "4")):
            table.cell(at // 3, at % 3).text = words
        table.cell(0, 1).merge(table.cell(0, 2))
        table.cell(1, 0).merge(table.cell(2, 0))
        document.add_paragraph("后文")

    document = word_file(change)
    assert [block.place for block in document.blocks] == ["para 1", "table after para 1", "para 12"]
    block = document.blocks[1]
    assert block.span.of(document.text) == "| 名称 | 数量 |  |\n| --- | --- | --- |\n| 甲 | 1 | 2 |\n|  | 3 | 4 |"
    assert block.table is not None
    cells = [
        (cell.span.of(document.text), cell.row, cell.column, cell.rows, cell.columns, cell.header)
        for cell in block.table.cells
    ]
    assert cells[:3] == [("名称", 0, 0, 1, 1, True), ("数量", 0, 1, 1, 2, True), ("甲", 1, 0, 2, 1, False)]
    assert cells[3:] == [
        ("1", 1, 1, 1, 1, False),
        ("2", 1, 2, 1, 1, False),
        ("3", 2, 1, 1, 1, False),
        ("4", 2, 2, 1, 1, False),
    ]


def test_formulas_of_word_are_latex() -> None:
    math = (
        "<m:oMath xmlns:m='http://schemas.openxmlformats.org/officeDocument/2006/math'><m:sSup><m:e><m:r><m:t>α</m:t>"
    )
    math += "</m:r></m:e><m:sup><m:r><m:t>2</m:t></m:r></m:sup></m:sSup></m:oMath>"

    def change(document: docx.document.Document) -> None:
        document.add_paragraph("设 ")._p.append(etree.fromstring(math))
        document.add_paragraph()._p.append(etree.fromstring(math))

    document = word_file(change)
    shown = [(str(block.kind), block.span.of(document.text), block.syntax) for block in document.blocks]
    assert shown == [("paragraph", "设 $\\alpha^{2}$", ""), ("formula", "\\alpha^{2}", "latex")]


def test_a_strict_word_file_is_read_like_any_other() -> None:
    document = docx.Document()
    document.add_heading("题", 1)
    document.add_paragraph("文字")
    out = io.BytesIO()
    document.save(out)
    strict = io.BytesIO()
    usual = b"http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    with zipfile.ZipFile(out) as old, zipfile.ZipFile(strict, "w") as new:
        for member in old.namelist():
            new.writestr(member, old.read(member).replace(usual, b"http://purl.oclc.org/ooxml/wordprocessingml/main"))
    parsed = DocxParser().parse(strict.getvalue(), "x.docx")
    assert [(str(block.kind), block.span.of(parsed.text)) for block in parsed.blocks] == [
        ("heading", "题"),
        ("paragraph", "文字"),
    ]
