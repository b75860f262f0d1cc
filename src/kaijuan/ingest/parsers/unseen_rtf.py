"""What an RTF document holds and does not show: text set to hidden, white on no ground, or tiny."""

from __future__ import annotations

from dataclasses import dataclass, field

_CHANNELS = frozenset({"red", "green", "blue"})
_WHITE = (255, 255, 255)
_LEAST = 4
"""Half points from which text counts as meant to be read."""
_USUAL = 24


@dataclass(slots=True)
class Colours:
    """The table of colours; the first is the reader's own, mostly black on white."""

    table: list[tuple[int, int, int] | None] = field(default_factory=list)
    _channels: dict[str, int] = field(default_factory=dict)

    def take(self, name: str, number: int) -> None:
        """Read a word of the table."""
        if name in _CHANNELS:
            self._channels[name] = number

    def end(self, count: int) -> None:
        """End as many entries as there were semicolons."""
        for _ in range(min(count, 4096)):
            channels = self._channels
            red, green, blue = (channels.get(name, 0) for name in ("red", "green", "blue"))
            self.table.append((red, green, blue) if channels else None)
            self._channels = {}

    def is_white(self, number: int) -> bool:
        """Say whether a colour is white and said to be."""
        return 0 <= number < len(self.table) and self.table[number] == _WHITE

    def paints(self, number: int) -> bool:
        """Say whether a ground of this colour can be told from white paper."""
        return number > 0 and not self.is_white(number)


@dataclass(slots=True)
class Look:
    """How characters are printed; groups inherit it."""

    colour: int = 0
    size: int = _USUAL
    ground: int = 0
    shaded: bool = False
    """Whether the paragraph is painted."""
    cells: bool = False
    """Whether a cell of the row is painted: which one its words stand in is known too late."""

    def take(self, name: str, number: int) -> bool:
        """Read a word about characters or grounds; False where it is about something else."""
        if name == "cf":
            self.colour = number
        elif name == "fs":
            self.size = number
        elif name in {"highlight", "cb", "chcbpat"}:
            self.ground = number
        else:
            return self.paragraph(name, number)
        return True

    def paragraph(self, name: str, number: int) -> bool:
        """Read a word about the grounds of paragraphs; `pard` takes them away. Cells keep their own words."""
        if name == "trowd":
            self.cells = False
            return False
        if name == "pard":
            self.shaded = False
        elif name in {"cbpat", "shading"}:
            self.shaded = number > 0
        elif name in {"clcbpat", "clcbpatraw", "clshdng"}:
            self.cells = self.cells or number > 0
        else:
            return False
        return True

    def plain(self) -> None:
        """Go back to how characters are printed where nothing is said."""
        self.colour, self.size, self.ground = 0, _USUAL, 0

    def is_unseen(self, colours: Colours, *, in_table: bool) -> bool:
        """Say whether nobody can read text of this look on paper."""
        if 0 < self.size < _LEAST:
            return True
        painted = self.shaded or (in_table and self.cells) or colours.paints(self.ground)
        return colours.is_white(self.colour) and not painted
