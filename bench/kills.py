"""Kill a base at random moments of add, update, delete, rebuild and migrate, and see that nothing is lost.

    python -m bench.kills [--kills N] [--seed N] [--keep FOLDER]

One home lives through all of it. Each round starts a verb in a process of its own and ends that process (SIGKILL) at a
moment drawn at random, one time in three the index owner with it. Then

- readers: at head, the index has the points of the catalog's chunks and no others, and every document is old or new;
- the verb is asked for again and ends well; documents are what was written, each once, and `doctor --deep` finds
  nothing that differs between catalog, index, vectors and blobs, and after `gc` no blob that belongs to nothing.

A reader searches all the time from a process of its own. What it was given is compared at the end with the catalog:
each answer must be of one snapshot, without error. What was embedded is written down, so that work done twice is seen.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import signal
import sqlite3
import sys
import time
import traceback
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from alembic import command
from alembic.config import Config as Alembic

from bench.machine import machine
from kaijuan import Kaijuan
from kaijuan.config import Config
from kaijuan.core.documents import INDEXED
from kaijuan.core.filters import at_snapshot
from kaijuan.core.ids import content_hash
from kaijuan.core.spans import Span
from kaijuan.errors import NotFoundError
from kaijuan.index.ports import EmbedderInfo, Vector, Vectors
from kaijuan.index.settings import IndexSettings
from kaijuan.ingest.settings import ChunkSettings
from kaijuan.jobs.settings import JobSettings
from kaijuan.models.around.embedding_cache import CachedEmbedder
from kaijuan.stores import migrations
from kaijuan.stores.catalog.connection import open_engine, url_of
from kaijuan.testing.embedders import HashEmbedder

VERBS = ("add", "update", "delete", "rebuild", "migrate")
OLD_REVISION = "0005"
"""Of the catalog that is migrated; the newest is several steps on."""
SETTINGS = Config(
    chunk=ChunkSettings(child_tokens=32, max_tokens=64, parent_tokens=96, summaries=False),
    index=IndexSettings(grace_seconds=0.2),
    jobs=JobSettings(publish_documents=4, backlog_chunks=8, group_documents=2),
)
"""Small pieces, so that a run of a second has many steps."""
DOCUMENTS = 14
CHANGED = 6
"""A small base: a kill hits one of the steps of a verb, and those are the same however few documents there are."""
READ_PAUSE = 0.1
"""Seconds between two searches of the reader, which otherwise takes the processor from those who are to be killed."""
QUESTION = "规定 rule edition"


class Counted:
    """A deterministic embedder that writes down the hash of every text that it is given."""

    def __init__(self, log: Path) -> None:
        self._inner = HashEmbedder()
        self._log = log

    @property
    def info(self) -> EmbedderInfo:
        return self._inner.info

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        vectors = await self._inner.embed_passages(texts)
        with self._log.open("a", encoding="ascii") as file:
            file.write("".join(content_hash(text.encode())[:16] + "\n" for text in texts))
        return vectors

    async def embed_query(self, text: str) -> Vector:
        return await self._inner.embed_query(text)

    def token_spans(self, text: str) -> Sequence[Span]:
        return self._inner.token_spans(text)

    async def close(self) -> None:
        await self._inner.close()


@dataclass(slots=True)
class Ordeal:
    """A home, the folder it is fed from, and what should be in it."""

    place: Path
    chance: random.Random
    expected: dict[str, int] = field(default_factory=dict)
    """File names and their editions."""
    names: int = 0
    kills: Counter[str] = field(default_factory=Counter)
    owner_kills: int = 0
    seconds: dict[str, float] = field(default_factory=dict)
    """How long each verb takes when nobody kills it."""

    @property
    def home(self) -> Path:
        """The home folder."""
        return self.place / "home"

    @property
    def docs(self) -> Path:
        """The folder of files."""
        return self.place / "docs"

    def engine(self) -> Kaijuan:
        """Return an engine over the home."""
        cache = self.home / "cache" / "embeddings.db"
        embedder = CachedEmbedder(Counted(self.place / "embedded.log"), cache, max_bytes=1 << 30)
        return Kaijuan(self.home, config=SETTINGS, embedder=embedder)


# --- what is done ----------------------------------------------------------------------------------------------


def text_of(name: str, edition: int) -> str:
    """Return a document of about ten chunks that says of itself who it is, in every one of them."""
    chance = random.Random(name)
    same = [f"{name} 规定 rule {chance.randint(1, 10**9)}: 第 {at} 段不变。" for at in range(6)]
    own = [f"{name} 规定 rule edition {edition}: part {at}, {edition * 1000 + at}。" for at in range(4)]
    return "\n\n".join([f"# {name}", *same, *own])


def write(ordeal: Ordeal, names: Sequence[str]) -> None:
    """Write the files as they should be now."""
    for name in names:
        path = ordeal.docs / name
        if name in ordeal.expected:
            path.write_text(text_of(name, ordeal.expected[name]), encoding="utf-8")
        else:
            path.unlink(missing_ok=True)


def plan(ordeal: Ordeal, verb: str) -> dict[str, set[int | None]]:
    """Change what should be there; return, for every file, the editions that readers may see until the verb ends."""
    allowed: dict[str, set[int | None]] = {name: {edition} for name, edition in ordeal.expected.items()}
    chance = ordeal.chance
    changed: list[str] = []
    if verb == "add":
        for _ in range(CHANGED):
            ordeal.names += 1
            # Most are read in the engine's own process, some by a parser.
            name = f"file{ordeal.names:05}.{chance.choice(('txt', 'txt', 'txt', 'txt', 'txt', 'md'))}"
            allowed[name] = {None, 1}
            ordeal.expected[name] = 1
            changed.append(name)
    elif verb == "update":
        for name in chance.sample(sorted(ordeal.expected), min(CHANGED, len(ordeal.expected))):
            ordeal.expected[name] += 1
            allowed[name].add(ordeal.expected[name])
            changed.append(name)
    elif verb == "delete":
        for name in chance.sample(sorted(ordeal.expected), max(0, min(CHANGED, len(ordeal.expected) - CHANGED))):
            del ordeal.expected[name]
            allowed[name].add(None)
            changed.append(name)
    write(ordeal, changed)
    return allowed


async def do(ordeal: Ordeal, verb: str) -> None:
    """Do a verb, or what is left of it."""
    async with ordeal.engine() as engine:
        if verb in ("add", "update"):
            await engine.add([str(ordeal.docs)])
        elif verb == "delete":
            there = {version.source.rpartition("/")[2] for version in await engine.list()}
            gone = [str(ordeal.docs / name) for name in sorted(there - set(ordeal.expected))]
            if gone:
                await engine.remove(gone)
        elif verb == "rebuild":
            await engine.rebuild()
        else:
            await engine.list()


def age(ordeal: Ordeal) -> None:
    """Put a catalog of an earlier revision, with all that it can hold, in place of the present one."""
    file, old = ordeal.home / "catalog.db", ordeal.home / "old.db"
    old.unlink(missing_ok=True)
    engine = open_engine(url_of(old), connections=1)
    alembic = Alembic()
    alembic.set_main_option("script_location", str(Path(migrations.__file__).parent))
    with engine.connect().execution_options(durable=True) as connection, connection.begin():
        alembic.attributes["connection"] = connection
        command.upgrade(alembic, OLD_REVISION)
    engine.dispose()
    with sqlite3.connect(old) as made:
        made.execute("ATTACH ? AS present", (str(file),))
        names = [row[0] for row in made.execute("SELECT name FROM main.sqlite_master WHERE type = 'table'")]
        for name in names:
            if name not in ("alembic_version", "sqlite_sequence"):
                columns = ", ".join(f'"{row[1]}"' for row in made.execute(f"PRAGMA main.table_info({name})"))
                made.execute(f"INSERT INTO main.{name} ({columns}) SELECT {columns} FROM present.{name}")
    made.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    made.close()
    for ending in ("", "-wal", "-shm"):
        file.with_name(file.name + ending).unlink(missing_ok=True)
    old.rename(file)
    for ending in ("-wal", "-shm"):
        old.with_name(old.name + ending).unlink(missing_ok=True)


# --- what must hold --------------------------------------------------------------------------------------------


async def look(ordeal: Ordeal, allowed: dict[str, set[int | None]]) -> None:
    """After a kill, before anything is mended: what readers at head see is whole."""
    async with ordeal.engine() as engine:
        seen = await editions(engine, None)
        for name in allowed | seen:
            assert seen.get(name) in allowed.get(name, {None}), f"{name} is of edition {seen.get(name)}"
        kb = await engine.catalog.kb(engine.tenant, engine.kb_name)
        versions = await engine.catalog.versions(kb.id, kb.head, limit=10_000)
        chunks = await engine.catalog.chunks_of_each([version.id for version in versions], *INDEXED)
        wanted = {chunk.id for some in chunks.values() for chunk in some}
        index = await engine._index(kb)
        assert index is not None
        found = {header.id async for header in index.scan(at_snapshot(kb.head))}
        assert found == wanted, f"{len(found - wanted)} points too many, {len(wanted - found)} missing"


async def editions(engine: Kaijuan, snapshot: int | None) -> dict[str, int]:
    """Return the files that a snapshot shows, and their editions, as their stored texts say."""
    kb = await engine.catalog.kb(engine.tenant, engine.kb_name)
    versions = await engine.catalog.versions(kb.id, kb.head if snapshot is None else snapshot, limit=10_000)
    found: dict[str, int] = {}
    for version in versions:
        name = version.source.rpartition("/")[2]
        assert name not in found, f"{name} is there twice"
        found[name] = edition_of((await engine.blobs.get(version.text_hash)).decode())
    return found


def edition_of(text: str) -> int:
    """Return the edition that a text says it is, 0 where it does not say."""
    _, found, rest = text.partition(" rule edition ")
    return int(rest.partition(":")[0]) if found else 0


async def verify(ordeal: Ordeal, *, orphans: bool) -> None:
    """After the verb was asked for again: everything is there once, and all stores agree."""
    async with ordeal.engine() as engine:
        seen = await editions(engine, None)
        assert seen == ordeal.expected, f"{seen} is not {ordeal.expected}"
        kb = await engine.catalog.kb(engine.tenant, engine.kb_name)
        assert not await engine.catalog.unfinished_runs(kb.id)
        if orphans:
            await engine.gc()
        report = await engine.doctor(deep=True)
        wrong = [f"{check.name}: {check.detail}" for check in report.checks if not check.ok]
        assert not wrong, "; ".join(wrong)


async def read_on(ordeal: Ordeal) -> None:
    """Search until killed; write down what came."""
    with (ordeal.place / "reader.log").open("a", encoding="utf-8") as log:
        while not (ordeal.place / "stop").exists():
            async with ordeal.engine() as engine:
                for _ in range(50):
                    line = await _answer(engine)
                    log.write(json.dumps(line) + "\n")
                    log.flush()
                    await asyncio.sleep(READ_PAUSE)
                    if "error" in line or (ordeal.place / "stop").exists():
                        break  # anew, as another command would be


async def _answer(engine: Kaijuan) -> dict[str, Any]:
    started = time.perf_counter()
    try:
        result = await engine.search(QUESTION, k=30, cut=False)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is written down
        return {"error": f"{type(error).__name__}: {error}"}
    found = [[one.source.rpartition("/")[2], edition_of(one.text)] for one in result.passages]
    bad = [route.state for route in result.trace.routes if route.state.startswith("failed")]
    return {"snapshot": result.snapshot, "found": found, "failed": bad, "seconds": time.perf_counter() - started}


async def judge(ordeal: Ordeal) -> dict[str, Any]:
    """Compare what the reader was given with what each snapshot shows."""
    lines = [json.loads(line) for line in (ordeal.place / "reader.log").read_text("utf-8").splitlines()]
    errors = Counter(line["error"] for line in lines if "error" in line)
    mixed, known = 0, dict[int, dict[str, int]]()
    async with ordeal.engine() as engine:
        for line in lines:
            if "error" in line:
                continue
            snapshot = line["snapshot"]
            if snapshot not in known:
                known[snapshot] = await editions(engine, snapshot)
            wrong = [name for name, edition in line["found"] if edition not in (0, known[snapshot].get(name))]
            gone = [name for name, _ in line["found"] if name not in known[snapshot]]
            mixed += bool(wrong or gone)
    return {
        "answers": len(lines),
        "errors": dict(errors),
        "mixed_snapshots": mixed,
        "without_a_route": sum(bool(line.get("failed")) for line in lines),
        "snapshots_read": len(known),
    }


# --- processes -------------------------------------------------------------------------------------------------


def forked(work: Callable[[], Awaitable[None]] | Callable[[], None], log: Path) -> int:
    """Start a process for a piece of work; return its id. Cheap: what is imported is shared."""
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        made = work()
        if made is not None:
            asyncio.run(made)  # type: ignore[arg-type] # a coroutine
        code = 0
    except BaseException:  # noqa: BLE001 - told in the log; the process ends here whatever it was
        log.write_text(traceback.format_exc(), encoding="utf-8")
    finally:
        os._exit(code)


def ended(ordeal: Ordeal, what: str, work: Callable[[], Any]) -> float:
    """Do a piece of work in a process and wait for it; return how long it took."""
    log = ordeal.place / "failure.log"
    started = time.perf_counter()
    _, status = os.waitpid(forked(work, log), 0)
    if status:
        raise SystemExit(f"{what} failed:\n{log.read_text('utf-8') if log.exists() else status}")
    return time.perf_counter() - started


def owner_of(home: Path) -> int:
    """Return the process that holds the index, 0 for none."""
    with suppress(OSError, ValueError):
        return int((home / "index" / "owner.lock").read_text("ascii") or 0)
    return 0


def kill(pid: int) -> bool:
    """Kill a process; say whether it was still there."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


