"""The index owner process under bad luck: killed, stopped, started twice, left idle, its files damaged."""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from pathlib import Path

import pytest

from kaijuan.core.filters import EVERYTHING, Eq
from kaijuan.errors import BusyError, CorruptStoreError, KaijuanError, StoreError
from kaijuan.stores.index import protocol
from kaijuan.stores.index.cards import Card
from kaijuan.stores.index.client import connect
from kaijuan.stores.index.edge_store import _APPROXIMATE_ABOVE, EdgeIndexStore
from kaijuan.stores.index.places import Places
from kaijuan.stores.index.qdrant_edge import APPROXIMATE_ABOVE
from kaijuan.testing.contracts.index import scanned
from kaijuan.testing.contracts.index_points import corpus, point, spec

Open = Callable[..., EdgeIndexStore]


@pytest.fixture
async def open_store(tmp_path: Path) -> AsyncIterator[Open]:
    """Return a function that opens another store on one home; its owner is gone at the end."""
    stores: list[EdgeIndexStore] = []

    def another(idle_seconds: float = 60.0, patience: float = 30.0, home: Path = tmp_path) -> EdgeIndexStore:
        stores.append(EdgeIndexStore(home, idle_seconds, patience=patience))
        return stores[-1]

    yield another
    for pid in _owners(tmp_path):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    for store in stores:
        await store.close()


def _owners(home: Path) -> list[int]:
    """Return the processes that were started as owner of the home or of one in it and still live (Linux)."""
    found = []
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            words = place.read_bytes().split(b"\0")
            if b"kaijuan.stores.index.owner" in words and any(
                home in Path(os.fsdecode(word), "x").parents for word in words
            ):
                state = (place.parent / "stat").read_text().rpartition(")")[2].split()[0]
                if state != "Z":
                    found.append(int(place.parent.name))
    return found


async def _gone(pid: int) -> bool:
    """Say whether a process has ended, though nobody may have collected it yet."""
    return await asyncio.to_thread(_ended, pid)


