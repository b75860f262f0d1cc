"""Printed lines, or table cells, of a block as one small byte string. Places are kept to 0.01 point (0.0035 mm).

Layout of lines, zlib-compressed, little-endian 32-bit integers: the number of lines, eight numbers a line (start, end,
page, x0, y0, x1, y1, number of edges), then the differences between all consecutive edges. Of a table:
`Table.numbers`, compressed likewise.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable

import numpy as np

from kaijuan.core.documents import PageBox, Table, TextLine, table_from
from kaijuan.core.spans import Span

_PLACES = 2
_SCALE = 10**_PLACES
_FIELDS = 8
_INTEGER = np.dtype("<i4")


def pack_lines(lines: Iterable[TextLine]) -> bytes | None:
    """Return the lines as bytes, or None when there are none."""
    heads: list[tuple[float, ...]] = []
    edges: list[float] = []
    for line in lines:
        box = (line.box.x0, line.box.y0, line.box.x1, line.box.y1)
        scaled = tuple(round(value * _SCALE) for value in box)
        heads.append((line.span.start, line.span.end, line.box.page, *scaled, len(line.edges)))
        edges.extend(line.edges)
    if not heads:
        return None
    steps = np.diff(np.rint(np.asarray(edges, dtype=np.float64) * _SCALE), prepend=0.0)
    parts = (np.asarray([len(heads)]), np.asarray(heads).ravel(), steps)
    return zlib.compress(b"".join(part.astype(_INTEGER).tobytes() for part in parts))


def unpack_lines(packed: bytes | None) -> tuple[TextLine, ...]:
    """Return the lines that `pack_lines` was given, rounded to 0.01 point."""
    if packed is None:
        return ()
    numbers = np.frombuffer(zlib.decompress(packed), dtype=_INTEGER)
    count = int(numbers[0])
    heads = numbers[1 : 1 + count * _FIELDS].reshape(count, _FIELDS).tolist()
    edges = np.round(np.cumsum(numbers[1 + count * _FIELDS :], dtype=np.int64) / _SCALE, _PLACES).tolist()
    lines, at = [], 0
    for start, end, page, x0, y0, x1, y1, length in heads:
        box = PageBox(page=page, x0=x0 / _SCALE, y0=y0 / _SCALE, x1=x1 / _SCALE, y1=y1 / _SCALE)
        lines.append(TextLine(span=Span(start, end), box=box, edges=tuple(edges[at : at + length])))
        at += length
    return tuple(lines)


def pack_table(table: Table | None) -> bytes | None:
    """Return the cells of a table as bytes, or None when there is none."""
    return None if table is None else zlib.compress(np.asarray(table.numbers(), dtype=_INTEGER).tobytes())


def unpack_table(packed: bytes | None) -> Table | None:
    """Return the table that `pack_table` was given."""
    return None if packed is None else table_from(np.frombuffer(zlib.decompress(packed), dtype=_INTEGER).tolist())
