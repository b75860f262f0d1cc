"""By what sentences are about: a border where one group of sentences is least like the next (Kamradt, 2023).

Two sentences are compared with the two after them. Where their likeness is lowest in its surroundings and among the
lowest of the document, a child ends; one that is still too long is cut again at its own lowest point. Borders of
sections stay.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kaijuan.core.documents import Block
from kaijuan.core.spans import Span
from kaijuan.errors import UsageError
from kaijuan.ingest.chunkers.keeping import kept
from kaijuan.ingest.chunkers.measure import Ruler, Rulers
from kaijuan.ingest.chunkers.sections import shared_depth
from kaijuan.ingest.chunkers.sentence_runs import Run, runs_of
from kaijuan.ingest.chunkers.units import Unit, clipped, drafts_of, strategy_mark
from kaijuan.ingest.ports import ChunkDraft, Similarity, Tokenizer
from kaijuan.ingest.settings import CutSettings

_SHARE = 0.2
"""Of all places between sentences, the share at which children end."""
_SMALLEST = 4
"""A child is not shorter than the aimed size divided by this, as long as its section goes on."""
_LOOKED_AT = 400
"""Characters of a sentence or table that are embedded; what it is about shows in its beginning."""
_APART = 2
"""Windows of two sentences that do not share one are so far apart."""


class SemanticChunker:
    """Needs vectors: whoever makes it sets `similarity` (see `kaijuan.ingest.ports.NeedsSimilarity`)."""

    def __init__(self, settings: CutSettings) -> None:
        self._settings = settings
        self.similarity: Similarity | None = None

    @property
    def fingerprint(self) -> str:
        """Name, version and sizes; the embedder is part of the pipeline's."""
        return strategy_mark("semantic", 2, self._settings)

    def chunk(self, text: str, blocks: Sequence[Block], tokenizer: Tokenizer) -> list[ChunkDraft]:
        """Return parents, each followed by its children, in reading order. UsageError without `similarity`."""
        if self.similarity is None:
            raise UsageError("The strategy 'semantic' needs an embedder.", hint="Choose another strategy.")
        filled = [block for block in blocks if block.span.of(text).strip()]
        runs = list(runs_of(text, filled, self._settings.window_chars))
        likeness = self._likeness(text, runs, self.similarity)
        depth = shared_depth(filled) + 1
        threshold = _threshold(likeness)
        units = []
        spans = [Span(run.items[0].start, run.items[-1].end) for run in runs]
        rulers = Rulers(text, spans, tokenizer, self._settings.window_chars)
        for whole, run, own in zip(spans, runs, likeness, strict=True):
            ruler = rulers.over(whole)
            for first, last in self._segments(run.items, own, threshold, ruler):
                span = Span(run.items[first].start, run.items[last].end)
                inside = tuple(clipped(text, run.section.blocks, span.start, span.end))
                path = run.section.path
                units.append(Unit(span=span, path=path, blocks=inside, parent=path[:depth]))
        return kept(text, blocks, drafts_of(text, units, tokenizer, self._settings))

    def _likeness(self, text: str, runs: Sequence[Run], similarity: Similarity) -> list[list[float]]:
        """Return for every place between items how like the two before are to the two after; one call a document."""
        texts = [window for run in runs for window in _windows(text, run.items)]
        found = similarity(texts, _APART) if any(len(run.items) > 1 for run in runs) else []
        result: list[list[float]] = []
        at = 0
        for run in runs:
            result.append(list(found[at : at + len(run.items) - 1]))
            at += len(run.items) + 1
        return result

    def _segments(
        self, items: Sequence[Span], likeness: Sequence[float], threshold: float, ruler: Ruler
    ) -> Iterator[tuple[int, int]]:
        least = self._settings.child_tokens // _SMALLEST
        first = 0
        for at, like in enumerate(likeness):
            here = ruler.count(items[first].start, items[at].end)
            rest = ruler.count(items[at + 1].start, items[-1].end)
            valley = like <= threshold and like <= min(likeness[max(0, at - 1) : at + 2])
            if valley and here >= least and rest >= least:
                yield from self._fitting(items, likeness, first, at, ruler)
                first = at + 1
        yield from self._fitting(items, likeness, first, len(items) - 1, ruler)

    def _fitting(
        self, items: Sequence[Span], likeness: Sequence[float], first: int, last: int, ruler: Ruler
    ) -> Iterator[tuple[int, int]]:
        """Cut a segment that is too long at its lowest points, best in its middle, until all parts fit."""
        stack = [(first, last)]
        while stack:
            first, last = stack.pop()
            if first == last or ruler.count(items[first].start, items[last].end) <= self._settings.max_tokens:
                yield first, last
                continue
            third = (last - first) // 3
            at = min(range(first + third, max(last - third, first + third + 1)), key=lambda at: (likeness[at], at))
            stack += [(at + 1, last), (first, at)]


def _threshold(likeness: Sequence[Sequence[float]]) -> float:
    """Return the likeness at or below which children end: below the middle, so that a text all alike is not cut."""
    every = sorted(like for own in likeness for like in own)
    middle = every[len(every) // 2] if every else 0.0
    return max((like for like in every[: max(1, int(_SHARE * len(every)))] if like < middle), default=-1.0)


def _windows(text: str, items: Sequence[Span]) -> Iterator[str]:
    """Yield every two items that follow each other, and before and after them the first and the last alone.

    The place between items n and n + 1 lies between windows n and n + 2.
    """
    for at in range(-1, len(items)):
        yield " ".join(item.of(text)[:_LOOKED_AT] for item in items[max(0, at) : at + 2])
