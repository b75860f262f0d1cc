"""Workbooks as one XML text (SpreadsheetML 2003), which many systems export under the name of an Excel file."""

from __future__ import annotations

from kaijuan.ingest.parsers.described import Described, filled
from kaijuan.ingest.parsers.draft import Draft
from kaijuan.ingest.parsers.opc import Element, child, children, descendants, number_of, value_of
from kaijuan.ingest.parsers.sheets import Sheet, SheetCell, write_sheets

_LAST = 1_048_576


def write_workbook(draft: Draft, root: Element) -> Described | None:
    """Append the sheets of a workbook to a draft; None when the root is none."""
    sheets = [_sheet(node) for node in children(root, "Worksheet")]
    if not sheets:
        return None
    write_sheets(draft, sheets)
    properties = child(root, "DocumentProperties")
    said = {name: "".join(node.itertext()) for name in ("Title", "Author") for node in children(properties, name)}
    return Described(said.get("Title", ""), filled(author=said.get("Author")))


def _sheet(node: Element) -> Sheet:
    sheet = Sheet(name=value_of(node, "Name"))
    row = -1
    for line in children(child(node, "Table"), "Row"):
        row = min(number_of(value_of(line, "Index"), row + 2) - 1, _LAST)
        column = -1
        for cell in children(line, "Cell"):
            column = min(number_of(value_of(cell, "Index"), column + 2) - 1, _LAST)
            data = child(cell, "Data")
            text = "".join(data.itertext()).strip() if data is not None else ""
            across, down = number_of(value_of(cell, "MergeAcross")), number_of(value_of(cell, "MergeDown"))
            if text:
                number = value_of(data, "Type") in {"Number", "DateTime", "Boolean"}
                sheet.rows.setdefault(row, {})[column] = SheetCell(_shown(text, value_of(data, "Type")), number)
            if across or down:
                sheet.merges.append((row, column, row + max(down, 0), column + max(across, 0)))
            column += max(across, 0)
        if value_of(line, "Hidden") == "1":
            sheet.hidden_rows.add(row)
    sheet.hidden = any("".join(at.itertext()) != "SheetVisible" for at in descendants(node, "Visible"))
    return sheet


def _shown(text: str, kind: str) -> str:
    if kind == "DateTime":
        return text.removesuffix(".000").replace("T00:00:00", "").replace("T", " ")
    return text
