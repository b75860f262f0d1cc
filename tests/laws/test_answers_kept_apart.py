"""Law of kept answers: whatever is granted, taken away and asked, nobody is told what they may not read."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Mapping
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from kaijuan import Kaijuan
from kaijuan.config import Config, StoreSettings
from kaijuan.core.ids import DocumentId
from kaijuan.testing.embedders import HashEmbedder
from kaijuan.verbs.wiring import viewed

NAMES = ("甲", "乙", "丙")
NUMBERS = ("七千一百零一", "七千二百零二", "七千三百零三")
"""In words: ids and times are full of digits."""
SAYS = {name: f"{name}项目的预算是 {number} 元。" for name, number in zip(NAMES, NUMBERS, strict=True)}
GROUPS = ("group:a", "group:b")
QUESTIONS = ("甲项目的预算是多少元？", "请问甲项目的预算是多少元？", "乙项目的预算是多少元？", "项目的预算是多少元？")
readers = st.sampled_from([frozenset({"group:a"}), frozenset({"group:b"}), frozenset(GROUPS)])
asks = st.tuples(st.just("ask"), readers, st.sampled_from(QUESTIONS))
changes = st.tuples(st.sampled_from(["grant", "revoke"]), st.sampled_from(GROUPS), st.sampled_from(NAMES))


@settings(max_examples=12, deadline=None)
@given(steps=st.lists(st.one_of(asks, asks, changes), min_size=4, max_size=12))
def test_nobody_is_told_what_they_may_not_read(steps: list[tuple[str, object, str]]) -> None:
    asyncio.run(_lived(steps))


async def _lived(steps: list[tuple[str, object, str]]) -> None:
    config = Config(stores=StoreSettings(index="memory"))
    with tempfile.TemporaryDirectory() as folder:
        papers = Path(folder) / "papers"
        papers.mkdir()
        for name, text in SAYS.items():
            (papers / f"{name}.md").write_text(f"# {name}\n\n{text}\n", encoding="utf-8")
        async with Kaijuan(Path(folder) / "home", config=config, embedder=HashEmbedder()) as base:
            await base.add([str(papers)])
            for group in GROUPS:
                await base.grant(group)
            kb = await base.catalog.kb("default", "default")
            documents = {version.title: version.document_id for version in await base.list()}
            for id in documents.values():
                await base.catalog.grant(kb.id, id, GROUPS[0])
            for kind, who, what in steps:
                if kind == "ask":
                    await _asked(base, who, what, documents)
                elif kind == "grant":
                    await base.catalog.grant(kb.id, documents[what], str(who))
                else:
                    await base.catalog.revoke(kb.id, documents[what], str(who))


async def _asked(base: Kaijuan, who: object, question: str, documents: Mapping[str, DocumentId]) -> None:
    assert isinstance(who, frozenset)
    kb = await base.catalog.kb("default", "default")
    readable = await base.catalog.principals_of(kb.id, set(documents.values()))
    answer = await viewed(base, principals=who).ask(question)
    for name, id in documents.items():
        if not readable[id] & who:
            assert SAYS[name].split()[1] not in f"{answer}"
            assert id not in f"{answer}"
