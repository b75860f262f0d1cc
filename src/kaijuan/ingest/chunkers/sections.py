"""Runs of blocks below the same headings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kaijuan.core.documents import Block, BlockKind
from kaijuan.ingest.chunkers.units import Path, common


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A run of blocks below the same headings."""

    path: Path
    blocks: tuple[Block, ...]


def shared_depth(blocks: Sequence[Block]) -> int:
    """Return how many titles all content shares: below them lie the top-level sections."""
    return len(common([block.title_path for block in blocks if block.kind is not BlockKind.HEADING]))


def sections(blocks: Sequence[Block]) -> Iterator[Section]:
    """Yield runs of blocks below the same headings, the headings in front; late headings join the last run."""
    run: list[Block] = []
    path: Path | None = None
    headings: list[Block] = []
    for block in blocks:
        if block.kind is BlockKind.HEADING:
            headings.append(block)
            continue
        if path is not None and (headings or block.title_path != path):
            yield Section(path=path, blocks=tuple(run))
            run = []
        run.extend([*headings, block])
        headings = []
        path = block.title_path
    run.extend(headings)
    if run:
        yield Section(path=headings[0].title_path if path is None else path, blocks=tuple(run))
