"""Words that mean the same: the part of the catalog's contract that keeps the glossary and learned abbreviations."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kaijuan.core.glossary import Abbreviation, TermChange, TermState, long_head, short_key
from kaijuan.core.spans import Span
from kaijuan.errors import NotFoundError
from kaijuan.index.catalog import Catalog, KnowledgeBase
from kaijuan.testing.contracts.catalog_access import EVERYONE, CatalogFixtures
from kaijuan.testing.contracts.catalog_samples import NOW, Sample, publish, published, sample, staged

_TEXT = "服务级别协议（SLA）\nKey Performance Indicator (KPI)"
_SLA = Abbreviation(short="SLA", long="服务级别协议", span=Span(0, 11))
_KPI = Abbreviation(short="KPI", long="Key Performance Indicator", span=Span(12, 43))


def _entered(*synonyms: str, by: str = "li", note: str = "", at: float = NOW) -> TermChange:
    return TermChange(state=TermState.LIVE, at=at, synonyms=synonyms, by=by, note=note)


def _removed(by: str = "wang", at: float = NOW + 9) -> TermChange:
    return TermChange(state=TermState.REMOVED, at=at, by=by)


class Glossary(CatalogFixtures):
    """Terms with who entered what and when; abbreviations with their document, and only for its readers."""

    async def _explained(
        self, catalog: Catalog, kb: KnowledgeBase, source: str, *found: Abbreviation, publishing: bool = True
    ) -> Sample:
        made = sample(kb.id, source, _TEXT)
        run = await catalog.begin_run(kb.id, "add", now=NOW)
        await catalog.stage(run, [replace(staged(made), abbreviations=found)])
        if publishing:
            await publish(catalog, run)
        return made

    async def _known(self, catalog: Catalog, kb: KnowledgeBase, snapshot: int, *principals: str) -> list[str]:
        shorts, heads = {short_key("ＫＰＩ")}, {long_head("服務級別協議")}
        found = await catalog.abbreviations(kb.id, snapshot, shorts, heads, principals or EVERYONE)
        return [f"{one.short}={one.long} in {one.source}" for one in found]

    async def test_a_term_comes_back_with_its_author(self, catalog: Catalog, kb: KnowledgeBase) -> None:
        await catalog.put_terms(kb.id, ["报销"], [_entered("费用报账", "reimbursement", note="财务用语")])
        (term,) = await catalog.glossary(kb.id)
        assert (term.term, term.synonyms, term.state) == ("报销", ("费用报账", "reimbursement"), TermState.LIVE)
        assert [(one.by, one.at, one.note) for one in term.history] == [("li", NOW, "财务用语")]
        other = await catalog.create_kb("rival", "handbook", now=NOW)
        assert await catalog.glossary(other.id) == []

    async def test_a_term_is_the_same_however_it_is_written(self, catalog: Catalog, kb: KnowledgeBase) -> None:
        await catalog.put_terms(kb.id, ["SLA", "ｓｌａ"], [_entered("a"), _entered("b", by="wu", at=NOW + 1)])
        (term,) = await catalog.glossary(kb.id)
        assert (term.term, term.synonyms) == ("ｓｌａ", ("b",))
        assert [one.synonyms for one in term.history] == [("a",), ("b",)]

    async def test_what_was_removed_is_kept_to_be_read(self, catalog: Catalog, kb: KnowledgeBase) -> None:
        await catalog.put_terms(kb.id, ["报销"], [_entered("费用报账")])
        await catalog.put_terms(kb.id, ["報銷"], [_removed()])
        assert await catalog.glossary(kb.id) == []
        (term,) = await catalog.glossary(kb.id, list(TermState))
        assert [(one.state, one.by) for one in term.history] == [(TermState.LIVE, "li"), (TermState.REMOVED, "wang")]
        await catalog.put_terms(kb.id, ["报销"], [_entered("again")])
        assert [one.synonyms for one in await catalog.glossary(kb.id)] == [("again",)]

    async def test_all_or_none(self, catalog: Catalog, kb: KnowledgeBase) -> None:
        with pytest.raises(NotFoundError):
            await catalog.put_terms(kb.id, ["new", "unknown"], [_entered("a"), _removed()])
        assert await catalog.glossary(kb.id, list(TermState)) == []

    async def test_what_a_document_explains(self, catalog: Catalog, kb: KnowledgeBase) -> None:
        made = await self._explained(catalog, kb, "file:///a", _SLA, _KPI)
        assert await self._known(catalog, kb, 1) == [
            "KPI=Key Performance Indicator in file:///a",
            "SLA=服务级别协议 in file:///a",
        ]
        assert await self._known(catalog, kb, 0) == []
        assert await catalog.abbreviations(kb.id, 1, [], [], EVERYONE) == []
        (kpi,) = await catalog.abbreviations(kb.id, 1, ["kpi"], [], EVERYONE)
        assert (kpi.span, kpi.version_id, kpi.document_id) == (_KPI.span, made.version.id, made.version.document_id)

    async def test_gone_with_the_document(self, catalog: Catalog, kb: KnowledgeBase) -> None:
        made = await self._explained(catalog, kb, "file:///a", _SLA)
        run = await catalog.begin_run(kb.id, "remove", now=NOW)
        await catalog.retire(run, [made.version.id])
        await publish(catalog, run)
        assert await self._known(catalog, kb, 2) == []
        assert await self._known(catalog, kb, 1) == ["SLA=服务级别协议 in file:///a"]
        run = await catalog.begin_run(kb.id, "add", now=NOW)
        again = sample(kb.id, "file:///b", _TEXT)
        await catalog.stage(run, [replace(staged(again), abbreviations=(_SLA,))])
        await catalog.roll_back(run, now=NOW)
        assert await self._known(catalog, kb, 3) == []

    async def test_only_for_who_may_read_its_document(self, catalog: Catalog, kb: KnowledgeBase) -> None:
        made = await self._explained(catalog, kb, "file:///secret", _SLA)
        await catalog.grant(kb.id, made.version.document_id, "ann")
        assert await self._known(catalog, kb, 1, "ann") == ["SLA=服务级别协议 in file:///secret"]
        assert await self._known(catalog, kb, 1) == []
        assert await self._known(catalog, kb, 1, "") == []
        assert await catalog.headings(kb.id, 1, EVERYONE) == []

    async def test_headings_are_told_to_readers(self, catalog: Catalog, kb: KnowledgeBase) -> None:
        await published(catalog, kb, sample(kb.id, "file:///a", "one\ntwo"))
        assert await catalog.headings(kb.id, 1, EVERYONE) == [("file:///a", "1.1 总则"), ("file:///a", "第一章")]
        assert await catalog.headings(kb.id, 0, EVERYONE) == []
        assert await catalog.headings(kb.id, 1, ["nobody"]) == []
