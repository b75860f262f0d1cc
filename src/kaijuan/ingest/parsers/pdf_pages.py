"""The printed lines of a long document, page by page, kept small until they are needed."""

from __future__ import annotations

import pickle
import zlib
from collections.abc import Iterator, Sequence, Set

from kaijuan.ingest.parsers.pdf_lines import Line

_FAST = 1


class PrintedPages:
    """Lines of pages, to be walked over as often as needed; each walk makes them anew.

    As objects, with a place for every character, 1,600 pages take 200 MB; packed, a sixth of that.
    """

    def __init__(self) -> None:
        self._packed: list[bytes] = []
        self.lines = 0
        """How many lines there are."""

    def append(self, lines: Sequence[Line]) -> None:
        """Add the lines of the next page."""
        # What is unpacked here was packed in this process a moment ago: no other bytes ever get in.
        self._packed.append(zlib.compress(pickle.dumps(list(lines), pickle.HIGHEST_PROTOCOL), _FAST))
        self.lines += len(lines)

    def __len__(self) -> int:
        return len(self._packed)

    def __iter__(self) -> Iterator[list[Line]]:
        """Yield the lines of each page; what is done to them is not kept."""
        return map(_unpacked, self._packed)

    def without(self, gone: Sequence[Set[int]]) -> None:
        """Leave out lines for good: of each page those at these places."""
        for page, places in enumerate(gone):
            if places:
                lines = [line for at, line in enumerate(_unpacked(self._packed[page])) if at not in places]
                self._packed[page] = zlib.compress(pickle.dumps(lines, pickle.HIGHEST_PROTOCOL), _FAST)
                self.lines -= len(places)

    def used_up(self) -> Iterator[list[Line]]:
        """Yield the lines of each page for the last time, and forget them."""
        for page, packed in enumerate(self._packed):
            self._packed[page] = b""
            yield _unpacked(packed)
        self._packed.clear()


def _unpacked(packed: bytes) -> list[Line]:
    lines: list[Line] = pickle.loads(zlib.decompress(packed))  # noqa: S301 - our own, see `append`
    return lines
