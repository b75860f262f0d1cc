import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from kaijuan.errors import (
    BrokenDocumentError,
    ClosedError,
    EncryptedDocumentError,
    ParseMemoryError,
    ParseTimeoutError,
    UnsupportedDocumentError,
)
from kaijuan.ingest.isolate import ParserPool

BAD_PARSERS = """
import ctypes, os, time
from kaijuan.core.documents import ParsedDocument
from kaijuan.errors import EncryptedDocumentError

class Crash:
    def parse(self, data, name): ctypes.string_at(0)
class Exit:
    def parse(self, data, name): os._exit(0)
class Sleep:
    def parse(self, data, name): time.sleep(60)
class Spin:
    def parse(self, data, name):
        while True: pass
class Hoard:
    def parse(self, data, name):
        kept = []
        while True: kept.append(bytearray(50_000_000))
class Grab:
    def parse(self, data, name): return bytes(40_000_000_000)
class Raise:
    def parse(self, data, name):
        print("noise on stdout", flush=True)
        os.write(1, b"more noise")
        raise RuntimeError("vendor words")
class Refuse:
    def parse(self, data, name): raise EncryptedDocumentError("locked", hint="find the key")
class Who:
    def parse(self, data, name): return ParsedDocument(text=str(os.getpid()), blocks=(), kind="who")
class Mark:
    def parse(self, data, name):
        open(data.decode(), "w").write(str(os.getpid()))
        time.sleep(60)
class Odd:
    def parse(self, data, name): return ParsedDocument(text=5, blocks=(), kind="odd")
class Pictures:
    recogniser = None
    def parse(self, data, name):
        import numpy
        read = 0
        try:
            for _ in range(int(data)):
                read += len(self.recogniser.recognise(numpy.zeros((20, 20, 3), numpy.uint8)))
        except Exception as error:
            return ParsedDocument(text=f"{read} {type(error).__name__}", blocks=(), kind="pictures")
        return ParsedDocument(text=f"{read}", blocks=(), kind="pictures")
class Eye:
    fingerprint = "eye"
    def __init__(self, threads): pass
    def recognise(self, image):
        time.sleep(1)
        return ["a line"]
class BlindEye(Eye):
    def recognise(self, image): raise RuntimeError("vendor words")
class StuckEye(Eye):
    def recognise(self, image): time.sleep(60)
"""
KINDS = ("Crash", "Exit", "Sleep", "Spin", "Hoard", "Grab", "Raise", "Refuse", "Who", "Mark", "Odd", "Pictures")


@pytest.fixture
def parsers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    (tmp_path / "bad_parsers.py").write_text(BAD_PARSERS)
    monkeypatch.syspath_prepend(str(tmp_path))
    ours = {"markdown": "kaijuan.ingest.parsers.markdown:MarkdownParser"}
    return ours | {"text": "kaijuan.ingest.parsers.text:TextParser"} | {kind: f"bad_parsers:{kind}" for kind in KINDS}


@pytest.fixture
async def pool(parsers: dict[str, str]) -> AsyncIterator[ParserPool]:
    pool = ParserPool(parsers, seconds=1.5, memory_mb=250)
    yield pool
    await pool.close()


async def works(pool: ParserPool) -> bool:
    return (await pool.parse("markdown", b"# a\n\nb", "a.md")).title == "a"


@pytest.mark.parametrize(
    ("kind", "error"),
    [
        ("Crash", BrokenDocumentError),
        ("Exit", BrokenDocumentError),
        ("Sleep", ParseTimeoutError),
        ("Spin", ParseTimeoutError),
        ("Hoard", ParseMemoryError),
        ("Grab", ParseMemoryError),
        ("Raise", BrokenDocumentError),
        ("Odd", BrokenDocumentError),
        ("no such kind", UnsupportedDocumentError),
    ],
)
async def test_a_bad_file_is_a_named_error_and_the_pool_lives(
    pool: ParserPool, kind: str, error: type[Exception]
) -> None:
    assert await works(pool)
    with pytest.raises(error, match=r"file\.x|Sleep|no such kind|not a document"):
        await pool.parse(kind, b"data", "file.x")
    assert await works(pool)


async def test_the_parsers_own_error_comes_through(pool: ParserPool) -> None:
    with pytest.raises(EncryptedDocumentError) as caught:
        await pool.parse("Refuse", b"x", "x")
    assert (caught.value.message, caught.value.hint) == ("locked", "find the key")


