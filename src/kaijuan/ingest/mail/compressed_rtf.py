"""Bodies that Outlook keeps as compressed RTF ([MS-OXRTFCP])."""

from __future__ import annotations

import struct

_BEGIN = (
    b"{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \\fswiss \\fmodern \\fscript "
    b"\\fdecor MS Sans SerifSymbolArialTimes New RomanCourier{\\colortbl\\red0\\green0\\blue0\r\n"
    b"\\par \\pard\\plain\\f0\\fs20\\b\\i\\u\\tab\\tx"
)
"""What the dictionary begins with."""
_SIZE = 4096
_HEADER = struct.Struct("<II4sI")
_MOST = 64 * 1024 * 1024


def unpacked(data: bytes) -> bytes:
    """Return the RTF text; as much as there is of one that breaks off, nothing where the header is none."""
    if len(data) < _HEADER.size:
        return b""
    _, size, kind, _ = _HEADER.unpack_from(data)
    body = data[_HEADER.size :]
    if kind == b"MELA":
        return body[:size]
    return _inflated(body, min(size, _MOST)) if kind == b"LZFu" else b""


def _inflated(body: bytes, size: int) -> bytes:
    words = bytearray(_BEGIN.ljust(_SIZE, b"\x00"))
    place = len(_BEGIN)
    out = bytearray()
    at = 0
    while at < len(body) and len(out) < size:
        control = body[at]
        at += 1
        for bit in range(8):
            if control >> bit & 1:
                if at + 2 > len(body):
                    return bytes(out)
                start, length = body[at] << 4 | body[at + 1] >> 4, (body[at + 1] & 15) + 2
                at += 2
                if start == place:
                    return bytes(out)
                piece_length = length
            else:
                if at >= len(body):
                    return bytes(out)
                start, piece_length = -1, 1
            for step in range(piece_length):
                char = body[at] if start < 0 else words[(start + step) % _SIZE]
                out.append(char)
                words[place] = char
                place = (place + 1) % _SIZE
            at += start < 0
    return bytes(out[:size])
