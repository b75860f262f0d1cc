"""The client's side of the protocol against owners that are slow, silent, gone or talk rubbish."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from pathlib import Path

import pytest

from kaijuan.errors import BusyError, FilterError, StoreError, UsageError
from kaijuan.stores.index import client, protocol
from kaijuan.stores.index.cards import Card
from kaijuan.stores.index.client import Connection, LostOwnerError, OwnerClient
from kaijuan.stores.index.places import Places

Answer = Callable[[protocol.Message, asyncio.StreamWriter], Awaitable[None]]
Start = Callable[[Answer], Awaitable[Places]]


@pytest.fixture
async def owner(tmp_path: Path) -> AsyncIterator[Start]:
    """Return a function that serves a home by one callback for each request."""
    servers = []

    async def start(answer: Answer) -> Places:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            try:
                while True:
                    message = await protocol.read_message(reader)
                    if message[1] == "hello":
                        reply(message, writer, [77, protocol.VERSION, places.identity()])
                    else:
                        await answer(message, writer)
            except (EOFError, ConnectionError):
                writer.close()

        places = Places(tmp_path)
        places.prepare()
        servers.append(await asyncio.start_unix_server(serve, places.socket))
        places.card.write_text(Card(pid=77, socket=places.socket, index=places.identity()).text())
        return places

    yield start
    for server in servers:
        server.close()
    with suppress(FileNotFoundError):
        Places(tmp_path).socket.unlink()


def reply(message: protocol.Message, writer: asyncio.StreamWriter, result: object) -> None:
    writer.write(protocol.pack([message[0], None, result]))


async def connected(places: Places, patience: float) -> Connection:
    connection = await client.connect(places, patience=patience)
    assert connection is not None
    return connection


async def test_a_long_answer_is_waited_for_while_pings_come_back(owner: Start) -> None:
    pings = 0

    async def answer(message: protocol.Message, writer: asyncio.StreamWriter) -> None:
        nonlocal pings
        if message[1] == "ping":
            pings += 1
            reply(message, writer, None)
        else:
            asyncio.get_running_loop().call_later(1.5, reply, message, writer, "done")

    connection = await connected(await owner(answer), 0.4)
    assert await connection.ask("optimise") == "done"
    assert pings >= 2
    await connection.close()


async def test_a_client_that_slept_does_not_blame_the_owner(owner: Start) -> None:
    async def answer(message: protocol.Message, writer: asyncio.StreamWriter) -> None:
        if message[1] == "ping":
            reply(message, writer, None)
        else:
            asyncio.get_running_loop().call_later(2.0, reply, message, writer, "done")

    connection = await connected(await owner(answer), 0.4)
    asking = asyncio.create_task(connection.ask("optimise"))
    await asyncio.sleep(0.1)
    time.sleep(1.0)  # noqa: ASYNC251 stopped as by Ctrl-Z: longer than the owner is waited for
    assert await asking == "done"
    await connection.close()


async def test_silence_is_an_error_that_names_the_process(owner: Start) -> None:
    async def answer(message: protocol.Message, writer: asyncio.StreamWriter) -> None:
        pass

    connection = await connected(await owner(answer), 0.2)
    with pytest.raises(BusyError, match="77"):
        await connection.ask("count")
    await connection.close()


async def test_answers_in_another_order_reach_whom_they_are_for(owner: Start) -> None:
    kept: list[protocol.Message] = []

    async def answer(message: protocol.Message, writer: asyncio.StreamWriter) -> None:
        kept.append(message)
        if len(kept) == 5:
            for held in reversed(kept):
                reply(held, writer, held[2][0])

    connection = await connected(await owner(answer), 30)
    assert await asyncio.gather(*(connection.ask("echo", number) for number in range(5))) == list(range(5))
    await connection.close()


async def test_the_owners_errors_are_raised_as_they_were(owner: Start) -> None:
    async def answer(message: protocol.Message, writer: asyncio.StreamWriter) -> None:
        if message[1] == "filter":
            error = FilterError("no such thing", hint="try another")
            writer.write(protocol.pack([message[0], protocol.pack_error(error), None]))
        else:
            writer.write(protocol.pack([message[0], ["SystemExit", "bye", ""], None]))

    connection = await connected(await owner(answer), 30)
    with pytest.raises(FilterError, match="no such thing") as caught:
        await connection.ask("filter")
    assert caught.value.hint == "try another"
    with pytest.raises(StoreError, match="bye"):
        await connection.ask("other")
    await connection.close()


async def test_rubbish_from_the_owner_ends_the_connection(owner: Start) -> None:
    async def answer(message: protocol.Message, writer: asyncio.StreamWriter) -> None:
        writer.write(b"\xff\xff\xff\xff what")

    connection = await connected(await owner(answer), 30)
    with pytest.raises(LostOwnerError):
        await connection.ask("count")
    with pytest.raises(LostOwnerError):
        await connection.ask("count")
    await connection.close()


async def test_an_owner_that_dies_at_every_call_is_given_up_on(owner: Start, tmp_path: Path) -> None:
    asked = 0

    async def answer(message: protocol.Message, writer: asyncio.StreamWriter) -> None:
        nonlocal asked
        asked += 1
        raise ConnectionError

    await owner(answer)
    asker = OwnerClient(tmp_path, idle_seconds=1, patience=30)
    with pytest.raises(StoreError, match="died twice while asked to close interval"):
        await asker.ask("close_interval")
    assert asked == 2
    await asker.close()


def test_a_message_over_the_limit_is_refused_by_its_sender(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "FRAME_LIMIT", 100)
    with pytest.raises(UsageError, match="limit"):
        protocol.pack([1, "upsert", ["x" * 101]])


def test_points_are_split_by_number_and_by_size(monkeypatch: pytest.MonkeyPatch) -> None:
    from kaijuan.testing.contracts.index_points import point

    few = [point(number) for number in range(1_001)]
    assert [len(batch) for batch in protocol.pack_points(few)] == [500, 500, 1]
    monkeypatch.setattr(protocol, "BYTES_A_FRAME", 1_000)
    large = [point(number, text="x" * 600) for number in range(3)]
    assert [len(batch) for batch in protocol.pack_points(large)] == [1, 1, 1]
    assert list(protocol.pack_points([])) == []
