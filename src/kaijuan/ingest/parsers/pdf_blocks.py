"""Printed lines to paragraphs, lists, headings and captions, joined over line, column and page ends."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median

from kaijuan.core.documents import BlockKind, PageBox, Table, TextLine
from kaijuan.core.spans import Span
from kaijuan.ingest.parsers.joining import glue, is_wide
from kaijuan.ingest.parsers.pdf_cells import Joined, goes_on, write_table
from kaijuan.ingest.parsers.pdf_code import Typewriting, betweens, is_next
from kaijuan.ingest.parsers.pdf_cut_rows import cell_of_rest
from kaijuan.ingest.parsers.pdf_figures import place_of
from kaijuan.ingest.parsers.pdf_headings import Body, heading_level, mark_passages
from kaijuan.ingest.parsers.pdf_lines import CAPTION, ROW_GAP_EM, Line, PrintedTable
from kaijuan.ingest.parsers.pdf_notes import is_marked, notes_among

_LEADING = 1.35
_SIZE_STEP = 0.12
_INDENT_EM = 0.8
_ENDS = ".。!！?？:：;；…"
_CLOSERS = "”’\"')）】」』]"
_BULLET = re.compile(
    r"[•·●○■□▪▫◆◇►➢➤✓\-–—*]\s*(?=\S)|\(?\d{1,2}[.)、）]\s*(?=\D)|[（(][一二三四五六七八九十\d]{1,3}[)）]|[a-z][.)]\s"
)
_CONTINUED = re.compile(r"^续\s*表|^(?:table|表).{0,60}[（(]\s*(?:续表?|continued|cont[.’']?d?\.?)\s*[)）]", re.I)
_LONG_ITEM = 300
_FLOATING = frozenset({BlockKind.FOOTNOTE, BlockKind.TABLE, BlockKind.FIGURE})
_CLOSED = frozenset({BlockKind.HEADING, BlockKind.CODE, *_FLOATING})
_MOST_BETWEEN = 12
"""Blocks at the end of a page over which a paragraph may go on."""
_LONG_CAPTION = 300


@dataclass(slots=True)
class Group:
    """Lines that make one block; `rows` keeps a line end between them, as tables and lists need."""

    kind: BlockKind
    lines: list[Line] = field(default_factory=list)
    level: int = 0
    rows: bool = False


@dataclass(frozen=True, slots=True)
class Written:
    """A block as text, its printed lines, and the cells of a table."""

    text: str
    lines: list[TextLine]
    table: Table | None = None
    place: str = ""
    """Where the figure stands, for figures and their captions."""
    unmade: bool = False
    """A table of which only the lines are left: its cells would not have held all words."""


def groups_of(pages: Iterable[Sequence[Line]], body: Body, typewriting: Typewriting) -> Iterator[Group]:
    """Yield the blocks of a document whose pages' lines come in reading order.

    Only the last few are kept here, which later pages may go on with.
    """
    return map(_settled, _gathered(_placed(pages, body, typewriting)))


def _placed(pages: Iterable[Sequence[Line]], body: Body, typewriting: Typewriting) -> Iterator[Group]:
    groups: list[Group] = []
    for lines in pages:
        typewriting.settle(lines)
        typical = _typical_distance(lines)
        mark_passages(lines)
        notes = notes_among(lines, body.size)
        for at, line in enumerate(lines):
            if at not in notes:
                _place(line, groups, body, typical)
        for at in sorted(notes):
            _place_note(lines[at], groups)
        yield from groups[:-_MOST_BETWEEN]
        del groups[:-_MOST_BETWEEN]
    yield from groups


def _place_float(line: Line, groups: list[Group]) -> None:
    last = groups[-1] if groups else None
    if line.table is not None:
        groups.append(Group(BlockKind.TABLE, [line]))
    elif last is not None and last.kind is BlockKind.FIGURE and last.lines[0].figure == line.figure:
        last.lines.append(line)
    else:
        groups.append(Group(BlockKind.FIGURE, [line], rows=True))


def _goes_on(last: Group | None, line: Line, typical: float) -> bool:
    """Say whether a line of one width is the middle of a sentence that names files or commands."""
    if last is None or last.kind is not BlockKind.PARAGRAPH or last.rows:
        return False
    before = last.lines[-1]
    return not before.fixed and _are_neighbours(before, line) and _continues(last.lines, line, typical)


def _place_code(line: Line, groups: list[Group]) -> None:
    last = groups[-1] if groups else None
    if last is None or last.kind is not BlockKind.CODE:
        groups.append(Group(BlockKind.CODE, [line]))
        return
    before = last.lines[-1]
    if is_next(before, line) or not _are_neighbours(before, line):
        last.lines.append(line)
    else:
        groups.append(Group(BlockKind.CODE, [line]))


def _place_note(line: Line, groups: list[Group]) -> None:
    last = groups[-1] if groups else None
    if last is None or last.kind is not BlockKind.FOOTNOTE or last.lines[-1].page != line.page or is_marked(line):
        groups.append(Group(BlockKind.FOOTNOTE, [line]))
    else:
        last.lines.append(line)


def _broken_off(line: Line, groups: Sequence[Group], typical: float) -> Group | None:
    """Return the paragraph that a line goes on with over footnotes, tables and figures at a page's or column's end."""
    last = groups[-1] if groups else None
    if last is None or not (last.kind in _FLOATING or CAPTION.match(last.lines[0].text)):
        return None
    if last.kind not in _FLOATING and _are_neighbours(last.lines[-1], line) and _continues(last.lines, line, typical):
        return None
    if not (line.text[0].islower() or is_wide(line.text[0])):
        return None
    for group in reversed(groups[-_MOST_BETWEEN:]):
        if group.kind is BlockKind.PARAGRAPH and not CAPTION.match(group.lines[0].text):
            before = group.lines[-1]
            apart = line.page == before.page + 1 or (line.page == before.page and line.column > before.column)
            goes_on = apart and not group.rows and _continues(group.lines, line, typical)
            return group if goes_on else None
        if group.kind in {BlockKind.HEADING, BlockKind.LIST}:
            return None
    return None


def _place(line: Line, groups: list[Group], body: Body, typical: float) -> None:
    last = groups[-1] if groups else None
    if line.table is not None or line.figure is not None:
        _place_float(line, groups)
        return
    if line.fixed and not line.outline and not _goes_on(last, line, typical):
        _place_code(line, groups)
        return
    if _goes_on_in_cell(last, line):
        return
    level = heading_level(line, body)
    if level:
        if last is not None and last.kind is BlockKind.HEADING and _is_more_heading(last, line, level):
            last.lines.append(line)
        else:
            groups.append(Group(BlockKind.HEADING, [line], level))
        return
    is_row = line.gap > ROW_GAP_EM and not _BULLET.match(line.text)
    broken = None if is_row else _broken_off(line, groups, typical)
    if broken is not None:
        broken.lines.append(line)
        return
    if last is None or last.kind in _CLOSED or line.caption_of is not None:
        groups.append(Group(BlockKind.PARAGRAPH, [line], rows=is_row))
    elif last.rows or is_row:
        _place_row(line, groups, is_row=is_row, typical=typical)
    elif _continues(last.lines, line, typical):
        last.lines.append(line)
    else:
        groups.append(Group(BlockKind.PARAGRAPH, [line]))


def _goes_on_in_cell(last: Group | None, line: Line) -> bool:
    """Put a line to the cell of a table at the end of the page before, where it is the rest of that."""
    table = last.lines[-1].table if last is not None and last.kind is BlockKind.TABLE else None
    cell = cell_of_rest(table, line) if table is not None else None
    if cell is not None:
        cell.lines.append(line)
    return cell is not None


def _place_row(line: Line, groups: list[Group], *, is_row: bool, typical: float) -> None:
    """Rows of a table stay together; until tables are read as such, each printed row is a line of its block."""
    last = groups[-1]
    before = last.lines[-1]
    close = _are_neighbours(before, line) and line.y0 - before.y1 < 1.2 * max(typical, line.height)
    if (
        last.rows
        and close
        and (is_row or line.x0 > line.left + 2 * line.size or line.x1 < before.right - 4 * line.size)
    ):
        last.lines.append(line)
    else:
        groups.append(Group(BlockKind.PARAGRAPH, [line], rows=is_row))


def _is_more_heading(last: Group, line: Line, level: int) -> bool:
    before = last.lines[-1]
    return (
        last.level == level
        and _are_neighbours(before, line)
        and abs(before.size - line.size) < 0.5
        and line.y0 - before.y1 < 0.6 * line.height
        and not _BULLET.match(line.text)
        and not re.match(r"第.{1,8}[编章节条]|\d+\.", line.text)
    )


def _are_neighbours(before: Line, line: Line) -> bool:
    return before.page == line.page and before.column == line.column


def _continues(lines: Sequence[Line], line: Line, typical: float) -> bool:
    """Say whether a line goes on with the paragraph that `lines` began."""
    before = lines[-1]
    if (_BULLET.match(line.text) and not _is_inner_number(lines, line)) or abs(
        line.size - before.size
    ) > _SIZE_STEP * max(before.size, line.size):
        return False
    if not line.edges or not before.edges:
        return bool(line.edges) == bool(before.edges) and before.page == line.page
    if before.hyphen or _ended_early(before, line):
        return before.hyphen
    if not _are_neighbours(before, line):
        return line.x0 - line.left <= _INDENT_EM * line.size and not _ends_sentence(before.text)
    is_close = line.y1 - before.y1 <= _LEADING * typical and line.y0 >= before.y0 - line.height
    return is_close and not _is_indented_start(lines, line)


def _is_inner_number(lines: Sequence[Line], line: Line) -> bool:
    """Say whether a line begins with a number inside a sentence: (1) this and (2) that."""
    before = lines[-1]
    return (
        len(lines) > 1
        and line.text[0] in "(（"
        and bool(line.edges and before.edges)
        and abs(line.x0 - before.x0) < _INDENT_EM * line.size
        and not _ends_sentence(before.text)
        and not _ended_early(before, line)
    )


def _ended_early(before: Line, line: Line) -> bool:
    """Say whether the next line's first word would still have fitted: then the paragraph ended on purpose."""
    first = 1 if is_wide(line.text[0]) else len(line.text.split(" ", 1)[0])
    word = line.edges[first] - line.edges[0] if len(line.edges) > first else line.size
    slack = 1.6 if is_wide(line.text[0]) else 0.8
    return before.x1 + word + slack * before.size < before.right


