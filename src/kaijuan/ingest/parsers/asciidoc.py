"""AsciiDoc: sections, paragraphs, lists, delimited blocks, tables and figures. Files that it includes are not read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from kaijuan.core.documents import BlockKind, ParsedDocument, Scalar
from kaijuan.errors import BrokenDocumentError, EmptyDocumentError
from kaijuan.ingest.encoding import decode
from kaijuan.ingest.parsers.asciidoc_tables import rows_of
from kaijuan.ingest.parsers.asciidoc_text import plain
from kaijuan.ingest.parsers.draft import Draft
from kaijuan.ingest.parsers.figures import alt_text
from kaijuan.ingest.parsers.joining import join_lines
from kaijuan.ingest.parsers.pieces import Piece, table_piece, write_pieces
from kaijuan.ingest.parsers.pipes import table_of

_SECTION = re.compile(r"(={1,6}|#{1,6})\s+(\S.*?)(?:\s+\1)?\s*$")
_ATTRIBUTE = re.compile(r":(!?[\w][\w-]*!?):(?:\s+(.*))?$")
_BLOCK_ATTRIBUTES = re.compile(r"\[([^\[\]]*|\[[^\[\]]*\])\]\s*$")
_TITLE = re.compile(r"\.([^\s.].*)$")
_FENCE = re.compile(r"(-{4,}|\.{4,}|={4,}|\*{4,}|_{4,}|\+{4,}|/{4,}|--|```\w*|[|,:!]===)\s*$")
_ITEM = re.compile(
    r"\s*(?:(\*{1,6}|-|\.{1,6}|\d{1,3}\.|[a-zA-Z]\.|<(?:\d{1,2}|\.)>)\s+(\S.*)|(\S.*?)(:{2,4}|;;)(?:\s+(\S.*))?)$"
)
_IMAGE = re.compile(r"(?:image|video|audio)::\S*?\[(.*)\]\s*$")
_DIRECTIVE = re.compile(r"(?:include|ifdef|ifndef|ifeval|endif|toc)::\S*\[.*\]\s*$")
_ADMONITION = re.compile(r"(NOTE|TIP|IMPORTANT|WARNING|CAUTION):\s+")
_AUTHOR = re.compile(r"([^\W\d_][^<>]{0,100}?)(?:\s+<[^<>]+>)?(?:;|$)")
_DEEPEST = 20
_FACTS = {"author": "author", "revdate": "published", "revnumber": "version", "keywords": "keywords", "lang": "lang"}


@dataclass(slots=True)
class _Mark:
    """What the lines above a block say of it."""

    style: str = ""
    options: str = ""
    title: str = ""


@dataclass(slots=True)
class _Lines:
    """The lines of a text, or of a block in it, and where reading stands."""

    lines: list[str]
    first: int = 1
    at: int = 0
    attributes: dict[str, str] = field(default_factory=dict)

    def place(self) -> str:
        return f"line {self.first + self.at}"

    def more(self) -> bool:
        return self.at < len(self.lines)

    def line(self) -> str:
        return self.lines[self.at]


class AsciiDocParser:
    """Parser of kind "asciidoc"."""

    def parse(self, data: bytes, name: str) -> ParsedDocument:
        """Return the document's blocks, each with the line it begins on; header attributes become metadata."""
        decoded = decode(data)
        if not decoded.text.strip():
            raise EmptyDocumentError(f"{name} is empty.")
        lines = _Lines([line.rstrip() for line in decoded.text.split("\n")])
        title = _header(lines)
        draft = Draft()
        if title:
            draft.add(BlockKind.HEADING, title, level=1)
        write_pieces(draft, _blocks(lines, 0))
        metadata: dict[str, Scalar | tuple[str, ...]] = {
            key: lines.attributes[name] for name, key in _FACTS.items() if lines.attributes.get(name)
        }
        return draft.finish("asciidoc", name, title=title, metadata=metadata, warnings=decoded.warnings)


def _header(lines: _Lines) -> str:
    """Read the title, the author line and the attributes at the top."""
    while lines.more() and (not lines.line() or lines.line().startswith("//") or _ATTRIBUTE.match(lines.line())):
        _attribute(lines)
        lines.at += 1
    found = _SECTION.match(lines.line()) if lines.more() else None
    if not found or len(found[1]) > 1:
        return ""
    lines.at += 1
    second = False
    while lines.more() and lines.line():
        if not _attribute(lines) and not second:
            second = True
            if "@" in lines.line() or re.fullmatch(r"[\w .;-]{2,80}", lines.line()):
                lines.attributes.setdefault("author", "; ".join(_AUTHOR.findall(lines.line())))
        lines.at += 1
    return plain(found[2], lines.attributes)