def one_round(ordeal: Ordeal, verb: str) -> bool:
    """Kill a verb somewhere and see what follows; False when it had ended before."""
    if verb == "migrate":
        ended(ordeal, "age", lambda: age(ordeal))
    allowed = plan(ordeal, verb)
    moment = ordeal.chance.uniform(0.0, 1.15 * ordeal.seconds.get(verb, 2.0))
    started = time.perf_counter()
    pid = forked(lambda: do(ordeal, verb), ordeal.place / "failure.log")
    while time.perf_counter() - started < moment:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            assert status == 0, (ordeal.place / "failure.log").read_text("utf-8")
            ordeal.seconds[verb] = time.perf_counter() - started
            break
        time.sleep(0.002)
    else:
        kill(pid)
        _, status = os.waitpid(pid, 0)
    killed = bool(os.WIFSIGNALED(status))
    with_owner = killed and ordeal.chance.random() < 1 / 3 and verb != "migrate"
    if with_owner and (owner := owner_of(ordeal.home)):
        ordeal.owner_kills += kill(owner)
    ended(ordeal, f"look after {verb}", lambda: look(ordeal, allowed))
    took = ended(ordeal, f"{verb} again", lambda: do(ordeal, verb))
    if killed:
        ordeal.seconds[verb] = 0.7 * ordeal.seconds.get(verb, took) + 0.3 * took
        ordeal.kills[verb] += 1
    ended(ordeal, f"verify after {verb}", lambda: verify(ordeal, orphans=True))
    return killed


