"""Markdown: CommonMark with tables, formulas and front matter; HTML inside it is read as HTML, once."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.token import Token

from kaijuan.core.documents import Metadata, ParsedDocument, Scalar
from kaijuan.errors import BrokenDocumentError
from kaijuan.ingest.encoding import decode
from kaijuan.ingest.parsers.draft import Draft
from kaijuan.ingest.parsers.html_blocks import pieces_of
from kaijuan.ingest.parsers.html_tags import KNOWN_TAGS
from kaijuan.ingest.parsers.html_tree import FLATTEN, tree_of
from kaijuan.ingest.parsers.pieces import Piece, write_pieces

_MOST_NESTING = 200
"""Deeper lists (two levels each) and quotes are dropped by the reader; its own limit of 20 loses real outlines."""
_FRONT = re.compile(r"\A---[^\S\n]*\n(.*?)\n(?:---|\.\.\.)[^\S\n]*(?:\n|\Z)", re.S)
_FRONT_LINE = re.compile(r"([A-Za-z_\u4e00-\u9fff][\w\u4e00-\u9fff -]*):(?:\s+(.*)|)$")
# CommonMark leaves **注意：**请 unparsed, because a Chinese colon closes like punctuation; readers see bold.
_LEFT_OVER_BOLD = re.compile(r"\*\*([^*\n]+?)\*\*")
_LINE = "data-kaijuan-line"
"""Attribute that carries the number of a line (from 1) through HTML."""
_TAG = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9-]*)(\s[^<>]*)?/?>")


class MarkdownParser:
    """Parser of kind "markdown"."""

    def parse(self, data: bytes, name: str) -> ParsedDocument:
        """Return headings, paragraphs, lists, tables, code, quotes and formulas; front matter becomes metadata."""
        decoded = decode(data)
        body, metadata = _front_matter(decoded.text)
        draft = Draft()
        above = decoded.text.count("\n", 0, len(decoded.text) - len(body))
        write_pieces(draft, markdown_pieces(body, above=above))
        title = metadata.get("title", "")
        return draft.finish("markdown", name, title=str(title), metadata=metadata, warnings=decoded.warnings)


def markdown_pieces(body: str, *, above: int = 0) -> list[Piece]:
    """Return the pieces of a Markdown text, each with the line it begins on; `above` lines stand before the text."""

    def place_of(node: Any) -> str:
        marked = node if node.get(_LINE) else next(node.iter("code"), node)
        line = marked.get(_LINE) or ""
        return f"line {int(line) + above}" if line.isdecimal() else ""

    return pieces_of(tree_of(_to_html(body)), place_of=place_of)


def _to_html(body: str) -> str:
    """Render to HTML, so that tables and lists written in HTML and in Markdown go the same way.

    A table in HTML that blank lines or Markdown interrupt is whole again in the tree.
    """
    reader = MarkdownIt("commonmark", {"html": True, "maxNesting": _MOST_NESTING}).enable(["table", "strikethrough"])
    reader.block.ruler.before(
        "fence", "formula", _formula_rule, {"alt": ["paragraph", "reference", "blockquote", "list"]}
    )
    reader.block.ruler.before("table", "depth", _depth_rule)
    tokens = reader.parse(body)
    _mend(tokens)
    return str(reader.renderer.render(tokens, reader.options, {}))


def _depth_rule(state: StateBlock, *_: object) -> bool:
    """Refuse what is nested too deeply just before the reader would drop it without a word; else match nothing."""
    if state.level >= _MOST_NESTING - 2:
        raise BrokenDocumentError("The lists or quotes are nested too deeply to be read whole.", hint=FLATTEN)
    return False


def _mend(tokens: Sequence[Token]) -> None:
    for token in tokens:
        if token.map and token.nesting >= 0:
            token.attrSet(_LINE, str(token.map[0] + 1))
        if token.type == "html_block":
            token.content = _TAG.sub(_known_block_tag, token.content)
        for child in token.children or ():
            if child.type == "html_inline" and (found := _TAG.match(child.content)):
                if found[2].lower() not in KNOWN_TAGS:
                    child.type = "text"
                    # List<String> and <placeholder> are words; a component with attributes is markup.
                    child.content = "" if found[3] or found[1] else child.content
            elif child.type == "text" and "**" in child.content:
                child.content = _LEFT_OVER_BOLD.sub(r"\1", child.content)


def _known_block_tag(found: re.Match[str]) -> str:
    return found[0] if found[2].lower() in KNOWN_TAGS else ""


def _formula_rule(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Read `$$ ... $$` as one block, before emphasis and escapes spoil the formula."""
    first = _line(state, start).strip()
    if not first.startswith("$$") or state.is_code_block(start):
        return False
    last = start
    if not (len(first) > 4 and first.endswith("$$")):
        last = next((at for at in range(start + 1, end) if _line(state, at).rstrip().endswith("$$")), -1)
    if last < 0:
        return False
    if not silent:
        token = state.push("html_block", "", 0)
        text = "\n".join(_line(state, at).strip() for at in range(start, last + 1))
        token.content = f'<pre class="math">{html.escape(text)}</pre>\n'
        token.map = [start, last + 1]
        state.line = last + 1
    return True


def _line(state: StateBlock, at: int) -> str:
    return state.src[state.bMarks[at] + state.tShift[at] : state.eMarks[at]]


def _front_matter(text: str) -> tuple[str, Metadata]:
    """Split off a block of `key: value` lines at the very beginning. Nested values are left out: metadata is flat."""
    found = _FRONT.match(text)
    if not found:
        return text, {}
    values: dict[str, Scalar | tuple[str, ...]] = {}
    key = ""
    items: list[str] = []
    for line in found[1].split("\n"):
        if key and re.match(r"\s*-\s+\S", line):
            items.append(_unquote(line.strip()[1:]))
            values[key] = tuple(items)
        elif entry := _FRONT_LINE.match(line):
            key, items = entry[1].strip(), []
            if entry[2] and entry[2].strip():
                values[key] = _value(entry[2].strip())
    return text[found.end() :], values


def _value(text: str) -> Scalar | tuple[str, ...]:
    if text.startswith("[") and text.endswith("]"):
        return tuple(filter(None, map(_unquote, text[1:-1].split(","))))
    if text.lower() in {"true", "false"}:
        return text.lower() == "true"
    return _unquote(text)


def _unquote(text: str) -> str:
    text = text.strip()
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else text
