"""By what a language model says: it reads the sentences by number and says which of them begin a new subject.

Borders of sections stay, and sizes are kept by rule: a piece that would be too short goes on, one that is too long is
cut between its sentences. Every sentence is read once, so that a document costs about its own length in tokens.
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
from kaijuan.ingest.ports import ChunkDraft, Judge, Tokenizer
from kaijuan.ingest.settings import CutSettings

_SMALLEST = 4
"""A child is not shorter than the aimed size divided by this, as long as its section goes on."""
_LOOKED_AT = 300
"""Characters of a sentence or table that the model is shown; what it is about shows in its beginning."""


class JudgedChunker:
    """Needs a language model: whoever makes it sets `judge` (see `kaijuan.ingest.ports.NeedsJudge`)."""

    def __init__(self, settings: CutSettings) -> None:
        self._settings = settings
        self.judge: Judge | None = None

    @property
    def fingerprint(self) -> str:
        """Name, version and sizes. Not the model: another one cuts what is new, and nothing twice."""
        return strategy_mark("judged", 1, self._settings)

    def chunk(self, text: str, blocks: Sequence[Block], tokenizer: Tokenizer) -> list[ChunkDraft]:
        """Return parents, each followed by its children, in reading order. UsageError without `judge`."""
        filled = [block for block in blocks if block.span.of(text).strip()]
        if not filled:
            return []
        if self.judge is None:
            raise UsageError(
                "The strategy 'judged' needs a language model.",
                hint="Configure one under [chat], or choose another strategy.",
            )
        depth = shared_depth(filled) + 1
        units = []
        runs = list(runs_of(text, filled, self._settings.window_chars))
        spans = [Span(run.items[0].start, run.items[-1].end) for run in runs]
        rulers = Rulers(text, spans, tokenizer, self._settings.window_chars)
        for whole, run in zip(spans, runs, strict=True):
            ruler = rulers.over(whole)
            for first, last in self._segments(text, run, ruler, self.judge):
                span = Span(run.items[first].start, run.items[last].end)
                inside = tuple(clipped(text, run.section.blocks, span.start, span.end))
                path = run.section.path
                units.append(Unit(span=span, path=path, blocks=inside, parent=path[:depth]))
        return kept(text, blocks, drafts_of(text, units, tokenizer, self._settings))

    def _segments(self, text: str, run: Run, ruler: Ruler, judge: Judge) -> Iterator[tuple[int, int]]:
        items, least = run.items, self._settings.child_tokens // _SMALLEST
        first = 0
        for at in self._borders(text, run, ruler, judge):
            here = ruler.count(items[first].start, items[at - 1].end)
            rest = ruler.count(items[at].start, items[-1].end)
            if here >= least and rest >= least:
                yield first, at - 1
                first = at
        yield first, len(items) - 1

    def _borders(self, text: str, run: Run, ruler: Ruler, judge: Judge) -> Sequence[int]:
        """Ask about a run, unless it is one child in any case."""
        items = run.items
        if len(items) < 2 or ruler.count(items[0].start, items[-1].end) <= self._settings.child_tokens:
            return ()
        return judge([item.of(text)[:_LOOKED_AT] for item in items])
