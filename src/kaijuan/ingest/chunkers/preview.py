"""A document cut by several strategies at once, to be compared before one is chosen. Stores nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from kaijuan.core.documents import Block, ChunkLevel, ParsedBlock, ParsedDocument
from kaijuan.core.ids import BlockId
from kaijuan.core.spans import Span
from kaijuan.ingest.chunkers.policy import ChunkPolicy, Load
from kaijuan.ingest.chunkers.quality import Quality, quality_of
from kaijuan.ingest.ports import ChunkDraft, Judge, Similarity, Tokenizer
from kaijuan.ingest.settings import ChunkSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """What one strategy makes of a document."""

    strategy: str
    chunks: tuple[ChunkDraft, ...]
    quality: Quality

    @property
    def children(self) -> list[ChunkDraft]:
        """The chunks that are searched."""
        return [chunk for chunk in self.chunks if chunk.level is ChunkLevel.CHILD]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A part of the text at whose ends every strategy has a border, and each strategy's children that begin in it."""

    span: Span
    children: tuple[tuple[ChunkDraft, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A document under several strategies."""

    shape: str
    chosen: str
    """The strategy that the settings choose for it."""
    trials: tuple[Trial, ...]

    def rows(self) -> list[Row]:
        """Return the children side by side, in rows as short as common borders allow."""
        borders = [{child.span.start for child in trial.children} for trial in self.trials]
        starts = sorted(set.intersection(*borders)) if borders else []
        first = min((child.span.start for trial in self.trials for child in trial.children), default=0)
        end = max((child.span.end for trial in self.trials for child in trial.children), default=0)
        places = sorted({first, *starts, end})
        return [
            Row(
                span=Span(a, b),
                children=tuple(
                    tuple(child for child in trial.children if a <= child.span.start < b) for trial in self.trials
                ),
            )
            for a, b in pairwise(places)
        ]


def compared(
    document: ParsedDocument,
    strategies: Sequence[str],
    settings: ChunkSettings,
    load: Load,
    tokenizer: Tokenizer,
    similarity: Similarity | None = None,
    judge: Judge | None = None,
) -> Comparison:
    """Cut a document by each strategy, or by the one that the settings choose; UsageError for an unknown name."""
    policy = ChunkPolicy(settings, load)
    blocks = blocks_of(document.blocks)
    shape = policy.shape_of(document.kind, document.text, blocks)
    chosen = policy.strategy(document.kind, shape.partition(".")[0])
    trials = []
    for strategy in strategies or [chosen]:
        own = ChunkPolicy(
            settings.model_copy(update={"strategy": strategy, "by_kind": {}, "by_shape": {}, "by_source": {}}),
            load,
            similarity,
            judge,
        )
        chunks = tuple(own.chunker_for(document.kind, shape).chunk(document.text, blocks, tokenizer))
        name = own.strategy(document.kind, shape.partition(".")[0])
        label = strategy if strategy == name else f"{strategy}: {name}"
        trials.append(Trial(strategy=label, chunks=chunks, quality=quality_of(document.text, blocks, chunks)))
    return Comparison(shape=shape.partition(".")[0], chosen=chosen, trials=tuple(trials))


def blocks_of(parsed: Sequence[ParsedBlock]) -> list[Block]:
    """Return blocks as chunkers take them; they have no ids, for they are stored nowhere."""
    return [
        Block(
            id=BlockId(""),
            ordinal=ordinal,
            kind=block.kind,
            span=block.span,
            level=block.level,
            title_path=block.title_path,
            pages=block.pages,
            lines=block.lines,
            confidence=block.confidence,
            place=block.place,
            syntax=block.syntax,
            table=block.table,
        )
        for ordinal, block in enumerate(parsed)
    ]
