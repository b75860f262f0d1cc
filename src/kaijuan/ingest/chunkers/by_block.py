"""Several strategies in one document: blocks of some kinds are cut by one of their own, the rest by the document's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from kaijuan.core.documents import Block
from kaijuan.ingest.chunkers.atomic import leading
from kaijuan.ingest.ports import ChunkDraft, Chunker, Judge, NeedsJudge, NeedsSimilarity, Similarity, Tokenizer


class MixedChunker:
    """Runs of blocks of a named kind go to the chunker of that kind, with the heading or line that announces them."""

    def __init__(self, main: Chunker, named: Mapping[str, Chunker]) -> None:
        self._main = main
        self._named = dict(sorted(named.items()))
        self._similarity: Similarity | None = None
        self._judge: Judge | None = None

    @property
    def fingerprint(self) -> str:
        """Those of all chunkers, with the kinds that they are for."""
        others = ",".join(f"{kind}={chunker.fingerprint}" for kind, chunker in self._named.items())
        return f"{self._main.fingerprint}+{others}"

    @property
    def similarity(self) -> Similarity | None:
        """What makes vectors, for the chunkers that need it."""
        return self._similarity

    @similarity.setter
    def similarity(self, similarity: Similarity | None) -> None:
        self._similarity = similarity
        for chunker in (self._main, *self._named.values()):
            if isinstance(chunker, NeedsSimilarity):
                chunker.similarity = similarity

    @property
    def judge(self) -> Judge | None:
        """What judges, for the chunkers that need it."""
        return self._judge

    @judge.setter
    def judge(self, judge: Judge | None) -> None:
        self._judge = judge
        for chunker in (self._main, *self._named.values()):
            if isinstance(chunker, NeedsJudge):
                chunker.judge = judge

    def chunk(self, text: str, blocks: Sequence[Block], tokenizer: Tokenizer) -> list[ChunkDraft]:
        """Return parents, each followed by its children, in reading order."""
        drafts: list[ChunkDraft] = []
        for chunker, run in self._runs(text, blocks):
            first = len(drafts)
            drafts += (
                draft if draft.parent is None else replace(draft, parent=draft.parent + first)
                for draft in chunker.chunk(text, run, tokenizer)
            )
        return drafts

    def _runs(self, text: str, blocks: Sequence[Block]) -> Iterator[tuple[Chunker, list[Block]]]:
        run: list[Block] = []
        chunker = self._main
        for block in (block for block in blocks if block.span.of(text).strip()):
            wanted = self._named.get(block.kind.value, self._main)
            if wanted is not chunker and run:
                announcing = leading(text, run) if chunker is self._main else []
                before = run[: len(run) - len(announcing)]
                if before:
                    yield chunker, before
                run = announcing
            chunker = wanted
            run.append(block)
        if run:
            yield chunker, run
