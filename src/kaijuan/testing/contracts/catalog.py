"""What every catalog must do. An adapter's test inherits `CatalogContract` and gives the fixture `catalog`, empty."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kaijuan.core.ids import ChunkId, KbId, VersionId
from kaijuan.core.spans import Span
from kaijuan.errors import ClosedError, NotFoundError, UsageError
from kaijuan.index.catalog import (
    Catalog,
    KnowledgeBase,
    StoredTrace,
)
from kaijuan.testing.contracts.catalog_access import EVERYONE, Access, CatalogFixtures, MovedAccess
from kaijuan.testing.contracts.catalog_chunks import ChunkWorks
from kaijuan.testing.contracts.catalog_conversations import Conversations
from kaijuan.testing.contracts.catalog_duplicates import Duplicates
from kaijuan.testing.contracts.catalog_glossary import Glossary
from kaijuan.testing.contracts.catalog_queue import Queue
from kaijuan.testing.contracts.catalog_reviews import Reviews
from kaijuan.testing.contracts.catalog_runs import MISSING, Publishing, Staging, chunk_ids, ids_of
from kaijuan.testing.contracts.catalog_samples import NOW, OWNER, published, sample


class KnowledgeBases(CatalogFixtures):
    """Made once, found by name, apart from each other."""

    async def test_made_once(self, catalog: Catalog, kb: KnowledgeBase) -> None:
        assert (kb.tenant, kb.name, kb.head, kb.space) == ("acme", "handbook", 0, "")
        assert await catalog.create_kb("acme", "handbook", now=NOW + 1) == kb
        assert await catalog.kb("acme", "handbook") == kb

    async def test_two_tenants_never_meet(self, catalog: Catalog, kb: KnowledgeBase) -> None:
        other = await catalog.create_kb("rival", "handbook", now=NOW)
        assert other.id != kb.id
        assert await catalog.kbs("acme") == [kb]
        made = sample(kb.id, "file:///a", "text")
        await published(catalog, kb, made)
        assert await catalog.versions(other.id, 1) == []
        assert await catalog.authorise(other.id, 1, ids_of(made), EVERYONE) == set()

    @pytest.mark.usefixtures("kb")
    async def test_unknown_names(self, catalog: Catalog) -> None:
        for call in (
            catalog.kb("acme", "other"),
            catalog.kb("other", "handbook"),
            catalog.set_space(KbId("none"), "space"),
            catalog.begin_run(KbId("none"), "add", now=NOW),
            catalog.acquire_lease(KbId("none"), OWNER, now=NOW, seconds=1),
        ):
            with pytest.raises(NotFoundError):
                await call

    async def test_the_space_is_remembered(self, catalog: Catalog, kb: KnowledgeBase) -> None:
        await catalog.set_space(kb.id, "kb-g2")
        assert (await catalog.kb("acme", "handbook")).space == "kb-g2"


class Reading(CatalogFixtures):
    """Answers of one snapshot, in the promised order."""

    async def test_pages_of_sources(self, catalog: Catalog, kb: KnowledgeBase) -> None:
        sources = ["file:///A", "file:///a", "file:///a%b", "file:///a/x", "file:///a_b", "file:///b", "file:///文"]
        await published(catalog, kb, *(sample(kb.id, source, source) for source in reversed(sources)))
        read: list[str] = []
        while page := await catalog.versions(kb.id, 1, after=read[-1] if read else "", limit=2):
            read += [one.source for one in page]
        assert read == sources
        for prefix in ("file:///a", "file:///A", "file:///a%", "file:///a_", "nothing", ""):
            found = [one.source for one in await catalog.versions(kb.id, 1, prefix=prefix)]
            assert found == [source for source in sources if source.startswith(prefix)]

    async def test_finding_by_word(self, catalog: Catalog, kb: KnowledgeBase) -> None:
        names = ("a.txt", "A.txt", "ba.txt", "50%.txt", "x/a.txt", "z.zip#in.txt")
        made = [sample(kb.id, f"file:///d/{name}", name) for name in names]
        await published(catalog, kb, *made)

        async def sources(word: str) -> list[str]:
            return [one.source for one in await catalog.find(kb.id, 1, word)]

        assert await sources("a.txt") == ["file:///d/a.txt", "file:///d/x/a.txt"]
        assert await sources("x/a.txt") == ["file:///d/x/a.txt"]
        assert await sources("A.txt") == ["file:///d/A.txt"]
        assert await sources("in.txt") == ["file:///d/z.zip#in.txt"]
        assert await sources("%.txt") == []
        assert await sources("file:///d/50%.txt") == ["file:///d/50%.txt"]
        for id in (made[0].version.id, made[0].version.document_id):
            assert await sources(id) == await sources(id[:12]) == ["file:///d/a.txt"]
            assert await sources(id[:5]) == []
        assert await catalog.find(kb.id, 0, "a.txt") == []

    async def test_blocks_within_spans(self, catalog: Catalog, kb: KnowledgeBase) -> None:
        made = sample(kb.id, "file:///a", "0123\n5678\nabcd\nfghi")
        await published(catalog, kb, made)

        async def ordinals(*spans: Span) -> list[int]:
            return [block.ordinal for block in await catalog.blocks_of(made.version.id, spans)]

        assert await ordinals() == []
        assert await ordinals(Span(0, 4)) == [0]
        assert await ordinals(Span(4, 5)) == []
        assert await ordinals(Span(3, 6)) == [0, 1]
        assert await ordinals(Span(15, 19), Span(1, 2)) == [0, 3]
        assert await ordinals(Span(2, 2)) == []
        assert await ordinals(Span(0, 1000)) == [0, 1, 2, 3]
        assert await catalog.blocks_of(MISSING) == []
        within = await catalog.blocks_within({made.version.id: [made.blocks[0].span], MISSING: [Span(0, 1)]})
        assert within == {made.version.id: [made.blocks[0]], MISSING: []}

    async def test_the_missing(self, catalog: Catalog, kb: KnowledgeBase) -> None:
        with pytest.raises(NotFoundError):
            await catalog.version(MISSING)
        with pytest.raises(NotFoundError):
            await catalog.trace("none")
        assert await catalog.version_of(kb.id, "file:///none", 0) is None
        assert await catalog.versions_by_id([MISSING]) == {}
        assert await catalog.chunks([ChunkId("0" * 32)]) == {}
        assert await catalog.chunks_of(MISSING) == []
        assert await catalog.authorise(kb.id, 0, [ChunkId("0" * 32)], EVERYONE) == set()

    @pytest.mark.parametrize("word", ["\udcff", "file:///\udcff.txt", "half \ud800 a character"])
    async def test_what_is_no_text_names_nothing(self, catalog: Catalog, kb: KnowledgeBase, word: str) -> None:
        await published(catalog, kb, sample(kb.id, "file:///a", "one"))
        assert await catalog.find(kb.id, 1, word) == []
        assert await catalog.version_of(kb.id, word, 1) is None
        assert await catalog.versions(kb.id, 1, prefix=word) == []
        for ask in (
            catalog.kb("acme", word),
            catalog.version(VersionId(word)),
            catalog.trace(word),
            catalog.grant(kb.id, kb.id, word),
            catalog.create_kb("acme", word, now=NOW),
        ):
            with pytest.raises(UsageError):
                await ask

    async def test_chunks_come_in_the_order_asked_for(self, catalog: Catalog, kb: KnowledgeBase) -> None:
        made = sample(kb.id, "file:///a", "one\ntwo\nthree")
        await published(catalog, kb, made)
        wanted = list(reversed(ids_of(made)))
        assert list(await catalog.chunks(wanted)) == wanted

    async def test_traces_keep_the_newest(self, catalog: Catalog, kb: KnowledgeBase) -> None:
        traces = [
            StoredTrace(id=f"trace {at}", kb_id=kb.id, created_at=NOW + at, body={"问": [at, None]}) for at in range(4)
        ]
        for trace in traces:
            await catalog.save_trace(trace, keep=2)
        for gone in traces[:2]:
            with pytest.raises(NotFoundError):
                await catalog.trace(gone.id)
        assert [await catalog.trace(trace.id) for trace in traces[2:]] == traces[2:]
        again = replace(traces[3], body={})
        await catalog.save_trace(again, keep=2)
        assert await catalog.trace(again.id) == again


class Closing(CatalogFixtures):
    """Closed is closed."""

    async def test_closing(self, catalog: Catalog, kb: KnowledgeBase) -> None:
        await catalog.close()
        await catalog.close()
        with pytest.raises(ClosedError):
            await catalog.kbs("acme")
        with pytest.raises(ClosedError):
            await catalog.create_kb("acme", "other", now=NOW)
        with pytest.raises(ClosedError):
            await chunk_ids(catalog, kb)


class CatalogContract(
    KnowledgeBases,
    Staging,
    Publishing,
    Reading,
    Access,
    MovedAccess,
    Reviews,
    Duplicates,
    Glossary,
    Conversations,
    Queue,
    ChunkWorks,
    Closing,
):
    """All of it."""