def begin(ordeal: Ordeal) -> None:
    """Make the first documents and the base."""
    ordeal.docs.mkdir(parents=True)
    ordeal.names = DOCUMENTS
    ordeal.expected = {f"file{number:05}.txt": 1 for number in range(1, DOCUMENTS + 1)}
    write(ordeal, list(ordeal.expected))
    ended(ordeal, "first add", lambda: do(ordeal, "add"))
    ended(ordeal, "verify", lambda: verify(ordeal, orphans=True))


def run(place: Path, kills: int, seed: int, *, told: Callable[[str], None] = lambda _: None) -> dict[str, Any]:
    """Go through the ordeal; SystemExit says what did not hold."""
    ordeal = Ordeal(place, random.Random(seed))
    started, used = time.perf_counter(), _used()
    begin(ordeal)
    reader = 0
    rounds = 0
    try:
        while sum(ordeal.kills.values()) < kills:
            verb = min(VERBS, key=lambda one: (ordeal.kills[one], ordeal.chance.random()))
            if verb == "migrate" and reader:
                # The old program's readers know nothing of the new tables: they are gone before an upgrade.
                reader = stopped(ordeal, reader)
            elif verb != "migrate" and not reader:
                (ordeal.place / "stop").unlink(missing_ok=True)
                reader = forked(lambda: read_on(ordeal), ordeal.place / "reader_failure.log")
            one_round(ordeal, verb)
            rounds += 1
            told(f"{sum(ordeal.kills.values())} kills, {rounds} rounds, {dict(ordeal.kills)}")
        reader = stopped(ordeal, reader) if reader else 0
        ended(ordeal, "judge", lambda: _judged(ordeal))
    finally:
        if reader:
            kill(reader)
            os.waitpid(reader, 0)
        if owner := owner_of(ordeal.home):
            kill(owner)
    embedded = (place / "embedded.log").read_text("ascii").split()
    return {
        "machine": machine(),
        "seed": seed,
        "kills": dict(ordeal.kills),
        "rounds": rounds,
        "index_owner_killed_as_well": ordeal.owner_kills,
        "documents_at_the_end": len(ordeal.expected),
        "readers": json.loads((place / "judged.json").read_text("utf-8")),
        "texts_embedded": len(embedded),
        "embedded_again": len(embedded) - len(set(embedded)),
        "seconds": round(time.perf_counter() - started, 1),
        "processor_seconds": round(_used() - used, 1),
    }


