"""JSON and JSON Lines as documents: objects as named values, lists of like objects as tables."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from kaijuan.core.documents import BlockKind, ParsedDocument
from kaijuan.errors import BrokenDocumentError, EmptyDocumentError
from kaijuan.ingest.encoding import decode
from kaijuan.ingest.parsers.draft import Draft, stem
from kaijuan.ingest.parsers.pieces import Piece, table_piece, write_pieces
from kaijuan.ingest.parsers.pipes import Cell, table_of

_DEEPEST = 60
_DEEPEST_HEADING = 6
_MOST_COLUMNS = 40
_LONG = 400
"""Characters from which a value is a paragraph of its own."""
_LIKE = 0.5


class JsonParser:
    """Parser of kind "json"."""

    def parse(self, data: bytes, name: str) -> ParsedDocument:
        """Return lists of `key: value`, tables and paragraphs below headings from keys; places are JSON pointers."""
        decoded = decode(data)
        value = loaded(decoded.text, name)
        draft = Draft()
        write_pieces(draft, _pieces(value, "", 1))
        title = _title(value) or stem(name)
        return draft.finish("json", name, title=title, warnings=decoded.warnings)


def loaded(text: str, name: str) -> Any:
    """Return the value of a JSON text, or the list of values of JSON Lines."""
    if not text.strip():
        raise EmptyDocumentError(f"{name} is empty.")
    try:
        return json.loads(text)
    except RecursionError as error:
        raise BrokenDocumentError(f"{name} is nested too deeply to be read whole.") from error
    except ValueError as error:
        values = _lines(text)
        if values is None:
            raise BrokenDocumentError(f"{name} is no JSON: {error}.") from error
        return values


def _lines(text: str) -> list[Any] | None:
    values = []
    for line in text.split("\n"):
        if line.strip():
            try:
                values.append(json.loads(line))
            except (ValueError, RecursionError):
                return None
    return values if len(values) > 1 else None


def _title(value: Any) -> str:
    found = value.get("title", value.get("name", value.get("标题"))) if isinstance(value, dict) else None
    return found if isinstance(found, str) and len(found) <= _LONG else ""


def _pieces(value: Any, pointer: str, level: int) -> Iterator[Piece]:
    if level > _DEEPEST:
        raise BrokenDocumentError("The values are nested too deeply to be read whole.")
    if isinstance(value, dict):
        yield from _object(value, pointer, level)
    elif isinstance(value, list):
        yield from _array(value, pointer, level)
    elif text := _scalar(value):
        yield Piece(BlockKind.PARAGRAPH, text, place=pointer)


def _object(value: dict[str, Any], pointer: str, level: int) -> Iterator[Piece]:
    lines: list[str] = []
    for key, inner in value.items():
        at = f"{pointer}/{_escaped(key)}"
        if _is_short(inner):
            if text := _scalar(inner):
                lines.append(f"{key}: {text}")
            continue
        yield from _listed(lines, pointer)
        if body := list(_pieces(inner, at, level + 1)):
            yield Piece(BlockKind.HEADING, key, min(level, _DEEPEST_HEADING), place=at)
            yield from body
    yield from _listed(lines, pointer)


def _listed(lines: list[str], pointer: str) -> Iterator[Piece]:
    if lines:
        yield Piece(BlockKind.LIST, "\n".join(lines), place=pointer or "/")
        lines.clear()


def _is_short(value: Any) -> bool:
    if isinstance(value, list):
        return all(not isinstance(entry, dict | list) for entry in value) and len(_scalar(value)) <= _LONG
    return not isinstance(value, dict) and (not isinstance(value, str) or (len(value) <= _LONG and "\n" not in value))


def _array(value: list[Any], pointer: str, level: int) -> Iterator[Piece]:
    columns = _columns(value)
    if columns:
        rows = [[Cell(column, header=True) for column in columns]]
        rows.extend([Cell(_scalar(entry.get(column))) for column in columns] for entry in value)
        yield from table_piece(table_of(rows), place=pointer or "/")
    elif all(not isinstance(entry, dict | list) for entry in value):
        lines = [f"- {text}" for entry in value if (text := _scalar(entry))]
        yield from _listed(lines, pointer)
    else:
        for at, entry in enumerate(value):
            yield from _pieces(entry, f"{pointer}/{at}", level)


def _columns(value: list[Any]) -> list[str]:
    """Return the keys of a list of flat objects that mostly share them; nothing when it is no such list."""
    if len(value) < 2 or not all(isinstance(entry, dict) for entry in value):
        return []
    keys = list(dict.fromkeys(key for entry in value for key in entry))
    if not 2 <= len(keys) <= _MOST_COLUMNS or not all(_is_short(inner) for entry in value for inner in entry.values()):
        return []
    filled = sum(len(entry) for entry in value)
    return keys if filled >= _LIKE * len(keys) * len(value) else []


def _scalar(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return ", ".join(filter(None, map(_scalar, value)))
    return str(value).strip()


def _escaped(key: str) -> str:
    """Return a key as a step of a JSON pointer (RFC 6901)."""
    return key.replace("~", "~0").replace("/", "~1")
