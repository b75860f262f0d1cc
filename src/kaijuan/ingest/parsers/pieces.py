"""Blocks before they have a place in the canonical text: what readers of markup give, in reading order."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kaijuan.core.documents import BlockKind, Table
from kaijuan.ingest.parsers.draft import Draft, Origin
from kaijuan.ingest.parsers.pipes import PipeTable

if TYPE_CHECKING:
    from kaijuan.ingest.parsers.figure_words import PackagePictures


@dataclass(frozen=True, slots=True)
class Piece:
    """One block. `place` and `syntax` as in `Block`; the cells of `table` count from the start of `text`."""

    kind: BlockKind
    text: str
    level: int = 0
    place: str = ""
    syntax: str = ""
    table: Table | None = None
    picture: str = ""
    """Of a figure, the part of the package that holds it."""


def table_piece(made: PipeTable | None, *, place: str = "") -> list[Piece]:
    """Return a table as a piece; none where it has no text."""
    return [Piece(BlockKind.TABLE, made.text, place=place, table=made.table)] if made else []


def write_pieces(
    draft: Draft,
    pieces: Iterable[Piece],
    *,
    within: str = "",
    pages: tuple[int, ...] = (),
    pictures: PackagePictures | None = None,
) -> None:
    """Append pieces to a draft. `within` names the part of the file they stand in, before their own place.

    `pictures` reads the words in figures.
    """
    for piece in pieces:
        place = f"{within} {piece.place}".strip()
        origin = Origin(place=place, pages=pages, syntax=piece.syntax)
        if piece.picture and pictures is not None:
            pictures.write(draft, piece.text, piece.picture, origin)
        else:
            draft.add(piece.kind, piece.text, level=piece.level, table=piece.table, origin=origin)
