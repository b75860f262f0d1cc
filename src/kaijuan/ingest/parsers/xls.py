"""Old Excel workbooks (BIFF) through xlrd, to the same sheets as new ones."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

from kaijuan.core.documents import ParsedDocument
from kaijuan.errors import BrokenDocumentError, EncryptedDocumentError, OversizeDocumentError
from kaijuan.ingest.parsers.draft import Draft, stem
from kaijuan.ingest.parsers.number_formats import general, shown_number, shown_text
from kaijuan.ingest.parsers.ole_properties import properties_of
from kaijuan.ingest.parsers.sheets import Remark, Sheet, SheetCell, write_sheets

_MOST_CELLS = 2_000_000
_BOLD = 700
_NO_FILL = 0
_NOTHING = frozenset({0, 6})
"""Types of cells that are empty, or only have a look."""


class XlsParser:
    """Parser of kind "xls"."""

    def parse(self, data: bytes, name: str) -> ParsedDocument:
        """Return a heading for each sheet with content, its tables, lone texts and comments."""
        book = _opened(data, name)
        draft = Draft()
        sheets = list(_sheets(book, name))
        warnings = write_sheets(draft, sheets)
        metadata = properties_of(data)
        title = str(metadata.pop("title", "")) or stem(name)
        return draft.finish("xls", name, title=title, metadata=metadata, warnings=warnings, pages=len(sheets))


def _opened(data: bytes, name: str) -> Any:
    import xlrd
    from xlrd.biffh import XLRDError
    from xlrd.compdoc import CompDocError

    try:
        # The library prints what it wonders about. Ragged: one cell in the last corner would else fill 16 million.
        return xlrd.open_workbook(file_contents=data, formatting_info=True, ragged_rows=True, logfile=io.StringIO())
    except XLRDError as error:
        if "encrypted" in str(error).lower():
            raise EncryptedDocumentError(f"{name} is protected with a password.") from error
        raise BrokenDocumentError(f"{name} is not a readable workbook: {error}.") from error
    except (CompDocError, AssertionError, LookupError, ValueError, TypeError, ArithmeticError) as error:
        raise BrokenDocumentError(f"{name} is a damaged workbook: {type(error).__name__}: {error}.") from error
    except Exception as error:
        # struct.error and the library's own errors have no base that could be named above.
        if type(error).__module__.partition(".")[0] in {"struct", "xlrd"}:
            raise BrokenDocumentError(f"{name} is a damaged workbook: {error}.") from error
        raise


def _sheets(book: Any, name: str) -> Iterator[Sheet]:
    cells = 0
    for given in book.sheets():
        sheet = Sheet(name=given.name, hidden=given.visibility != 0)
        for row in range(given.nrows):
            if found := dict(_row(book, given, row)):
                sheet.rows[row] = found
                cells += len(found)
        if cells > _MOST_CELLS:
            raise OversizeDocumentError(f"{name} has more than {_MOST_CELLS:,} filled cells.")
        # Here the far sides lie outside.
        sheet.merges = [(top, left, bottom - 1, right - 1) for top, bottom, left, right in given.merged_cells]
        sheet.hidden_rows = {row for row, info in given.rowinfo_map.items() if info.hidden}
        sheet.hidden_columns = {column for column, info in given.colinfo_map.items() if info.hidden}
        sheet.remarks = [_remark(place, note) for place, note in sorted(given.cell_note_map.items())]
        yield sheet


def _remark(place: tuple[int, int], note: Any) -> Remark:
    author = str(note.author or "").strip()
    text = " ".join(str(note.text).split()).removeprefix(f"{author}:").strip()
    return Remark(*place, f"{author}: {text}" if author else text)


def _row(book: Any, sheet: Any, row: int) -> Iterator[tuple[int, SheetCell]]:
    for column, kind in enumerate(sheet.row_types(row)):
        if kind in _NOTHING:
            continue
        cell = _cell(book, sheet.cell(row, column))
        if cell.text.strip():
            yield column, cell


def _cell(book: Any, cell: Any) -> SheetCell:
    import xlrd

    code, strong = _style(book, cell.xf_index)
    if cell.ctype == xlrd.XL_CELL_TEXT:
        return SheetCell(shown_text(cell.value, code).strip(), strong=strong)
    if cell.ctype in {xlrd.XL_CELL_NUMBER, xlrd.XL_CELL_DATE}:
        shown = shown_number(cell.value, code, since_1904=bool(book.datemode)).strip()
        return SheetCell(shown or general(cell.value), number=True, strong=strong)
    if cell.ctype == xlrd.XL_CELL_BOOLEAN:
        return SheetCell("TRUE" if cell.value else "FALSE", number=True, strong=strong)
    if cell.ctype == xlrd.XL_CELL_ERROR:
        return SheetCell(str(xlrd.error_text_from_code.get(cell.value, "#ERROR")), strong=strong)
    return SheetCell("")


def _style(book: Any, index: int | None) -> tuple[str, bool]:
    if index is None or not 0 <= index < len(book.xf_list):
        return "General", False
    style = book.xf_list[index]
    number_format = book.format_map.get(style.format_key)
    font = book.font_list[style.font_index] if style.font_index < len(book.font_list) else None
    strong = (font is not None and font.weight >= _BOLD) or style.background.fill_pattern != _NO_FILL
    # A spoiled file may name a format and give it no code.
    return (number_format.format_str if number_format else None) or "General", strong