def _is_indented_start(lines: Sequence[Line], line: Line) -> bool:
    before = lines[-1]
    em = line.size
    indent, indent_before = line.x0 - line.left, before.x0 - before.left
    if len(lines) == 1 and _BULLET.match(before.text):
        return False  # the text of a list item hangs under its first word
    if len(lines) > 1 and indent < indent_before - _INDENT_EM * em:
        return True
    return indent > indent_before + _INDENT_EM * em


def _ends_sentence(text: str) -> bool:
    return text.rstrip(_CLOSERS)[-1:] in _ENDS


def _typical_distance(lines: Sequence[Line]) -> float:
    """Return the usual distance from one baseline to the next on a page, in points."""
    steps = [
        line.y1 - before.y1
        for before, line in pairwise(lines)
        if _are_neighbours(before, line) and 0 < line.y1 - before.y1 < 4 * line.height
    ]
    if not steps:
        return 2 * max((line.height for line in lines), default=10.0)
    heights = median(line.height for line in lines)
    return max(median(steps), heights)


def _gathered(groups: Iterable[Group]) -> Iterator[Group]:
    """Tell captions and list items, and put together what belongs in one block: lists, and stacks of short lines."""
    gathered: list[Group] = []
    for group in groups:
        _tell_kind(group)
        last = gathered[-1] if gathered else None
        if group.kind is BlockKind.TABLE:
            _gather_table(group, gathered)
        elif last is not None and last.kind is group.kind is BlockKind.LIST:
            last.lines.extend(group.lines)
        elif last is not None and _is_stacked(last, group):
            last.rows = True
            last.lines.extend(group.lines)
        else:
            gathered.append(group)
        yield from gathered[:-_MOST_BETWEEN]
        del gathered[:-_MOST_BETWEEN]
    yield from gathered


