"""The language spoken between the engine and its parser processes: length-prefixed msgpack over pipes.

Plain data only. The child has read untrusted bytes, so nothing it sends is ever executed (no pickle).
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Mapping
from typing import Any, BinaryIO

import msgpack

from kaijuan.core.documents import BlockKind, PageBox, ParsedBlock, ParsedDocument, TextLine, table_from
from kaijuan.core.spans import Span

_LENGTH = struct.Struct(">Q")
_LIMIT = 4 * 1024**3
"""A longer frame is not a frame: the process at the other end has gone astray."""


class BadFrameError(Exception):
    """What arrived is not a frame of ours."""


def write_frame(pipe: BinaryIO, message: Mapping[str, Any]) -> None:
    """Send one message."""
    body = msgpack.packb(message, use_bin_type=True, unicode_errors="surrogatepass")
    pipe.write(_LENGTH.pack(len(body)))
    pipe.write(body)
    pipe.flush()


def read_frame(pipe: BinaryIO) -> dict[str, Any] | None:
    """Receive one message; None at the end of the stream. Raises BadFrameError for anything else."""
    head = pipe.read(_LENGTH.size)
    if not head:
        return None
    if len(head) < _LENGTH.size or (size := _LENGTH.unpack(head)[0]) > _LIMIT:
        raise BadFrameError("a frame without a sane length")
    body = pipe.read(size)
    if len(body) < size:
        raise BadFrameError("a frame that breaks off")
    try:
        message = msgpack.unpackb(body, raw=False, unicode_errors="surrogatepass", strict_map_key=False)
    except (ValueError, msgpack.UnpackException) as error:
        raise BadFrameError(str(error)) from error
    if not isinstance(message, dict):
        raise BadFrameError("a frame that is not a message")
    return message


def document_to_plain(document: ParsedDocument) -> dict[str, Any]:
    """Return a document as lists, strings and numbers."""
    return {
        "text": document.text,
        "blocks": [_block_to_plain(block) for block in document.blocks],
        "kind": document.kind,
        "title": document.title,
        "pages": document.pages,
        "page_sizes": document.page_sizes,
        "metadata": dict(document.metadata),
        "warnings": document.warnings,
        "unread_pages": document.unread_pages,
        "hidden": document.hidden,
    }


def document_from_plain(plain: Mapping[str, Any]) -> ParsedDocument:
    """Return the document that `document_to_plain` made plain. Raises BadFrameError when it did not."""
    shared: dict[float, float] = {}
    try:
        return ParsedDocument(
            text=_text(plain["text"]),
            blocks=tuple(_block_from_plain(block, shared) for block in plain["blocks"]),
            kind=_text(plain["kind"]),
            title=_text(plain["title"]),
            pages=int(plain["pages"]),
            page_sizes=tuple((float(width), float(height)) for width, height in plain["page_sizes"]),
            metadata={_text(key): _value(value) for key, value in plain["metadata"].items()},
            warnings=tuple(_text(warning) for warning in plain["warnings"]),
            unread_pages=tuple(int(page) for page in plain["unread_pages"]),
            hidden=tuple(_text(hidden) for hidden in plain["hidden"]),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BadFrameError(f"not a document: {error!r}") from error


def _block_to_plain(block: ParsedBlock) -> list[Any]:
    lines = [_line_to_plain(line) for line in block.lines]
    return [
        str(block.kind),
        block.span.start,
        block.span.end,
        block.level,
        block.title_path,
        lines,
        block.confidence,
        block.pages,
        block.place,
        block.syntax,
        array("q", block.table.numbers()).tobytes() if block.table is not None else b"",
    ]


def _block_from_plain(plain: list[Any], shared: dict[float, float]) -> ParsedBlock:
    kind, start, end, level, path, lines, confidence, pages, place, syntax, table = plain
    return ParsedBlock(
        kind=BlockKind(kind),
        span=Span(int(start), int(end)),
        level=int(level),
        title_path=tuple(_text(title) for title in path),
        lines=tuple(_line_from_plain(line, shared) for line in lines),
        confidence=float(confidence),
        pages=tuple(int(page) for page in pages),
        place=_text(place),
        syntax=_text(syntax),
        table=table_from(array("q", table)) if table else None,
    )


def _line_to_plain(line: TextLine) -> list[Any]:
    box = line.box
    # A long document has millions of edges: as one string of bytes they take a tenth of the time and space.
    return [line.span.start, line.span.end, box.page, box.x0, box.y0, box.x1, box.y1, array("d", line.edges).tobytes()]


def _line_from_plain(plain: list[Any], shared: dict[float, float]) -> TextLine:
    start, end, page, x0, y0, x1, y1, packed = plain
    edges = array("d", packed)
    return TextLine(
        span=Span(int(start), int(end)),
        box=PageBox(page=int(page), x0=float(x0), y0=float(y0), x1=float(x1), y1=float(y1)),
        # Equal numbers become one object: edges are rounded, so this saves three quarters of their memory.
        edges=tuple(map(shared.setdefault, edges, edges)),
    )


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"text expected, {type(value).__name__} found")
    return value


def _value(value: Any) -> str | int | float | bool | tuple[str, ...]:
    if isinstance(value, list | tuple):
        return tuple(_text(entry) for entry in value)
    if isinstance(value, str | int | float | bool):
        return value
    raise TypeError(f"a flat value expected, {type(value).__name__} found")
