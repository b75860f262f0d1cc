"""Source code: kept to the letter, in pieces that begin where a line stands at the margin after a blank one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath

from kaijuan.core.documents import BlockKind, ParsedDocument
from kaijuan.errors import EmptyDocumentError
from kaijuan.ingest.encoding import decode
from kaijuan.ingest.kinds import LANGUAGES, ending
from kaijuan.ingest.parsers.draft import Draft, Origin

_CLOSING = frozenset(")]}>")


class CodeParser:
    """Parser of kind "code". The language is told by the file's ending or name."""

    def parse(self, data: bytes, name: str) -> ParsedDocument:
        """Return code blocks, each with its language and its lines as place."""
        decoded = decode(data)
        if not decoded.text.strip():
            raise EmptyDocumentError(f"{name} is empty.")
        language = LANGUAGES.get(ending(name), "")
        draft = Draft()
        for first, lines in _stretches(decoded.text.split("\n")):
            last = first + len(lines) - 1
            place = f"line {first}" if first == last else f"lines {first}-{last}"
            draft.add(BlockKind.CODE, "\n".join(lines), origin=Origin(place=place, syntax=language))
        # A module is known by its whole name: parse.py and parse.go are two things.
        title = PurePath(name.replace("\n", " ")).name or name
        metadata = {"encoding": decoded.encoding} | ({"programming_language": language} if language else {})
        return draft.finish("code", name, title=title, metadata=metadata, warnings=decoded.warnings)


def _stretches(lines: list[str]) -> Iterator[tuple[int, list[str]]]:
    """Yield the number of the first line (from 1) and the lines of each piece, blank lines around it left out."""
    start = 0
    for at, line in enumerate(lines):
        begins = bool(line) and not line[0].isspace() and line[0] not in _CLOSING
        if at > start and begins and not lines[at - 1].strip():
            yield from _trimmed(start, lines[start:at])
            start = at
    yield from _trimmed(start, lines[start:])


def _trimmed(start: int, lines: list[str]) -> Iterator[tuple[int, list[str]]]:
    filled = [at for at, line in enumerate(lines) if line.strip()]
    if filled:
        yield start + filled[0] + 1, lines[filled[0] : filled[-1] + 1]
