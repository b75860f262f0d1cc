"""One file read for people to look at: each document in it with its outcome, time and memory. Stores nothing."""

from __future__ import annotations

import os
import time
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from kaijuan.core.documents import ParsedDocument
from kaijuan.errors import DocumentError, KaijuanError
from kaijuan.ingest.detect import kind_of
from kaijuan.ingest.isolate import ParserPool
from kaijuan.ingest.pipeline import hold
from kaijuan.ingest.ports import SourceFailure, SourceItem
from kaijuan.ingest.settings import IngestSettings
from kaijuan.ingest.sources.expanding import ExpandingSource
from kaijuan.ingest.sources.files import FileSource


class Outcome(StrEnum):
    """How reading ended."""

    OK = "ok"
    PARTIAL = "partial"
    """Some of its pages could not be read."""
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What came of one document. Either `document` or the three of the failure are set."""

    source: str
    outcome: Outcome
    kind: str
    seconds: float
    peak_mb: float | None = None
    """Most memory of the parser process in MiB; None where none was needed or it died."""
    document: ParsedDocument | None = None
    data: bytes = b""
    code: str = ""
    message: str = ""
    hint: str = ""


async def readings(
    path: str, parsers: Mapping[str, str], settings: IngestSettings, recogniser: str = ""
) -> AsyncIterator[Reading]:
    """Yield what is in a file: one document, or those in an archive, mailbox or message, each in its turn.

    `recogniser` is the "module:Class" by which pictures are read, "" for none.
    """
    pool = ParserPool(
        parsers,
        seconds=settings.parse_seconds,
        memory_mb=settings.parse_memory_mb,
        recogniser=recogniser,
        recognise_seconds=settings.recognise_seconds,
    )
    source = ExpandingSource(FileSource(max_bytes=settings.max_bytes), settings, pool.attachments)
    try:
        async for found in source.walk(path):
            if isinstance(found, SourceFailure):
                yield Reading(
                    source=found.source,
                    outcome=Outcome.FAILED,
                    kind="",
                    seconds=0.0,
                    code=found.code,
                    message=found.message,
                )
            else:
                yield await read_item(found, pool)
    finally:
        await pool.close()


async def read_item(item: SourceItem, pool: ParserPool) -> Reading:
    """Return what reading one item comes to; no DocumentError leaves."""
    start = time.perf_counter()
    pool.peak_mb = 0.0
    kind = item.kind
    try:
        kind = kind or kind_of(item.data, item.name)
        document = await pool.parse(kind, item.data, item.name)
        hold(document)
    except DocumentError as error:
        return _failed(item, kind, time.perf_counter() - start, error, pool.peak_mb)
    return Reading(
        source=item.source,
        outcome=Outcome.PARTIAL if document.unread_pages else Outcome.OK,
        kind=kind,
        seconds=time.perf_counter() - start,
        peak_mb=pool.peak_mb or None,
        document=document,
        data=item.data,
    )


def _failed(item: SourceItem, kind: str, seconds: float, error: KaijuanError, peak_mb: float) -> Reading:
    return Reading(
        source=item.source,
        outcome=Outcome.FAILED,
        kind=kind,
        seconds=seconds,
        peak_mb=peak_mb or None,
        code=error.code,
        message=error.message,
        hint=error.hint,
    )


def is_folder(path: str) -> bool:
    """Say whether a path names a folder, which is not one file to read."""
    return os.path.isdir(os.path.expanduser(path))
