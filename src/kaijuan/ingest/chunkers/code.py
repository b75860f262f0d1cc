"""Code by its syntax: a function or class is a child; one too long is cut between its members, then its statements.

What a piece needs to be understood stands in its title path: the imports it uses, and the heads of the definitions it
is cut out of. Code without a grammar (see `syntax`) goes by blank lines, as in `recursive`.
"""

from __future__ import annotations

import itertools
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from kaijuan.core.documents import Block, BlockKind
from kaijuan.core.spans import Span
from kaijuan.ingest.chunkers.atomic import leading
from kaijuan.ingest.chunkers.keeping import kept
from kaijuan.ingest.chunkers.outlining import outline_of
from kaijuan.ingest.chunkers.split import Cuts, blank_line_cuts, line_cuts
from kaijuan.ingest.chunkers.structural import section_units
from kaijuan.ingest.chunkers.syntax import Outline, grammars_mark
from kaijuan.ingest.chunkers.units import Path, Unit, drafts_of, strategy_mark
from kaijuan.ingest.ports import ChunkDraft, Tokenizer
from kaijuan.ingest.settings import CutSettings

_LONGEST_KEPT = 200
_BLANK: tuple[Cuts, ...] = (blank_line_cuts, line_cuts)


class CodeChunker:
    """Cuts code blocks by their syntax, everything else by headings."""

    def __init__(self, settings: CutSettings) -> None:
        self._settings = settings

    @property
    def fingerprint(self) -> str:
        """Name, version, sizes, and the grammars that are installed."""
        return f"{strategy_mark('code', 2, self._settings)}/{grammars_mark()}"

    def chunk(self, text: str, blocks: Sequence[Block], tokenizer: Tokenizer) -> list[ChunkDraft]:
        """Return parents, each followed by its children, in reading order."""
        return kept(text, blocks, drafts_of(text, list(_units(text, blocks)), tokenizer, self._settings))


def _units(text: str, blocks: Sequence[Block]) -> Iterator[Unit]:
    filled = [block for block in blocks if block.span.of(text).strip()]
    leads: list[Block] = []
    for key, group in itertools.groupby(filled, key=_run):
        run = list(group)
        if key is None:
            leads = leading(text, run) if run[-1] is not filled[-1] else []
            yield from section_units(text, run[: len(run) - len(leads)])
            continue
        syntax, path = key
        units = list(_code(text, run, syntax, path))
        if leads:
            units[0] = replace(units[0], span=Span(leads[0].span.start, units[0].span.end))
        yield from units
        leads = []


def _run(block: Block) -> tuple[str, Path] | None:
    return (block.syntax, block.title_path) if block.kind is BlockKind.CODE else None


def _code(text: str, run: Sequence[Block], syntax: str, path: Path) -> Iterator[Unit]:
    """Yield the units of neighbouring blocks in one language."""
    start, end = run[0].span.start, run[-1].span.end
    code = text[start:end]
    found = outline_of(code, syntax)
    if found is None or not found.tops:
        for block in run:
            yield Unit(span=block.span, path=path, levels=_BLANK, parent=path, joins=True)
        return
    levels = (*(_at(level, start) for level in found.levels), *_BLANK)
    at = start
    for number, top in enumerate(found.tops):
        # What the grammar gives no name to (stray brackets, what follows a mistake) goes with what is before it.
        stop = found.tops[number + 1].span.start + start if number + 1 < len(found.tops) else end
        span = Span(at, stop)
        used = " ".join(found.imports_for(code, Span(at - start, stop - start)))[:_LONGEST_KEPT].strip()
        yield Unit(
            span=span,
            path=(*path, used) if used else path,
            levels=levels,
            parent=path,
            joins=not top.defines,
            keeps=partial(_heads, found, start),
        )
        at = stop


def _at(places: Sequence[int], start: int) -> Cuts:
    def cuts(_text: str, span: Span) -> list[int]:
        first = bisect_right(places, span.start - start)
        return [at + start for at in places[first : bisect_left(places, span.end - start)]]

    return cuts


def _heads(found: Outline, start: int, place: int) -> Path:
    return tuple(found.heads_at(place - start))
