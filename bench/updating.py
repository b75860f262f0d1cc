"""Four readers while documents are updated: errors, answers of two snapshots at once, stale citations, slower searches.

    python -m bench.updating [--documents N] [--changed N] [--quiet SECONDS] [--note TEXT]

Every document names its edition in each paragraph; one run brings the next edition of many of them, in one snapshot.
Readers check each answer: it names the newest snapshot that was published when it was asked for, or a later one; all
passages are of the edition that this snapshot shows; and what a citation quotes stands in the version that it names.
The writer is a process of its own. Vectors are a stub's.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench.machine import machine
from bench.readers import READERS, Ask, beside
from kaijuan import Kaijuan
from kaijuan.answer.results import Answer
from kaijuan.config import Config
from kaijuan.ingest.settings import ChunkSettings
from kaijuan.jobs.settings import JobSettings
from kaijuan.testing.embedders import HashEmbedder

CONFIG = Config(
    chunk=ChunkSettings(child_tokens=64, child_overlap=0.0, max_tokens=128, summaries=False),
    # One snapshot for all changes: what a mixed answer is must be known.
    jobs=JobSettings(publish_seconds=0, find_duplicates=False),
)
_TOPICS = ("travel", "leave", "purchase", "security", "差旅", "年假", "采购", "安全")
_PARAGRAPHS = 6


def text_of(number: int, edition: int) -> str:
    """Return one document of an edition."""
    topic = _TOPICS[number % len(_TOPICS)]
    parts = [
        f"Rule {number}-{place} about {topic}, edition {edition}: the limit is {(number * 37 + place) % 900} yuan. "
        f"第{number}号文件第{place}条，第{edition}版：{topic}的上限为{(number * 37 + place) % 900}元。"
        for place in range(_PARAGRAPHS)
    ]
    return f"# Rules {number}\n\n" + "\n\n".join(parts) + "\n"


def write(folder: Path, numbers: range, edition: int) -> None:
    """Write documents of an edition to a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in numbers:
        (folder / f"rules{number:05}.md").write_text(text_of(number, edition), encoding="utf-8")


def asking(engine: Kaijuan, documents: int, changed: int, before: int) -> Ask:
    """Return what asks about a document and checks the answer. `before` is the snapshot of the first edition."""

    def wrong(number: int, snapshot: int, text: str) -> bool:
        edition = 2 if number < changed and snapshot > before else 1
        other = 3 - edition
        return f"edition {other}:" in text or f"第{other}版" in text

    async def ask(at: int) -> str:
        number = at * 7919 % documents
        head = (await engine.catalog.kb(engine.tenant, engine.kb_name)).head
        question = f"What is the limit of rule {number}-{at % _PARAGRAPHS}?"
        if at % 3 == 0:
            answer = await engine.ask(question, extractive=True)
            return await cited_wrongly(engine, answer, head, wrong)
        found = await engine.search(question)
        if found.snapshot < head:
            return "an older snapshot than was published"
        if not found.passages:
            return "nothing found"
        mixed = any(wrong(number_of(one.source), found.snapshot, one.text) for one in found.passages)
        return "a passage of another snapshot" if mixed else ""

    return ask


async def cited_wrongly(engine: Kaijuan, answer: Answer, head: int, wrong: Callable[[int, int, str], bool]) -> str:
    """Return what is wrong with an answer's citations, "" when nothing is."""
    if answer.snapshot < head:
        return "an older snapshot than was published"
    for citation in answer.citations:
        if citation.quote not in await engine.version_text(citation.version_id):
            return "a citation that does not stand in its version"
        if wrong(number_of(citation.source), answer.snapshot, citation.quote):
            return "a citation of another snapshot"
    return ""


def number_of(source: str) -> int:
    """Return the number of a document from where it came."""
    return int(source.rpartition("rules")[2].partition(".")[0])


@asynccontextmanager
async def engine_of(home: Path) -> AsyncIterator[Kaijuan]:
    """Open a base of this bench."""
    async with Kaijuan(home, config=CONFIG, embedder=HashEmbedder()) as engine:
        yield engine


async def update(home: Path, folder: Path) -> float:
    """Take the folder in, in a process of its own; return the seconds that it took."""
    started = time.perf_counter()
    command = [sys.executable, "-m", "bench.updating", "--take-in", str(home), str(folder)]
    writer = await asyncio.create_subprocess_exec(*command)
    if await writer.wait():
        raise RuntimeError("the writer failed")
    return time.perf_counter() - started


async def take_in(home: Path, folder: Path) -> None:
    """Take the folder in."""
    async with engine_of(home) as engine:
        await engine.add([str(folder)])


async def measured(documents: int, changed: int, quiet: float, note: str = "") -> dict[str, Any]:
    """Make a base, and watch readers before, while documents are updated, and after."""
    with TemporaryDirectory() as spare:
        home, folder = Path(spare) / "home", Path(spare) / "documents"
        await asyncio.to_thread(write, folder, range(documents), 1)
        async with engine_of(home) as engine:
            report = await engine.add([str(folder)])
            ask = asking(engine, documents, changed, report.snapshot)
            for at in range(8):
                await ask(at)
            first, _ = await beside("quiet, before", ask, asyncio.sleep(quiet))
            await asyncio.to_thread(write, folder, range(changed), 2)
            second, seconds = await beside("updating", ask, update(home, folder))
            third, _ = await beside("quiet, after", ask, asyncio.sleep(quiet))
            shown = (await engine.catalog.kb(engine.tenant, engine.kb_name)).head
            await engine.indexes.stop_owner()  # type: ignore[attr-defined]
    rows = [watched.row() for watched in (first, second, third)]
    quietest = max(rows[0]["ms"]["p99"], rows[2]["ms"]["p99"])
    return {
        "machine": machine(),
        "note": note,
        "documents": documents,
        "changed": changed,
        "chunks": report.chunks,
        "readers": READERS,
        "snapshots": shown - report.snapshot,
        "update_seconds": round(seconds, 1),
        "load_average": round(os.getloadavg()[1], 1),
        "phases": rows,
        "p99_times": round(rows[1]["ms"]["p99"] / quietest, 2) if quietest else None,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--documents", type=int, default=2_000)
    parser.add_argument("--changed", type=int, default=1_000)
    parser.add_argument("--quiet", type=float, default=30.0)
    parser.add_argument("--note", default="", help="what a reader should know of this run")
    parser.add_argument("--take-in", nargs=2, type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.take_in:
        asyncio.run(take_in(*options.take_in))
        return
    found = asyncio.run(measured(options.documents, options.changed, options.quiet, options.note))
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
