"""The page that `parse --preview` writes: what was read, numbered, beside the pages it was read from.

Everything from the document is escaped, and the page may load nothing and run nothing: documents are untrusted.
"""

from __future__ import annotations

import base64
import html
from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path
from typing import Any

from kaijuan.core.documents import BlockKind, PageBox, ParsedBlock, ParsedDocument, Table, TableCell
from kaijuan.errors import DocumentError, UsageError
from kaijuan.ingest.isolate import ParserPool
from kaijuan.ingest.parsers.pipes import words_in
from kaijuan.ingest.reading import Reading
from kaijuan.ingest.settings import IngestSettings

_SCALE = 1.5
"""Dots a point of the pages' pictures."""
_PAGES_AT_ONCE = 8
_MOST_PAGES = 300
_MOST_CELLS = 20_000
_IMAGES = {
    "pdf": "kaijuan.ingest.parsers.pdf_images:page_images",
    "image": "kaijuan.ingest.parsers.picture_images:page_images",
}
"""What draws the pages of a kind."""
_HEAD = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<meta name="viewport" content="width=device-width"><title>{title}</title><style>
body {{ font: 15px/1.5 system-ui, "Noto Sans CJK SC", sans-serif; margin: 1rem; color: #222; background: #fafafa }}
section {{ background: #fff; border: 1px solid #ddd; padding: 1rem; margin: 0 0 1rem }}
.page {{ display: flex; gap: 1rem; align-items: flex-start }} .page > * {{ flex: 1 1 0; min-width: 0 }}
.sheet {{ position: relative }} .sheet img {{ width: 100%; display: block; border: 1px solid #ccc }}
.box {{ position: absolute; outline: 1px solid #c40; background: rgba(255, 120, 0, .08) }}
.box a {{ position: absolute; left: -1.6em; top: 0; font-size: 11px; color: #c40; text-decoration: none }}
.block {{ border-left: 3px solid #ccc; padding: 0 0 0 .6rem; margin: 0 0 .8rem; overflow-x: auto }}
.block:target {{ border-color: #c40; background: #fff6ee }}
.note {{ color: #777; font-size: 12px }} .words {{ white-space: pre-wrap; overflow-wrap: anywhere }}
.heading .words {{ font-weight: bold }} .failed {{ color: #b00 }} .warning {{ color: #850 }}
pre {{ background: #f4f4f4; padding: .5rem; overflow-x: auto }} dt {{ color: #777 }}
table {{ border-collapse: collapse }} td, th {{ border: 1px solid #bbb; padding: .15rem .4rem; vertical-align: top }}
th {{ background: #f0f0f0 }} .hidden {{ opacity: .5; background: #eee }}
</style></head><body>
"""


async def write_preview(target: Path, found: Sequence[Reading], settings: IngestSettings) -> None:
    """Write the page; UsageError when that cannot be done."""
    try:
        with target.open("w", encoding="utf-8", errors="replace") as out:
            out.write(_HEAD.format(title=_safe(found[0].source if found else "")))
            for number, reading in enumerate(found):
                async for part in _reading(reading, f"d{number}", settings):
                    out.write(part)
            out.write("</body></html>\n")
    except OSError as error:
        reason = error.strerror or str(error)
        raise UsageError(f"{target} cannot be written: {reason}.", hint="Choose another file.") from error


async def _reading(reading: Reading, id: str, settings: IngestSettings) -> AsyncIterator[str]:
    yield f"<h1>{_safe(reading.source)}</h1>\n"
    document = reading.document
    if document is None:
        yield f'<p class="failed">{_safe(f"{reading.code}: {reading.message} {reading.hint}")}</p>\n'
        return
    yield "".join(_facts(reading, document))
    if document.page_sizes and reading.kind in _IMAGES:
        async for part in _pages(reading, document, id, settings):
            yield part
        return
    yield "<section>\n"
    for number, block in enumerate(document.blocks, 1):
        yield _block(document, block, number, id)
    yield "</section>\n"


def _facts(reading: Reading, document: ParsedDocument) -> Iterator[str]:
    facts = {"title": document.title, "kind": document.kind, "pages": document.pages or "", **document.metadata}
    yield "<section><dl>"
    for key, value in facts.items():
        words = ", ".join(value) if isinstance(value, tuple) else str(value)
        yield f"<dt>{_safe(key)}</dt><dd>{_safe(words)}</dd>" if words else ""
    yield f"</dl><p>{_safe(reading.outcome.value)}, {len(document.blocks)} blocks, {reading.seconds:.2f} s</p>"
    for warning in document.warnings:
        yield f'<p class="warning">{_safe(warning)}</p>'
    yield "</section>\n"


async def _pages(reading: Reading, document: ParsedDocument, id: str, settings: IngestSettings) -> AsyncIterator[str]:
    blocks = _by_page(document)
    pool = ParserPool({}, seconds=settings.parse_seconds, memory_mb=settings.parse_memory_mb)
    last = min(document.pages, _MOST_PAGES)
    try:
        for first in range(1, last + 1, _PAGES_AT_ONCE):
            for image in await _images(pool, reading, first, min(_PAGES_AT_ONCE, last + 1 - first)):
                yield _page(document, image, blocks.get(int(image["page"]), []), id)
    finally:
        await pool.close()
    if last < document.pages:
        yield f"<p>The {document.pages - last} pages after page {last} are not shown.</p>\n"


async def _images(pool: ParserPool, reading: Reading, first: int, count: int) -> list[dict[str, Any]]:
    try:
        drawn = await pool.run(
            _IMAGES[reading.kind], reading.data, reading.source, first=first, count=count, scale=_SCALE
        )
    except DocumentError:
        drawn = []  # pages that cannot be drawn are shown by their text alone
    if isinstance(drawn, list) and len(drawn) == count:
        return drawn
    return [{"page": page, "width": 0.0, "height": 0.0, "png": b""} for page in range(first, first + count)]


def _by_page(document: ParsedDocument) -> dict[int, list[tuple[int, ParsedBlock]]]:
    pages: dict[int, list[tuple[int, ParsedBlock]]] = {}
    for number, block in enumerate(document.blocks, 1):
        for page in sorted({line.box.page for line in block.lines} or set(block.pages)):
            pages.setdefault(page, []).append((number, block))
    return pages


def _page(document: ParsedDocument, image: dict[str, Any], blocks: list[tuple[int, ParsedBlock]], id: str) -> str:
    number = int(image["page"])
    parts = [f'<section class="page"><div class="sheet"><p class="note">page {number}</p>']
    if image["png"]:
        data = base64.b64encode(image["png"]).decode("ascii")
        parts.append(f'<div class="sheet"><img alt="page {number}" src="data:image/png;base64,{data}">')
        for at, block in blocks:
            parts.append(_outline(block, at, number, document.page_sizes[number - 1], id))
        parts.append("</div>")
    parts.append("</div><div>")
    parts.extend(_block(document, block, at, id, page=number) for at, block in blocks)
    parts.append("</div></section>\n")
    return "".join(parts)


def _outline(block: ParsedBlock, number: int, page: int, size: tuple[float, float], id: str) -> str:
    boxes = [line.box for line in block.lines if line.box.page == page]
    if not boxes or not size[0] or not size[1]:
        return ""
    whole = PageBox(
        page=page,
        x0=min(box.x0 for box in boxes),
        y0=min(box.y0 for box in boxes),
        x1=max(box.x1 for box in boxes),
        y1=max(box.y1 for box in boxes),
    )
    left, top = 100 * whole.x0 / size[0], 100 * whole.y0 / size[1]
    width, height = 100 * (whole.x1 - whole.x0) / size[0], 100 * (whole.y1 - whole.y0) / size[1]
    place = f"left:{left:.2f}%;top:{top:.2f}%;width:{width:.2f}%;height:{height:.2f}%"
    return f'<div class="box" style="{place}"><a href="#{id}b{number}">{number}</a></div>'


def _block(document: ParsedDocument, block: ParsedBlock, number: int, id: str, *, page: int = 0) -> str:
    note = " · ".join(filter(None, (f"{number}. {block.kind.value}", block.syntax, block.place)))
    # A block on two pages is shown beside both; only the first place is what numbers point to.
    first = min((line.box.page for line in block.lines), default=page) == page
    anchor = f' id="{id}b{number}"' if first else ""
    body = _table(document, block.table) if block.table else _words(block, block.span.of(document.text))
    path = " › ".join(block.title_path)
    title = f' title="{_safe(path)}"' if path else ""
    head = f'<div class="block {block.kind.value}"{anchor}{title}><div class="note">{_safe(note)}</div>'
    return f"{head}{body}</div>\n"


def _words(block: ParsedBlock, text: str) -> str:
    if block.kind in {BlockKind.CODE, BlockKind.TABLE, BlockKind.FORMULA}:
        return f"<pre>{_safe(text)}</pre>"
    return f'<div class="words">{_safe(text)}</div>'


def _table(document: ParsedDocument, table: Table) -> str:
    if table.rows * table.columns > _MOST_CELLS:
        cells = "".join(f"<li>{_safe(words_in(document.text, cell))}</li>" for cell in table.cells[:_MOST_CELLS])
        return f"<p>{table.rows} × {table.columns} cells; those with words:</p><ol>{cells}</ol>"
    at = {(cell.row, cell.column): cell for cell in table.cells}
    covered = {place for cell in table.cells for place in _covered(cell)}
    rows = []
    for row in range(table.rows):
        cells = "".join(
            _cell(document, at.get((row, column)), column in table.hidden_columns)
            for column in range(table.columns)
            if (row, column) not in covered
        )
        rows.append(f"<tr{' class=hidden' if row in table.hidden_rows else ''}>{cells}</tr>")
    return f"<table>{''.join(rows)}</table>"


def _covered(cell: TableCell) -> Iterator[tuple[int, int]]:
    for row in range(cell.row, cell.row + min(cell.rows, _MOST_CELLS)):
        for column in range(cell.column, cell.column + min(cell.columns, _MOST_CELLS)):
            if (row, column) != (cell.row, cell.column):
                yield row, column


def _cell(document: ParsedDocument, cell: TableCell | None, hidden: bool) -> str:
    mark = ' class="hidden"' if hidden else ""
    if cell is None:
        return f"<td{mark}></td>"
    tag = "th" if cell.header else "td"
    spans = (f' rowspan="{cell.rows}"' if cell.rows > 1 else "") + (
        f' colspan="{cell.columns}"' if cell.columns > 1 else ""
    )
    return f"<{tag}{mark}{spans}>{_safe(words_in(document.text, cell))}</{tag}>"


def _safe(text: str) -> str:
    """Return text that can stand anywhere in the page: no tag, no end of an attribute, no control character."""
    shown = "".join(char if char in "\n\t" or char >= " " else "\ufffd" for char in text)
    return html.escape(shown.encode("utf-8", "replace").decode(), quote=True)