async def test_processes_are_kept(pool: ParserPool) -> None:
    first = await pool.parse("Who", b"x", "x")
    assert await pool.parse("Who", b"x", "x") == first
    assert first.text != str(os.getpid())


async def test_small_texts_stay_in_the_process(parsers: dict[str, str]) -> None:
    pool = ParserPool(parsers | {"text": "bad_parsers:Who"}, seconds=5, memory_mb=250)
    assert (await pool.parse("text", b"small", "x")).text == str(os.getpid())
    assert (await pool.parse("text", b"large" * 20_000, "x")).text != str(os.getpid())
    await pool.close()


async def test_many_at_once(parsers: dict[str, str]) -> None:
    pool = ParserPool(parsers, workers=2, seconds=10, memory_mb=250)
    done = await asyncio.gather(*(pool.parse("markdown", f"# t{n}".encode(), "a.md") for n in range(20)))
    assert [document.title for document in done] == [f"t{n}" for n in range(20)]
    await pool.close()


async def wait_for_pid(path: Path) -> int:
    return await asyncio.to_thread(pid_in, path)


def pid_in(path: Path) -> int:
    for _ in range(2000):
        if path.exists() and (text := path.read_text()):
            return int(text)
        time.sleep(0.01)
    raise AssertionError("the parser did not start")


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def test_cancelling_ends_the_process(parsers: dict[str, str], tmp_path: Path) -> None:
    pool = ParserPool(parsers, seconds=50, memory_mb=250)
    task = asyncio.create_task(pool.parse("Mark", str(tmp_path / "pid").encode(), "x"))
    pid = await wait_for_pid(tmp_path / "pid")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not is_alive(pid)
    assert await works(pool)
    await pool.close()


async def test_closing_ends_what_runs(parsers: dict[str, str], tmp_path: Path) -> None:
    pool = ParserPool(parsers, seconds=50, memory_mb=250)
    task = asyncio.create_task(pool.parse("Mark", str(tmp_path / "pid").encode(), "x"))
    pid = await wait_for_pid(tmp_path / "pid")
    await pool.close()
    with pytest.raises(ClosedError):
        await task
    assert not is_alive(pid)
    with pytest.raises(ClosedError):
        await pool.parse("markdown", b"x", "x")
    await pool.close()


def test_no_orphan_when_the_parent_is_killed(parsers: dict[str, str], tmp_path: Path) -> None:
    script = (
        "import asyncio\n"
        "from kaijuan.ingest.isolate import ParserPool\n"
        f"pool = ParserPool({parsers!r}, seconds=50, memory_mb=250)\n"
        f"asyncio.run(pool.parse('Mark', {str(tmp_path / 'pid').encode()!r}, 'x'))\n"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    parent = subprocess.Popen([sys.executable, "-c", script], env=environment)
    pid = pid_in(tmp_path / "pid")
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    deadline = time.monotonic() + 20
    while is_alive(pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not is_alive(pid)


async def pictures(parsers: dict[str, str], eye: str, count: int, seconds: float) -> str:
    """Have so many pictures recognised, each in a second, by a pool that gives a file six."""
    pool = ParserPool(
        parsers, seconds=6, memory_mb=250, recogniser=eye and f"bad_parsers:{eye}", recognise_seconds=seconds
    )
    try:
        return (await pool.parse("Pictures", str(count).encode(), "a")).text
    finally:
        await pool.close()


async def test_each_picture_that_is_recognised_gives_more_time(parsers: dict[str, str]) -> None:
    assert await pictures(parsers, "Eye", 8, 60) == "8"


async def test_pictures_beyond_their_time_are_refused(parsers: dict[str, str]) -> None:
    assert (await pictures(parsers, "Eye", 50, 1.5)).endswith("TimeUsedUpError")


async def test_a_recogniser_that_hangs_ends_in_time(parsers: dict[str, str]) -> None:
    with pytest.raises(ParseTimeoutError):
        await pictures(parsers, "StuckEye", 1, 30)


async def test_a_recogniser_that_raises_costs_a_picture(parsers: dict[str, str]) -> None:
    assert await pictures(parsers, "BlindEye", 3, 30) == "0 PictureError"


async def test_without_a_recogniser_a_parser_has_none(parsers: dict[str, str]) -> None:
    assert await pictures(parsers, "", 1, 30) == "0 AttributeError"
