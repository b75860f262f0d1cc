"""What every blob store must do. An adapter's test inherits the class and gives the fixture `blobs`."""

from __future__ import annotations

import asyncio

import pytest

from kaijuan.core.ids import content_hash
from kaijuan.errors import NotFoundError, UsageError
from kaijuan.index.ports import BlobStore

CONTENTS = (b"", b"\x00", "开卷有益".encode(), b"a" * 1_000_000, bytes(range(256)) * 1000)


async def _names(blobs: BlobStore) -> set[str]:
    return {name async for name in blobs.names()}


class BlobStoreContract:
    """Bytes in, the same bytes out, under the hash of them."""

    async def test_several_are_read_at_once_and_the_missing_keep_their_place(self, blobs: BlobStore) -> None:
        one, two = await blobs.put(b"one"), await blobs.put("二".encode())
        missing = content_hash(b"never stored")
        found = await blobs.get_each([two, missing, one, two])
        assert (found[0], found[2], found[3]) == ("二".encode(), b"one", "二".encode())
        assert isinstance(found[1], NotFoundError)
        assert await blobs.get_each([]) == []

    async def test_several_are_stored_at_once(self, blobs: BlobStore) -> None:
        contents = [b"one", b"", b"two", b"one"]
        assert await blobs.put_each(contents) == [content_hash(data) for data in contents]
        assert await blobs.get_each([content_hash(data) for data in contents]) == contents
        assert await blobs.put_each([]) == []
        assert len(await _names(blobs)) == 3

    async def test_several_are_checked_at_once(self, blobs: BlobStore) -> None:
        there = await blobs.put_each([b"one", b"two"])
        first, missing, second = await blobs.check_each([there[0], content_hash(b"never stored"), there[1]])
        assert (first, second) == (None, None)
        assert isinstance(missing, NotFoundError)
        assert await blobs.check_each([]) == []

    async def test_starts_empty(self, blobs: BlobStore) -> None:
        assert await _names(blobs) == set()

    @pytest.mark.parametrize("data", CONTENTS, ids=range(len(CONTENTS)))
    async def test_what_is_put_comes_back_under_its_hash(self, blobs: BlobStore, data: bytes) -> None:
        name = await blobs.put(data)
        assert name == content_hash(data)
        assert await blobs.exists(name)
        assert await blobs.get(name) == data

    async def test_the_same_bytes_are_stored_once(self, blobs: BlobStore) -> None:
        assert await blobs.put(b"same") == await blobs.put(b"same")
        assert await _names(blobs) == {content_hash(b"same")}

    async def test_all_names_are_listed(self, blobs: BlobStore) -> None:
        wanted = {await blobs.put(str(number).encode()) for number in range(300)}
        assert await _names(blobs) == wanted

    async def test_the_missing_is_an_error_to_get_and_quiet_to_delete(self, blobs: BlobStore) -> None:
        missing = content_hash(b"never stored")
        assert not await blobs.exists(missing)
        await blobs.delete(missing)
        with pytest.raises(NotFoundError):
            await blobs.get(missing)

    async def test_deleted_is_gone_and_can_come_back(self, blobs: BlobStore) -> None:
        name = await blobs.put(b"once")
        await blobs.delete(name)
        assert not await blobs.exists(name)
        assert await _names(blobs) == set()
        await blobs.put(b"once")
        assert await blobs.get(name) == b"once"

    @pytest.mark.parametrize("name", ["", "../../etc/passwd", "A" * 64, "g" * 64, "a" * 63, "a" * 64 + "\n"])
    async def test_what_is_not_a_hash_is_refused(self, blobs: BlobStore, name: str) -> None:
        for call in (blobs.get, blobs.exists, blobs.delete):
            with pytest.raises(UsageError):
                await call(name)

    async def test_many_may_write_at_once(self, blobs: BlobStore) -> None:
        contents = [str(number % 20).encode() * 10_000 for number in range(100)]
        names = await asyncio.gather(*(blobs.put(data) for data in contents))
        assert [await blobs.get(name) for name in names] == contents
        assert len(await _names(blobs)) == 20
