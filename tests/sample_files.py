"""Small sound files of the formats, each holding the word `needle`, made without any file of this repository."""

from __future__ import annotations

import io
import json
import zipfile
from datetime import date
from functools import cache

import openpyxl
import pptx
import xlwt
from openpyxl.chart import BarChart, Reference
from openpyxl.comments import Comment
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches


def zipped(members: dict[str, bytes], *, locked: bool = False) -> bytes:
    """Return a zip archive; `locked` sets the mark of encryption on every member."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    if not locked:
        return out.getvalue()
    raw = bytearray(out.getvalue())
    for start, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = raw.find(start)
        while at >= 0:
            raw[at + flags] |= 1
            at = raw.find(start, at + 4)
    return bytes(raw)


CODE = b"import os\n\n\ndef needle(x):\n    return x\n\n\nclass A:\n\n    def b(self):\n        pass\n"

RST = """
制度
====

:Author: 李雷
:Version: 2.1

.. include:: /etc/passwd
.. raw:: html

   <b>不要</b>

第一节
------

一段 **needle** 文字，见 `网址 <https://example.org>`_。

* 甲
* 乙

  1. 丙

.. code-block:: python

   x = 1

.. table:: 表一

   ====  ====
   名称  数量
   ====  ====
   甲    1
   ====  ====

.. image:: a.png
   :alt: 两只鸭子

.. math:: a^2
""".encode()

ASCIIDOC = """= 制度
李雷 <a@b.c>
:revdate: 2024-01-31
:app: 系统

include::other.adoc[]
== 第一节

一段 *needle* 文字，用 {app}，见 https://example.org[网址]。

* 甲
** 乙
. 一
. 二

[source,python]
----
x = 1
----

.表一
[options="header"]
|===
|名称 |数量
.2+|甲 |1
|2
|===

NOTE: 注意。

____
引文
____

image::a.png[两只鸭子]
""".encode()

JSON = """{"title": "配置", "server": {"host": "needle", "ports": [80, 443], "log": {"level": "info"}},
"users": [{"name": "张三", "age": 20}, {"name": "李四", "age": 30}], "text": "%s"}""".replace(
    "%s", "长文。" * 150
).encode()

XML = """<?xml version="1.0" encoding="gb18030"?>
<manual><title>手册</title><note lang="zh">说明 <b>needle</b> 文字</note>
<items><item><name>甲</name><price>1</price></item><item><name>乙</name><price>2</price></item></items>
<setting>开</setting></manual>""".encode("gb18030")

RTF = (
    rb"{\rtf1\ansi\ansicpg936\deff0{\fonttbl{\f0\fnil\fcharset134 SimSun;}{\f1\fcharset0 Arial;}{\f2\fcharset128 MS;}}"
    rb"{\stylesheet{\s1\outlinelevel0 heading 1;}{\s7 \'b1\'ea\'cc\'e2 2;}}"
    rb"{\info{\title \'d6\'c6\'b6\'c8}{\author Li Lei}{\creatim\yr2024\mo1\dy31}}"
    rb"{\header page header}\pard\s1 \'b5\'da\'d2\'bb\'d5\'c2\par"
    rb"\pard\s7 second\par\pard \'d2\'bb\'b6\'ce {\b needle} \u25991?\u23383?{\f2 \'93\'fa\'96\'7b}"
    rb"{\footnote\chftn  \'d7\'a2}\par"
    rb"{\listtext\'b7\tab}\ilvl0 A\par{\listtext 2.\tab}\ilvl1 B\par{\v hidden\par}"
    rb"\trowd\trhdr\cellx1000\cellx2000\intbl name\cell number\cell\row"
    rb"\trowd\clvmgf\cellx1000\cellx2000\intbl a\cell 1\cell\row"
    rb"\trowd\clvmrg\cellx1000\cellx2000\intbl\cell 2\cell\row"
    rb"\trowd\cellx2000\intbl wide\cell\row\pard after\par}"
)

EML = (
    'From: =?gb2312?B?wO7A1w==?= <li@example.org>\r\nTo: han@example.org, "Wang, Wu" <wu@example.org>\r\n'
    "Subject: =?utf-8?B?5Lya6K6u?=\r\nDate: Wed, 31 Jan 2024 10:00:00 +0800\r\nMessage-ID: <m1@example.org>\r\n"
    "MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n"
    "Content-Type: multipart/alternative; boundary=c\r\n\r\n--c\r\nContent-Type: text/plain; charset=gb2312\r\n"
    "Content-Transfer-Encoding: 8bit\r\n\r\n会议在周一，needle。\r\n\r\n> 旧话\r\n> 再一句\r\n--c\r\n"
    "Content-Type: text/html; charset=gb2312\r\n\r\n<p>会议在周一</p>\r\n--c--\r\n--b\r\n"
    'Content-Type: text/plain; name="note.txt"\r\nContent-Disposition: attachment; filename="note.txt"\r\n\r\n'
    "attached words\r\n--b\r\nContent-Type: image/png\r\nContent-ID: <x>\r\nContent-Disposition: inline\r\n\r\nPNG\r\n"
    "--b--\r\n"
).encode("gb18030")

VTT = """WEBVTT