def _attribute(lines: _Lines) -> bool:
    found = _ATTRIBUTE.match(lines.line())
    if found:
        lines.attributes[found[1].strip("!").lower()] = (found[2] or "").strip()
    return found is not None


def _blocks(lines: _Lines, depth: int) -> Iterator[Piece]:
    if depth > _DEEPEST:
        raise BrokenDocumentError("The blocks are nested too deeply to be read whole.")
    mark = _Mark()
    while lines.more():
        line = lines.line()
        if _says_of_next(line, mark):
            lines.at += 1
            continue
        if not line or line in {"'''", "<<<", "+"} or _DIRECTIVE.match(line) or _attribute(lines) or _is_comment(line):
            lines.at += 1
            mark = _Mark() if not line else mark
            continue
        yield from _block(lines, mark, depth)
        mark = _Mark()


def _says_of_next(line: str, mark: _Mark) -> bool:
    if found := _BLOCK_ATTRIBUTES.match(line):
        if not found[1].startswith("["):  # an anchor
            mark.options = f"{mark.options},{found[1]}"
            mark.style = mark.style or found[1].split(",")[0].split("%")[0].split("#")[0].strip()
        return True
    if found := _TITLE.match(line):
        mark.title = found[1]
        return True
    return False


def _is_comment(line: str) -> bool:
    return line.startswith("//") and not line.startswith("////")


def _block(lines: _Lines, mark: _Mark, depth: int) -> Iterator[Piece]:
    line, place = lines.line(), lines.place()
    if found := _SECTION.match(line):
        lines.at += 1
        level = 0 if mark.style == "discrete" else len(found[1])
        yield Piece(BlockKind.HEADING, plain(found[2], lines.attributes), max(level, 1), place=place)
    elif _FENCE.match(line):
        yield from _captioned(mark, lines, place)
        yield from _fenced(lines, mark, depth)
    elif found := _IMAGE.match(line):
        lines.at += 1
        yield Piece(BlockKind.FIGURE, alt_text(found[1].split(",")[0].strip(' "')), place=place)
        yield from _captioned(mark, lines, place)
    elif _ITEM.match(line):
        yield from _captioned(mark, lines, place)
        yield from _list(lines, depth)
    else:
        yield from _captioned(mark, lines, place)
        yield from _paragraph(lines, mark)


def _captioned(mark: _Mark, lines: _Lines, place: str) -> Iterator[Piece]:
    if mark.title:
        yield Piece(BlockKind.CAPTION, plain(mark.title, lines.attributes), place=place)


def _fenced(lines: _Lines, mark: _Mark, depth: int) -> Iterator[Piece]:
    opening, place = lines.line().strip(), lines.place()
    closing = "```" if opening.startswith("```") else opening
    lines.at += 1
    start = lines.at
    while lines.more() and lines.line().strip() != closing:
        lines.at += 1
    body = lines.lines[start : lines.at]
    lines.at += 1
    inner = _Lines(body, lines.first + start, attributes=lines.attributes)
    if opening.endswith("===") and opening[0] in "|!,:":
        yield from table_piece(table_of(rows_of(body, opening[0], mark.options, lines.attributes)), place=place)
    elif opening[0] in "-.`" and opening != "--":
        yield Piece(BlockKind.CODE, "\n".join(body), place=place, syntax=_language(mark, opening))
    elif mark.style in {"stem", "latexmath", "asciimath"}:
        syntax = "" if mark.style == "asciimath" else "latex"
        yield Piece(BlockKind.FORMULA, "\n".join(body), place=place, syntax=syntax)
    elif opening[0] not in "/+":
        for piece in _blocks(inner, depth + 1):
            quoted = opening[0] == "_" or mark.style in {"quote", "verse"}
            is_text = piece.kind is BlockKind.PARAGRAPH
            yield Piece(BlockKind.QUOTE, piece.text, place=piece.place) if quoted and is_text else piece


def _language(mark: _Mark, opening: str) -> str:
    if opening.startswith("```"):
        return opening[3:]
    parts = [part.strip() for part in mark.options.strip(",").split(",")]
    if parts and parts[0].split("%")[0] in {"source", ""} and len(parts) > 1 and "=" not in parts[1]:
        return parts[1].split("%")[0].lower()
    return next((part.partition("=")[2] for part in parts if part.startswith("language=")), "")


