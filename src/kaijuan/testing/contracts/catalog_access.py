"""Who may read what: the part of the catalog's contract that guards documents."""

from __future__ import annotations

import pytest

from kaijuan.core.ids import DocumentId
from kaijuan.errors import NotFoundError, UsageError
from kaijuan.index.catalog import Catalog, KnowledgeBase
from kaijuan.testing.contracts.catalog_samples import NOW, Sample, publish, published, sample
from kaijuan.testing.contracts.index import SharedTests

EVERYONE = ("all",)


class CatalogFixtures(SharedTests):
    """A catalog with one knowledge base."""

    @pytest.fixture
    async def kb(self, catalog: Catalog) -> KnowledgeBase:
        """Return an empty base."""
        return await catalog.create_kb("acme", "handbook", now=NOW)


class Access(CatalogFixtures):
    """Closed unless opened; a document with readers of its own has only them."""

    async def _two(self, catalog: Catalog, kb: KnowledgeBase) -> tuple[Sample, Sample]:
        made = sample(kb.id, "file:///open", "text"), sample(kb.id, "file:///secret", "text")
        await published(catalog, kb, *made)
        return made

    async def _readable(self, catalog: Catalog, kb: KnowledgeBase, *principals: str) -> set[str]:
        sources = {
            chunk.id: version.source
            for version in await catalog.versions(kb.id, 1)
            for chunk in await catalog.chunks_of(version.id)
        }
        return {sources[id] for id in await catalog.authorise(kb.id, 1, list(sources), principals)}

    async def test_a_new_base_is_for_everyone(self, catalog: Catalog, kb: KnowledgeBase) -> None:
        await self._two(catalog, kb)
        assert await self._readable(catalog, kb, "all", "ann") == {"file:///open", "file:///secret"}
        assert await self._readable(catalog, kb, "ann") == set()
        assert await self._readable(catalog, kb) == set()
        assert await self._readable(catalog, kb, "") == set()

    async def test_a_document_with_readers_of_its_own(self, catalog: Catalog, kb: KnowledgeBase) -> None:
        _, secret = await self._two(catalog, kb)
        document = secret.version.document_id
        await catalog.grant(kb.id, document, "ann")
        await catalog.grant(kb.id, document, "bob")
        assert await self._readable(catalog, kb, "all") == {"file:///open"}
        assert await self._readable(catalog, kb, "ann") == {"file:///secret"}
        readers = await catalog.principals_of(kb.id, [document, DocumentId("none")])
        assert readers == {document: frozenset({"ann", "bob"}), "none": frozenset({"all"})}

    async def test_revoking_the_last_reader_closes(self, catalog: Catalog, kb: KnowledgeBase) -> None:
        _, secret = await self._two(catalog, kb)
        document = secret.version.document_id
        await catalog.grant(kb.id, document, "ann")
        await catalog.revoke(kb.id, document, "ann")
        assert await self._readable(catalog, kb, "ann", "all", "") == {"file:///open"}
        assert await catalog.principals_of(kb.id, [document]) == {document: frozenset()}
        await catalog.inherit(kb.id, document)
        assert await self._readable(catalog, kb, "all") == {"file:///open", "file:///secret"}

    async def test_a_base_for_some(self, catalog: Catalog, kb: KnowledgeBase) -> None:
        await self._two(catalog, kb)
        await catalog.revoke(kb.id, kb.id, "all")
        assert await self._readable(catalog, kb, "all") == set()
        await catalog.grant(kb.id, kb.id, "team")
        assert await self._readable(catalog, kb, "team") == {"file:///open", "file:///secret"}

    async def test_every_change_shows_in_the_policy_version(self, catalog: Catalog, kb: KnowledgeBase) -> None:
        _, secret = await self._two(catalog, kb)
        document = secret.version.document_id
        versions = [kb.policy_version]
        for call in (
            catalog.grant(kb.id, document, "ann"),
            catalog.revoke(kb.id, document, "ann"),
            catalog.inherit(kb.id, document),
        ):
            await call
            versions.append((await catalog.kb("acme", "handbook")).policy_version)
        assert versions == sorted(set(versions))

    async def test_old_snapshots_obey_the_present_policy(self, catalog: Catalog, kb: KnowledgeBase) -> None:
        _, secret = await self._two(catalog, kb)
        run = await catalog.begin_run(kb.id, "remove", now=NOW)
        await catalog.retire(run, [secret.version.id])
        await publish(catalog, run)
        await catalog.grant(kb.id, secret.version.document_id, "ann")
        assert await self._readable(catalog, kb, "all") == {"file:///open"}

    async def test_wrong_requests(self, catalog: Catalog, kb: KnowledgeBase) -> None:
        await self._two(catalog, kb)
        with pytest.raises(NotFoundError):
            await catalog.grant(kb.id, "no document", "ann")
        for call in (catalog.grant(kb.id, kb.id, ""), catalog.inherit(kb.id, DocumentId(kb.id))):
            with pytest.raises(UsageError):
                await call


class MovedAccess(CatalogFixtures):
    """What was closed at its old place is no more open at its new one."""

    async def _pair(self, catalog: Catalog, kb: KnowledgeBase) -> tuple[DocumentId, DocumentId]:
        made = sample(kb.id, "file:///hr/a", "text"), sample(kb.id, "file:///b", "text")
        await published(catalog, kb, *made)
        return made[0].version.document_id, made[1].version.document_id

    async def _alike(self, catalog: Catalog, kb: KnowledgeBase, document: DocumentId) -> dict[DocumentId, list[str]]:
        (version,) = [one for one in await catalog.versions(kb.id, 1) if one.document_id == document]
        return await catalog.closed_alike(kb.id, 1, {document: version.content_hash})

    async def test_where_nothing_is_closed_nothing_has_to_be_done(self, catalog: Catalog, kb: KnowledgeBase) -> None:
        before, after = await self._pair(catalog, kb)
        assert await self._alike(catalog, kb, after) == {}
        assert not await catalog.move_access(kb.id, before, after)
        assert (await catalog.kb("acme", "handbook")).policy_version == kb.policy_version

    @pytest.mark.parametrize("resource", ["document", "folder:file:///hr/"])
    async def test_readers_go_with_it(self, catalog: Catalog, kb: KnowledgeBase, resource: str) -> None:
        before, after = await self._pair(catalog, kb)
        await catalog.grant(kb.id, before if resource == "document" else resource, "ann")
        assert await self._alike(catalog, kb, after) == {after: ["file:///hr/a"]}
        assert await self._alike(catalog, kb, before) == {}
        for _ in range(2):
            await catalog.move_access(kb.id, before, after)
            readers = await catalog.principals_of(kb.id, [before, after])
            assert readers == {before: frozenset({"ann"}), after: frozenset({"ann"})}
        assert await self._alike(catalog, kb, after) == {}

    async def test_closed_to_everybody_it_stays_so(self, catalog: Catalog, kb: KnowledgeBase) -> None:
        before, after = await self._pair(catalog, kb)
        await catalog.grant(kb.id, before, "ann")
        await catalog.revoke(kb.id, before, "ann")
        assert await catalog.move_access(kb.id, before, after)
        assert await catalog.principals_of(kb.id, [after]) == {after: frozenset()}
