"""How like two Markdown texts are: characters without marks, and cells of tables in their places."""

from __future__ import annotations

import html
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence

from lxml import etree
from lxml import html as trees
from rapidfuzz.distance import Indel

Grid = list[list[str]]
MOST_OFF = 2
"""Rows by which a table may be off as a whole."""

_MARKS = re.compile(r"[|#*`_\\$~{}•☐☒☑]|\[[ x]\]|-{2,}|(?m:^\s*-\s)|&#124;")
_LINK = re.compile(r"\[([^\]\n]*)\]\((?:[^()\s]|\([^()\s]*\))*\)")
_TABLE_LINE = re.compile(r"^\s*\|.*\|\s*$")
_RULE = re.compile(r"^\s*\|(?:\s*:?-+:?\s*\|)+\s*$")


def plain(text: str) -> str:
    """Return text without marks, blanks, links and comments."""
    text = html.unescape(re.sub(r"<!--.*?-->", "", text, flags=re.S))
    text = _LINK.sub(r"\1", unicodedata.normalize("NFKC", text))
    text = text.replace("“", '"').replace("”", '"').replace("’", "'").replace("‘", "'").replace("‐", "-")
    return re.sub(r"\s+", "", _MARKS.sub("", text))


def reference_grids(text: str) -> list[Grid]:
    """Return the tables of a Markdown text."""
    grids: list[Grid] = []
    before = False
    for line in text.split("\n"):
        if _TABLE_LINE.match(line):
            if not before:
                grids.append([])
            if not _RULE.match(line):
                cells = re.split(r"(?<!\\)\|", line.strip().removeprefix("|").removesuffix("|"))
                grids[-1].append([cell.strip() for cell in cells])
        before = bool(_TABLE_LINE.match(line))
    return [grid for grid in grids if any(plain(cell) for row in grid for cell in row)]


def cells_of(grid: Grid) -> Counter[tuple[int, int, str]]:
    """Return the cells with words and where they stand, empty edge columns left out as above."""
    texts = [[plain(cell).lstrip("-") for cell in row] for row in grid]
    width = max(map(len, texts), default=0)
    kept = [column for column in range(width) if any(column < len(row) and row[column] for row in texts)]
    rows = [[row[column] if column < len(row) else "" for column in kept] for row in texts]
    rows = [row for row in rows if any(row)]
    return Counter((at, column, text) for at, row in enumerate(rows) for column, text in enumerate(row) if text)


def _agreed(ours: Counter[tuple[int, int, str]], reference: Counter[tuple[int, int, str]]) -> int:
    """Return how many cells agree. A caption may be taken for a row: all rows together may be a little off."""
    return max(
        sum((Counter({(row + off, column, text): n for (row, column, text), n in ours.items()}) & reference).values())
        for off in range(-MOST_OFF, MOST_OFF + 1)
    )


def cell_scores(ours: Sequence[Grid], reference: Sequence[Grid]) -> tuple[int, int, int]:
    """Return cells that agree in place and words, our cells, and the reference's; the likest pairs of tables meet."""
    mine, theirs = [*map(cells_of, ours)], [*map(cells_of, reference)]
    pairs = [(_agreed(left, right), i, j) for i, left in enumerate(mine) for j, right in enumerate(theirs)]
    taken: set[int] = set()
    met: set[int] = set()
    agreed = 0
    for same, i, j in sorted(pairs, key=lambda pair: -pair[0]):
        if same and i not in taken and j not in met:
            agreed += same
            taken.add(i)
            met.add(j)
    return agreed, sum(sum(cells.values()) for cells in mine), sum(sum(cells.values()) for cells in theirs)


_PIPE_TABLE = re.compile(r"(?:^[ \t]*\|.*\|[ \t]*(?:\n|\Z))+", re.M)
_HTML_TABLE = re.compile(r"<table\b.*?</table>", re.S | re.I)


def likeness(text: str, reference: str) -> tuple[float, float]:
    """Return how like two texts are, by insertions and deletions of characters, and how much of the second is in the
    first; both 0 to 1. Merged cells count once."""
    ours, theirs = plain(_told_once(text)), plain(_told_once(reference))
    distance = Indel.distance(ours, theirs)
    shared = (len(ours) + len(theirs) - distance) / 2
    return 1 - distance / max(len(ours) + len(theirs), 1), shared / max(len(theirs), 1)


def _told_once(text: str) -> str:
    """Return text whose tables, in pipes or HTML, hold the words of merged cells once."""
    text = _HTML_TABLE.sub(lambda found: _written(_html_grid(found.group())), text)
    return _PIPE_TABLE.sub(lambda found: _written((reference_grids(found.group()) or [[]])[0]), _HTML_TAG.sub("", text))


def _written(grid: Grid) -> str:
    return "\n".join(" ".join(row) for row in _once(grid))


def table_cells(text: str, reference: str) -> dict[str, int]:
    """Return the cells that agree, the text's and the reference's, of tables in pipes or HTML.

    Some repeat a merged cell and some leave the others blank: a cell like its left or upper neighbour counts as blank.
    """
    agreed, ours, wanted = cell_scores([*map(_once, all_grids(text))], [*map(_once, all_grids(reference))])
    return {"agreed": agreed, "ours": ours, "reference": wanted}


_HTML_TAG = re.compile(r"</?(?:table|thead|tbody|tr|td|th|br|p|div|span|b|i|em|strong|sup|sub|img|a)\b[^>]*>", re.I)


def all_grids(text: str) -> list[Grid]:
    """Return the tables of a text, in pipes or in HTML."""
    found = [_html_grid(table) for table in _HTML_TABLE.findall(text)]
    return [grid for grid in found if grid] + reference_grids(_HTML_TAG.sub(" ", _HTML_TABLE.sub("", text)))


def _html_grid(table: str) -> Grid:
    try:
        root = trees.fromstring(table)
    except etree.ParserError:
        return []
    taken: dict[tuple[int, int], str] = {}
    for at, row in enumerate(root.iter("tr")):
        column = 0
        for cell in row.iterchildren("td", "th"):
            while (at, column) in taken:
                column += 1
            down, across = _span(cell.get("rowspan")), _span(cell.get("colspan"))
            for row_at in range(at, at + down):
                for column_at in range(column, column + across):
                    taken[row_at, column_at] = str(cell.text_content()).strip()
    rows = max((row for row, _ in taken), default=-1) + 1
    columns = max((column for _, column in taken), default=-1) + 1
    return [[taken.get((row, column), "") for column in range(columns)] for row in range(rows)]


def _span(value: str | None) -> int:
    return min(max(int(value), 1), 100) if value and value.isdigit() else 1


def _once(grid: Grid) -> Grid:
    def is_repeated(row: int, column: int) -> bool:
        cell = grid[row][column]
        left = grid[row][column - 1] if column else ""
        above = grid[row - 1][column] if row and column < len(grid[row - 1]) else ""
        return bool(cell) and cell in (left, above)

    return [
        ["" if is_repeated(row, column) else cell for column, cell in enumerate(cells)]
        for row, cells in enumerate(grid)
    ]
