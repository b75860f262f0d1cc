"""Files of questions and answers (CSV, TSV, JSONL): each pair is a document of kind "faq"."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, cast

from kaijuan.core.ids import content_hash
from kaijuan.core.text.language import language_of
from kaijuan.errors import (
    BrokenDocumentError,
    DocumentError,
    EmptyDocumentError,
    MissingSourceError,
    OversizeDocumentError,
)
from kaijuan.ingest.encoding import decode
from kaijuan.ingest.metadata import plain
from kaijuan.ingest.parsers.csv_table import table_rows
from kaijuan.ingest.ports import SourceFailure, SourceItem
from kaijuan.ingest.settings import IngestSettings
from kaijuan.ingest.sources.addresses import file_address, path_of, quoted_record, shown_name
from kaijuan.ingest.sources.settings import FaqSettings, SourceSettings
from kaijuan.ingest.sources.stepping import stepped

_SCHEME = "faq:"
_QUESTIONS = ("question", "q", "问题", "問題", "问", "提问", "标准问题", "标准问", "query")
_ANSWERS = ("answer", "a", "答案", "回答", "答", "回复", "标准答案", "response")
_IDS = ("id", "_id", "编号", "問題編號", "问题编号", "key")
_LINES = (".jsonl", ".ndjson")


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """Names of the columns that are read; "" where they are to be found."""

    question: str = ""
    answer: str = ""
    id: str = ""

    def among(self, names: Sequence[str]) -> Columns:
        """Return the columns as these names spell them; BrokenDocumentError when questions or answers have none."""
        question = _found(self.question, _QUESTIONS, names)
        answer = _found(self.answer, _ANSWERS, names)
        if not question or not answer:
            what = "questions" if not question else "answers"
            raise BrokenDocumentError(
                f"There is no column of {what} among {', '.join(map(repr, names[:20]))}.",
                hint="Call the columns question and answer (问题, 答案), or name them in a [sources.NAME] of kind faq.",
            )
        return Columns(question=question, answer=answer, id=_found(self.id, _IDS, names))


class FaqSource:
    """Source of question-and-answer pairs. The first row of a table names its columns.

    A pair is named by its id, else by its question, so that a better answer replaces the old one. Other columns are
    metadata. A bad row is a failure with its number.
    """

    def __init__(self, *, max_bytes: int, columns: Columns | None = None) -> None:
        self._max_bytes = max_bytes
        self._columns = columns or Columns()

    @classmethod
    def from_settings(cls, limits: IngestSettings, settings: SourceSettings | None, _cache: Path) -> Self:
        """Return the source as configured."""
        if settings is None:
            return cls(max_bytes=limits.max_bytes)
        chosen = cast(FaqSettings, settings)
        columns = Columns(question=chosen.question, answer=chosen.answer, id=chosen.id)
        return cls(max_bytes=limits.max_bytes, columns=columns)

    def accepts(self, target: str) -> bool:
        """Say whether `target` is faq: and a path."""
        return target.lower().startswith(_SCHEME) and len(target) > len(_SCHEME)

    def scope(self, target: str) -> str:
        """Return the address of the file and "#": pairs are records of their file."""
        return file_address(_path(target)) + "#"

    def walk(self, target: str) -> AsyncIterator[SourceItem | SourceFailure]:
        """Yield one item a pair, in the order of the file."""
        return stepped(self._walk(_path(target)))

    def _walk(self, path: str) -> Iterator[SourceItem | SourceFailure]:
        reader = _Pairs(address=file_address(path), name=shown_name(path), seen=set())
        try:
            for number, row in self._rows(path):
                yield reader.item(number, row, self._columns)
        except DocumentError as error:
            yield SourceFailure(source=reader.address, code=error.code, message=f"{reader.name}: {error}")
        except OSError as error:
            missing = MissingSourceError(f"{reader.name} cannot be read: {error.strerror or error}.")
            yield SourceFailure(source=reader.address, code=missing.code, message=str(missing))

    def _rows(self, path: str) -> Iterator[tuple[int, Mapping[str, object] | DocumentError]]:
        with open(path, "rb") as file:
            if os.fstat(file.fileno()).st_size > self._max_bytes:
                raise OversizeDocumentError(f"It is larger than {self._max_bytes:,} bytes.")
            data = file.read(self._max_bytes + 1)
        text = decode(data).text
        if path.lower().endswith(_LINES):
            yield from ((number, _object(line)) for number, line in enumerate(text.split("\n"), 1) if line.strip())
            return
        rows = table_rows(text, os.path.basename(path))
        if not rows:
            raise EmptyDocumentError("It is empty.")
        head = [cell.strip() for cell in rows[0]]
        self._columns.among(head)  # of a table this is said once, not for every row
        for number, row in enumerate(rows[1:], 2):
            yield number, dict(zip(head, row, strict=False))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pairs:
    """Makes items of rows; `seen` holds the keys met so far."""

    address: str
    name: str
    seen: set[str]

    def item(
        self, number: int, row: Mapping[str, object] | DocumentError, columns: Columns
    ) -> SourceItem | SourceFailure:
        try:
            if isinstance(row, DocumentError):
                raise row
            return self._item(row, columns.among(list(row)))
        except DocumentError as error:
            message = f"{self.name}, row {number}: {error}"
            return SourceFailure(source=self.address, code=error.code, message=message)

    def _item(self, row: Mapping[str, object], columns: Columns) -> SourceItem:
        question, answer = _text(row.get(columns.question)), _text(row.get(columns.answer))
        if not question or not answer:
            raise BrokenDocumentError(
                f"The {'answer' if question else 'question'} is empty.", hint="Fill it in, or take the row out."
            )
        question = " ".join(question.split())
        key = _text(row.get(columns.id)) or content_hash(question.encode("utf-8", "replace"))[:32]
        if key in self.seen:
            raise BrokenDocumentError(
                f"The pair {plain(question)[:80]!r} was already met in this file.",
                hint="Give every pair an id of its own.",
            )
        self.seen.add(key)
        data = written(question, answer).encode("utf-8", "replace")
        return SourceItem(
            source=f"{self.address}#{quoted_record(key)}",
            name=plain(question),
            size=len(data),
            data=data,
            kind="faq",
            title=plain(question),
            metadata={
                name: tuple(value) if isinstance(value, list) else cast(Any, value)
                for name, value in row.items()
                if name not in {columns.question, columns.answer, columns.id, ""} and _is_metadata(value)
            },
        )


def written(question: str, answer: str) -> str:
    """Return a pair with the markers by which it is known as one (answer/faq.py), in the question's language."""
    asks, answers = ("问：", "答：") if language_of(question) == "zh" else ("Q: ", "A: ")
    return f"{asks}{question}\n{answers}{answer}"


def _path(target: str) -> str:
    return path_of(target[len(_SCHEME) :] if target.lower().startswith(_SCHEME) else target)


def _found(wanted: str, usual: Sequence[str], names: Sequence[str]) -> str:
    by_word = {name.strip().casefold(): name for name in reversed(names)}
    return next((by_word[word] for word in ((wanted.strip().casefold(),) if wanted else usual) if word in by_word), "")


def _object(line: str) -> Mapping[str, object] | DocumentError:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError) as error:
        return BrokenDocumentError(f"The line is not JSON: {error}.", hint="Write one JSON object each line.")
    if isinstance(found, dict):
        return found
    return BrokenDocumentError("The line is not a JSON object.", hint="Write one JSON object each line.")


def _text(value: object) -> str:
    return str(value).strip() if isinstance(value, str | int) and not isinstance(value, bool) else ""


def _is_metadata(value: object) -> bool:
    if isinstance(value, str):
        return bool(value.strip())
    if isinstance(value, list):
        return bool(value) and all(isinstance(entry, str) for entry in value)
    return isinstance(value, bool | int | float)
