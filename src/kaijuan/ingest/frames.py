"""The language spoken between the engine and its parser processes: length-prefixed msgpack over pipes.

Plain data only. The child has read untrusted bytes, so nothing it sends is ever executed (no pickle).
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, BinaryIO

import msgpack

from kaijuan.core.documents import BlockKind, ParsedBlock, ParsedDocument, TextLine, table_from
from kaijuan.core.packed_lines import PackedLines, packed
from kaijuan.core.spans import Span

_LENGTH = struct.Struct(">Q")
_LIMIT = 4 * 1024**3
"""A longer frame is not a frame: the process at the other end has gone astray."""
_DEPTH = 3
"""Blocks stand in a list of the document, which stands in the message."""


class BadFrameError(Exception):
    """What arrived is not a frame of ours."""


def write_frame(pipe: BinaryIO, message: Mapping[str, Any]) -> None:
    """Send one message."""
    pieces = list(_packed(message, msgpack.Packer(use_bin_type=True, unicode_errors="surrogatepass"), _DEPTH))
    pipe.write(_LENGTH.pack(sum(map(len, pieces))))
    for piece in pieces:
        pipe.write(piece)
    pipe.flush()


def _packed(message: Any, packer: msgpack.Packer, depth: int) -> Iterator[bytes]:
    """Yield a message in pieces: as one, a long document would be held twice more while it grows."""
    if depth and isinstance(message, Mapping):
        yield packer.pack_map_header(len(message))
        for key, value in message.items():
            yield packer.pack(key)
            yield from _packed(value, packer, depth - 1)
    elif depth and isinstance(message, list):
        yield packer.pack_array_header(len(message))
        for value in message:
            yield from _packed(value, packer, depth - 1)
    else:
        yield packer.pack(message)


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
    try:
        return ParsedDocument(
            text=_text(plain["text"]),
            blocks=tuple(_block_from_plain(block) for block in plain["blocks"]),
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
    return [
        str(block.kind),
        block.span.start,
        block.span.end,
        block.level,
        block.title_path,
        _lines_to_plain(block.lines),
        block.confidence,
        block.pages,
        block.place,
        block.syntax,
        array("q", block.table.numbers()).tobytes() if block.table is not None else b"",
    ]


def _block_from_plain(plain: list[Any]) -> ParsedBlock:
    kind, start, end, level, path, lines, confidence, pages, place, syntax, table = plain
    return ParsedBlock(
        kind=BlockKind(kind),
        span=Span(int(start), int(end)),
        level=int(level),
        title_path=tuple(_text(title) for title in path),
        lines=_lines_from_plain(lines),
        confidence=float(confidence),
        pages=tuple(int(page) for page in pages),
        place=_text(place),
        syntax=_text(syntax),
        table=table_from(array("q", table)) if table else None,
    )


def _lines_to_plain(lines: Sequence[TextLine]) -> list[Any]:
    small = lines if isinstance(lines, PackedLines) else packed(lines)
    return [small.packed, small.number, small.shift] if isinstance(small, PackedLines) else []


def _lines_from_plain(plain: list[Any]) -> Sequence[TextLine]:
    if not plain:
        return ()
    data, count, shift = plain
    lines = PackedLines(bytes(data), int(count), int(shift))
    lines.check()
    return lines


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
