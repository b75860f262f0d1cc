"""Whatever the history of adding, changing, removing and failing: spans hold, snapshots never change, ids repeat."""

from __future__ import annotations

import asyncio
import tempfile
from dataclasses import dataclass
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kaijuan.core.ids import ChunkId
from kaijuan.core.snapshots import OPEN, visible
from kaijuan.errors import ModelError
from kaijuan.testing.workshop import ROOT, Workshop

TEXTS = (
    "alpha",
    "beta 第二",
    "差旅费上限为五百元。\n每日伙食补助一百元。",
    "\n".join(f"Rule {at} says {at * 3}. 第{at}条规定。" for at in range(9)),
    "   ",
)
"""The last cannot be taken in."""
NAMES = ("a", "b", "d/c", "d/e")


@dataclass(frozen=True, slots=True)
class Step:
    """One run: what is offered, whether the rest is mirrored away, and after which step it fails."""

    texts: dict[str, str | None]
    mirror: bool
    fails_after: str


steps = st.builds(
    Step,
    texts=st.dictionaries(st.sampled_from(NAMES), st.sampled_from((*TEXTS, None)), max_size=4),
    mirror=st.booleans(),
    fails_after=st.sampled_from(("", "", "", "stage", "write_points", "close_replaced", "settle_outbox")),
)


def _expected(before: dict[str, str], step: Step) -> dict[str, str]:
    taken = {name: text for name, text in step.texts.items() if text is not None and text.strip()}
    unread = [name for name, text in step.texts.items() if text is None]
    if not step.mirror:
        return before | taken
    kept = {
        name: text
        for name, text in before.items()
        if name in step.texts or any(name.startswith(place + "/") for place in unread)
    }
    return kept | taken


class _History:
    """A base, and what its snapshots must show."""

    def __init__(self, home: Path) -> None:
        self.stop = ""
        self.shop = Workshop(home, reached=self._reached)
        self.wanted: list[dict[str, str]] = [{}]
        self.shown: list[list[ChunkId]] = [[]]
        self.lasting: list[Step] = []

    def _reached(self, step: str) -> None:
        if step == self.stop:
            self.stop = ""
            raise ModelError("The run is stopped on purpose.")

    async def take(self, step: Step) -> None:
        self.stop = step.fails_after
        try:
            report = await self.shop.add(step.texts, mirror=step.mirror)
        except ModelError:
            self.stop = ""
            return
        self.stop = ""
        self.lasting.append(Step(step.texts, step.mirror, ""))
        wanted = _expected(self.wanted[-1], step)
        if wanted == self.wanted[-1]:
            assert report.snapshot == len(self.wanted) - 1, "a run that changed nothing published"
            return
        assert report.snapshot == len(self.wanted)
        self.wanted.append(wanted)
        self.shown.append(await self.shop.chunks(report.snapshot))

    async def check(self) -> None:
        shop = self.shop
        kb = await shop.kb()
        assert kb.head == len(self.wanted) - 1
        for number, wanted in enumerate(self.wanted):
            assert await shop.texts(number) == wanted
            assert await shop.chunks(number) == self.shown[number]
            if kb.space:
                assert await shop.points(number) == self.shown[number]
        assert (await shop.ingest.check(kb)).problems == 0
        await self._check_spans()

    async def _check_spans(self) -> None:
        shop = self.shop
        for version in await shop.catalog.all_versions((await shop.kb()).id):
            assert visible(version.valid_from, version.valid_to, version.valid_from)
            text = (await shop.blobs.get(version.text_hash)).decode()
            blocks = await shop.catalog.blocks_of(version.id)
            for chunk in await shop.catalog.chunks_of(version.id):
                assert 0 <= chunk.span.start < chunk.span.end <= len(text)
                inside = await shop.catalog.blocks_of(version.id, [chunk.span])
                assert inside == [block for block in blocks if block.span.intersect(chunk.span) is not None]
                assert all(block.span.of(text).strip() for block in inside)


async def _made(history: list[Step], home: Path) -> tuple[list[object], _History]:
    made = _History(home)
    for step in history:
        await made.take(step)
    await made.check()
    kb = await made.shop.kb()
    state: list[object] = [
        (one.id, one.number, one.valid_from, one.valid_to) for one in await made.shop.catalog.all_versions(kb.id)
    ]
    return [*state, *made.shown], made


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(steps, min_size=1, max_size=6))
def test_any_history(history: list[Step]) -> None:
    async def run() -> None:
        with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
            state, made = await _made(history, Path(first))
            # The same content a second time changes nothing.
            if made.wanted[-1]:
                again = await made.shop.add(dict(made.wanted[-1]))
                assert (again.added, again.updated, again.snapshot) == (0, 0, len(made.wanted) - 1)
            await made.shop.close()
            # What failed and was undone leaves no trace in the ids of what came after.
            repeated, other = await _made(made.lasting, Path(second))
            assert repeated == state
            await other.shop.close()

    asyncio.run(run())


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(steps, min_size=1, max_size=4), st.lists(st.sampled_from(NAMES), max_size=2, unique=True))
def test_removing_and_rebuilding_keep_every_snapshot(history: list[Step], names: list[str]) -> None:
    async def run() -> None:
        with tempfile.TemporaryDirectory() as home:
            _, made = await _made(history, Path(home))
            gone = [name for name in names if name in made.wanted[-1]]
            if gone:
                await made.shop.remove(gone)
                made.wanted.append({name: text for name, text in made.wanted[-1].items() if name not in gone})
                made.shown.append(await made.shop.chunks(len(made.wanted) - 1))
            await made.check()
            if (await made.shop.kb()).space:
                await made.shop.ingest.rebuild(await made.shop.kb())
            await made.check()
            await made.shop.close()

    asyncio.run(run())


async def test_there_and_back_and_there_again(tmp_path: Path) -> None:
    shop = Workshop(tmp_path)
    for text in (TEXTS[0], TEXTS[3], TEXTS[0], TEXTS[3]):
        await shop.add({"a": text})
    versions = await shop.catalog.all_versions((await shop.kb()).id)
    assert [(one.source, one.number, one.valid_from, one.valid_to) for one in versions] == [
        (ROOT + "a", 1, 1, 2),
        (ROOT + "a", 2, 2, 3),
        (ROOT + "a", 3, 3, 4),
        (ROOT + "a", 4, 4, OPEN),
    ]
    assert [await shop.points(at) for at in range(1, 5)] == [await shop.chunks(at) for at in range(1, 5)]
    assert set(await shop.chunks(1)).isdisjoint(await shop.chunks(3))
    await shop.close()
