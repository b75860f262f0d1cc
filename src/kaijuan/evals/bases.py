"""Knowledge bases that hold the corpora of evaluation sets, each taken in once and used again.

A base lies in a home folder of its own, named by the content of the corpus and by everything that turns documents into
searchable chunks. Vectors are kept in one cache for all bases, so that another base embeds no text a second time.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from kaijuan.config import Config
from kaijuan.core.ids import stable_id
from kaijuan.engine import Kaijuan
from kaijuan.errors import BusyError, EvalDataError, KaijuanError, StoreError
from kaijuan.index.ports import Embedder
from kaijuan.jobs.report import Progress, RunReport
from kaijuan.verbs.embedders import make_embedder
from kaijuan.verbs.wiring import pipeline_fingerprint

MOST_FAILURES_SHOWN = 5
IDLE_SECONDS = 30.0
"""How long the process that holds a base's index stays after its last use: many bases are opened one after another."""
RECORD = "base.json"
PAUSE = 1.0
"""Seconds between two attempts while another evaluation takes the same corpus in."""
LONGEST_WAIT = 3600.0
"""Seconds of such attempts before that is an error."""


class Corpus(Protocol):
    """What a base is made of: a corpus file or a folder of documents, and the SHA-256 of its content."""

    @property
    def corpus(self) -> Path:
        """Return the file or folder."""

    @property
    def corpus_hash(self) -> str:
        """Return the hash, in hexadecimal."""


@dataclass(frozen=True, kw_only=True)
class Record:
    """What is written about a base, beside it. Only a `whole` one is used again."""

    corpus: str
    """Path of the corpus file when it was taken in."""
    whole: bool = False
    documents: int = 0
    chunks: int = 0
    seconds: float = 0.0
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Base:
    """An open base. `fingerprint` names how its chunks were made; `seconds` is what taking it in took."""

    engine: Kaijuan
    fingerprint: str
    documents: int
    chunks: int
    reused: bool
    seconds: float
    problems: tuple[str, ...]
    """Sentences about documents that could not be taken in."""


@dataclass(frozen=True, kw_only=True)
class StoredBase:
    """A base on disk."""

    name: str
    folder: Path
    record: Record
    bytes: int
    """Taken on disk."""


def evals_folder(home: Path) -> Path:
    """Return where evaluations keep their things below a home folder."""
    return home / "evals"