def _ended(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    with suppress(FileNotFoundError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    return sys.platform == "linux"


async def _until(true: Callable[[], Awaitable[bool]]) -> None:
    for _ in range(600):
        if await true():
            return
        await asyncio.sleep(0.05)
    raise AssertionError("It did not come about within 30 s.")


async def _pid(store: EdgeIndexStore) -> int:
    pid = await store.owner_pid()
    assert pid is not None
    return pid


async def test_nothing_acknowledged_is_lost_when_the_owner_is_killed_while_writing(open_store: Open) -> None:
    store = open_store()
    index = await store.open(spec())
    victims: set[int] = set()

    async def kill() -> None:
        for pause in (0.15, 0.25, 0.1):
            await asyncio.sleep(pause)
            with suppress(ProcessLookupError, AssertionError):
                victims.add(pid := await _pid(store))
                os.kill(pid, signal.SIGKILL)

    killing = asyncio.create_task(kill())
    points, acknowledged, number = corpus(6_000), [], 0
    while not killing.done() or number < 10:
        batch = points[(number * 37) % 5_000 :][:37]
        with suppress(StoreError):  # the owner died twice in one call: not acknowledged
            await index.upsert(batch)
            acknowledged += batch
        if number == 5:
            await index.flush()
        number += 1
    await killing
    assert victims
    expected = {item.id: item.payload for item in acknowledged}
    found = {header.id: header.payload async for header in index.scan(EVERYTHING)}
    assert {id: found.get(id) for id in expected} == expected
    assert set(found) <= {item.id for item in points}


async def test_a_killed_owner_is_replaced_for_readers_and_its_stale_files_are_no_obstacle(
    open_store: Open, tmp_path: Path
) -> None:
    store = open_store()
    index = await store.open(spec())
    await index.upsert([point(1), point(2)])
    first = await _pid(store)
    os.kill(first, signal.SIGKILL)
    card = json.loads(Places(tmp_path).card.read_text())
    assert card["pid"] == first
    assert Places(tmp_path).socket.exists()
    assert await scanned(index) == [1, 2]
    assert await _pid(store) != first


async def test_a_card_that_points_nowhere_is_no_obstacle(open_store: Open, tmp_path: Path) -> None:
    places = Places(tmp_path)
    places.prepare()
    places.lock.write_text("999999")
    for text in ("", "[]", '{"pid": 1}', json.dumps({"pid": 1, "socket": str(places.socket.parent / "none.sock")})):
        places.card.write_text(text)
        store = open_store()
        assert await store.spaces() == []
        await store.stop_owner()
        assert await store.owner_pid() is None


async def test_clients_that_start_at_once_share_one_owner(open_store: Open, tmp_path: Path) -> None:
    stores = [open_store() for _ in range(4)]
    indexes = await asyncio.gather(*(store.open(spec()) for store in stores))
    await asyncio.gather(*(index.upsert([point(number)]) for number, index in enumerate(indexes)))
    assert await scanned(indexes[0]) == [0, 1, 2, 3]
    assert len({await _pid(store) for store in stores}) == 1
    assert len(_owners(tmp_path)) == 1 or sys.platform != "linux"


async def test_clients_in_several_processes_share_one_owner(open_store: Open, tmp_path: Path) -> None:
    script = (
        "import asyncio, sys\nfrom pathlib import Path\n"
        "from kaijuan.stores.index.edge_store import EdgeIndexStore\n"
        "from kaijuan.testing.contracts.index_points import point, spec\n"
        "async def main():\n"
        "    store = EdgeIndexStore(Path(sys.argv[1]), 60.0)\n"
        "    index = await store.open(spec())\n"
        "    await index.upsert([point(int(sys.argv[2]))])\n"
        "    print(await store.owner_pid())\n"
        "    await store.close()\n"
        "asyncio.run(main())\n"
    )
    children = [
        await asyncio.create_subprocess_exec(
            sys.executable, "-W", "error", "-c", script, str(tmp_path), str(number), stdout=asyncio.subprocess.PIPE
        )
        for number in range(3)
    ]
    said = [(await child.communicate())[0].strip() for child in children]
    assert [child.returncode for child in children] == [0, 0, 0]
    store = open_store()
    assert said == [str(await _pid(store)).encode()] * 3
    assert await scanned(await store.open(spec(), create=False)) == [0, 1, 2]


async def test_an_idle_owner_leaves_flushed_and_the_next_call_starts_another(open_store: Open, tmp_path: Path) -> None:
    store = open_store(idle_seconds=0.3)
    index = await store.open(spec())
    await index.upsert([point(1)])
    first = await _pid(store)

    async def gone() -> bool:
        return await store.owner_pid() is None

    await _until(gone)
    assert not Places(tmp_path).card.exists()
    assert not Places(tmp_path).socket.exists()
    assert await scanned(index) == [1]
    assert await store.owner_pid() != first


async def test_a_terminated_owner_leaves_in_order(open_store: Open, tmp_path: Path) -> None:
    store = open_store()
    index = await store.open(spec())
    await index.upsert([point(1)])
    os.kill(await _pid(store), signal.SIGTERM)

    async def gone() -> bool:
        return not Places(tmp_path).card.exists()

    await _until(gone)
    assert await scanned(index) == [1]


async def test_stopping_an_owner_that_is_not_there_is_quiet(open_store: Open) -> None:
    store = open_store()
    await store.stop_owner()
    assert await store.owner_pid() is None


async def test_an_owner_that_hangs_is_named_in_bounded_time(open_store: Open) -> None:
    store, other = open_store(patience=2.0), open_store(patience=2.0)
    patient = open_store()
    index = await patient.open(spec())
    await index.upsert([point(1)])
    known = await store.open(spec())
    pid = await _pid(patient)
    os.kill(pid, signal.SIGSTOP)
    try:
        for asked in (known.count(EVERYTHING), other.spaces()):
            with pytest.raises(BusyError, match=str(pid)) as caught:
                await asked
            assert "end that process" in caught.value.hint
            assert caught.value.retry
    finally:
        os.kill(pid, signal.SIGCONT)
    assert await scanned(known) == [1]
    assert await other.spaces() == ["main"]


async def test_a_home_locked_by_a_process_that_serves_nobody_is_busy(open_store: Open, tmp_path: Path) -> None:
    places = Places(tmp_path)
    places.prepare()
    with places.lock.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        lock.write("4242")
        lock.flush()
        with pytest.raises(BusyError, match="4242"):
            await open_store(patience=0.5).spaces()
    assert await open_store().spaces() == []


async def test_an_owner_of_another_version_is_not_spoken_to(open_store: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    await open_store().spaces()
    monkeypatch.setattr(protocol, "VERSION", protocol.VERSION + 1)
    with pytest.raises(BusyError, match="another kaijuan version"):
        await open_store().spaces()


async def test_an_owner_killed_while_optimising_loses_nothing_and_leaves_no_rubbish(
    open_store: Open, tmp_path: Path
) -> None:
    store = open_store()
    index = await store.open(spec())
    points = corpus(900)
    await index.upsert(points[:600])
    before = await scanned(index)
    running = asyncio.create_task(index.optimise())
    generations = tmp_path / "index" / "main"

    async def copied() -> bool:
        return len([place for place in generations.iterdir() if place.is_dir()]) == 2

    await _until(copied)
    await index.upsert(points[600:])
    os.kill(await _pid(store), signal.SIGKILL)
    with suppress(KaijuanError):
        await running
    assert await index.count(EVERYTHING) == 900
    assert set(before) <= set(await scanned(index))
    await store.stop_owner()
    assert await index.count(EVERYTHING) == 900
    assert len([place for place in generations.iterdir() if place.is_dir()]) == 1


async def test_an_owner_asked_to_leave_while_optimising_keeps_the_former_generation(
    open_store: Open, tmp_path: Path
) -> None:
    store = open_store()
    index = await store.open(spec())
    await index.upsert(corpus(600))
    running = asyncio.create_task(index.optimise())
    await asyncio.sleep(0.1)
    await store.stop_owner()
    with suppress(KaijuanError):
        await running
    assert await index.count(EVERYTHING) == 600


@pytest.mark.parametrize("victim", ["card", "shard", "segments"])
async def test_a_damaged_space_says_so_and_can_be_dropped_and_made_anew(
    open_store: Open, tmp_path: Path, victim: str
) -> None:
    store = open_store()
    index = await store.open(spec())
    await index.upsert([point(1)])
    await (await store.open(spec("other"))).upsert([point(2)])
    await store.stop_owner()
    folder = tmp_path / "index" / "main"
    damaged = {
        "card": [folder / "space.json"],
        "shard": [folder / "g000001" / "edge_config.json"],
        "segments": list(folder.glob("g000001/segments/*/segment.json")),
    }[victim]
    assert damaged
    for place in damaged:
        place.write_bytes(place.read_bytes()[: place.stat().st_size // 2])
    with pytest.raises(CorruptStoreError) as caught:
        await store.open(spec())
    assert "kaijuan rebuild" in caught.value.hint
    with pytest.raises(CorruptStoreError):
        await index.count(EVERYTHING)
    assert await scanned(await store.open(spec("other"))) == [2]
    await store.drop("main")
    assert await scanned(await store.open(spec())) == []


async def test_a_damaged_engine_file_that_makes_it_panic_does_not_end_the_owner(
    open_store: Open, tmp_path: Path
) -> None:
    store = open_store()
    await (await store.open(spec())).upsert([point(1)])
    await store.stop_owner()
    for place in (tmp_path / "index" / "main").rglob("deleted/status.dat"):
        place.write_bytes(place.read_bytes()[:3])
    with pytest.raises(CorruptStoreError):
        await store.open(spec())
    assert await store.spaces() == ["main"]


async def test_half_a_space_left_by_a_crash_is_swept_away(open_store: Open, tmp_path: Path) -> None:
    root = tmp_path / "index"
    (root / "half" / "g000001").mkdir(parents=True)
    (root / ".dropped-1" / "g000001").mkdir(parents=True)
    store = open_store()
    assert await store.spaces() == []
    assert not (root / ".dropped-1").exists()
    assert await scanned(await store.open(spec("half"))) == []


async def test_an_owner_that_cannot_start_says_why(open_store: Open, tmp_path: Path) -> None:
    (tmp_path / "index").write_text("in the way")
    with pytest.raises(StoreError, match="index"):
        await open_store().spaces()


@pytest.mark.parametrize("obstacle", ["owner.log", "owner.lock", "owner.draft"])
async def test_an_owner_that_cannot_start_says_why_in_one_sentence(
    open_store: Open, tmp_path: Path, obstacle: str
) -> None:
    place = tmp_path / "index" / obstacle  # a folder where a file must be: root, too, cannot write there
    place.mkdir(parents=True)
    with pytest.raises(StoreError) as caught:
        await open_store().spaces()
    assert f"{place}: Is a directory." in caught.value.message
    assert "\n" not in caught.value.message
    assert "Traceback" not in caught.value.message


async def test_strangers_on_the_socket_do_no_harm(open_store: Open, tmp_path: Path) -> None:
    store = open_store()
    index = await store.open(spec())
    await index.upsert([point(1)])
    socket = json.loads(Places(tmp_path).card.read_text())["socket"]
    for rubbish in (
        b"GET / HTTP/1.1\r\n\r\n",
        b"\xff\xff\xff\xff",
        b"\0\0\0\1\xc1",
        b"\0\0\0\5\x93\1",
        b"\0\0\0\1\x05",
    ):
        reader, writer = await asyncio.open_unix_connection(socket)
        writer.write(rubbish)
        writer.write_eof()
        assert await reader.read() == b""
        writer.close()
        await writer.wait_closed()
    connection = await connect(Places(tmp_path), patience=30)
    assert connection is not None
    with pytest.raises(StoreError, match="does not know"):
        await connection.ask("explode")
    with pytest.raises(StoreError, match="failed"):
        await connection.ask("count", "main")
    await connection.close()
    assert await scanned(index, Eq("valid_from", 0)) == [1]


@pytest.mark.parametrize("mode", [0o700, 0o755])
async def test_a_card_cannot_lead_clients_to_a_socket_of_its_own(open_store: Open, tmp_path: Path, mode: int) -> None:
    places = Places(tmp_path)
    places.prepare()
    called = asyncio.Event()
    base = Path(tempfile.mkdtemp(prefix="k", dir="/tmp"))
    folders = [base / "trap", base / places.socket.parent.name]
    servers = []
    for folder in folders:
        folder.mkdir(mode=mode)
        folder.chmod(mode)
        socket = folder / ("x.sock" if folder.name == "trap" else places.socket.name)
        if mode == 0o700 and folder.name != "trap":
            continue  # this one is as an owner with another TMPDIR would have made it
        servers.append(await asyncio.start_unix_server(lambda *_: called.set(), socket))
        places.card.write_text(Card(pid=1, socket=socket, index=places.identity()).text())
        store = open_store()
        assert await store.spaces() == []
        await store.stop_owner()
    assert servers
    assert not called.is_set()
    for server in servers:
        server.close()
    shutil.rmtree(base)


RUBBISH = (
    "",
    "[]",
    "nonsense",
    '{"pid": 1}',
    '{"pid": 1e999, "socket": "/var/x", "index": [1, 2]}',
    '{"pid": NaN, "socket": "/var/x", "index": [1, 2]}',
    '{"pid": 1, "socket": "/tmp/\\u0000", "index": [1, 2]}',
    '{"pid": 1, "socket": "/tmp/\\ud800", "index": "ab"}',
    '{"pid": 1, "socket": 5, "index": [1]}',
    '{"a":' * 20_000,
    "[" * 60_000,
    "[" * 1_000_000,
)


async def test_rubbish_on_the_card_is_as_no_card(open_store: Open, tmp_path: Path) -> None:
    places = Places(tmp_path)
    store = open_store()
    for text in RUBBISH:
        places.prepare()
        places.card.write_text(text)
        assert await open_store().spaces() == [], text[:50]
    places.card.unlink()
    await store.stop_owner()
    os.mkfifo(places.card)
    assert await open_store().spaces() == []


async def test_a_card_is_believed_only_for_the_home_it_names(open_store: Open, tmp_path: Path) -> None:
    places = Places(tmp_path)
    places.prepare()
    for index in ((1, 2), places.identity()):
        for socket in (Path("/tmp"), Path("/tmp/\0"), Path("x.sock"), places.socket):
            places.card.write_text(Card(pid=1, socket=socket, index=index).text())
            store = open_store()
            assert await store.spaces() == []
            await store.stop_owner()


async def test_a_home_copied_while_its_owner_lives_has_an_index_of_its_own(open_store: Open, tmp_path: Path) -> None:
    home, copy = tmp_path / "a", tmp_path / "b"
    index = await open_store(home=home).open(spec())
    await index.upsert([point(1)])
    await index.flush()
    await asyncio.to_thread(shutil.copytree, home, copy)
    copied = open_store(home=copy)
    assert await copied.owner_pid() is None
    other = await copied.open(spec())
    await other.upsert([point(2)])
    assert await scanned(other) == [1, 2]
    assert await scanned(index) == [1]
    await copied.drop("main")
    await copied.stop_owner()
    assert await scanned(index) == [1]


async def test_a_home_moved_while_its_owner_lives_is_served_at_its_new_place(open_store: Open, tmp_path: Path) -> None:
    home, moved = tmp_path / "a", tmp_path / "b"
    former = open_store(home=home)
    index = await former.open(spec())
    await index.upsert([point(1)])
    first = await _pid(former)
    home.rename(moved)
    store = open_store(home=moved)
    again = await store.open(spec(), create=False)
    await again.upsert([point(2)])
    assert await scanned(again) == [1, 2]
    assert await _pid(store) != first
    assert await former.spaces() == []
    assert await scanned(again) == [1, 2]


async def test_an_owner_whose_home_goes_away_leaves_though_nobody_asks(open_store: Open, tmp_path: Path) -> None:
    home = tmp_path / "a"
    store = open_store(home=home)
    await store.spaces()
    pid, socket = await _pid(store), Places(home).socket
    home.rename(tmp_path / "b")
    await _until(lambda: _gone(pid))
    assert not socket.exists()
    assert not Places(tmp_path / "b").card.exists()


@pytest.mark.parametrize("lost", ["index", "owner.lock"])
@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGCONT])
async def test_a_former_owner_leaves_its_successors_files_alone(
    open_store: Open, tmp_path: Path, lost: str, end: signal.Signals
) -> None:
    store = open_store()
    await (await store.open(spec())).upsert([point(1)])
    first = await _pid(store)
    os.kill(first, signal.SIGSTOP)  # it can notice nothing before its successor is there
    if lost == "index":
        shutil.rmtree(tmp_path / "index")
    else:
        Places(tmp_path).lock.unlink()
        Places(tmp_path).socket.unlink()
    later = open_store()
    index = await later.open(spec("later"))
    await index.upsert([point(2)])
    second = await _pid(later)
    assert second != first
    os.kill(first, end)
    os.kill(first, signal.SIGCONT)
    await _until(lambda: _gone(first))
    assert await _pid(open_store()) == second
    assert Places(tmp_path).card.exists()
    assert Places(tmp_path).socket.exists()
    assert await scanned(index) == [2]
    assert await later.spaces() == (["later"] if lost == "index" else ["later", "main"])


@pytest.mark.parametrize("lost", ["card", "socket", "both"])
async def test_an_owner_whose_card_or_socket_vanishes_makes_them_anew(
    open_store: Open, tmp_path: Path, lost: str
) -> None:
    store = open_store()
    index = await store.open(spec())
    await index.upsert([point(1)])
    first, places = await _pid(store), Places(tmp_path)
    for place in (places.card, places.socket):
        if lost in ("both", "card" if place is places.card else "socket"):
            place.unlink()
    later = open_store()
    assert await later.spaces() == ["main"]
    assert await _pid(later) == first
    assert await scanned(index) == [1]

    async def anew() -> bool:
        return places.card.exists() and places.socket.exists()

    await _until(anew)


async def test_clients_with_another_folder_for_temporary_files_find_the_owner(
    open_store: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = Path(tempfile.mkdtemp(prefix="k", dir="/tmp"))
    monkeypatch.setenv("TMPDIR", str(base))
    monkeypatch.setattr(tempfile, "tempdir", None)
    store = open_store()
    await store.spaces()
    first = await _pid(store)
    assert base in Places(tmp_path).socket.parents
    assert Places(tmp_path).socket.exists()
    monkeypatch.delenv("TMPDIR")
    monkeypatch.setattr(tempfile, "tempdir", None)
    assert await _pid(open_store()) == first
    await store.stop_owner()
    shutil.rmtree(base)


def test_clients_declare_what_the_engine_does() -> None:
    assert _APPROXIMATE_ABOVE == APPROXIMATE_ABOVE