NOTE 不是字幕

1
00:01.000 --> 00:02.000 align:start
<v 张三>这是第一句，

00:02.000 --> 00:03.500
<v 张三>还没有说完。

00:04.000 --> 00:05.000
<v 李四>needle &amp; 好。
""".encode()

NOTEBOOK = json.dumps(
    {
        "nbformat": 4,
        "metadata": {"language_info": {"name": "python"}},
        "cells": [
            {"cell_type": "markdown", "source": ["# 题\n", "\n", "needle"]},
            {
                "cell_type": "code",
                "source": "x = 1",
                "outputs": [
                    {"output_type": "stream", "text": ["一\n"]},
                    {"output_type": "display_data", "data": {"image/png": "aaaa"}},
                    {
                        "output_type": "execute_result",
                        "data": {"text/html": ["<table><tr><th>a<th>b<tr><td>1<td>2</table>"]},
                    },
                ],
            },
        ],
    }
).encode()


@cache
def epub() -> bytes:
    """A book of two chapters, one of them named by the table of contents only."""
    page = "<html xmlns='http://www.w3.org/1999/xhtml'><body>{}</body></html>"
    return zipped(
        {
            "mimetype": b"application/epub+zip",
            "META-INF/container.xml": b"<x><rootfiles><rootfile full-path='OPS/book.opf'/></rootfiles></x>",
            "OPS/book.opf": (
                "<package xmlns:dc='http://purl.org/dc/elements/1.1/'><metadata><dc:title>书名</dc:title>"
                "<dc:creator>作者甲</dc:creator><dc:identifier>urn:isbn:978-7-302-51237-1</dc:identifier></metadata><manifest>"
                "<item id='n' href='nav.xhtml' properties='nav' media-type='application/xhtml+xml'/>"
                "<item id='a' href='text/%E4%B8%80.xhtml' media-type='application/xhtml+xml'/>"
                "<item id='b' href='text/b.xhtml' media-type='application/xhtml+xml'/></manifest>"
                "<spine><itemref idref='n'/><itemref idref='b'/><itemref idref='a'/></spine></package>"
            ).encode(),
            "OPS/nav.xhtml": page.format("<nav><a href='text/%E4%B8%80.xhtml#x'>第二章</a></nav>").encode(),
            "OPS/text/b.xhtml": page.format("<h1>第一章</h1><p>needle</p>").encode(),
            "OPS/text/一.xhtml": page.format("<p>后面一章</p>").encode(),
        }
    )


@cache
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


@cache
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


@cache
def pptx_file() -> bytes:
    """Slides with a title, a list, a table with merged cells, two columns of boxes, a chart and notes."""
    deck = pptx.Presentation()
    first = deck.slides.add_slide(deck.slide_layouts[1])
    first.shapes.title.text = "年度报告"
    frame = first.placeholders[1].text_frame
    frame.text = "收入 needle"
    below = frame.add_paragraph()
    below.text, below.level = "国内", 1
    first.notes_slide.notes_text_frame.text = "讲慢一些"
    second = deck.slides.add_slide(deck.slide_layouts[6])
    for words, left, top in (("右下", 5, 3), ("左上", 0.5, 1), ("右上", 5, 1), ("左下", 0.5, 3)):
        box = second.shapes.add_textbox(Inches(left), Inches(top), Inches(4), Inches(1.5))
        box.text_frame.text = words
    third = deck.slides.add_slide(deck.slide_layouts[5])
    third.shapes.title.text = "表和图"
    table = third.shapes.add_table(3, 2, Inches(0.5), Inches(2), Inches(4), Inches(1)).table
    for at, words in enumerate(("名称", "数量", "甲", "1", "", "2")):
        table.cell(at // 2, at % 2).text = words
    table.cell(1, 0).merge(table.cell(2, 0))
    data = CategoryChartData(number_format="0%")  # type: ignore[no-untyped-call]  # the library has few types
    data.categories = ["一月", "二月"]
    data.add_series("占比", (0.25, 0.5))  # type: ignore[no-untyped-call]
    third.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, Inches(5), Inches(2), Inches(4), Inches(3), data)
    third._element.set("show", "0")
    out = io.BytesIO()
    deck.save(out)
    return out.getvalue()


def open_document(kind: str, body: str, *, styles: str = "") -> bytes:
    """Return an OpenDocument file of a kind ("text", ...) with this body; names need no declarations of their own."""
    spaces = " ".join(
        f"xmlns:{name}='urn:oasis:names:tc:opendocument:xmlns:{name}:1.0'"
        for name in ("office", "text", "table", "style", "presentation", "meta", "drawing")
    ).replace("xmlns:drawing=", "xmlns:draw=")
    others = " xmlns:svg='urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0' xmlns:dc='http://purl.org/dc/elements/1.1/'"
    content = (
        f"<office:document-content {spaces}{others}><office:automatic-styles>{styles}</office:automatic-styles>"
        f"<office:body><office:{kind}>{body}</office:{kind}></office:body></office:document-content>"
    )
    meta = (
        f"<office:document-meta {spaces}{others}><office:meta><dc:title>标题</dc:title><meta:initial-creator>李雷"
        "</meta:initial-creator><meta:keyword>甲</meta:keyword></office:meta></office:document-meta>"
    )
    return zipped(
        {
            "mimetype": f"application/vnd.oasis.opendocument.{kind}".encode(),
            "content.xml": content.encode(),
            "meta.xml": meta.encode(),
        }
    )


ODT = open_document(
    "text",
    "<text:tracked-changes><text:p>gone</text:p></text:tracked-changes><text:h text:outline-level='1'>第一章</text:h>"
    "<text:p>一段<text:s/>needle<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>注"
    "</text:p></text:note-body></text:note></text:p><text:list text:style-name='N'><text:list-item><text:p>甲</text:p>"
    "<text:list><text:list-item><text:p>乙</text:p></text:list-item></text:list></text:list-item><text:list-item>"
    "<text:p>丙</text:p></text:list-item></text:list><table:table><table:table-header-rows><table:table-row>"
    "<table:table-cell><text:p>名称</text:p></table:table-cell><table:table-cell><text:p>数量</text:p></table:table-cell>"
    "</table:table-row></table:table-header-rows><table:table-row><table:table-cell table:number-rows-spanned='2'>"
    "<text:p>丁</text:p></table:table-cell><table:table-cell><text:p>1</text:p></table:table-cell></table:table-row>"
    "<table:table-row><table:covered-table-cell/><table:table-cell><text:p>2</text:p></table:table-cell>"
    "</table:table-row></table:table><text:p><draw:frame><draw:image/><svg:desc>两只鸭子</svg:desc></draw:frame></text:p>"
    "<text:p text:style-name='Preformatted_20_Text'>x = 1</text:p>"
    "<text:p text:style-name='Preformatted_20_Text'>y</text:p>",
    styles="<text:list-style style:name='N'><text:list-level-style-number text:level='1' style:num-format='1' "
    "style:num-suffix='.'/><text:list-level-style-bullet text:level='2'/></text:list-style>",
)
ODS = open_document(
    "spreadsheet",
    "<table:table table:name='销售'><table:table-column/><table:table-column table:visibility='collapse'/>"
    "<table:table-row><table:table-cell><text:p>名称</text:p></table:table-cell><table:table-cell><text:p>数量</text:p>"
    "</table:table-cell><table:table-cell table:number-columns-repeated='16382'/></table:table-row><table:table-row>"
    "<table:table-cell office:value-type='string'><text:p>needle</text:p><office:annotation>"
    "<dc:creator>李雷</dc:creator>"
    "<text:p>核对</text:p></office:annotation></table:table-cell><table:table-cell office:value-type='currency'>"
    "<text:p>¥1.50</text:p></table:table-cell></table:table-row>"
    "<table:table-row table:number-rows-repeated='1048574'><table:table-cell table:number-columns-repeated='16384'/>"
    "</table:table-row></table:table>",
)
ODP = open_document(
    "presentation",
    "<draw:page><draw:frame svg:x='1cm' svg:y='5cm' svg:width='9cm' svg:height='2cm'><draw:text-box><text:p>下 needle"
    "</text:p></draw:text-box></draw:frame><draw:frame svg:x='1cm' svg:y='2cm' svg:width='9cm' svg:height='2cm'>"
    "<draw:text-box><text:p>上</text:p></draw:text-box></draw:frame><draw:frame presentation:class='title'>"
    "<draw:text-box><text:p>年度</text:p></draw:text-box></draw:frame><presentation:notes><draw:frame "
    "presentation:class='notes'><draw:text-box><text:p>讲慢</text:p></draw:text-box></draw:frame></presentation:notes>"
    "</draw:page>",
)