@asynccontextmanager
async def open_base(
    data: Corpus,
    home: Path,
    config: Config,
    *,
    embedder: Callable[[], Embedder] | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> AsyncIterator[Base]:
    """Open the base that holds the set's corpus, taken in now unless an earlier run finished doing so.

    A run that was stopped left its vectors in the cache: the next one reads the corpus again and embeds what is
    missing. `embedder` makes one of your own, which is used as it is and closed with the base.
    """
    evals = evals_folder(home)
    stores = config.stores.model_copy(update={"index_idle_seconds": IDLE_SECONDS})
    # What is measured must be made each time.
    kept = config.answer_cache.model_copy(update={"enabled": False})
    settings = config.model_copy(update={"stores": stores, "answer_cache": kept})
    make = embedder or (lambda: make_embedder(config.embedder, evals / "cache"))
    model = make()
    fingerprint = pipeline_fingerprint(config, model)
    folder = _folder(evals / "bases", data, fingerprint)
    record = _read(folder)
    engine = Kaijuan(folder, config=settings, embedder=model)
    try:
        reused = record is not None and await _holds(engine, record)
        if not reused and record is not None and not _is_begun(record, data.corpus):
            await engine.close()
            shutil.rmtree(folder)
            engine = Kaijuan(folder, config=settings, embedder=make())
        if record is None or not reused:
            record = await _taken_in(engine, data.corpus, progress)
        yield Base(
            engine=engine,
            fingerprint=fingerprint,
            documents=record.documents,
            chunks=record.chunks,
            reused=reused,
            seconds=record.seconds,
            problems=record.problems,
        )
    finally:
        await engine.close()


def stored_bases(home: Path) -> list[StoredBase]:
    """Return the bases on disk by name, unfinished ones too."""
    folders = sorted(path for path in (evals_folder(home) / "bases").glob("*") if path.is_dir())
    return [
        StoredBase(name=folder.name, folder=folder, record=_read(folder) or Record(corpus=""), bytes=_size(folder))
        for folder in folders
    ]


def clear_bases(home: Path) -> int:
    """Delete all bases and return the bytes won. The cache of vectors stays: with it a base is quickly made again."""
    found = stored_bases(home)
    for base in found:
        shutil.rmtree(base.folder)
    return sum(base.bytes for base in found)


def _folder(bases: Path, data: Corpus, fingerprint: str) -> Path:
    key = stable_id("base", data.corpus_hash, fingerprint)[:16]
    readable = re.sub(r"[^\w.-]+", "_", data.corpus.resolve().parent.name)[:60]
    # The name before the key is for people: the same corpus may lie in folders of several names.
    return next(iter(bases.glob(f"*-{key}")), bases / f"{readable}-{key}")


async def _holds(engine: Kaijuan, record: Record) -> bool:
    """Say whether the base still is what its record says."""
    if not record.whole:
        return False
    try:
        status = await engine.status()
    except KaijuanError as error:
        if error.retry:
            raise  # busy, not broken
        return False  # whatever is wrong with it, it is derived: made anew
    return (status.documents, status.chunks) == (record.documents, record.chunks) and bool(status.points)


def _is_begun(record: Record, corpus: Path) -> bool:
    """Say whether a run of the same file was stopped: its base is gone on with, any other is made anew."""
    return not record.whole and record.corpus == _address(corpus)


async def _taken_in(engine: Kaijuan, corpus: Path, progress: Callable[[Progress], None] | None) -> Record:
    begun = Record(corpus=_address(corpus))
    _write(engine.home, begun)
    report = await _added(engine, begun.corpus, progress)
    if not report.documents:
        why = f" {report.failed[0].message}" if report.failed else ""
        raise EvalDataError(f"No document of {corpus} could be taken in.{why}")
    made = replace(
        begun,
        whole=True,
        documents=report.documents,
        chunks=report.chunks,
        seconds=round(report.seconds, 3),
        problems=_problems(report),
    )
    _write(engine.home, made)
    return made


async def _added(engine: Kaijuan, corpus: str, progress: Callable[[Progress], None] | None) -> RunReport:
    """Take the corpus in; while another evaluation does the same, wait for it and find everything there."""
    for _ in range(int(LONGEST_WAIT / PAUSE)):
        try:
            return await engine.add(corpus, progress=progress)
        except BusyError:
            await asyncio.sleep(PAUSE)
    return await engine.add(corpus, progress=progress)


def _address(corpus: Path) -> str:
    return str(corpus.resolve())


def _problems(report: RunReport) -> tuple[str, ...]:
    failed = [f"{item.source}: {item.message}" for item in report.failed]
    held = [f"{item.source}: {item.reasons}" for item in report.held]
    named = (("could not be taken in", failed), ("are held back by the gate and missing here", held))
    return tuple(f"{len(lines)} documents {said}: {_first_of(lines)}" for said, lines in named if lines)


def _first_of(lines: Sequence[str]) -> str:
    return "; ".join([*lines[:MOST_FAILURES_SHOWN], *(["..."] if len(lines) > MOST_FAILURES_SHOWN else [])])


def _read(folder: Path) -> Record | None:
    try:
        found: dict[str, Any] = json.loads((folder / RECORD).read_text(encoding="utf-8"))
        return Record(**{**found, "problems": tuple(found["problems"])})
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _write(folder: Path, record: Record) -> None:
    fresh = folder / f"{RECORD}.new"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        fresh.write_text(json.dumps(asdict(record), ensure_ascii=True), encoding="utf-8")
        os.replace(fresh, folder / RECORD)
    except OSError as error:
        raise StoreError(
            f"The folder {folder} cannot be written: {error.strerror}.", hint="Choose another home with --home."
        ) from error


def _size(folder: Path) -> int:
    files = (path.lstat() for path in folder.rglob("*") if path.is_file())
    # What is taken on disk where the system tells: index files are larger than what is written in them.
    return sum(getattr(file, "st_blocks", -(-file.st_size // 512)) * 512 for file in files)
