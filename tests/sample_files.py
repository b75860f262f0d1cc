"""Small sound files of the formats, each holding the word `needle`, made without any file of this repository."""

from __future__ import annotations

import io
import zipfile
from datetime import date

import openpyxl
import xlwt
from openpyxl.chart import BarChart, Reference
from openpyxl.comments import Comment

CODE = b"import os\n\n\ndef needle(x):\n    return x\n\n\nclass A:\n\n    def b(self):\n        pass\n"


def xlsx() -> bytes:
    """A workbook with numbers as shown, merged, hidden and commented cells, two tables and a chart."""
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "销售"
    sheet["A1"] = "2024 年销售表"
    sheet.merge_cells("A1:D1")
    rows = [("地区", "产品", "金额", "占比"), ("华东", "needle", 1234567.5, 0.125), (None, "乙", -20, 0.5)]
    for at, row in enumerate(rows, 2):
        for column, value in enumerate(row, 1):
            sheet.cell(at, column, value)
    sheet.merge_cells("A3:A4")
    for at in (3, 4):
        sheet.cell(at, 3).number_format = "¥#,##0.00"
        sheet.cell(at, 4).number_format = "0.0%"
    sheet.row_dimensions[4].hidden = True
    sheet["B3"].comment = Comment("要核对", "李雷")
    sheet["F8"], sheet["G8"], sheet["F9"], sheet["G9"] = "日期", "次数", date(2024, 1, 31), 3
    sheet["F9"].number_format = 'yyyy"年"m"月"d"日"'
    chart = BarChart()
    chart.title = "次数图"
    chart.add_data(Reference(sheet, min_col=7, min_row=8, max_row=9), titles_from_data=True)
    sheet.add_chart(chart, "A12")
    hidden = book.create_sheet("旧表")
    hidden["A1"] = "机密"
    hidden.sheet_state = "hidden"
    book.properties.title = "报表"
    book.properties.creator = "韩梅梅"
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def xls() -> bytes:
    """The same in the old format, without what its writer cannot do."""
    book = xlwt.Workbook(encoding="utf-8")
    sheet = book.add_sheet("销售")
    money = xlwt.easyxf(num_format_str="¥#,##0.00")
    for column, value in enumerate(("地区", "产品", "金额")):
        sheet.write(0, column, value, xlwt.easyxf("font: bold on"))
    sheet.write_merge(1, 2, 0, 0, "华东")
    sheet.write(1, 1, "needle")
    sheet.write(1, 2, 1234567.5, money)
    sheet.write(2, 1, "乙")
    sheet.write(2, 2, date(2024, 1, 31), xlwt.easyxf(num_format_str='yyyy"年"m"月"d"日"'))
    sheet.row(2).hidden = True
    book.add_sheet("旧表").write(0, 0, True)
    book.get_sheet(1).visibility = 1
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def zipped(members: dict[str, bytes], *, locked: bool = False) -> bytes:
    """Return a zip archive; `locked` sets the mark of encryption on every member."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    if not locked:
        return out.getvalue()
    data = bytearray(out.getvalue())
    for start, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = data.find(start)
        while at >= 0:
            data[at + flags] |= 1
            at = data.find(start, at + 4)
    return bytes(data)