def _settled(group: Group) -> Group:
    """A single item is no list."""
    if group.kind is BlockKind.LIST and sum(1 for line in group.lines if _BULLET.match(line.text)) < 2:
        group.kind = BlockKind.PARAGRAPH
    return group


def _gather_table(group: Group, gathered: list[Group]) -> None:
    """Put a table to the one at the end of the page before, where it goes on from that.

    A line that only says so (续表 3, Table 3 (continued)) goes with the repeated header.
    """
    part = group.lines[0].table
    near = range(max(len(gathered) - _MOST_BETWEEN, 0), len(gathered))
    between = [at for at in near if part is not None and _says_continued(gathered[at], part.page)]
    skipped = {*between, *(at for at in near if gathered[at].kind is BlockKind.FOOTNOTE)}
    last = next((gathered[at] for at in reversed(near) if at not in skipped), None)
    if last is None or part is None or not _is_same_table(last, part):
        gathered.append(group)
        return
    last.lines.extend(group.lines)
    for at in reversed(between):
        del gathered[at]


def _says_continued(group: Group, page: int) -> bool:
    line = group.lines[0]
    return len(group.lines) == 1 and line.page == page and bool(_CONTINUED.search(line.text))


def _is_same_table(last: Group, part: PrintedTable) -> bool:
    first, before = last.lines[0].table, last.lines[-1].table
    if last.kind is not BlockKind.TABLE or first is None or before is None or before.page + 1 != part.page:
        return False
    return goes_on(first, before, part, lambda lines: _joined(lines, frozenset()))


