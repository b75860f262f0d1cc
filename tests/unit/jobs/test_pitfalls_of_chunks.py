"""What users of other systems lost through cutting, as small inputs with a rule each."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from kaijuan import Kaijuan, registry
from kaijuan.config import Config, EmbedderSettings
from kaijuan.core.documents import BlockKind, Chunk, ChunkLevel, Version
from kaijuan.core.ids import ChunkId, DocumentId, KbId, VersionId
from kaijuan.core.spans import uncovered
from kaijuan.index.embed import Passages
from kaijuan.index.ports import Embedder
from kaijuan.ingest.ports import ChunkDraft
from kaijuan.ingest.settings import CutSettings
from kaijuan.testing.contracts.chunker import BILINGUAL, UNBROKEN, WIDE_ROW, blocks_of, check_drafts, ready
from kaijuan.testing.embedders import HashEmbedder
from kaijuan.testing.workshop import Workshop
from kaijuan.verbs.embedders import make_embedder

SIZES = {"child_tokens": 24, "max_tokens": 96, "parent_tokens": 96, "child_overlap": 0.0}


@pytest.fixture(scope="module")
def onboard(tmp_path_factory: pytest.TempPathFactory) -> Embedder:
    """Return the embedder that ships, whose own tokenizer measures."""
    return make_embedder(EmbedderSettings(), tmp_path_factory.mktemp("cache"))


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Workshop]:
    shop = Workshop(tmp_path)
    yield shop
    await shop.close()


@pytest.fixture
async def base(tmp_path: Path) -> AsyncIterator[Kaijuan]:
    config = Config.model_validate({"stores": {"index": "memory"}, "chunk": SIZES})
    async with Kaijuan(tmp_path / "home", config=config, embedder=HashEmbedder()) as engine:
        yield engine


def rewrite(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


@pytest.mark.parametrize("word", sorted(registry.targets("chunker")))
@pytest.mark.parametrize(
    ("kind", "content"),
    [
        (BlockKind.PARAGRAPH, UNBROKEN[:8000]),
        (BlockKind.PARAGRAPH, BILINGUAL),
        (BlockKind.TABLE, WIDE_ROW[:10_000]),
    ],
    ids=["8,000-han", "bilingual", "one-row"],
)
def test_what_is_embedded_fits_the_embedder_and_nothing_is_lost(
    onboard: Embedder, word: str, kind: BlockKind, content: str
) -> None:
    """C17 and input 12: measured with the embedder's own tokenizer, title path and prefix counted."""
    title = "一份很长的标题 a rather long title of a document " * 6
    text, blocks = blocks_of((BlockKind.HEADING, title), (kind, content))
    sizes = CutSettings()
    drafts = ready(registry.load("chunker", word)(sizes)).chunk(text, blocks, onboard)
    check_drafts(text, blocks, drafts, onboard, sizes.max_tokens, parents_overlap=word == "sentence_window")
    passages = Passages(onboard, 64)
    version = _version(title)
    for draft in drafts:
        if draft.level is not ChunkLevel.CHILD:
            continue
        said = passages.text(version, _chunk(draft), draft.span.of(text))
        assert len(onboard.token_spans(said)) + onboard.info.reserved_tokens <= onboard.info.max_tokens
        assert said.endswith(draft.span.of(text)), "only the prefix may be shortened"


@pytest.mark.parametrize("strategy", ["recursive", "fixed", "sliding", "structural", "sentence_window", "faq", "list"])
async def test_every_chunk_is_its_span_of_the_stored_text(tmp_path: Path, strategy: str) -> None:
    """C18 and input 4: equal words, several sentences, overlap; through files and back from the store."""
    config = Config.model_validate(
        {"stores": {"index": "memory"}, "chunk": {**SIZES, "strategy": strategy, "child_overlap": 0.5}}
    )
    path = tmp_path / "words.txt"
    rewrite(path, "word word " * 80 + "1. One two three four. 2. One two three four. 甲乙丙丁。甲乙丙丁。" * 20)
    async with Kaijuan(tmp_path / "home", config=config, embedder=HashEmbedder()) as base:
        await base.add(str(path))
        view = await base.show("words.txt")
        children = [chunk for chunk in view.chunks if chunk.level is ChunkLevel.CHILD]
        assert len({chunk.span for chunk in children}) == len(children) > 2
        for block in view.blocks:
            assert not any(gap.of(view.text).strip() for gap in uncovered(block.span, [one.span for one in children]))
        for passage in (await base.search("One two three four")).passages:
            assert passage.text == view.text[passage.span.start : passage.span.end]


