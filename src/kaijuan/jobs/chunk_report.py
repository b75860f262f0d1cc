"""How well a knowledge base is cut: lengths, cut structures, duplicates, outliers, coverage (spec C7)."""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import median

from kaijuan.core.chunk_work import ALIAS, AUTO
from kaijuan.core.documents import Block, BlockKind, Chunk, ChunkLevel, Version
from kaijuan.core.ids import ChunkId, piece_of
from kaijuan.core.spans import Span
from kaijuan.index.catalog import Catalog
from kaijuan.index.ports import BlobStore
from kaijuan.index.write import UNREADABLE
from kaijuan.ingest.chunkers.quality import Quality, quality_of
from kaijuan.jobs.work_views import WorkView, stale

BUCKET = 32
"""Tokens a bar of the histogram."""
TINY = 16
"""Tokens below which a child says little by itself."""
_KEPT = 200
_EXCERPT = 120
_TWINS_NAMED = 5
_FAR = 3.5
"""Robust z-score (Iglewicz and Hoaglin, 1993) from which a document's mean length is an outlier."""
_FEWEST = 8
"""Documents below which nothing is an outlier."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CutPlace:
    """A table, code, list or formula that stands in several chunks."""

    source: str
    kind: BlockKind
    span: Span
    pieces: int
    excerpt: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Duplicate:
    """Children with one text."""

    excerpt: str
    count: int
    chunks: tuple[ChunkId, ...]
    """The first of them."""
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlier:
    """A document that is cut unlike the others."""

    source: str
    children: int
    mean_tokens: float
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StaleWork:
    """Work whose passage has changed."""

    id: str
    source: str
    kind: str
    by: str
    why: str
    excerpt: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkReport:
    """A snapshot's chunks. Lists are cut after 200 entries; their numbers count all."""

    snapshot: int
    documents: int
    children: int
    parents: int
    strategies: dict[str, int]
    """Children by the name of their strategy."""
    lengths: dict[int, int]
    """Children by the lower edge of a bar of 32 tokens."""
    median_tokens: float
    shortest: int
    longest: int
    tiny: int
    cut_count: int
    cut: tuple[CutPlace, ...]
    parted_sentences: int
    duplicate_count: int
    """Children that could be spared because another has their text."""
    duplicates: tuple[Duplicate, ...]
    outliers: tuple[Outlier, ...]
    coverage: float
    """Share of the content that stands in some child: anything below 1 is a defect."""
    lost: tuple[tuple[str, str], ...]
    """Source and text of what no child holds."""
    unreadable: tuple[str, ...]
    """Sources whose text cannot be read."""
    manual: Mapping[str, int] = field(default_factory=dict)
    """Chunks that people made or changed, by origin."""
    stale: tuple[StaleWork, ...] = ()
    """What people did and the live documents could not take over: somebody has to look at it."""


@dataclass(slots=True)
class _Twins:
    excerpt: str
    count: int
    chunks: list[ChunkId]
    sources: list[str]


@dataclass(slots=True)
class _Sum:
    """What is gathered document by document; memory grows with the number of children, by some bytes for each."""

    tokens: list[int] = field(default_factory=list)
    means: list[tuple[str, int, float]] = field(default_factory=list)
    strategies: Counter[str] = field(default_factory=Counter)
    manual: Counter[str] = field(default_factory=Counter)
    first: dict[bytes, tuple[ChunkId, str]] = field(default_factory=dict)
    twins: dict[bytes, _Twins] = field(default_factory=dict)
    cut: list[CutPlace] = field(default_factory=list)
    cut_count: int = 0
    parents: int = 0
    parted: int = 0
    content: int = 0
    lost_characters: int = 0
    lost: list[tuple[str, str]] = field(default_factory=list)

    def add(self, version: Version, text: str, blocks: Sequence[Block], chunks: Sequence[Chunk]) -> None:
        found = quality_of(text, blocks, chunks)
        self._count(version, found)
        for place in found.cut[: max(0, _KEPT - len(self.cut))]:
            said = excerpt(place.span.of(text))
            self.cut.append(
                CutPlace(source=version.source, kind=place.kind, span=place.span, pieces=place.pieces, excerpt=said)
            )
        for gap in found.lost[: max(0, _KEPT - len(self.lost))]:
            self.lost.append((version.source, excerpt(gap.of(text))))
        for chunk in chunks:
            if chunk.origin != AUTO:
                self.manual[chunk.origin] += 1
            if chunk.level is ChunkLevel.CHILD and chunk.origin != ALIAS:
                self.strategies[chunk.strategy.split("-")[0]] += 1
                self._compare(version, chunk, chunk.span.of(text))

    def _count(self, version: Version, found: Quality) -> None:
        self.tokens += found.tokens
        self.parents += found.parents
        self.parted += found.parted_sentences
        self.cut_count += len(found.cut)
        self.content += found.content
        self.lost_characters += found.lost_characters
        if found.tokens:
            self.means.append((version.source, len(found.tokens), sum(found.tokens) / len(found.tokens)))

    def _compare(self, version: Version, chunk: Chunk, text: str) -> None:
        key = hashlib.blake2b(" ".join(text.split()).encode(), digest_size=16).digest()
        if key not in self.first:
            self.first[key] = (piece_of(chunk.id), version.source)
            return
        if key not in self.twins:
            id, source = self.first[key]
            self.twins[key] = _Twins(excerpt=excerpt(text), count=1, chunks=[id], sources=[source])
        twins = self.twins[key]
        twins.count += 1
        if len(twins.chunks) < _TWINS_NAMED:
            twins.chunks.append(piece_of(chunk.id))
            twins.sources.append(version.source)


