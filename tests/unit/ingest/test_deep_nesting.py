"""Nesting ends in all of the text or in an error that says so; never in a part that looks whole."""

import io
import re

import docx
import pytest

from kaijuan.errors import BrokenDocumentError
from kaijuan.ingest.parsers.docx import DocxParser
from kaijuan.ingest.parsers.html import HtmlParser
from kaijuan.ingest.parsers.markdown import MarkdownParser
from kaijuan.ingest.ports import Parser

DEPTHS = [30, 97, 98, 99, 100, 101, 150, 197, 198, 199, 200, 201, 500, 1_000, 5_000]
HTML = {
    "div": ("<div>", "</div>"),
    "span": ("<span>", "</span>"),
    "unclosed": ("<font><p>", ""),
    "list": ("<ul><li>item", "</ul>"),
    "table": ("<table><tr><td>", "</table>"),
    "list in list": ("<ul>", "</ul>"),
    "definitions": ("<dl>", "</dl>"),
    "table in table": ("<table><tbody>", "</tbody></table>"),
    "list in heading": ("<h2><ol>", "</ol></h2>"),
    "quote": ("<blockquote>", "</blockquote>"),
    "worse": ("</b></i>&x;<q><q>", ""),
}
MARKDOWN = {"quotes": "> ", "lists": "- ", "numbers": "1. ", "mixed": "- > ", "boxes": "> 1. "}


def refused(error: BrokenDocumentError) -> bool:
    """Return False: the text was not kept, and the error has to say why."""
    assert "nested too deeply" in error.message
    return False


def whole_or_named(parser: Parser, text: str, words: list[str]) -> bool:
    try:
        document = parser.parse(text.encode(), "x")
    except BrokenDocumentError as error:
        return refused(error)
    for word in words:
        assert re.search(rf"\b{word}\b", document.text), f"{word} was lost or glued to its neighbour"
    return True


@pytest.mark.parametrize("shape", HTML)
@pytest.mark.parametrize("depth", DEPTHS)
def test_html(shape: str, depth: int) -> None:
    first, last = HTML[shape]
    text = f"<p>before</p>{first * depth}<p>deep</p>down<br>under{last * depth}<p>after</p>"
    kept = whole_or_named(HtmlParser(), text, ["before", "deep", "down", "under", "after"])
    assert kept or depth >= 500


def test_only_deep_html_is_not_called_empty() -> None:
    with pytest.raises(BrokenDocumentError, match="nested too deeply"):
        HtmlParser().parse(b"<div>" * 5_000 + b"deep", "x")


@pytest.mark.parametrize("shape", MARKDOWN)
@pytest.mark.parametrize("depth", DEPTHS)
def test_markdown_on_one_line(shape: str, depth: int) -> None:
    text = f"before\n\n{MARKDOWN[shape] * depth}deep\n\nafter\n"
    kept = whole_or_named(MarkdownParser(), text, ["before", "deep", "after"])
    assert kept or depth >= 60


@pytest.mark.parametrize("depth", [30, 97, 98, 99, 100, 101, 300])
def test_markdown_outlines(depth: int) -> None:
    lines = [f"{'  ' * level}- item{level}" for level in range(depth)]
    kept = whole_or_named(MarkdownParser(), "\n".join([*lines, "", "after"]), [f"item{depth - 1}", "after"])
    assert kept or depth > 97


def test_html_in_markdown() -> None:
    assert not whole_or_named(MarkdownParser(), "before\n\n" + "<div>" * 5_000 + "deep\n\nafter", [])


def word_file(depth: int, columns: int) -> bytes:
    document = docx.Document()
    cell = document.add_table(1, columns).cell(0, 0)
    for _ in range(depth - 1):
        cell = cell.add_table(1, columns).cell(0, 0)
    cell.text = "deep"
    document.add_paragraph("after")
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


@pytest.mark.parametrize("columns", [1, 2])
def test_word_tables(columns: int) -> None:
    text = DocxParser().parse(word_file(30, columns), "x.docx").text
    assert "deep" in text
    assert "after" in text
    with pytest.raises(BrokenDocumentError, match="nested too deeply"):
        DocxParser().parse(word_file(60, columns), "x.docx")
