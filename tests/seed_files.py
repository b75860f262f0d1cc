"""Small sound files of every kind by name: what is spoiled by tests/laws and bench.fuzz_parsers."""

from __future__ import annotations

import io

import docx
from reportlab.pdfgen import canvas
from tests import ole_files, picture_files, sample_files

MARKDOWN = """---
title: 制度
---
# 第一章 needle

一段 **文字**，见[网址](https://example.org)。

<table><tr><td rowspan="2">甲</td><td>1</td></tr><tr><td>2</td></tr></table>

| 名称 | 数量 |
| --- | ---: |
| 甲 \\| 乙 | 1 |

- 一
  1. 二

```python
x = 1
```

> 引文 $a^2$ [^1]

[^1]: 注
""".encode()

HTML = (
    "<!doctype html><html lang=zh><head><meta charset=utf-8><title>制度</title></head><body><nav>目录</nav><main>"
    "<h1>第一章</h1><p>一段 <b>needle</b> 文字</p><ul><li>甲<ol><li>乙</ol></ul><table><caption>表</caption><tr><th>a"
    "<th colspan=2>b<tr><td rowspan=2>1<td>2<td><table><tr><td>x</table><tr><td>4<td>5</table><pre>x = 1</pre>"
    "<blockquote>引文</blockquote><figure><img alt=鸭><figcaption>图</figcaption></figure></main></body></html>"
).encode()

TEXT = "第一章 总则\n\n第一条 为了 needle，制定本法。\n\n1. one\n2. two\n\n  a\tb\n  c\td\n".encode("gb18030")

RECORDS = (
    '{"_id": "a", "title": "题", "text": "needle 文字", "year": 2024, "tags": ["x"]}\n{"id": 2, "text": "b"}\n'.encode()
)

MBOX = b"From a@example.org Wed Jan 31 10:00:00 2024\n" + sample_files.EML.replace(b"\r\n", b"\n") + b"\n"


def docx_file() -> bytes:
    """Return a Word file with headings, lists and a table of merged cells."""
    document = docx.Document()
    document.add_heading("第一章", 1)
    document.add_paragraph("一段 needle 文字").add_run("粗").bold = True
    document.add_paragraph("甲", style="List Bullet")
    table = document.add_table(3, 3)
    for number, cell in enumerate(table._cells):
        cell.text = str(number)
    table.cell(0, 0).merge(table.cell(1, 1))
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def pdf() -> bytes:
    """Return a PDF of two pages with a ruled table, its streams not packed, so that spoiling meets what is drawn."""
    out = io.BytesIO()
    paper = canvas.Canvas(out, pagesize=(300, 400), pageCompression=0, invariant=True)
    for page in ("one", "two"):
        paper.setFont("Helvetica-Bold", 16)
        paper.drawString(30, 360, f"1.1 Page {page}")
        paper.setFont("Helvetica", 10)
        for line in range(6):
            paper.drawString(30, 330 - 14 * line, f"Line {line} of the page with a needle in it and more words.")
        paper.grid([30, 110, 190], [150, 170, 190])
        for number in range(4):
            paper.drawString(35 + 80 * (number % 2), 155 + 20 * (number // 2), f"cell {number}")
        paper.showPage()
    paper.save()
    return out.getvalue()


SAMPLES = {
    "a.py": sample_files.CODE,
    "a.csv": b'name,n\nneedle,1\n"a, b\nc",2\n',
    "a.docx": docx_file(),
    "a.faq": "问：needle?\n答：没有。".encode(),
    "a.html": HTML,
    "a.jsonl": RECORDS,
    "a.md": MARKDOWN,
    "a.mbox": MBOX,
    "a.pdf": pdf(),
    "a.rst": sample_files.RST,
    "a.txt": TEXT,
    "a.adoc": sample_files.ASCIIDOC,
    "a.json": sample_files.JSON,
    "a.xml": sample_files.XML,
    "a.rtf": sample_files.RTF,
    "a.vtt": sample_files.VTT,
    "a.ipynb": sample_files.NOTEBOOK,
    "a.epub": sample_files.epub(),
    "a.eml": sample_files.EML,
    "a.xlsx": sample_files.xlsx(),
    "a.xls": sample_files.xls(),
    "a.pptx": sample_files.pptx_file(),
    "a.odt": sample_files.ODT,
    "a.ods": sample_files.ODS,
    "a.odp": sample_files.ODP,
    "a.doc": ole_files.doc([("题", "\r", {"style": 1}), ("needle", "\r", {})]),
    "a.ppt": ole_files.ppt([("题", ["甲"], "needle", "注")]),
    "a.msg": ole_files.msg({0x0037: "题", 0x1000: "needle"}),
    "a.jpg": picture_files.saved(picture_files.page("needle", size=(300, 120), left=40, top=40), "JPEG"),
    "a.zip": sample_files.zipped({"b.eml": sample_files.EML, "c/d.xlsx": sample_files.xlsx()}),
}
