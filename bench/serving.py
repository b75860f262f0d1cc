"""Many clients at once: searches and extractive answers over HTTP, for a minute, against a running service.

python -m bench.serving [--chunks N] [--clients N] [--seconds N] [--home DIR]

The service is a process of its own, as `kaijuan serve` runs it, with a stub in the place of the embedding model, whose
own time bench/embedding.py measures. Service, index owner and clients share the machine.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx

from bench.machine import machine
from bench.search_latency import percentiles, write_corpus
from bench.texts import sentence
from kaijuan import Kaijuan
from kaijuan.config import Config
from kaijuan.server.app import make_app
from kaijuan.server.running import listen, run
from kaijuan.testing.embedders import HashEmbedder

DIMENSIONS = 384
KINDS = ("search", "answer", "streamed answer")
AT = "/api/v1/kbs/default"
_PAUSE = 2.0
_PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass(slots=True)
class Seen:
    """What the clients saw."""

    seconds: dict[str, list[float]] = field(default_factory=lambda: {kind: [] for kind in KINDS})
    statuses: dict[str, int] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)
    memory: list[tuple[int, int]] = field(default_factory=list)
    """Resident MB of the service and of the index owner."""


def engine_of(home: Path) -> Kaijuan:
    """Return the engine of a home, with the stub."""
    return Kaijuan(home, config=Config(), embedder=HashEmbedder(dimensions=DIMENSIONS))


async def build(folder: Path, chunks: int) -> int:
    """Make the base."""
    corpus = folder / "corpus.jsonl"
    write_corpus(corpus, chunks)
    async with engine_of(folder / "home") as engine:
        return (await engine.add([str(corpus)])).chunks


def serve(home: Path) -> None:
    """Serve a home until a signal comes. The address is the first line printed."""
    with listen("127.0.0.1", 0) as (opened, address):
        app = make_app(engine_of(home), host="127.0.0.1")
        print(address, flush=True)
        run(app, opened)


@contextmanager
def served(home: Path) -> Iterator[tuple[str, int]]:
    """Start the service; yield its address and the id of its process."""
    words = [sys.executable, "-m", "bench.serving", "--serve", str(home)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+", address), address
        try:
            yield address, process.pid
        finally:
            process.terminate()
            process.wait(60)


async def load(address: str, pids: Sequence[int], clients: int, seconds: float) -> Seen:
    """Let so many clients ask for so long."""
    seen, until = Seen(), time.perf_counter() + seconds
    limits = httpx.Limits(max_connections=clients, max_keepalive_connections=clients)
    async with httpx.AsyncClient(base_url=address, timeout=120, limits=limits) as http:
        watching = asyncio.create_task(_watch(seen, pids))
        await asyncio.gather(*(_client(http, seen, number, until) for number in range(clients)))
        watching.cancel()
    return seen


async def _client(http: httpx.AsyncClient, seen: Seen, number: int, until: float) -> None:
    chance = random.Random(number)
    while time.perf_counter() < until:
        question = "".join(sentence(chance) for _ in range(2))[:40]
        kind = chance.choices(KINDS, (2, 1, 1))[0]
        start = time.perf_counter()
        try:
            status, whole = await _asked(http, kind, question)
        except httpx.HTTPError as error:
            seen.errors.append(f"{kind}: {type(error).__name__} {error}")
            continue
        seen.seconds[kind].append(time.perf_counter() - start)
        seen.statuses[str(status)] = seen.statuses.get(str(status), 0) + 1
        if status != httpx.codes.OK or not whole:
            seen.errors.append(f"{kind}: {status}")


async def _asked(http: httpx.AsyncClient, kind: str, question: str) -> tuple[int, bool]:
    if kind == "search":
        answer = await http.post(f"{AT}/search", json={"query": question})
        return answer.status_code, bool(answer.json().get("query"))
    headers = {"Accept": "text/event-stream"} if kind == "streamed answer" else {}
    answer = await http.post(f"{AT}/ask", json={"question": question, "extractive": True}, headers=headers)
    whole = "event: done" in answer.text if headers else bool(answer.json().get("status"))
    return answer.status_code, whole


async def _watch(seen: Seen, pids: Sequence[int]) -> None:
    while True:
        service, owner = (_resident(pid) for pid in pids)
        seen.memory.append((service, owner))
        await asyncio.sleep(_PAUSE)


def _resident(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE // 2**20
    except (OSError, IndexError):
        return 0


def _processor(pid: int) -> float:
    """Return the seconds of processor time that a process has taken."""
    try:
        words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def owner_of(home: Path) -> int:
    """Return the process of the index owner of a home."""
    for each in Path("/proc").glob("[0-9]*"):
        try:
            words = (each / "cmdline").read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue
        if "kaijuan.stores.index.owner" in words and str(home.resolve()) in words:
            return int(each.name)
    return 0


def told(seen: Seen, spent: Sequence[float], chunks: int, clients: int, seconds: float) -> dict[str, Any]:
    """Return what is published."""
    third = max(1, len(seen.memory) // 3)
    count = sum(map(len, seen.seconds.values()))
    return {
        "machine": machine(),
        "chunks": chunks,
        "clients": clients,
        "seconds": seconds,
        "load_average": round(os.getloadavg()[0], 1),
        "requests": count,
        "per_second": round(count / seconds, 1),
        "errors": len(seen.errors),
        "first_errors": seen.errors[:5],
        "statuses": seen.statuses,
        "ms": {kind: percentiles(found) for kind, found in seen.seconds.items() if found},
        "processor_ms_a_request": {
            role: round(each * 1000 / max(count, 1), 1)
            for role, each in zip(("service", "index owner"), spent, strict=True)
        },
        "memory_mb": {
            role: {
                "first third": max(one[at] for one in seen.memory[:third]),
                "last third": max(one[at] for one in seen.memory[-third:]),
            }
            for at, role in enumerate(("service", "index owner"))
        },
    }


async def measure(folder: Path, chunks: int, clients: int, seconds: float) -> dict[str, Any]:
    """Build the base where it is missing, serve it, and load it."""
    if not (folder / "home" / "catalog.db").exists():
        await build(folder, chunks)
    with served(folder / "home") as (address, pid):
        async with httpx.AsyncClient(base_url=address, timeout=120) as http:
            status = (await http.get(f"{AT}/status")).json()
            await http.post(f"{AT}/search", json={"query": "差旅"})
        pids = (pid, owner_of(folder / "home"))
        await load(address, pids, clients, min(10.0, seconds))  # warm: caches fill once
        before = [_processor(each) for each in pids]
        seen = await load(address, pids, clients, seconds)
        spent = [_processor(each) - was for each, was in zip(pids, before, strict=True)]
        return told(seen, spent, status["chunks"], clients, seconds)


def main() -> None:
    """Print what was measured."""
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--chunks", type=int, default=20_000)
    words.add_argument("--clients", type=int, default=50)
    words.add_argument("--seconds", type=float, default=60)
    words.add_argument("--home", type=Path, help="A folder that is kept.")
    words.add_argument("--serve", type=Path, help=argparse.SUPPRESS)
    given = words.parse_args()
    if given.serve is not None:
        serve(given.serve)
        return
    with TemporaryDirectory() as temporary:
        folder = given.home or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        print(json.dumps(asyncio.run(measure(folder, given.chunks, given.clients, given.seconds))))


if __name__ == "__main__":
    main()
