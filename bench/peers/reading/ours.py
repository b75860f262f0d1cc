"""Kaijuan's parsers, as `kaijuan parse FILE --markdown` runs them."""

from __future__ import annotations

import asyncio
from pathlib import Path

from kaijuan import registry
from kaijuan.ingest.isolate import ParserPool
from kaijuan.ingest.markdown_text import as_markdown
from kaijuan.ingest.ports import SourceFailure
from kaijuan.ingest.reading import read_item
from kaijuan.ingest.settings import IngestSettings
from kaijuan.ingest.sources.expanding import ExpandingSource
from kaijuan.ingest.sources.files import FileSource


class UnreadError(Exception):
    """No document in the file could be read."""


class Reader:
    """Every document in a file, one after the other, parsed in a process of its own as always."""

    about = "`kaijuan parse --markdown` in a parser process; text recognition off, since no other reader here has it"

    def __init__(self) -> None:
        self._loop = asyncio.Runner()
        settings = IngestSettings()
        self._pool = ParserPool(
            registry.targets("parser"),
            seconds=settings.parse_seconds,
            memory_mb=settings.parse_memory_mb,
        )

    def read(self, path: str) -> str:
        """Return the documents of a file as Markdown; raise when none of them can be read."""
        return self._loop.run(self._read(path))

    async def _read(self, path: str) -> str:
        settings = IngestSettings()
        texts: list[str] = []
        code = ""
        async for item in ExpandingSource(FileSource(max_bytes=settings.max_bytes), settings).walk(str(Path(path))):
            if isinstance(item, SourceFailure):
                code = item.code
                continue
            reading = await read_item(item, self._pool)
            if reading.document is None:
                code = reading.code
            else:
                texts.append(as_markdown(reading.document))
        if not texts:
            raise UnreadError(code)
        return "\n\n".join(texts)
