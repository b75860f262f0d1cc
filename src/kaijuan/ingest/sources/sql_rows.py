"""Rows of a query to documents: their ids, titles, texts and metadata."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from functools import singledispatch
from itertools import groupby

from kaijuan.errors import BrokenDocumentError, DocumentError, EmptyDocumentError, OversizeDocumentError
from kaijuan.ingest.metadata import plain
from kaijuan.ingest.ports import SourceFailure, SourceItem
from kaijuan.ingest.sources.addresses import quoted_record
from kaijuan.ingest.sources.settings import SqlSettings

Row = Mapping[str, object]
_SLOT = re.compile(r"\{([^{}]+)\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class RowReader:
    """Makes documents of rows. `address` is that of the whole query; a record's id stands behind a "#"."""

    address: str
    settings: SqlSettings
    text: tuple[str, ...]
    metadata: tuple[str, ...]
    max_bytes: int

    def documents(self, rows: Iterable[Row]) -> Iterator[SourceItem | SourceFailure]:
        """Yield one item a row, or one for all rows of an id that follow each other."""
        settings = self.settings
        seen: set[int] = set()
        numbered = enumerate(rows, 1)
        groups: Iterable[tuple[object, Iterable[tuple[int, Row]]]] = (
            groupby(numbered, key=lambda entry: [entry[1][column] for column in settings.id])
            if settings.group
            else ((None, (entry,)) for entry in numbered)
        )
        for _, group in groups:
            entries = iter(group)
            number, first = next(entries)
            try:
                key = self._key(first)
                if hash(key) in seen:
                    raise _met_again(key, settings)
                seen.add(hash(key))
                yield self._item(key, first, (row for _, row in entries))
            except DocumentError as error:
                message = f"{self.address}, row {number}: {error}"
                yield SourceFailure(source=self.address, code=error.code, message=message)

    def _key(self, row: Row) -> str:
        parts = [said(row[column]) for column in self.settings.id]
        if not all(parts):
            raise BrokenDocumentError("The id is empty.", hint="Every row needs a value in its id columns.")
        return "/".join(map(quoted_record, parts))

    def _item(self, key: str, first: Row, rest: Iterator[Row]) -> SourceItem:
        texts = [self._text(first)]
        size = len(texts[0])
        metadata = {column: stored(first[column]) for column in self.metadata}
        for row in rest:
            texts.append(self._text(row))
            size += len(texts[-1]) + 2
            if size > self.max_bytes:
                break
            # What differs from row to row is no property of the document.
            metadata = {column: value for column, value in metadata.items() if stored(row[column]) == value}
        data = "\n\n".join(filter(None, texts)).encode("utf-8", "replace")
        if len(data) > self.max_bytes:
            raise OversizeDocumentError(f"The document {key} is larger than {self.max_bytes:,} bytes.")
        if not data:
            raise EmptyDocumentError(f"The document {key} has no text.")
        title = plain(" ".join(said(first[self.settings.title]).split())) if self.settings.title else ""
        return SourceItem(
            source=f"{self.address}#{key}",
            name=title or key,
            size=len(data),
            data=data,
            kind="record",
            title=title,
            metadata={column: value for column, value in metadata.items() if value is not None},
        )

    def _text(self, row: Row) -> str:
        if self.settings.template:
            return _SLOT.sub(lambda slot: said(row[slot[1]]), self.settings.template).strip()
        if len(self.text) == 1:
            return said(row[self.text[0]])
        values = ((column, said(row[column])) for column in self.text)
        return "\n".join(f"{column}: {value}" for column, value in values if value)


def reader_for(address: str, settings: SqlSettings, columns: Sequence[str], max_bytes: int) -> RowReader:
    """Return a reader of rows with these columns; BrokenDocumentError when one that is set is not among them."""
    slots = tuple(slot[1] for slot in _SLOT.finditer(settings.template))
    own = (*settings.id, *filter(None, (settings.title,)))
    wanted = (*own, *settings.text, *slots, *(settings.metadata or ()))
    if lost := [name for name in wanted if name not in columns]:
        raise BrokenDocumentError(
            f"The query gives no column {lost[0]!r}; it gives {', '.join(map(repr, columns[:50]))}.",
            hint="Name the columns as the query does, or give them names there with AS.",
        )
    text = settings.text or slots or tuple(c for c in columns if c not in own and c not in (settings.metadata or ()))
    others = tuple(column for column in columns if column not in own and column not in text)
    metadata = others if settings.metadata is None else settings.metadata
    return RowReader(address=address, settings=settings, text=text, metadata=metadata, max_bytes=max_bytes)


@singledispatch
def said(value: object) -> str:
    """Return a value as it is read in a text; nothing for NULL and for bytes."""
    return str(value)


@said.register(type(None))
@said.register(bytes)
@said.register(bytearray)
@said.register(memoryview)
def _(_value: object) -> str:
    return ""


@said.register
def _(value: str) -> str:
    return value.strip()


@said.register
def _(value: bool) -> str:
    return "true" if value else "false"


@said.register
def _(value: datetime) -> str:
    return value.isoformat(sep=" ", timespec="seconds")


@said.register(date)
@said.register(time)
def _(value: date | time) -> str:
    return value.isoformat()


@said.register
def _(value: Decimal) -> str:
    return format(value, "f")


@said.register(dict)
@said.register(list)
@said.register(tuple)
def _(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def stored(value: object) -> str | int | float | bool | tuple[str, ...] | None:
    """Return a value as filters compare it: dates as ISO text, numbers as numbers, None where there is nothing."""
    if isinstance(value, str):
        return value.strip() or None
    if isinstance(value, bool | int | float):
        return value
    if isinstance(value, Decimal):
        return int(value) if value.is_finite() and value.as_tuple().exponent == 0 else float(value)
    if isinstance(value, datetime):
        return value.isoformat(timespec="seconds")
    if isinstance(value, list | tuple) and value and all(isinstance(entry, str) for entry in value):
        return tuple(value)
    return said(value) or None


def _met_again(key: str, settings: SqlSettings) -> BrokenDocumentError:
    hint = (
        f"Order the query by {', '.join(settings.id)}."
        if settings.group
        else "Choose columns that name a row, or set group to make one document of all rows of an id."
    )
    return BrokenDocumentError(f"The id {key} was already met.", hint=hint)
