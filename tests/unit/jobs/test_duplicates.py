"""Documents that say the same are found and told; each stays its own, and what was decided can be reversed."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from kaijuan.core.duplicates import Duplicate, DuplicateKind, DuplicateState, Ruling
from kaijuan.ingest.dedupe.shingles import likeness, shingles, signature
from kaijuan.jobs.settings import JobSettings
from kaijuan.testing.workshop import ROOT, Workshop

TEXT = (
    "员工出差须经部门负责人批准，并在差旅系统中提交申请。住宿费按城市等级报销，交通费凭票据实报。"
    "Employees book trips through the travel desk, keep every receipt, and file the claim within a month. "
    "超出标准的部分由个人承担，特殊情况须由分管领导书面同意。国际差旅另行规定，外币按当日牌价折算。"
    "The travel desk answers questions on working days and forwards disputes to the finance committee. "
    "本办法由财务部负责解释，与此前规定不一致的，以本办法为准，各单位可以制定实施细则并报备案。"
)
NEARLY = TEXT.replace("差旅系统", "出差系统")
OTHER = "完全不同的内容：食堂中午供应三种套餐。The canteen serves three menus at noon and is closed at weekends. " * 2


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Workshop]:
    shop = Workshop(tmp_path)
    yield shop
    await shop.close()


async def _pairs(shop: Workshop) -> dict[str, tuple[str, str, str]]:
    """Return (other, kind, state) by name, as head shows them."""
    kb = await shop.kb()
    found = await shop.catalog.duplicates(kb.id, kb.head)
    names = {version.id: version.source.removeprefix(ROOT) for version in await shop.catalog.all_versions(kb.id)}
    return {names[one.version_id]: (names[one.other_id], one.kind.value, one.state.value) for one in found}


async def _one(shop: Workshop) -> Duplicate:
    kb = await shop.kb()
    (found,) = await shop.catalog.duplicates(kb.id, kb.head)
    return found


async def test_the_same_text_twice_is_two_documents_and_one_decision(shop: Workshop) -> None:
    report = await shop.add({"a": TEXT, "b": TEXT, "c": OTHER})
    assert (report.added, report.documents) == (3, 3)
    assert await _pairs(shop) == {"b": ("a", "exact", "merged")}
    # C19: each has records of its own; removing one leaves the other whole.
    assert len(await shop.points(1)) == len(await shop.chunks(1))
    await shop.remove(["a"])
    assert await shop.texts(2) == {"b": TEXT, "c": OTHER}
    assert await shop.points(2) == await shop.chunks(2)
    assert await _pairs(shop) == {}
    await shop.add({"a": TEXT})
    await shop.remove(["b"])
    assert await shop.texts(4) == {"a": TEXT, "c": OTHER}
    assert (await shop.ingest.check(await shop.kb())).problems == 0


async def test_two_equal_pages_are_two_records(shop: Workshop) -> None:
    page = "Page text. 同一页的内容。"
    await shop.add({"a": f"{page}\n\n{page}"})
    kb = await shop.kb()
    version = await shop.catalog.version_of(kb.id, ROOT + "a", 1)
    assert version is not None
    blocks = await shop.catalog.blocks_of(version.id)
    assert len({block.id for block in blocks}) == len(blocks) == 2


async def test_the_same_source_again_is_one_document(shop: Workshop) -> None:
    """C20: a second click, a retry, the same file in two runs."""
    for _ in range(3):
        await shop.add({"a": TEXT})
    kb = await shop.kb()
    assert len(await shop.catalog.all_versions(kb.id)) == 1
    assert await _pairs(shop) == {}


async def test_nearly_the_same_is_found_in_a_later_run(shop: Workshop) -> None:
    await shop.add({"a": TEXT, "c": OTHER})
    await shop.add({"b": NEARLY})
    found = await _one(shop)
    assert (found.kind, found.state) == (DuplicateKind.NEAR, DuplicateState.MERGED)
    assert 0.9 <= found.similarity < 1
    assert found.similarity == round(likeness(shingles(TEXT), shingles(NEARLY)), 4)


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("within a month", "within 3 months", "numbers in the text differ"),
        ("可以制定", "不得制定", "what is denied differs"),
        ("keep every receipt", "never keep receipt", "what is denied differs"),
    ],
)
async def test_a_changed_rule_is_another_document(shop: Workshop, old: str, new: str, reason: str) -> None:
    await shop.add({"a": TEXT, "b": TEXT.replace(old, new)})
    found = await _one(shop)
    assert (found.kind, found.state) == (DuplicateKind.REVISION, DuplicateState.KEPT)
    assert found.reason.startswith(reason)


async def test_names_alone_never_merge(shop: Workshop) -> None:
    await shop.add({"travel-policy": TEXT, "travel-policy (1)": OTHER, "travel-policy-copy": "短。"})
    assert await _pairs(shop) == {}


async def test_short_texts_are_not_compared(shop: Workshop) -> None:
    assert signature("短短的一句话。") == b""
    await shop.add({"a": "Yes.", "b": "Yes."})
    assert await _pairs(shop) == {}


async def test_copies_of_copies_are_one_group(shop: Workshop) -> None:
    await shop.add({"a": TEXT})
    for name in ("b", "c", "d"):
        await shop.add({name: TEXT})
    kb = await shop.kb()
    found = await shop.catalog.duplicates(kb.id, kb.head)
    assert len(found) == 3
    assert len({one.group_id for one in found}) == 1
    await shop.remove(["a"])
    kb = await shop.kb()
    versions = {version.id for version in await shop.catalog.versions(kb.id, kb.head)}
    chunks = [id for version in versions for id in [one.id for one in await shop.catalog.chunks_of(version)]]
    groups = (await shop.catalog.families(chunks)).groups
    assert len(groups) == 3
    assert len(set(groups.values())) == 1


async def test_what_a_person_said_stands_for_the_next_versions(shop: Workshop) -> None:
    await shop.add({"a": TEXT, "b": TEXT})
    found = await _one(shop)
    ruling = Ruling(state=DuplicateState.KEPT, at=1.0, by="wang", note="two offices")
    await shop.catalog.rule_duplicates([found.version_id], ruling)
    assert (await _one(shop)).history == (ruling,)
    await shop.add({"b": NEARLY})
    again = await _one(shop)
    assert again.version_id != found.version_id
    assert (again.kind, again.state, again.history) == (DuplicateKind.NEAR, DuplicateState.KEPT, (ruling,))


async def test_an_undone_run_leaves_no_decision(shop: Workshop) -> None:
    def stop(step: str) -> None:
        if step == "find_duplicates":
            raise KeyboardInterrupt

    whole = shop.ingest
    shop.ingest = replace(whole, reached=stop)
    with pytest.raises(KeyboardInterrupt):
        await shop.add({"a": TEXT, "b": TEXT})
    shop.ingest = whole
    assert await _pairs(shop) == {}
    await shop.add({"a": TEXT, "c": OTHER})
    assert await _pairs(shop) == {}


async def test_it_can_be_switched_off(shop: Workshop) -> None:
    shop.ingest = replace(shop.ingest, settings=JobSettings(find_duplicates=False))
    await shop.add({"a": TEXT, "b": TEXT})
    assert await _pairs(shop) == {}
