"""What is measured of PDFs alone: pages a processor second, memory over long files, order of columns, tables."""

from __future__ import annotations

import io
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pypdfium2

from bench.markdown_scores import table_cells
from bench.reading_order import gold, tau, wanted
from kaijuan import registry
from kaijuan.errors import DocumentError
from kaijuan.ingest.isolate import ParserPool
from kaijuan.ingest.markdown_text import as_markdown
from kaijuan.ingest.parsers.pdf import PdfParser
from kaijuan.ingest.settings import IngestSettings

TABLES = Path(__file__).resolve().parent / "gold" / "tables"
LONG = (100, 400, 1600)
LONG_FILE, LONG_PAGES = "tracemonkey.pdf", 14
_LEAST_SHARE = 0.5
"""Share of its pages that must have a text layer for a file to count as digital."""
Row = dict[str, Any]


def speed(files: Path) -> Row:
    """Return pages a processor second over the digital PDFs, on one core, without text recognition."""
    rows: list[Row] = []
    for path in sorted((files / "pdf").glob("*.pdf")):
        data = path.read_bytes()
        start = time.process_time()
        try:
            document = PdfParser().parse(data, path.name)
        except DocumentError:
            continue  # scans and what needs a password
        seconds = time.process_time() - start
        pages = _pages(data)
        if len(document.unread_pages) <= pages * (1 - _LEAST_SHARE):
            rows.append({"file": path.name, "pages": pages, "seconds": round(seconds, 3)})
    pages, seconds = sum(row["pages"] for row in rows), sum(row["seconds"] for row in rows)
    slow = sorted(rows, key=lambda row: row["pages"] / max(row["seconds"], 0.001))[:5]
    return {
        "files": len(rows),
        "pages": pages,
        "pages_a_second": round(pages / max(seconds, 0.001), 1),
        "slowest": [row | {"pages_a_second": round(row["pages"] / max(row["seconds"], 0.001), 1)} for row in slow],
    }


def _pages(data: bytes) -> int:
    file = pypdfium2.PdfDocument(data)
    try:
        return len(file)
    finally:
        file.close()


def repeated(path: Path, numbers: Sequence[int]) -> bytes:
    """Return a PDF made of pages of another, counted from 0, any of them as often as wanted."""
    source, target = pypdfium2.PdfDocument(str(path)), pypdfium2.PdfDocument.new()
    try:
        target.import_pages(source, pages=list(numbers))
        out = io.BytesIO()
        target.save(out)
        return out.getvalue()
    finally:
        target.close()
        source.close()


def with_tables(files: Path) -> Iterator[tuple[str, bytes, str]]:
    """Yield name, bytes and tables of the PDFs, or single pages of them, whose tables were set down by hand."""
    for path in sorted(TABLES.glob("*.md")):
        stem, _, page = path.stem.removesuffix(".pdf").partition("~")
        source = files / "pdf" / f"{stem}.pdf"
        data = repeated(source, [int(page) - 1]) if page else source.read_bytes()
        yield path.stem, data, path.read_text(encoding="utf-8")


async def memory(files: Path, sizes: Sequence[int] = LONG) -> list[Row]:
    """Return the peak of the parser process, in MiB, over files of more and more pages."""
    rows: list[Row] = []
    for pages in sizes:
        data = repeated(files / "pdf" / LONG_FILE, [at % LONG_PAGES for at in range(pages)])
        settings = IngestSettings()
        pool = ParserPool(registry.targets("parser"), seconds=1800, memory_mb=settings.parse_memory_mb)
        start = time.perf_counter()
        try:
            document = await pool.parse("pdf", data, "long.pdf")
            row: Row = {"pages": pages, "peak_mb": round(pool.peak_mb), "characters": len(document.text)}
        except DocumentError as error:
            row = {"pages": pages, "failed": error.code}
        finally:
            await pool.close()
        rows.append(row | {"file_mb": round(len(data) / 1e6, 1), "seconds": round(time.perf_counter() - start, 1)})
    return rows


def order(files: Path) -> list[Row]:
    """Return Kendall's tau for each file with columns whose order was set down by hand."""
    rows: list[Row] = []
    for name, boxes in gold().items():
        text = PdfParser().parse((files / name).read_bytes(), name).text
        found, share = tau(text, wanted(files / name, boxes))
        rows.append({"file": name, "tau": None if found is None else round(found, 4), "words": round(share, 3)})
    return rows


def tables(files: Path) -> list[Row]:
    """Return how many cells agree with the tables that were set down by hand."""
    rows: list[Row] = []
    for name, data, reference in with_tables(files):
        try:
            text = as_markdown(PdfParser().parse(data, name))
        except DocumentError:
            text = ""
        rows.append({"file": name, "cells": table_cells(text, reference)})
    return rows


def f1(rows: Sequence[Row], key: str = "cells") -> float:
    """Return the F1 of all cells together."""
    agreed, ours, reference = (sum(row[key][name] for row in rows) for name in ("agreed", "ours", "reference"))
    return float(round(2 * agreed / max(ours + reference, 1), 4))
