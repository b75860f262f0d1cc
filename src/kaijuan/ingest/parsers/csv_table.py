"""Tables as text (CSV, TSV and the like): delimiter, encoding and header row are found."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator

from kaijuan.core.documents import BlockKind, ParsedDocument
from kaijuan.errors import BrokenDocumentError, EmptyDocumentError
from kaijuan.ingest.encoding import decode
from kaijuan.ingest.kinds import ending
from kaijuan.ingest.parsers.draft import Draft, Origin, stem
from kaijuan.ingest.parsers.pipes import Cell, Placed, draw
from kaijuan.ingest.parsers.sheet_regions import Region, header_rows
from kaijuan.ingest.parsers.sheets import SheetCell

_DELIMITERS = ",\t;|"
_NAMED = {"tsv": "\t", "tab": "\t", "psv": "|"}
_SAMPLE_LINES = 60
_SAMPLE_CHARS = 40_000
_MOST_CELLS = 300_000
"""A table with more is kept as text only."""
_HEAD = 60
_SEP_LINE = re.compile(r"sep=(.)\n", re.I)
_NUMBER = re.compile(
    r"[-+(]?+\s*+[¥￥$€£]?+\s*+\d[\d,]*+(?:\.\d++)?+\s*+[%元)]?+|\d{4}[-/.年]\d{1,2}+(?:[-/.月]\d{1,2}+日?+)?+"
)


class CsvParser:
    """Parser of kind "csv"."""

    def parse(self, data: bytes, name: str) -> ParsedDocument:
        """Return one table, and lone cells above it as paragraphs."""
        decoded = decode(data)
        text = decoded.text
        if not text.strip():
            raise EmptyDocumentError(f"{name} is empty.")
        rows = table_rows(text, name)
        draft = Draft()
        warnings = _write(draft, rows)
        metadata = {"encoding": decoded.encoding}
        # The first line of a table is no title.
        return draft.finish("csv", name, title=stem(name), metadata=metadata, warnings=(*decoded.warnings, *warnings))


def table_rows(text: str, name: str) -> list[list[str]]:
    """Return the rows of a table that are not empty; its delimiter is declared, told by the name, or found.

    Raises BrokenDocumentError when the text is no table.
    """
    if not text.strip():
        return []
    declared = _SEP_LINE.match(text)
    delimiter = declared[1] if declared else _NAMED.get(ending(name)) or _delimiter(text)
    return _rows(text[declared.end() :] if declared else text, delimiter, name)


def _rows(text: str, delimiter: str, name: str) -> list[list[str]]:
    csv.field_size_limit(max(len(text), 1 << 17))
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    except csv.Error as error:
        raise BrokenDocumentError(f"{name} is no table with {delimiter!r} between cells: {error}.") from error
    return [row for row in rows if any(cell.strip() for cell in row)]


def _delimiter(text: str) -> str:
    """Return the delimiter by which most lines have the same number of cells, more than one."""
    sample = text[:_SAMPLE_CHARS].split("\n")[:_SAMPLE_LINES]
    if len(text) > _SAMPLE_CHARS and len(sample) > 1:
        sample.pop()
    best, best_score = ",", 0.0
    for delimiter in _DELIMITERS:
        try:
            rows = [row for row in csv.reader(sample, delimiter=delimiter) if row]
        except csv.Error:
            continue
        counts = Counter(len(row) for row in rows)
        width, lines = max(counts.items(), key=lambda entry: (entry[1] * (entry[0] > 1), entry[0]))
        score = lines / len(rows) if width > 1 else 0.0
        # Of equals the one that makes more cells: a comma within cells makes fewer than what parts them.
        if score > best_score + 0.1 or (score >= best_score - 0.1 and score and width > _width(sample, best)):
            best, best_score = delimiter, score
    return best


def _width(sample: list[str], delimiter: str) -> int:
    counts = Counter(len(row) for row in csv.reader(sample, delimiter=delimiter) if row)
    return counts.most_common(1)[0][0] if counts else 0


def _write(draft: Draft, rows: list[list[str]]) -> tuple[str, ...]:
    first = 0
    while first < len(rows) - 1 and len(dict(_cells(rows[first]))) == 1 and max(map(len, rows[first:])) > 1:
        # A lone cell above the others says what the table is.
        draft.add(BlockKind.PARAGRAPH, "".join(rows[first]), origin=Origin(place=f"row {first + 1}"))
        first += 1
    table = rows[first:]
    width = max(map(len, table))
    head = {at: dict(_cells(row)) for at, row in enumerate(table[:_HEAD])}
    headers = header_rows(head, Region(0, 0, len(head) - 1, width - 1), ()) if len(table) > 1 else 0
    made = draw(_placed(table, headers))
    if made is None:
        return ()
    many = len(made.table.cells) > _MOST_CELLS
    origin = Origin(place=f"rows {first + 1}-{len(rows)}")
    draft.add(BlockKind.TABLE, made.text, table=None if many else made.table, origin=origin)
    return (f"The table has more than {_MOST_CELLS:,} cells and is kept as text only.",) if many else ()


def _cells(row: list[str]) -> Iterator[tuple[int, SheetCell]]:
    for column, text in enumerate(row):
        if text.strip():
            yield column, SheetCell(text.strip(), number=bool(_NUMBER.fullmatch(text.strip())))


def _placed(rows: list[list[str]], headers: int) -> Iterator[Placed]:
    for at, row in enumerate(rows):
        for column, text in enumerate(row):
            yield Placed(at, column, Cell(text, header=at < headers))
