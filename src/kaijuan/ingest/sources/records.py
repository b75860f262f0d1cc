"""JSONL corpora: one document each line, read line by line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Any

from kaijuan.core.documents import Metadata
from kaijuan.core.ids import content_hash
from kaijuan.errors import BrokenDocumentError, DocumentError, EmptyDocumentError, OversizeDocumentError
from kaijuan.ingest.metadata import plain
from kaijuan.ingest.ports import SourceFailure, SourceItem
from kaijuan.ingest.sources.addresses import file_address, quoted_record, shown_name

_ID_FIELDS = ("_id", "id")
_TEXT_FIELDS = ("text", "contents", "content")
_TITLE_FIELD = "title"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordFile:
    """The file that records stand in. `separator` comes between its address and a record's id."""

    source: str
    name: str
    separator: str = "#"


def read_records(path: str, *, max_bytes: int) -> Iterator[SourceItem | SourceFailure]:
    """Yield the records of a JSONL file on this machine."""
    with open(path, "rb") as file:
        yield from records_in(file, RecordFile(source=file_address(path), name=shown_name(path)), max_bytes=max_bytes)


def records_in(lines: IO[bytes], file: RecordFile, *, max_bytes: int) -> Iterator[SourceItem | SourceFailure]:
    """Yield one item each line of JSONL; a bad line is a failure with its number.

    `_id` or `id` names the record, else a hash of its text; `text`, `contents` or `content` is the text, `title` the
    title, and the other scalar fields (and lists of strings) are metadata; one that cannot be stored (NaN, a number
    over 64 bits) is left out with a warning. The second record of an id is a failure.
    """
    seen: set[str] = set()
    number = 0
    while line := lines.readline(max_bytes + 1):
        number += 1
        if len(line) > max_bytes and not line.endswith(b"\n"):
            _skip_line(lines, max_bytes)
            yield _failure(file, number, OversizeDocumentError(f"The line is larger than {max_bytes:,} bytes."))
        elif line.strip():
            yield _read_line(file, number, line, seen)


def _skip_line(file: IO[bytes], step: int) -> None:
    while (rest := file.readline(step)) and not rest.endswith(b"\n"):
        pass


def _read_line(file: RecordFile, number: int, line: bytes, seen: set[str]) -> SourceItem | SourceFailure:
    try:
        record = _record(line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line)
        text = _text(record)
        key = next((str(record[name]) for name in _ID_FIELDS if _is_key(record.get(name))), "")
        key = key or content_hash(text.encode("utf-8", "replace"))[:32]
        if key in seen:
            raise BrokenDocumentError(
                f"The id {plain(key)} was already used in this file.", hint="Give every record its own id."
            )
    except DocumentError as error:
        return _failure(file, number, error)
    seen.add(key)
    # Half code points (\ud83d alone) are legal JSON, but no UTF-8.
    data = text.encode("utf-8", "replace")
    title = record.get(_TITLE_FIELD)
    title = plain(" ".join(title.split())) if isinstance(title, str) else ""
    return SourceItem(
        source=f"{file.source}{file.separator}{quoted_record(key)}",
        name=title or plain(key),
        size=len(data),
        data=data,
        kind="record",
        title=title,
        metadata=_metadata(record),
    )


def _record(line: bytes) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:  # ValueError covers bad JSON, bad UTF-8 and giant numbers
        raise BrokenDocumentError(f"The line is not JSON: {error}.", hint="Write one JSON object each line.") from error
    if not isinstance(record, dict):
        raise BrokenDocumentError("The line is not a JSON object.", hint="Write one JSON object each line.")
    return record


def _text(record: dict[str, Any]) -> str:
    for name in _TEXT_FIELDS:
        value = record.get(name)
        if isinstance(value, str) and value.strip():
            return value
    fields = ", ".join(_TEXT_FIELDS)
    hint = "Questions and answers are read as faq:FILE." if "question" in record or "问题" in record else None
    raise EmptyDocumentError(f"The record has no text in any of the fields {fields}.", hint=hint)


def _is_key(value: object) -> bool:
    return (isinstance(value, str) and bool(value.strip())) or (isinstance(value, int) and not isinstance(value, bool))


def _metadata(record: dict[str, Any]) -> Metadata:
    """Return the fields that are metadata by their shape; whether their values can be stored is told by the item."""
    used = {*_ID_FIELDS, *_TEXT_FIELDS, _TITLE_FIELD}
    return {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in record.items()
        if name not in used and (isinstance(value, str | bool | int | float) or _is_texts(value))
    }


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(entry, str) for entry in value)


def _failure(file: RecordFile, number: int, error: DocumentError) -> SourceFailure:
    return SourceFailure(source=file.source, code=error.code, message=f"{file.name}, line {number}: {error}")
