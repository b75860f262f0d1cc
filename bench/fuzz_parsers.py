"""Spoil files of every kind in seeded ways and read them: each must end read or with a named error, soon.

    python -m bench.fuzz_parsers [--each N] [--kinds KIND ...] [--into FILE] [--again] [--keep DIR]

Prints JSON: by kind how the readings ended, the slowest, the largest, how often the parser process died and why, and
each end that is a fault of ours: a parser that died or raised what nobody foresaw, a broken promise about blocks, too
much time or memory. `--into` continues a stored run and stores it after every turn; `--again` first reads what was
at fault there again and forgets what is mended; `--keep` writes the files at fault into a folder.
"""

from __future__ import annotations

import argparse
import asyncio
import io
import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

from tests import seed_files

from bench.machine import machine
from bench.peers.processes import tree_seconds
from bench.spoiling import spoiled
from kaijuan import registry
from kaijuan.errors import DocumentError, ParseMemoryError, ParseTimeoutError
from kaijuan.ingest.detect import container_of, kind_of
from kaijuan.ingest.isolate import ParserPool
from kaijuan.ingest.pipeline import hold
from kaijuan.ingest.ports import SourceFailure, SourceItem
from kaijuan.ingest.settings import IngestSettings
from kaijuan.ingest.sources.expanding import expanded
from kaijuan.ingest.sources.records import RecordFile, records_in
from kaijuan.testing.contracts.parser import check_document

FILES = Path(__file__).resolve().parents[2] / "shared" / "data" / "files"
SECONDS = 60
MEMORY_MB = IngestSettings().parse_memory_mb
EACH = 5_000
_TURN = 50
_TRIES = 3
_KINDS_OF_SOURCES = {".faq": "faq"}
"""Names of samples whose kind only a source can tell."""
_LARGEST = 60_000
"""Bytes of the largest file that is spoiled: many small ones try more than few large ones."""
_UNFORESEEN = ("could not be parsed:", "gave overlapping")
_CRASHED = "The parser crashed"
"""Words of the errors that stand for what no parser foresaw. They end one file well, and are worth a look."""
Row = dict[str, Any]
Seed = tuple[str, bytes]


@dataclass(frozen=True, slots=True)
class End:
    """How one spoiled file, or one document in it, ended. `seconds` are the processor's."""

    outcome: str
    seconds: float
    peak_mb: float = 0.0
    fault: str = ""
    death: str = ""
    """Why the parser process ended: "memory", "time" or "crash"."""


async def ends(data: bytes, name: str, pool: ParserPool) -> list[End]:
    """Return how a file ended, and what it holds when it is an archive, a mailbox or a message."""
    try:
        parts = await asyncio.to_thread(list, _parts(data, name))
    except Exception as error:  # noqa: BLE001 - opening runs in the engine's process: nothing may leave it
        return [_raised(error)]
    return [End(part.code, 0.0) if isinstance(part, SourceFailure) else await _end(part, pool) for part in parts]


def _raised(error: Exception) -> End:
    return End("raised", 0.0, fault=f"{type(error).__name__}: {error}")


def _parts(data: bytes, name: str) -> Iterator[SourceItem | SourceFailure]:
    if name.endswith(".jsonl"):
        file = RecordFile(source=f"file:///{name}", name=name)
        yield from records_in(io.BytesIO(data), file, max_bytes=10_000_000)
        return
    kind = _KINDS_OF_SOURCES.get(PurePath(name).suffix, "")
    item = SourceItem(source=f"file:///{name}", name=name, size=len(data), data=data, kind=kind)
    if kind:
        yield item
        return
    yield from expanded(item, IngestSettings(max_unpacked_bytes=50_000_000, max_members=200))


async def _end(item: SourceItem, pool: ParserPool) -> End:
    pool.peak_mb, start = 0.0, tree_seconds()
    outcome, fault, death = "read", "", ""
    try:
        document = await pool.parse(item.kind or kind_of(item.data, item.name), item.data, item.name)
        hold(document)
        check_document(document)
    except DocumentError as error:
        outcome, death = error.code, _death(error)
        fault = error.message if death or any(words in error.message for words in _UNFORESEEN) else ""
    except AssertionError as error:
        outcome, fault = "promise_broken", str(error)
    except Exception as error:  # noqa: BLE001 - that nothing else leaves the pool is what is tried here
        return _raised(error)
    return End(outcome, tree_seconds() - start, pool.peak_mb, fault, death)


def _death(error: DocumentError) -> str:
    if isinstance(error, ParseMemoryError):
        return "memory"
    if isinstance(error, ParseTimeoutError):
        return "time"
    return "crash" if _CRASHED in error.message else ""


def seeds(folder: Path, largest: int = _LARGEST) -> dict[str, list[Seed]]:
    """Return the files that are spoiled by their kind: those of a folder, if it is there, and of our own tests."""
    found: dict[str, list[Seed]] = defaultdict(list)
    for name, data in (*seed_files.SAMPLES.items(), *_in(folder, largest)):
        try:
            told = "record" if name.endswith(".jsonl") else _KINDS_OF_SOURCES.get(PurePath(name).suffix)
            kind = told or container_of(data, name) or kind_of(data, name)
        except DocumentError:
            continue
        found[kind].append((name, data))
    return dict(sorted(found.items()))


