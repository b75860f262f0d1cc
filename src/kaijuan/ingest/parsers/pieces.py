"""Blocks before they have a place in the canonical text: what readers of markup give, in reading order."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from kaijuan.core.documents import BlockKind, Table
from kaijuan.ingest.parsers.draft import Draft, Origin
from kaijuan.ingest.parsers.pipes import PipeTable


@dataclass(frozen=True, slots=True)
class Piece:
    """One block. `place` and `syntax` as in `Block`; the cells of `table` count from the start of `text`."""

    kind: BlockKind
    text: str
    level: int = 0
    place: str = ""
    syntax: str = ""
    table: Table | None = None


def table_piece(made: PipeTable | None, *, place: str = "") -> list[Piece]:
    """Return a table as a piece; none where it has no text."""
    return [Piece(BlockKind.TABLE, made.text, place=place, table=made.table)] if made else []


def write_pieces(draft: Draft, pieces: Iterable[Piece], *, within: str = "", pages: tuple[int, ...] = ()) -> None:
    """Append pieces to a draft. `within` names the part of the file they stand in, before their own place."""
    for piece in pieces:
        place = f"{within} {piece.place}".strip()
        origin = Origin(place=place, pages=pages, syntax=piece.syntax)
        draft.add(piece.kind, piece.text, level=piece.level, table=piece.table, origin=origin)