def _used() -> float:
    """Return the processor seconds of this process and of all that it started and waited for; without the owner of the
    index, which nobody waits for."""
    return sum(os.times()[:4])


async def _judged(ordeal: Ordeal) -> None:
    (ordeal.place / "judged.json").write_text(json.dumps(await judge(ordeal)), encoding="utf-8")


def stopped(ordeal: Ordeal, reader: int) -> int:
    """Let the reader end by itself."""
    (ordeal.place / "stop").touch()
    _, status = os.waitpid(reader, 0)
    if status:
        raise SystemExit(f"the reader failed:\n{(ordeal.place / 'reader_failure.log').read_text('utf-8')}")
    return 0


def main() -> None:
    """Run and print JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=8)
    parser.add_argument("--keep", type=Path, help="a folder that must not exist; it is kept to be looked at")
    options = parser.parse_args()
    with TemporaryDirectory() as spare:
        place = options.keep or Path(spare) / "ordeal"
        result = run(place, options.kills, options.seed, told=lambda line: print(line, file=sys.stderr, flush=True))
    print(json.dumps(result, indent=1, ensure_ascii=False))


if __name__ == "__main__":
    try:
        # A fork must not inherit the threads of a numeric library.
        import numpy as np  # noqa: F401

        main()
    except NotFoundError as error:
        raise SystemExit(str(error)) from error
