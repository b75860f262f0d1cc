"""RTF (specification 1.9.1) as a stream of words, marks and characters, whatever code pages its fonts use."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from kaijuan.ingest.parsers.code_pages import codec_of

_TOKEN = re.compile(
    r"\\([a-zA-Z]{1,32})(-?\d{1,10})?[ ]?|\\'([0-9a-fA-F]{2})|\\(.)|([{}])|([\r\n\x00]+)|([^\\{}\r\n\x00]+)", re.S
)
_CHARSETS = {
    0: None,
    1: None,
    77: 10000,
    128: 932,
    129: 949,
    130: 1361,
    134: 936,
    136: 950,
    161: 1253,
    162: 1254,
    163: 1258,
    177: 1255,
    178: 1256,
    186: 1257,
    204: 1251,
    222: 874,
    238: 1250,
}
"""Charsets of fonts to code pages; None is the document's own."""
_CHARACTERS = {
    "tab": "\t",
    "line": "\n",
    "lbr": "\n",
    "softline": "\n",
    "emdash": "—",
    "endash": "–",
    "emspace": "\u2003",
    "enspace": "\u2002",
    "qmspace": "\u2005",
    "bullet": "•",
    "lquote": "‘",
    "rquote": "’",
    "ldblquote": "“",
    "rdblquote": "”",
    "zwj": "\u200d",
    "zwnj": "\u200c",
}
_SYMBOLS = {"~": "\u00a0", "_": "-", "-": "", "\\": "\\", "{": "{", "}": "}", "\n": "\r", "\r": "\r"}
_MOST_GROUPS = 5_000


@dataclass(frozen=True, slots=True)
class Word:
    """A control word with its number; `name` is "{", "}" or "*" for groups and for what may be ignored."""

    name: str
    number: int | None = None

    @property
    def is_on(self) -> bool:
        """Whether a toggle is set: a bare word, or one with any number but 0."""
        return self.number != 0


@dataclass(frozen=True, slots=True)
class Text:
    """Characters as they read."""

    text: str


@dataclass(slots=True)
class _Group:
    font: int
    skip: int = 1
    """Characters that stand for one of Unicode, for programs that know none (\\uc)."""


@dataclass(slots=True)
class _Reader:
    """Turns bytes to characters: the font says by which code page."""

    page: int = 1252
    fonts: dict[int, int | None] = field(default_factory=dict)
    groups: list[_Group] = field(default_factory=lambda: [_Group(0)])
    pending: bytearray = field(default_factory=bytearray)
    skipped: int = 0
    defining: int | None = None
    """The font whose charset is being told."""
    default_font: int = 0

    def flush(self) -> Iterator[Text]:
        if self.pending:
            text = bytes(self.pending).decode(self._codec(), "replace")
            self.pending.clear()
            yield Text(text)

    def _codec(self) -> str:
        page = self.fonts.get(self.groups[-1].font)
        return codec_of(self.page if page is None else page)


def tokens(data: bytes) -> Iterator[Word | Text]:
    """Yield the words and characters of an RTF text. Pictures' bytes are left out."""
    reader = _Reader()
    source = data.decode("latin-1")
    at = 0
    while found := _TOKEN.match(source, at):
        at = found.end()
        word, number, byte, symbol, brace, _, text = found.groups()
        if word:
            value = int(number) if number else None
            if word == "bin":
                at += max(value or 0, 0)
                continue
            yield from _word(reader, word, value)
        elif byte or text:
            _bytes(reader, bytes.fromhex(byte) if byte else text.encode("latin-1"))
        elif brace:
            yield from _brace(reader, brace)
        elif symbol:
            yield from _symbol(reader, symbol)
    yield from reader.flush()


def _bytes(reader: _Reader, data: bytes) -> None:
    # What stands for a character of Unicode is left out, as many bytes as was said.
    drop = min(reader.skipped, len(data))
    reader.skipped -= drop
    reader.pending += data[drop:]


def _brace(reader: _Reader, brace: str) -> Iterator[Word | Text]:
    yield from reader.flush()
    reader.skipped = 0
    if brace == "{":
        if len(reader.groups) < _MOST_GROUPS:
            last = reader.groups[-1]
            reader.groups.append(_Group(last.font, last.skip))
    elif len(reader.groups) > 1:
        reader.groups.pop()
    yield Word(brace)


def _symbol(reader: _Reader, symbol: str) -> Iterator[Word | Text]:
    if reader.skipped:
        reader.skipped -= 1
        return
    if symbol == "*":
        yield from reader.flush()
        yield Word("*")
    elif symbol in "\\{}":
        # May be the second byte of a character.
        reader.pending += symbol.encode("latin-1")
    elif symbol in "\r\n":
        yield from reader.flush()
        yield Word("par")
    else:
        yield from reader.flush()
        yield Text(_SYMBOLS.get(symbol, ""))


def _word(reader: _Reader, word: str, number: int | None) -> Iterator[Word | Text]:
    if word == "u":
        yield from reader.flush()
        yield Text(chr((number or 0) & 0xFFFF))
        reader.skipped = reader.groups[-1].skip
        return
    if reader.skipped and word in _CHARACTERS:
        reader.skipped -= 1
        return
    yield from reader.flush()
    reader.skipped = 0
    _set(reader, word, number)
    if word in _CHARACTERS:
        yield Text(_CHARACTERS[word])
    else:
        yield Word(word, number)


def _set(reader: _Reader, word: str, number: int | None) -> None:
    value = number or 0
    group = reader.groups[-1]
    if word == "ansicpg":
        reader.page = value
    elif word in {"mac", "pc", "pca"}:
        reader.page = {"mac": 10000, "pc": 437, "pca": 850}[word]
    elif word in {"deff", "f", "plain"}:
        if word == "deff":
            reader.default_font = value
        group.font = reader.default_font if word == "plain" else value
        reader.defining = value if word == "f" else None
    elif word == "fcharset" and reader.defining is not None:
        reader.fonts[reader.defining] = _CHARSETS.get(value, 1252)
    elif word == "cpg" and reader.defining is not None:
        reader.fonts[reader.defining] = value
    elif word == "uc":
        group.skip = max(0, min(value, 16))


def joined(text: str) -> str:
    """Return text with halves of characters beyond U+FFFF, which come one by one, put together."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
