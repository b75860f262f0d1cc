"""Read every shared file of every format: how each ends, in what time and memory, and how like the reference it is.

    python -m bench.parsing [--folders NAME ...] [--no-long]

Prints JSON. The references (files/expected) are Docling's own Markdown. Both sides are compared without marks of
Markdown, blanks and pictures; merged cells are repeated, as there. What the references leave out (slide notes,
descriptions of pictures, names of speakers) is left out here too; what they keep although a reader should not
(navigation of web pages) counts against us, and `contained` says how much of our text stands in the reference.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from rapidfuzz.distance import Indel

from bench import parsing_pdf
from bench.machine import machine
from bench.markdown_scores import Grid, cell_scores, plain, reference_grids
from bench.peers.processes import tree_seconds
from kaijuan import registry
from kaijuan.core.documents import BlockKind, ParsedBlock, ParsedDocument
from kaijuan.ingest.isolate import ParserPool
from kaijuan.ingest.parsers.pipes import words_in
from kaijuan.ingest.ports import SourceFailure
from kaijuan.ingest.reading import Outcome, Reading, read_item
from kaijuan.ingest.settings import IngestSettings
from kaijuan.ingest.sources.expanding import ExpandingSource
from kaijuan.ingest.sources.files import FileSource

FILES = Path(__file__).resolve().parents[2] / "shared" / "data" / "files"
MOST_SECONDS = 60
"""Of the processor, parser process included: the clock depends on what else the machine does."""
MOST_MB = 1_500
Row = dict[str, Any]


def grid_of(document: ParsedDocument, block: ParsedBlock) -> Grid:
    """Return a table with merged cells repeated, rows and columns without any words left out."""
    table = block.table
    if table is None:
        return []
    rows = [[""] * table.columns for _ in range(table.rows)]
    for cell in table.cells:
        for row in range(cell.row, min(cell.row + cell.rows, table.rows)):
            for column in range(cell.column, min(cell.column + cell.columns, table.columns)):
                rows[row][column] = words_in(document.text, cell)
    kept = [column for column in range(table.columns) if any(row[column] for row in rows)]
    return [[row[column] for column in kept] for row in rows if any(row)]


def said(document: ParsedDocument) -> str:
    """Return the text that is compared with a reference."""
    parts = []
    for block in document.blocks:
        if block.place.endswith("notes") or block.kind is BlockKind.FIGURE:
            continue
        text = block.span.of(document.text)
        if document.kind == "subtitles" and document.metadata.get("speakers"):
            text = text.partition(": ")[2] or text
        grid = grid_of(document, block)
        parts.append("\n".join(" | ".join(row) for row in grid) if grid else text)
    return "\n\n".join(parts)


def compared(document: ParsedDocument, reference: str) -> Row:
    """Return how like a reference a document is."""
    ours, theirs = plain(said(document)), plain(reference)
    shared = (len(ours) + len(theirs) - Indel.distance(ours, theirs)) // 2
    grids = [grid for block in document.blocks if (grid := grid_of(document, block))]
    agreed, total, wanted = cell_scores(grids, reference_grids(reference))
    return {
        "similarity": round(Indel.normalized_similarity(ours, theirs), 4),
        "contained": round(shared / max(len(ours), 1), 4),
        "cells": {"agreed": agreed, "ours": total, "reference": wanted},
    }


async def measured(path: Path, settings: IngestSettings, pool: ParserPool) -> tuple[Row, list[Reading]]:
    """Return the outcome of one file, and what was read of it."""
    start, began = time.perf_counter(), tree_seconds()
    found: list[Reading] = []
    codes: list[str] = []
    async for item in ExpandingSource(FileSource(max_bytes=settings.max_bytes), settings).walk(str(path)):
        if isinstance(item, SourceFailure):
            codes.append(item.code)
        else:
            found.append(await read_item(item, pool))
    codes += [reading.code for reading in found if reading.code]
    outcomes = {reading.outcome for reading in found}
    status = Outcome.OK if outcomes == {Outcome.OK} and not codes else Outcome.PARTIAL
    if outcomes <= {Outcome.FAILED}:
        status = Outcome.FAILED
    peaks = [reading.peak_mb for reading in found if reading.peak_mb]
    row = {
        "file": str(path.relative_to(FILES)),
        "kind": "+".join(dict.fromkeys(reading.kind or "?" for reading in found)),
        "status": status.value,
        "documents": len(found),
        "codes": codes,
        "seconds": round(time.perf_counter() - start, 2),
        "cpu": round(tree_seconds() - began, 2),
        "peak_mb": round(max(peaks)) if peaks else None,
    }
    return row, found


async def every(folders: Sequence[str]) -> list[Row]:
    """Return the outcome of every file in these folders."""
    settings = IngestSettings()
    pool = ParserPool(
        registry.targets("parser"),
        seconds=settings.parse_seconds,
        memory_mb=settings.parse_memory_mb,
        recogniser=registry.recogniser(settings.recogniser),
        recognise_seconds=settings.recognise_seconds,
    )
    rows = []
    try:
        for path in _files(folders):
            row, found = await measured(path, settings, pool)
            reference = FILES / "expected" / f"{path.name}.md"
            if reference.exists() and found and found[0].document is not None:
                row |= compared(found[0].document, reference.read_text(encoding="utf-8"))
            rows.append(row)
    finally:
        await pool.close()
    return rows


def _files(folders: Sequence[str]) -> Iterator[Path]:
    for folder in sorted(FILES.iterdir()):
        if folder.is_dir() and folder.name != "expected" and (not folders or folder.name in folders):
            yield from sorted(path for path in folder.iterdir() if path.is_file())


def summary(rows: Sequence[Row]) -> Row:
    """Return what the rows come to."""
    compared = [row for row in rows if "similarity" in row]
    agreed, ours, wanted = (sum(row["cells"][name] for row in compared) for name in ("agreed", "ours", "reference"))
    slow = max(rows, key=lambda row: row["cpu"])
    large = max(rows, key=lambda row: row["peak_mb"] or 0)
    return {
        "files": len(rows),
        "outcomes": dict(Counter(row["status"] for row in rows)),
        "codes": dict(Counter(code for row in rows for code in row["codes"]).most_common()),
        "over_limits": [row["file"] for row in rows if row["cpu"] > MOST_SECONDS or (row["peak_mb"] or 0) > MOST_MB],
        "slowest": {"file": slow["file"], "cpu": slow["cpu"], "seconds": slow["seconds"]},
        "largest": {"file": large["file"], "peak_mb": large["peak_mb"]},
        "compared": len(compared),
        "similarity": round(sum(row["similarity"] for row in compared) / max(len(compared), 1), 4),
        "contained": round(sum(row["contained"] for row in compared) / max(len(compared), 1), 4),
        "cell_precision": round(agreed / max(ours, 1), 4),
        "cell_recall": round(agreed / max(wanted, 1), 4),
        "cell_f1": round(2 * agreed / max(ours + wanted, 1), 4),
    }


async def measure(folders: Sequence[str], *, long: bool) -> Row:
    """Return everything that is stored."""
    rows = await every(folders)
    result: Row = {"machine": machine(), "summary": summary(rows), "files": rows}
    if not folders or "pdf" in folders:
        found = parsing_pdf.tables(FILES)
        result["pdf"] = {
            "speed": parsing_pdf.speed(FILES),
            "order": parsing_pdf.order(FILES),
            "tables": found,
            "cell_f1": parsing_pdf.f1(found),
        }
        if long:
            result["pdf"]["long"] = await parsing_pdf.memory(FILES)
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--folders", nargs="*", default=[])
    parser.add_argument("--no-long", action="store_true", help="leave out the files of up to 1,600 pages")
    options = parser.parse_args()
    print(json.dumps(asyncio.run(measure(options.folders, long=not options.no_long)), ensure_ascii=False))


if __name__ == "__main__":
    main()
