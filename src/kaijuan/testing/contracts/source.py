"""What every source must hold. Derive and give `make` and a place whose documents the suite can change."""

from __future__ import annotations

from typing import Protocol

import pytest

from kaijuan.ingest.ports import Source, SourceFailure, SourceItem
from kaijuan.jobs.mirror import Seen


class Place(Protocol):
    """Where a source under test finds its documents."""

    def target(self) -> str:
        """Return what a user would write to name the place."""

    def put(self, name: str, data: bytes) -> None:
        """Make a document, or give it new content."""

    def drop(self, name: str) -> None:
        """Take a document away."""

    def touch(self, name: str) -> None:
        """Change everything about a document but its content."""

    def close(self) -> None:
        """Make the place unreachable, as a folder that is no longer mounted or a server that is down."""


async def walked(source: Source, target: str) -> tuple[dict[str, SourceItem], list[SourceFailure]]:
    """Return what a walk offers, by address, and what it could not read. Fails when an address comes twice."""
    items: dict[str, SourceItem] = {}
    failures: list[SourceFailure] = []
    async for found in source.walk(target):
        if isinstance(found, SourceFailure):
            failures.append(found)
        else:
            assert found.source not in items, f"{found.source} came twice"
            items[found.source] = found
    return items, failures


def contents(items: dict[str, SourceItem]) -> dict[str, object]:
    """Return all that makes a new version when it changes: of a file its bytes, of a record what it says besides."""
    return {
        address: (item.name, item.data, item.kind, (item.title, item.metadata) if item.kind else None)
        for address, item in items.items()
    }


def missed(before: dict[str, SourceItem], after: dict[str, SourceItem], failures: list[SourceFailure]) -> set[str]:
    """Return the addresses of an earlier walk that a mirroring run would remove after a later one."""
    seen = Seen()
    for address in after:
        seen.first(address)
    for failure in failures:
        seen.fail(failure.source)
    return {address for address in before if seen.may_be_gone(address)}


class SourceContract:
    """Behaviour shared by all sources of several documents."""

    limit = 1000
    """`make` returns a source that refuses documents with more bytes than this."""

    @pytest.fixture
    def place(self) -> Place:
        """Return an empty place."""
        raise NotImplementedError

    def make(self) -> Source:
        """Return a source."""
        raise NotImplementedError

    def foreign(self) -> str:
        """Return a target that is not for this source."""
        raise NotImplementedError

    def offered(self, name: str, data: bytes) -> bytes:
        """Return the bytes that the source offers for a document that was put; the same by default."""
        del name
        return data

    def test_refuses_what_is_not_its_own(self, place: Place) -> None:
        assert self.make().accepts(place.target())
        assert not self.make().accepts(self.foreign())

    async def test_first_walk_and_again(self, place: Place) -> None:
        place.put("b.txt", b"two")
        place.put("a.txt", b"one")
        items, failures = await walked(self.make(), place.target())
        assert [item.data for item in items.values()] == [
            self.offered("a.txt", b"one"),
            self.offered("b.txt", b"two"),
        ]
        assert failures == []
        assert await walked(self.make(), place.target()) == (items, failures)

    async def test_addresses_lie_in_scope(self, place: Place) -> None:
        place.put("a.txt", b"one")
        items, _ = await walked(self.make(), place.target())
        scope = self.make().scope(place.target())
        assert all(address.startswith(scope) for address in items)

    async def test_delta_rename_and_delete(self, place: Place) -> None:
        place.put("a.txt", b"one")
        place.put("b.txt", b"two")
        before, _ = await walked(self.make(), place.target())
        place.put("a.txt", b"one changed")
        place.drop("b.txt")
        place.put("c.txt", b"two")
        after, _ = await walked(self.make(), place.target())
        kept = before.keys() & after.keys()
        assert [after[address].data for address in kept] == [self.offered("a.txt", b"one changed")]
        assert [after[address].data for address in after.keys() - kept] == [self.offered("c.txt", b"two")]

    async def test_a_mirror_misses_what_was_dropped_and_nothing_else(self, place: Place) -> None:
        for name in ("a.txt", "b.txt", "c.txt"):
            place.put(name, name.encode())
        before, _ = await walked(self.make(), place.target())
        place.drop("b.txt")
        after, failures = await walked(self.make(), place.target())
        gone = missed(before, after, failures)
        assert [before[address].data for address in gone] == [self.offered("b.txt", b"b.txt")]
        scope = self.make().scope(place.target())
        assert scope.endswith(("/", "#")), "a place of several documents can be mirrored"

    async def test_what_cannot_be_reached_has_not_gone(self, place: Place) -> None:
        place.put("a.txt", b"one")
        before, _ = await walked(self.make(), place.target())
        place.close()
        after, failures = await walked(self.make(), place.target())
        assert after == {}
        assert failures
        assert missed(before, after, failures) == set()

    async def test_touch_changes_nothing(self, place: Place) -> None:
        place.put("a.txt", b"one")
        before, _ = await walked(self.make(), place.target())
        place.touch("a.txt")
        after, _ = await walked(self.make(), place.target())
        assert contents(before) == contents(after)

    async def test_size_and_limit(self, place: Place) -> None:
        place.put("fits.txt", b"x" * self.limit)
        place.put("large.txt", b"x" * (self.limit + 1))
        items, failures = await walked(self.make(), place.target())
        assert [item.data for item in items.values()] == [self.offered("fits.txt", b"x" * self.limit)]
        assert [item.size for item in items.values()] == [len(item.data) for item in items.values()]
        assert [failure.code for failure in failures] == ["document_oversize"]

    async def test_a_walk_can_be_left(self, place: Place) -> None:
        for number in range(20):
            place.put(f"{number:02}.txt", b"text")
        async for _ in self.make().walk(place.target()):
            break
        items, _ = await walked(self.make(), place.target())
        assert len(items) == 20