def _paragraph(lines: _Lines, mark: _Mark) -> Iterator[Piece]:
    place = lines.place()
    literal = lines.line()[:1].isspace()
    body: list[str] = []
    while (
        lines.more()
        and lines.line()
        and not (body and (_FENCE.match(lines.line()) or _BLOCK_ATTRIBUTES.match(lines.line())))
    ):
        body.append(lines.line())
        lines.at += 1
    if literal or mark.style in {"source", "listing", "literal"}:
        yield Piece(BlockKind.CODE, "\n".join(body), place=place, syntax=_language(mark, ""))
    elif all(line.startswith("|") for line in body):
        # Written like Markdown, without the lines around it.
        yield from table_piece(table_of(rows_of(body, "|", "", lines.attributes)), place=place)
    else:
        kind = BlockKind.QUOTE if mark.style in {"quote", "verse"} else BlockKind.PARAGRAPH
        text = _joined(body, lines.attributes, verse=mark.style == "verse" or "%hardbreaks" in mark.options)
        yield Piece(kind, _ADMONITION.sub(lambda found: f"{found[1].capitalize()}: ", text), place=place)


def _joined(body: list[str], attributes: dict[str, str], *, verse: bool = False) -> str:
    """Return the lines of a paragraph as running text; " +" at an end keeps the line."""
    out: list[list[str]] = [[]]
    for line in body:
        hard = line.endswith(" +")
        out[-1].append(plain(line.removesuffix(" +") if hard else line, attributes))
        if hard or verse:
            out.append([])
    return "\n".join(join_lines(part) for part in out if part)


def _list(lines: _Lines, depth: int) -> Iterator[Piece]:
    """Yield a list as one block; delimited blocks that belong to an item stand beside it."""
    place = lines.place()
    out: list[str] = []
    levels: list[tuple[str, int]] = []
    counts: dict[int, int] = {}
    while lines.more():
        found = _ITEM.match(lines.line())
        if not found:
            break
        level = _level(levels, found, lines.line())
        marker, text = _marker(found, counts, level)
        lines.at += 1
        body = [text] if text else []
        while lines.more() and lines.line() and not _ITEM.match(lines.line()) and not _breaks(lines.line()):
            body.append(lines.line().strip())
            lines.at += 1
        words = _joined(body, lines.attributes)
        if marker.endswith(":"):
            words = f"{plain(marker, lines.attributes)} {words}".strip()
            marker = ""
        out.append("  " * level + f"{marker} {words}".strip())
        if inner := list(_attached(lines, depth)):
            if out:
                yield Piece(BlockKind.LIST, "\n".join(out), place=place)
                out = []
            yield from inner
            place = lines.place()
        _skip_blank(lines)
    if out:
        yield Piece(BlockKind.LIST, "\n".join(out), place=place)


def _breaks(line: str) -> bool:
    return line == "+" or bool(_FENCE.match(line) or _BLOCK_ATTRIBUTES.match(line) or _SECTION.match(line))


def _level(levels: list[tuple[str, int]], found: re.Match[str], line: str) -> int:
    """Return how deep an item stands: a kind of marker not met yet goes deeper, as do further blanks before it."""
    indent = len(line) - len(line.lstrip())
    kind = found[4] or re.sub(r"\d+|[a-zA-Z](?=\.)|(?<=<)\.", "1", found[1] or "")
    key = f"{kind}/{indent}"
    for at, (seen, _) in enumerate(levels):
        if seen == key:
            del levels[at + 1 :]
            return at
    while levels and indent and levels[-1][1] > indent:
        levels.pop()
    if levels and levels[-1][1] == indent and indent:
        levels.pop()
    levels.append((key, indent))
    return len(levels) - 1


def _marker(found: re.Match[str], counts: dict[int, int], level: int) -> tuple[str, str]:
    for deeper in [at for at in counts if at > level]:
        del counts[deeper]
    if found[3]:
        return f"{found[3]}:", found[5] or ""
    marker = found[1]
    if marker[0] in "*-":
        return "-", found[2]
    counts[level] = counts.get(level, 0) + 1
    return (marker if marker[0].isalpha() else f"{counts[level]}."), found[2]


def _attached(lines: _Lines, depth: int) -> Iterator[Piece]:
    """Yield the blocks that a line of "+" ties to an item."""
    while lines.more() and lines.line() == "+":
        lines.at += 1
        mark = _Mark()
        while lines.more() and _says_of_next(lines.line(), mark):
            lines.at += 1
        if lines.more() and lines.line():
            yield from _block(lines, mark, depth + 1)


def _skip_blank(lines: _Lines) -> None:
    """Go over blank lines inside a list; stop before what is no item."""
    at = lines.at
    while at < len(lines.lines) and not lines.lines[at]:
        at += 1
    if at < len(lines.lines) and _ITEM.match(lines.lines[at]) and not _TITLE.match(lines.lines[at]):
        lines.at = at
