"""OLE containers ([MS-CFB]) with old Office files and Outlook messages in them, written for tests."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import TypeAlias

Tree: TypeAlias = Mapping[str, "bytes | Tree"]
_SECTOR, _MINI, _CUTOFF = 512, 64, 4096
_END, _FREE, _FAT, _NONE = 0xFFFFFFFE, 0xFFFFFFFF, 0xFFFFFFFD, 0xFFFFFFFF


def container(tree: Tree) -> bytes:
    """Return a container with these streams (bytes) and storages (mappings)."""
    return _Writer(tree).data()


class _Writer:
    def __init__(self, tree: Tree) -> None:
        self._sectors: list[bytes] = []
        self._fat: list[int] = []
        self._mini = b""
        self._mini_fat: list[int] = []
        self._entries: list[list[object]] = []  # name, type, left, right, child, start, size
        self._add("Root Entry", 5, tree)

    def _add(self, name: str, kind: int, content: bytes | Tree) -> int:
        at = len(self._entries)
        entry: list[object] = [name, kind, _NONE, _NONE, _NONE, 0, 0]
        self._entries.append(entry)
        if isinstance(content, bytes):
            entry[5], entry[6] = self._stored(content), len(content)
            return at
        before = None
        for inner, data in sorted(content.items(), key=lambda one: (len(one[0]), one[0].upper())):
            number = self._add(inner, 2 if isinstance(data, bytes) else 1, data)
            if before is None:
                entry[4] = number
            else:
                self._entries[before][3] = number
            before = number
        return at

    def _stored(self, data: bytes) -> int:
        if not data:
            return _END
        if len(data) >= _CUTOFF:
            return self._chain(data)
        start = len(self._mini_fat)
        count = -(-len(data) // _MINI)
        self._mini += data.ljust(count * _MINI, b"\x00")
        self._mini_fat += [start + at + 1 for at in range(count - 1)] + [_END]
        return start

    def _chain(self, data: bytes) -> int:
        start = len(self._fat)
        count = max(1, -(-len(data) // _SECTOR))
        self._sectors += [data[at * _SECTOR : (at + 1) * _SECTOR].ljust(_SECTOR, b"\x00") for at in range(count)]
        self._fat += [start + at + 1 for at in range(count - 1)] + [_END]
        return start

    def data(self) -> bytes:
        self._entries[0][5], self._entries[0][6] = (
            (self._chain(self._mini), len(self._mini)) if self._mini else (_END, 0)
        )
        mini_fat = b"".join(struct.pack("<I", at) for at in self._mini_fat)
        mini_at = self._chain(mini_fat.ljust(-(-len(mini_fat) // _SECTOR) * _SECTOR, b"\xff")) if mini_fat else _END
        directory = self._chain(b"".join(_entry(*entry) for entry in self._entries))  # type: ignore[arg-type] # of mixed types
        tables = 1
        while tables * _SECTOR // 4 < len(self._fat) + tables:
            tables += 1
        first = len(self._fat)
        fat = [*self._fat, *[_FAT] * tables]
        packed = b"".join(struct.pack("<I", at) for at in fat).ljust(tables * _SECTOR, b"\xff")
        head = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16)
        head += struct.pack("<HHHHH6xIIIIIIIII", 0x3E, 3, 0xFFFE, 9, 6, 0, tables, directory, 0, _CUTOFF, mini_at,
                            -(-len(mini_fat) // _SECTOR), _END, 0)  # fmt: skip
        head += b"".join(struct.pack("<I", first + at) for at in range(tables))
        return head.ljust(_SECTOR, b"\xff") + b"".join(self._sectors) + packed


def _entry(name: str, kind: int, left: int, right: int, child: int, start: int, size: int) -> bytes:
    words = (name + "\x00").encode("utf-16-le")
    head = words.ljust(64, b"\x00") + struct.pack("<HBBIII", len(words), kind, 1, left, right, child)
    return head.ljust(116, b"\x00") + struct.pack("<IQ", start, size)


Paragraph = tuple[str, str, dict[str, int]]
"""Words, the character that ends them, and style ("style") and properties by name."""
_PROPERTIES = {"in_table": (0x2416, 1), "row_end": (0x2417, 1), "list": (0x460B, 2), "depth": (0x260A, 1)}


def doc(paragraphs: list[Paragraph], *, notes: str = "", encrypted: bool = False) -> bytes:
    """Return an old Word file: styles 0 to 9 are the built-in ones (0 normal, 1 to 9 headings), its text is UTF-16."""
    text = "".join(words + end for words, end, _ in paragraphs)
    start = 2048
    main = bytearray(start)
    struct.pack_into("<H", main, 0, 0xA5EC)
    struct.pack_into("<H", main, 2, 0xC1)
    struct.pack_into("<H", main, 10, 0x0200 | (0x0100 if encrypted else 0))
    # The head counts its own parts: 14 short, 22 long numbers, 93 places.
    struct.pack_into("<H", main, 0x20, 14)
    struct.pack_into("<H", main, 0x3E, 22)
    struct.pack_into("<H", main, 0x98, 93)
    struct.pack_into("<2I", main, 0x4C, len(text), len(notes))
    main += (text + notes + "\r").encode("utf-16-le")
    main += bytes(-len(main) % 512)
    page = len(main) // 512
    main += _paragraph_page(paragraphs, start)
    table = bytearray()
    for place, data in (
        (0xA2, b"".join([struct.pack("<H", 18), struct.pack("<HH", 10, 10), bytes(14), *map(_style, range(10))])),
        (0x102, struct.pack("<III", start, start + 2 * len(text), page)),
        (0x1A2, b"\x02" + struct.pack("<IIIHIH", 16, 0, len(text) + len(notes) + 1, 0, start, 0)),
    ):
        struct.pack_into("<II", main, place, len(table), len(data))
        table += data
    return container({"WordDocument": bytes(main), "1Table": bytes(table)})


def _style(number: int) -> bytes:
    name = ("Normal" if not number else f"heading {number}").encode("utf-16-le")
    body = (
        struct.pack("<HHHHH", number, 0x0FFF << 4 | 1, 0, 0, 0) + struct.pack("<H", len(name) // 2) + name + b"\x00\x00"
    )
    return struct.pack("<H", len(body)) + body


def _paragraph_page(paragraphs: list[Paragraph], start: int) -> bytes:
    page = bytearray(512)
    at, offset = start, 511
    places, offsets = [], []
    for words, end, properties in paragraphs:
        places.append(at)
        at += 2 * len(words + end)
        body = struct.pack("<H", properties.get("style", 0))
        for name, value in properties.items():
            if name in _PROPERTIES:
                code, size = _PROPERTIES[name]
                body += struct.pack("<H", code) + value.to_bytes(size, "little")
        body += b"\x00" * (len(body) % 2 == 0)
        offset = (offset - len(body) - 1) // 2 * 2
        page[offset] = (len(body) + 1) // 2
        page[offset + 1 : offset + 1 + len(body)] = body
        offsets.append(offset // 2)
    struct.pack_into(f"<{len(places) + 1}I", page, 0, *places, at)
    for number, half in enumerate(offsets):
        page[4 * (len(places) + 1) + 13 * number] = half
    page[511] = len(places)
    return bytes(page)


def msg(properties: Mapping[int, str | bytes], *, page: int = 0, parts: Tree | None = None) -> bytes:
    """Return an Outlook message. Texts are kept in code page `page`, or as UTF-16 where that is 0."""
    return container({**_streams(properties, 32, page), **(parts or {})})


def message_part(
    properties: Mapping[int, str | bytes], numbers: Mapping[int, int] | None = None, *, head: int = 8
) -> Tree:
    """Return an attachment or recipient of a message, or a message inside it (`head` 24)."""
    return _streams(properties, head, 0, numbers or {})


def _streams(
    properties: Mapping[int, str | bytes], head: int, page: int, numbers: Mapping[int, int] | None = None
) -> dict[str, bytes | Tree]:
    streams: dict[str, bytes | Tree] = {}
    fixed = bytes(head)
    for tag, value in properties.items():
        if isinstance(value, bytes):
            streams[f"__substg1.0_{tag:04X}0102"] = value
        elif page:
            streams[f"__substg1.0_{tag:04X}001E"] = value.encode({950: "big5", 936: "gbk"}[page])
        else:
            streams[f"__substg1.0_{tag:04X}001F"] = value.encode("utf-16-le")
    for tag, number in {**({0x3FFD: page} if page else {}), **(numbers or {})}.items():
        kind = 0x0040 if tag in {0x0039, 0x0E06} else 0x0003
        fixed += struct.pack("<HHIQ", kind, tag, 6, number)
    streams["__properties_version1.0"] = fixed
    return streams


def ppt(slides: list[tuple[str, list[str], str, str]], *, encrypted: bool = False) -> bytes:
    """Return an old presentation. A slide is its title, its items, a text box, and its notes."""
    stream = bytearray()
    places: dict[int, int] = {}

    def put(number: int, data: bytes) -> None:
        places[number] = len(stream)
        stream.extend(data)

    listed, notes = b"", b""
    for at, (title, items, box, said) in enumerate(slides):
        slide, page, id = 10 + at, 100 + at, 256 + at
        listed += (
            _record(1011, struct.pack("<IIiII", slide, 0, 0, id, 0)) + _text(0, title) + _text(1, "\r".join(items))
        )
        shapes = (
            _shape(_record(3998, struct.pack("<I", 1)))
            + _shape(_text(4, box))
            + _shape(_record(3998, struct.pack("<I", 0)))
        )
        put(slide, _record(1006, _record(1036, _record(0xF002, shapes, inside=True), inside=True), inside=True))
        notes += _record(1011, struct.pack("<IIiII", page, 0, 0, id, 0))
        body = _record(1009, struct.pack("<II", id, 0)) + _record(
            1036, _record(0xF002, _shape(_text(2, said)), inside=True), inside=True
        )
        put(page, _record(1008, body, inside=True))
    lists = _record(4080, listed, inside=True) + _record(4080, notes, inside=True, instance=2)
    put(1, _record(1000, lists, inside=True))
    directory = len(stream)
    entries = b"".join(struct.pack("<II", number | 1 << 20, place) for number, place in sorted(places.items()))
    stream.extend(_record(6002, entries))
    edit = len(stream)
    stream.extend(_record(4085, struct.pack("<IIIIIIHH", 0, 0x03000000, 0, directory, 1, 0, 0, 0)))
    user = _record(4086, struct.pack("<III", 20, 0xF3D1C4DF if encrypted else 0xE391C05F, edit) + bytes(40))
    return container({"PowerPoint Document": bytes(stream), "Current User": user})


def _record(kind: int, data: bytes, *, inside: bool = False, instance: int = 0) -> bytes:
    return struct.pack("<HHI", (0xF if inside else 0) | instance << 4, kind, len(data)) + data


def _text(sort: int, text: str) -> bytes:
    return _record(3999, struct.pack("<I", sort)) + _record(4000, text.encode("utf-16-le"))


def _shape(box: bytes) -> bytes:
    return _record(0xF004, _record(0xF00D, box, inside=True), inside=True)