def _in(folder: Path, largest: int) -> Iterator[Seed]:
    for path in sorted(folder.rglob("*")) if folder.is_dir() else ():
        if path.is_file() and path.parent.name != "expected" and 0 < path.stat().st_size <= largest:
            yield path.name, path.read_bytes()


def fresh() -> Row:
    """Return the record of a kind of which nothing is read yet."""
    return {
        "files": 0,
        "outcomes": {},
        "deaths": {},
        "slowest": {"seconds": 0.0},
        "largest": {"peak_mb": 0.0},
        "faults": [],
        "mended": 0,
    }


def note(row: Row, number: int, name: str, found: Sequence[End]) -> None:
    """Count the ends of one spoiled file."""
    row["files"] += 1
    for end in found:
        row["outcomes"] = dict((Counter(row["outcomes"]) + Counter([end.outcome])).most_common())
        if end.death:
            row["deaths"] = dict(Counter(row["deaths"]) + Counter([end.death]))
        if end.seconds > row["slowest"]["seconds"]:
            row["slowest"] = {"seconds": round(end.seconds, 2), "number": number, "file": name}
        if end.peak_mb > row["largest"]["peak_mb"]:
            row["largest"] = {"peak_mb": round(end.peak_mb), "number": number, "file": name}
        if end.fault:
            row["faults"].append({"number": number, "file": name, "fault": end.fault[:300]})


class Fuzz:
    """A run over many kinds, a turn of each after another, that can be stopped and continued."""

    def __init__(self, files: Mapping[str, Sequence[Seed]], result: Row, pool: ParserPool, keep: Path | None) -> None:
        self._files = files
        self._pool = pool
        self._keep = keep
        self.result = result

    async def one(self, kind: str, number: int, seed: Seed) -> list[End]:
        """Return how the file of a number ended."""
        name, data = seed
        spoil = await asyncio.to_thread(spoiled, data, f"{kind}/{number}")
        found: list[End] = []
        for _ in range(_TRIES):
            found = await ends(spoil, name, self._pool)
            if not any(end.death == "time" and end.seconds < SECONDS / 2 for end in found):
                break  # where the processor was busy with others, the clock says nothing
        if self._keep is not None and any(end.fault for end in found):
            (self._keep / f"{kind}-{number}-{name}").write_bytes(spoil)
        return found

    async def turn(self, kind: str, each: int) -> bool:
        """Read a few more of a kind; say whether there were any."""
        row = self.result["kinds"].setdefault(kind, fresh())
        start = int(row["files"])
        for number in range(start, min(start + _TURN, each)):
            seed = self._files[kind][number % len(self._files[kind])]
            note(row, number, seed[0], await self.one(kind, number, seed))
        return start < each

    async def again(self) -> None:
        """Read what was at fault again, and forget the faults that are mended."""
        for kind, row in self.result["kinds"].items():
            left: list[Row] = []
            numbers = {(fault["number"], fault["file"]) for fault in row["faults"]}
            for number, name in sorted(numbers):
                data = dict(self._files.get(kind, ())).get(name)
                found = await self.one(kind, number, (name, data)) if data is not None else []
                left += [{"number": number, "file": name, "fault": end.fault[:300]} for end in found if end.fault]
            row["mended"] += len(numbers) - len({(fault["number"], fault["file"]) for fault in left})
            row["faults"] = left
            row["deaths"] = row["deaths"] if left else {}


def _store(result: Row, into: Path | None) -> None:
    if into is not None:
        part = into.with_suffix(".part")
        part.write_text(json.dumps(result, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
        part.replace(into)


async def fuzz(options: argparse.Namespace) -> Row:
    """Return the result of a run, continued where it is stored."""
    files = seeds(options.files)
    files = {kind: found for kind, found in files.items() if not options.kinds or kind in options.kinds}
    stored = options.into is not None and options.into.exists()
    result: Row = json.loads(options.into.read_text(encoding="utf-8")) if stored else {"kinds": {}}
    result |= {"machine": machine(), "limits": {"seconds": SECONDS, "memory_mb": MEMORY_MB}, "each": options.each}
    eyes = registry.recogniser("onboard")
    pool = ParserPool(
        registry.targets("parser"), seconds=SECONDS, memory_mb=MEMORY_MB, recogniser=eyes, recognise_seconds=SECONDS
    )
    run = Fuzz(files, result, pool, options.keep)
    try:
        if options.again:
            await run.again()
            _store(result, options.into)
        more = True
        while more:
            more = False
            for kind in files:
                more = await run.turn(kind, options.each) or more
                _store(result, options.into)
    finally:
        await pool.close()
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--each", type=int, default=EACH)
    parser.add_argument("--kinds", nargs="*", default=[])
    parser.add_argument("--files", type=Path, default=FILES)
    parser.add_argument("--into", type=Path)
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args()
    if options.keep is not None:
        options.keep.mkdir(parents=True, exist_ok=True)
    print(json.dumps(asyncio.run(fuzz(options)), ensure_ascii=False))


if __name__ == "__main__":
    main()