def _tell_kind(group: Group) -> None:
    if group.kind is not BlockKind.PARAGRAPH or group.rows:
        return
    size = sum(len(line.text) for line in group.lines)
    if CAPTION.match(group.lines[0].text) and size <= _LONG_CAPTION:
        group.kind = BlockKind.CAPTION
    elif _BULLET.match(group.lines[0].text) and size <= _LONG_ITEM:
        group.kind = BlockKind.LIST


def _is_stacked(last: Group, group: Group) -> bool:
    """Say whether a single line follows others that stopped short without a sentence's end: code, addresses, names."""
    before, line = last.lines[-1], group.lines[0]
    return (
        last.kind is group.kind is BlockKind.PARAGRAPH
        and len(group.lines) == 1
        and (last.rows or len(last.lines) == 1)
        and not group.rows
        and _are_neighbours(before, line)
        and abs(before.size - line.size) < 0.5
        and 0 < line.y1 - before.y1 < 1.75 * line.height
        and before.text[-1] not in "。.！!？?"
        and max(len(before.text), len(line.text)) < 80
    )


def written(group: Group, words: frozenset[str]) -> Written:
    """Return a block's text and its printed lines, spans counted from the block's beginning.

    Line ends become nothing between Han and a blank between words; a hyphen that only the line end made is undone,
    unless the document writes the word with a hyphen elsewhere (`words`).
    """
    if group.kind is BlockKind.TABLE:
        return _written_table(group, words)
    if group.kind is BlockKind.CODE:
        return _written_code(group)
    text, pieces = _joined(group.lines, words, rows=group.rows, items=group.kind is BlockKind.LIST)
    box = group.lines[0].figure or group.lines[0].caption_of
    place = place_of(group.lines[0].page, box) if box is not None else ""
    return Written(text, [_text_line(*piece) for piece in pieces if piece[2]], place=place)


