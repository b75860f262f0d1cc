"""Whatever the history of writing, cutting otherwise, excluding, removing and rolling back: the id of a piece stands
for the same words for ever, the same state has the same ids, and what a snapshot shows never changes."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kaijuan import Kaijuan
from kaijuan.config import Config
from kaijuan.core.chunk_work import WorkKind
from kaijuan.core.documents import Chunk, ChunkLevel
from kaijuan.core.ids import piece_of
from kaijuan.errors import UsageError
from kaijuan.testing.embedders import HashEmbedder

CONFIG = Config.model_validate(
    {"stores": {"index": "memory"}, "chunk": {"child_tokens": 8, "max_tokens": 24, "parent_tokens": 24}}
)
_ONE = "第一条 出差住宿费每晚不超过五百元。"
_TWO = "A night in a hotel is paid up to 120 euros. It needs a receipt."
TEXTS = (
    f"{_ONE}\n\n{_TWO}",
    f"{_ONE}\n\n{_TWO}\n\n{_ONE}",
    f"前言。 A preface.\n\n{_TWO}\n\n{_ONE}",
    "完全不同的文字。 Other words altogether.",
)
steps = st.one_of(
    st.tuples(st.just("write"), st.integers(0, len(TEXTS) - 1)),
    st.tuples(st.just("cut"), st.sampled_from(("fixed", "sentence_window", "recursive", "default"))),
    st.tuples(st.just("exclude"), st.integers(0, 3)),
    st.tuples(st.just("edit"), st.integers(0, 3)),
    st.tuples(st.just("restore"), st.just(0)),
    st.tuples(st.just("remove"), st.just(0)),
    st.tuples(st.just("back"), st.integers(0, 9)),
)
Shown = list[tuple[str, str | None, str, str]]


class _History:
    def __init__(self, base: Kaijuan, folder: Path) -> None:
        self.base, self.file = base, folder / "a.txt"
        self.words: dict[str, tuple[str, str]] = {}
        """Level and words of every id ever shown."""
        self.states: dict[object, Shown] = {}
        self.snapshots: dict[int, Shown] = {}

    async def take(self, verb: str, what: object) -> None:
        base = self.base
        try:
            if verb == "write":
                self.file.write_text(TEXTS[int(str(what))], encoding="utf-8")
                await base.add(self.file)
            elif verb == "back":
                numbers = [one.number for one in await base.snapshots()]
                if numbers:
                    await base.roll_back(numbers[int(str(what)) % len(numbers)])
            elif await base.list():
                await self._mend(verb, what)
        except UsageError:
            pass  # nothing to undo, or nothing would be left to search: refused, and that is all

    async def _mend(self, verb: str, what: object) -> None:
        base = self.base
        if verb == "cut":
            await base.cut_by("a.txt", str(what))
        elif verb == "remove":
            await base.remove("a.txt")
        elif verb == "restore":
            await base.restore_chunks([one.work.id for one in await base.chunk_work("a.txt")])
        else:
            children = [one for one in (await base.show("a.txt")).chunks if one.level is ChunkLevel.CHILD]
            chunk = children[int(str(what)) % len(children)]
            await (base.exclude_chunks(chunk.id) if verb == "exclude" else base.edit_chunk(chunk.id, "QZX-1 其他说法"))

    async def check(self) -> None:
        base = self.base
        kb = await base.catalog.kb("default", "default")
        for number in range(1, kb.head + 1):
            shown = await self._shown(number)
            assert self.snapshots.setdefault(number, shown) == shown
        assert (await base._ingest().check(kb)).problems == 0
        if not await base.list():
            return
        for id, _, _, _ in await self._shown(kb.head):
            view = await base.chunk(id)
            assert (view.chunk.id, view.version.number) == (id, (await base.list())[0].number)
        work = await base.chunk_work("a.txt")
        if all(one.work.kind is WorkKind.STRATEGY for one in work):
            strategy = work[-1].work.said if work else "default"
            state = ((await base.list())[0].content_hash, (await base.list())[0].fingerprint, strategy)
            shown = await self._shown(kb.head)
            if not any(one[2] == ChunkLevel.EXCLUDED for one in shown) and not await self._reworked():
                assert self.states.setdefault(state, shown) == shown

    async def _reworked(self) -> bool:
        # A snapshot that is published anew brings back the pieces that people had made of it.
        return any(one.origin != "auto" for one in (await self.base.show("a.txt")).chunks)

    async def _shown(self, number: int) -> Shown:
        shown: Shown = []
        for version in await self.base.list(as_of=number):
            view = await self.base.show(version.source, as_of=number)
            assert len({chunk.id for chunk in view.chunks}) == len(view.chunks)
            rows = [piece_of(one.id) for one in await self.base.catalog.chunks_of(version.id)]
            assert sorted(rows) == sorted(chunk.id for chunk in view.chunks)
            for chunk in view.chunks:
                self._learn(chunk, chunk.span.of(view.text))
                shown.append((chunk.id, chunk.parent_id, chunk.level.value, chunk.span.of(view.text)))
        return shown

    def _learn(self, chunk: Chunk, words: str) -> None:
        level = ChunkLevel.CHILD if chunk.level is ChunkLevel.EXCLUDED else chunk.level
        assert self.words.setdefault(chunk.id, (level.value, words)) == (level.value, words)


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(steps, min_size=1, max_size=9))
def test_any_history_of_pieces(history: list[tuple[str, object]]) -> None:
    async def run() -> None:
        with tempfile.TemporaryDirectory() as folder:
            async with Kaijuan(Path(folder) / "home", config=CONFIG, embedder=HashEmbedder()) as base:
                made = _History(base, Path(folder))
                for verb, what in [("write", 0), *history]:
                    await made.take(verb, what)
                    await made.check()

    asyncio.run(run())