async def test_equal_pages_and_paragraphs_are_chunks_of_their_own(shop: Workshop) -> None:
    """C19: two documents that say the same, and one that says it twice; removing one leaves the others."""
    same = "The same paragraph stands here twice."
    twice = f"{same}\n\nSomething else stands between.\n\n{same}"
    await shop.add({"a": twice, "b": twice})
    kb = await shop.kb()
    chunks = await shop.chunks(kb.head)
    assert len(set(chunks)) == len(chunks) == len(await shop.points(kb.head))
    await shop.remove(["a"])
    kb = await shop.kb()
    assert await shop.texts(kb.head) == {"b": twice}
    left = await shop.chunks(kb.head)
    assert 2 * len(left) == len(chunks)
    assert await shop.points(kb.head) == left


async def test_an_update_replaces_the_whole_set(shop: Workshop) -> None:
    """C21: of a document in many pieces all are there after each update, and none of the version before."""
    for count in (9, 4, 12):
        text = "\n\n".join(f"Piece {number} of version {count} says something of its own." for number in range(count))
        await shop.add({"a": text})
        kb = await shop.kb()
        version = (await shop.catalog.versions(kb.id, kb.head))[0]
        children = await shop.catalog.chunks_of(version.id, ChunkLevel.CHILD)
        found = "\n".join(chunk.span.of(text) for chunk in children)
        assert all(f"Piece {number} of version {count}" in found for number in range(count))
        assert await shop.points(kb.head) == sorted(chunk.id for chunk in children)


async def test_parents_children_words_and_vectors_change_together(base: Kaijuan, tmp_path: Path) -> None:
    """C24: found by words below their parents; one added is found; deleted, nothing of them is left."""
    path = tmp_path / "manual.md"
    parts = [f"## Part {number}\n\nThe {word} is to be cleaned every week." for number, word in enumerate(WORDS)]
    rewrite(path, "# Manual\n\n" + "\n\n".join(parts))
    await base.add(str(path))
    for word in WORDS:
        (passage, *_) = (await base.search(word, k=1)).passages
        assert word in passage.text
        assert "lexical" in passage.routes
    view = await base.show("manual.md")
    child = next(
        chunk for chunk in view.chunks if chunk.level is ChunkLevel.CHILD and WORDS[1] in chunk.span.of(view.text)
    )
    await base.alias_chunk(child.id, "Where do I put ZZ-77?")
    assert WORDS[1] in (await base.search("ZZ-77", k=1)).passages[0].text
    await base.remove("manual.md")
    status = await base.status()
    assert (status.documents, status.chunks) == (0, 0)
    assert (await base.search(WORDS[1])).passages == ()
    assert (await base.search("ZZ-77")).passages == ()


WORDS = ("impeller", "gearbox", "manifold", "actuator")


def _version(title: str) -> Version:
    return Version(
        id=VersionId("v"),
        document_id=DocumentId("d"),
        kb_id=KbId("k"),
        number=1,
        source="file:///a",
        title=title,
        kind="markdown",
        content_hash="",
        fingerprint="",
        text_hash="",
        original_hash="",
    )


def _chunk(draft: ChunkDraft) -> Chunk:
    return Chunk(
        id=ChunkId("c"),
        version_id=VersionId("v"),
        document_id=DocumentId("d"),
        ordinal=0,
        level=draft.level,
        span=draft.span,
        parent_id=None,
        title_path=draft.title_path,
        tokens=draft.tokens,
        strategy="",
    )
