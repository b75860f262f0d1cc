"""Paragraphs that many documents share are decided from what is live, rank lower, and a person can decide otherwise."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kaijuan.core.boilerplate import BOILERPLATE, Boilerplate, BoilerplateRuling, BoilerplateState
from kaijuan.errors import NotFoundError
from kaijuan.index.catalog import Families
from kaijuan.jobs.settings import JobSettings
from kaijuan.testing.workshop import Workshop

NOTICE = "本邮件及其附件含有保密信息，仅限收件人使用；如误收，请立即删除并通知发件人。"
DISCLAIMER = "This message may contain confidential information; if you received it in error, delete it and tell us."
SUBJECTS = ("采购合同", "travel claims", "年度预算", "office keys", "培训安排", "parking", "设备维修", "lunch menus")


def _letter(at: int, *, below: str = NOTICE) -> str:
    subject = SUBJECTS[at % len(SUBJECTS)]
    return "\n\n".join(
        [
            f"关于{subject}的说明，编号{at * 37}：请各部门按期办理。",
            f"Regarding {subject}, item {at * 91}: the desk on floor {at} answers questions about {subject}.",
            f"{subject}的经办人在{at}号窗口，材料齐全后{at + 3}个工作日内办结。",
            below,
        ]
    )


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Workshop]:
    shop = Workshop(tmp_path)
    yield shop
    await shop.close()


async def _decided(shop: Workshop, snapshot: int | None = None) -> list[Boilerplate]:
    kb = await shop.kb()
    return await shop.catalog.boilerplate(kb.id, kb.head if snapshot is None else snapshot)


async def _as_read(shop: Workshop, snapshot: int | None = None) -> Families:
    kb = await shop.kb()
    at = kb.head if snapshot is None else snapshot
    ids = sorted(await shop.chunks(at))
    allowed, near = await shop.catalog.admit(kb.id, at, ids, ["all"], first=len(ids))
    assert allowed == set(ids)
    return near


async def _marked(shop: Workshop, snapshot: int | None = None) -> set[str]:
    near = await _as_read(shop, snapshot)
    texts = {id: (await shop.blobs.get(version.text_hash)).decode() for id, version in near.versions.items()}
    return {chunk.span.of(texts[chunk.version_id]) for chunk in near.chunks.values() if chunk.mark == BOILERPLATE}


@pytest.mark.parametrize("below", [NOTICE, DISCLAIMER])
async def test_a_notice_below_five_letters_ranks_lower_and_stays_in_them(shop: Workshop, below: str) -> None:
    await shop.add({f"m{at}": _letter(at, below=below) for at in range(4)})
    assert await _decided(shop) == []
    assert await _marked(shop) == set()
    await shop.add({"m4": _letter(4, below=below)})
    (one,) = await _decided(shop)
    assert (one.documents, one.total, one.state) == (5, 5, BoilerplateState.LOWERED)
    marked = await _marked(shop)
    assert marked
    assert all(words in below for words in marked)
    # Nothing is taken out of documents, index or earlier snapshots.
    assert (await shop.texts(2))["m4"].rstrip().endswith(below)
    assert await shop.points(2) == await shop.chunks(2)
    assert await _marked(shop, 1) == set()
    near = await _as_read(shop)
    assert set(near.furniture) == set(near.versions)


async def test_it_ends_when_too_few_share_it(shop: Workshop) -> None:
    await shop.add({f"m{at}": _letter(at) for at in range(5)})
    await shop.remove(["m2"])
    assert await _decided(shop) == []
    assert len(await _decided(shop, 1)) == 1
    assert await _marked(shop) == set()
    assert await _marked(shop, 1) != set()


async def test_editions_of_one_document_are_one_witness(shop: Workshop) -> None:
    whole = "\n\n".join(_letter(at, below="结束。") for at in range(8))
    await shop.add({f"edition{at}": f"{whole}\n\n{NOTICE}\n\n第{at}次修订。" for at in range(8)})
    assert await _decided(shop) == []


async def test_a_share_of_all_documents_is_needed_too(shop: Workshop) -> None:
    shop.ingest = replace(shop.ingest, settings=JobSettings(boilerplate_share=0.5))
    letters = {f"m{at}": _letter(at) for at in range(5)}
    others = {
        f"n{at}": _letter(at + 20, below=f"经办人{at * 13}的联系方式见附件第{at}页，请按时提交材料。")
        for at in range(6)
    }
    await shop.add(letters | others)
    assert await _decided(shop) == []
    await shop.remove(["n0"])
    assert len(await _decided(shop)) == 1


async def test_a_person_decides_otherwise_and_that_stands_when_it_comes_back(shop: Workshop) -> None:
    await shop.add({f"m{at}": _letter(at) for at in range(5)})
    (one,) = await _decided(shop)
    kb = await shop.kb()
    ruling = BoilerplateRuling(state=BoilerplateState.KEPT, at=1.0, by="wang", note="people ask for it")
    with pytest.raises(NotFoundError):
        await shop.catalog.rule_boilerplate(kb.id, kb.head, [one.digest, "0" * 16], ruling)
    assert await _marked(shop) != set()
    await shop.catalog.rule_boilerplate(kb.id, kb.head, [one.digest], ruling)
    assert await _marked(shop) == set()
    await shop.remove(["m0"])
    assert await _decided(shop) == []
    await shop.add({"m0": _letter(0)})
    (again,) = await _decided(shop)
    assert (again.digest, again.state, again.history) == (one.digest, BoilerplateState.KEPT, (ruling,))


async def test_an_undone_run_leaves_no_decision_and_ends_none(shop: Workshop) -> None:
    def stop(step: str) -> None:
        if step == "find_boilerplate":
            raise KeyboardInterrupt

    await shop.add({f"m{at}": _letter(at) for at in range(5)})
    before = await _decided(shop)
    whole = shop.ingest
    shop.ingest = replace(whole, reached=stop)
    with pytest.raises(KeyboardInterrupt):
        await shop.remove(["m1"])
    with pytest.raises(KeyboardInterrupt):
        await shop.add({f"d{at}": _letter(at + 10, below=DISCLAIMER) for at in range(6)})
    shop.ingest = whole
    assert await _decided(shop) == before
    await shop.add({"other": _letter(30, below="完")})
    assert [one.digest for one in await _decided(shop)] == [one.digest for one in before]


async def test_it_can_be_switched_off(shop: Workshop) -> None:
    await shop.add({f"m{at}": _letter(at) for at in range(5)})
    shop.ingest = replace(shop.ingest, settings=JobSettings(find_boilerplate=False))
    await shop.add({"m5": _letter(5)})
    assert await _decided(shop) == []


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.permutations(range(7)), st.sets(st.integers(0, 6), max_size=3), st.integers(1, 4))
async def test_only_what_is_live_counts_whatever_the_order(order: list[int], gone: set[int], parts: int) -> None:
    """Letters with two notices, added in any order in any number of runs, some removed: as if the rest came at once."""
    letters = {f"m{at}": _letter(at, below=f"{NOTICE}\n\n{DISCLAIMER}" if at % 3 else NOTICE) for at in range(7)}
    with TemporaryDirectory() as one, TemporaryDirectory() as other:
        tried, plain = Workshop(Path(one)), Workshop(Path(other))
        try:
            for at in range(parts):
                names = [f"m{number}" for number in order[at::parts]]
                if names:
                    await tried.add({name: letters[name] for name in names})
            if gone:
                await tried.remove([f"m{at}" for at in sorted(gone)])
            await plain.add({name: said for name, said in letters.items() if int(name[1:]) not in gone})
            found = {item.digest for item in await _decided(tried)}
            assert found == {item.digest for item in await _decided(plain)}
            assert await _marked(tried) == await _marked(plain)
        finally:
            await tried.close()
            await plain.close()
