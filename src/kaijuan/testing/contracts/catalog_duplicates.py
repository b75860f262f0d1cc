"""Versions that say the same: the part of the catalog's contract that keeps signatures and decisions about pairs."""

from __future__ import annotations

import pytest

from kaijuan.core.duplicates import Duplicate, DuplicateKind, DuplicateState, Ruling
from kaijuan.core.ids import VersionId
from kaijuan.errors import NotFoundError
from kaijuan.index.catalog import Catalog, KnowledgeBase
from kaijuan.testing.contracts.catalog_access import CatalogFixtures
from kaijuan.testing.contracts.catalog_samples import NOW, Sample, publish, published, sample, stage


def _pair(kb: KnowledgeBase, one: Sample, other: Sample) -> Duplicate:
    return Duplicate(
        version_id=one.version.id,
        other_id=other.version.id,
        group_id=other.version.id,
        kb_id=kb.id,
        document_id=one.version.document_id,
        other_document_id=other.version.document_id,
        kind=DuplicateKind.NEAR,
        similarity=0.93,
        reason="文本相同",
        state=DuplicateState.MERGED,
        created_at=NOW,
    )


class Duplicates(CatalogFixtures):
    """Decisions go with the run that took them, show at snapshots that show both, and bend to people."""

    async def _merged_pair(self, catalog: Catalog, kb: KnowledgeBase) -> tuple[Sample, Sample, Duplicate]:
        old, new = sample(kb.id, "file:///a", "text"), sample(kb.id, "file:///b", "text")
        await published(catalog, kb, old)
        run = await catalog.begin_run(kb.id, "add", now=NOW)
        await stage(catalog, run, new)
        assert [(one.version, one.signature, one.fresh) for one in await catalog.signatures(run)] == [
            (old.version.id, bytes(range(64)), False),
            (new.version.id, bytes(range(64)), True),
        ]
        pair = _pair(kb, new, old)
        await catalog.record_duplicates(run, [pair])
        await catalog.record_duplicates(run, [pair])
        await publish(catalog, run)
        return old, new, pair

    async def test_a_pair_shows_where_both_versions_do(self, catalog: Catalog, kb: KnowledgeBase) -> None:
        old, new, pair = await self._merged_pair(catalog, kb)
        assert await catalog.duplicates(kb.id, 2) == [pair]
        assert await catalog.duplicates(kb.id, 1) == []
        families = await catalog.families([chunk.id for chunk in (*old.children, *new.children)])
        assert families.groups == {new.version.id: old.version.id}
        run = await catalog.begin_run(kb.id, "remove", now=NOW)
        await catalog.retire(run, [old.version.id])
        await publish(catalog, run)
        assert await catalog.duplicates(kb.id, 3) == []
        assert await catalog.duplicates(kb.id, 2) == [pair]

    async def test_a_rollback_takes_decisions_with_it(self, catalog: Catalog, kb: KnowledgeBase) -> None:
        old, _, _ = await self._merged_pair(catalog, kb)
        run = await catalog.begin_run(kb.id, "add", now=NOW)
        third = sample(kb.id, "file:///c", "text")
        await stage(catalog, run, third)
        await catalog.record_duplicates(run, [_pair(kb, third, old)])
        await catalog.roll_back(run, now=NOW)
        assert (await catalog.families([chunk.id for chunk in third.children])).groups == {}
        assert len(await catalog.duplicates(kb.id, 2)) == 1

    async def test_a_person_rules(self, catalog: Catalog, kb: KnowledgeBase) -> None:
        _, new, pair = await self._merged_pair(catalog, kb)
        assert await catalog.ruled_duplicates(kb.id) == []
        ruling = Ruling(state=DuplicateState.KEPT, at=NOW, by="王", note="two offices")
        with pytest.raises(NotFoundError):
            await catalog.rule_duplicates([pair.version_id, VersionId("0" * 32)], ruling)
        await catalog.rule_duplicates([pair.version_id], ruling)
        (found,) = await catalog.ruled_duplicates(kb.id)
        assert (found.state, found.history) == (DuplicateState.KEPT, (ruling,))
        assert (await catalog.families([chunk.id for chunk in new.children])).groups == {}