async def chunk_report(
    catalog: Catalog, blobs: BlobStore, versions: Sequence[Version], snapshot: int, work: Sequence[WorkView] = ()
) -> ChunkReport:
    """Look at the chunks of these versions, one document at a time; `work` is what people did to them."""
    found = _Sum()
    unreadable = []
    for version in versions:
        try:
            text = (await blobs.get(version.text_hash)).decode()
        except UNREADABLE:
            unreadable.append(version.source)
            continue
        blocks, chunks = await catalog.blocks_of(version.id), await catalog.chunks_of(version.id)
        await asyncio.to_thread(found.add, version, text, blocks, chunks)
    made = _report(found, len(versions), snapshot, tuple(unreadable))
    return replace(made, stale=tuple(map(_stale, stale(work))))


def _stale(view: WorkView) -> StaleWork:
    work = view.work
    quote = excerpt(work.passage.quote)
    return StaleWork(id=work.id, source=view.source, kind=work.kind.value, by=work.by, why=view.why, excerpt=quote)


def _report(found: _Sum, documents: int, snapshot: int, unreadable: tuple[str, ...]) -> ChunkReport:
    twins = sorted(found.twins.values(), key=lambda each: -each.count)
    return ChunkReport(
        snapshot=snapshot,
        documents=documents,
        children=len(found.tokens),
        parents=found.parents,
        strategies=dict(found.strategies.most_common()),
        lengths=dict(sorted(Counter(tokens // BUCKET * BUCKET for tokens in found.tokens).items())),
        median_tokens=median(found.tokens) if found.tokens else 0.0,
        shortest=min(found.tokens, default=0),
        longest=max(found.tokens, default=0),
        tiny=sum(tokens < TINY for tokens in found.tokens),
        cut_count=found.cut_count,
        cut=tuple(found.cut),
        parted_sentences=found.parted,
        duplicate_count=sum(each.count - 1 for each in twins),
        duplicates=tuple(
            Duplicate(
                excerpt=each.excerpt,
                count=each.count,
                chunks=tuple(each.chunks),
                sources=tuple(dict.fromkeys(each.sources)),
            )
            for each in twins[:_KEPT]
        ),
        outliers=tuple(_outliers(found.means))[:_KEPT],
        coverage=1 - found.lost_characters / found.content if found.content else 1.0,
        lost=tuple(found.lost),
        unreadable=unreadable,
        manual=dict(found.manual.most_common()),
    )


def _outliers(means: Sequence[tuple[str, int, float]]) -> list[Outlier]:
    """Return documents whose children are of another length than those of most, the farthest first."""
    # A document of one short child is short, not badly cut.
    several = [each for each in means if each[1] > 1]
    if len(several) < _FEWEST:
        return []
    middle = median(mean for _, _, mean in several)
    spread = median(abs(mean - middle) for _, _, mean in several)
    if not spread:
        return []
    far = [(0.6745 * (mean - middle) / spread, source, children, mean) for source, children, mean in several]
    return [
        Outlier(
            source=source,
            children=children,
            mean_tokens=round(mean, 1),
            why=f"{'longer' if score > 0 else 'shorter'} than most ({mean:.0f} tokens against {middle:.0f})",
        )
        for score, source, children, mean in sorted(far, key=lambda each: -abs(each[0]))
        if abs(score) >= _FAR
    ]


def excerpt(text: str) -> str:
    """Return the beginning of a text on one line."""
    words = " ".join(text[: 4 * _EXCERPT].split())
    return words if len(words) <= _EXCERPT else f"{words[:_EXCERPT]}…"