def _written_code(group: Group) -> Written:
    """Return code as printed; blanks of its indentation belong to no printed character."""
    parts: list[str] = []
    lines: list[TextLine] = []
    at = 0
    for line, before in zip(group.lines, betweens(group.lines), strict=True):
        parts += [before, line.text]
        lines.append(_text_line(line, at + len(before), len(line.text)))
        at += len(before) + len(line.text)
    return Written("".join(parts), lines)


def _written_table(group: Group, words: frozenset[str]) -> Written:
    """Return a table with cells; where a word would be lost, its printed lines as they stand."""
    parts = [line.table for line in group.lines if line.table is not None]
    made = write_table(parts, lambda lines: _joined(lines, words, apart=True))
    if made is not None:
        return Written(made.text, made.lines, made.table)
    every = [line for part in parts for cell in part.cells for line in cell.lines]
    text, pieces = _joined(every, words, rows=True)
    return Written(text, [_text_line(*piece) for piece in pieces if piece[2]], unmade=True)


def _joined(
    lines: Sequence[Line], words: frozenset[str], *, rows: bool = False, items: bool = False, apart: bool = False
) -> Joined:
    """Return lines as running text, and where each of them stands in it.

    Items of a list stand in lines of their own with `items`, behind a blank with `apart`.
    """
    parts: list[str] = []
    pieces: list[tuple[Line, int, int]] = []
    at = 0
    for place, line in enumerate(lines):
        following = lines[place + 1] if place + 1 < len(lines) else None
        breaks = rows or (items and following is not None and bool(_BULLET.match(following.text)))
        text, between = _ending(line, following, words, breaks=breaks)
        if apart and not between and following is not None and _BULLET.match(following.text):
            between = " "
        pieces.append((line, at, len(text)))
        parts += [text, between]
        at += len(text) + len(between)
    return "".join(parts), pieces


def _ending(line: Line, following: Line | None, words: frozenset[str], *, breaks: bool) -> tuple[str, str]:
    """Return a line's text without a hyphen that goes, and what stands between it and the next line."""
    if following is None:
        return line.text, ""
    if breaks:
        return line.text, "\n"
    left, right = line.text, following.text
    stem = left if line.hyphen else left[:-1]
    if (line.hyphen or (left[-1] in "-‐" and len(left) > 1)) and stem[-1].isalpha() and right[0].isalpha():
        whole = f"{_last_word(stem)}-{_first_word(right)}".lower()
        if whole in words or right[0].isupper():
            return (left, "-") if line.hyphen else (left, "")
        return stem, ""
    return left, glue(left[-1], right[0])


def _last_word(text: str) -> str:
    found = re.search(r"[^\W\d_]+$", text)
    return found[0] if found else ""


def _first_word(text: str) -> str:
    found = re.match(r"[^\W\d_]+", text)
    return found[0] if found else ""


def hyphenated_words(lines: Iterable[Line]) -> frozenset[str]:
    """Return the words that the document writes with a hyphen inside a line."""
    found: set[str] = set()
    for line in lines:
        if "-" in line.text:
            found.update(word.lower() for word in re.findall(r"[^\W\d_]+-[^\W\d_]+", line.text))
    return frozenset(found)


def _text_line(line: Line, at: int, length: int) -> TextLine:
    edges = line.edges[: length + 1] if line.edges else ()
    box = PageBox(page=line.page, x0=line.x0, y0=line.y0, x1=line.x1, y1=line.y1)
    return TextLine(span=Span(at, at + length), box=box, edges=edges)
