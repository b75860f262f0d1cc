"""RTF documents: headings, paragraphs, lists, tables, footnotes. Page headers, pictures and comments are left out."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from kaijuan.core.documents import BlockKind, ParsedDocument, Scalar
from kaijuan.errors import BrokenDocumentError
from kaijuan.ingest.parsers.draft import Draft, Origin
from kaijuan.ingest.parsers.headings import numbered_level
from kaijuan.ingest.parsers.joining import squeeze
from kaijuan.ingest.parsers.pipes import draw
from kaijuan.ingest.parsers.rtf_tables import Row, placed_cells
from kaijuan.ingest.parsers.rtf_tokens import Text, Word, joined, tokens
from kaijuan.ingest.parsers.unseen import with_hidden
from kaijuan.ingest.parsers.unseen_rtf import Colours, Look

_IGNORED = (
    "fonttbl filetbl listtable listoverridetable rsidtbl generator pict objdata objclass themedata listname "
    "latentstyles datastore colorschememapping header headerl headerr headerf footer footerl footerr footerf ftnsep "
    "ftnsepc aftnsep fldinst xe tc bkmkstart bkmkend annotation atnid atnauthor atndate atnref atnicn nonshppict "
    "shprslt pnseclvl mmathPr xmlnstbl wgrffmtfilter revtbl template passwordhash htmltag mhtmltag sp sn sv picprop"
)
_READ = (
    "shpinst shptxt shppict fldrslt field listtext pntext footnote shp do dptxbxtext result object nesttableprops pn "
    "cs upr ud stylesheet info moMath colortbl"
)
_SKIPPED = frozenset(_IGNORED.split())
_THROUGH = frozenset(_READ.split())
"""Destinations that are read although programs may ignore them (\\*)."""
_FACTS = {"title": "title", "author": "author", "subject": "subject", "keywords": "keywords", "company": "issuer"}
_HEADING = re.compile(r"(?:heading|标题|標題|überschrift|titre)\s*([1-9])\b", re.I)
_TITLES = frozenset({"title", "标题", "文档标题"})
_LONG_ITEM = 120
_DATE = {"yr": 4, "mo": 2, "dy": 2}


class RtfParser:
    """Parser of kind "rtf"."""

    def parse(self, data: bytes, name: str) -> ParsedDocument:
        """Return the document's blocks, each with the number of its paragraph; information fields become metadata."""
        if not data.lstrip()[:5] == b"{\\rtf":
            raise BrokenDocumentError(f"{name} is no RTF document.")
        reader = _Reader()
        for token in tokens(data):
            reader.take(token)
        reader.end()
        title = str(reader.facts.pop("title", ""))
        title = title if any(char.isalnum() for char in title) else ""
        made = reader.draft.finish("rtf", name, title=title, metadata=reader.facts)
        return with_hidden(made, reader.unseen)


@dataclass(slots=True)
class _State:
    """What a group inherits from the one around it."""

    target: str = ""
    """Where its characters go: "" for the text, else "skip", "listtext", "footnote", "stylesheet", "colortbl" or the
    name of a fact."""
    hidden: bool = False
    look: Look = field(default_factory=Look)
    optional: bool = False
    """Behind \\*, the next word names what may be ignored."""

    def hide(self, word: Word) -> None:
        """Hide what follows, or show it as usual."""
        self.hidden = word.name != "plain" and word.is_on
        if word.name == "plain":
            self.look.plain()


@dataclass(slots=True)
class _Paragraph:
    """Formatting of the paragraph that is being read."""

    level: int = 0
    style: int = 0
    in_table: bool = False
    depth: int = 0
    """Of its list, from 0."""


@dataclass(slots=True)
class _Reader:
    draft: Draft = field(default_factory=Draft)
    facts: dict[str, Scalar | tuple[str, ...]] = field(default_factory=dict)
    states: list[_State] = field(default_factory=lambda: [_State()])
    paragraph: _Paragraph = field(default_factory=_Paragraph)
    parts: list[str] = field(default_factory=list)
    label: list[str] = field(default_factory=list)
    note: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    styles: dict[int, int] = field(default_factory=dict)
    """Heading levels by number of style."""
    style_name: list[str] = field(default_factory=list)
    style_number: int = 0
    date: dict[str, int] = field(default_factory=dict)
    items: list[str] = field(default_factory=list)
    items_from: int = 0
    rows: list[Row] = field(default_factory=list)
    row: Row = field(default_factory=Row)
    rows_from: int = 0
    number: int = 0
    colours: Colours = field(default_factory=Colours)
    unseen: list[str] = field(default_factory=list)
    """What the file holds and does not show, a text a paragraph."""
    unseen_parts: list[str] = field(default_factory=list)

    def take(self, token: Word | Text) -> None:
        state = self.states[-1]
        if isinstance(token, Text):
            self._text(token.text, state)
        elif token.name == "{":
            self.states.append(_State(state.target, state.hidden, replace(state.look)))
        elif token.name == "}":
            if len(self.states) > 1:
                self._leave(self.states.pop())
        elif token.name == "*":
            state.optional = True
        else:
            self._word(token, state)
            state.optional = False

    def _text(self, text: str, state: _State) -> None:
        state.optional = False
        if state.target == "colortbl":
            self.colours.end(text.count(";"))
            return
        if not state.target and (state.hidden or state.look.is_unseen(self.colours, in_table=self.paragraph.in_table)):
            self.unseen_parts.append(text)
        if state.target == "skip" or (state.hidden and not state.target):
            return
        {"": self.parts, "listtext": self.label, "footnote": self.note, "stylesheet": self.style_name}.get(
            state.target, self.style_name
        ).append(text)

    def _word(self, word: Word, state: _State) -> None:
        name = word.name
        if state.target == "skip":
            return
        if name in _SKIPPED or (state.optional and name not in _THROUGH):
            state.target = "skip"
        elif name in {"listtext", "pntext"}:
            state.target = "listtext"
            self.label.clear()
        elif state.target == "colortbl":
            self.colours.take(name, word.number or 0)
        elif name in {"footnote", "stylesheet", "info", "colortbl"}:
            state.target = name
            self.style_name.clear()
        elif state.target == "info" or state.target in _FACTS or state.target in {"creatim", "revtim"}:
            self._fact(word, state)
        elif state.target == "stylesheet":
            self._style(word)
        elif state.target == "footnote":
            self.note.append("\n" if name in {"par", "line"} else "")
        elif not state.target:
            self._format(word, state)

    def _fact(self, word: Word, state: _State) -> None:
        if word.name == "ud":
            self.style_name.clear()  # the same again in Unicode, which is better
        elif word.name in _FACTS or word.name in {"creatim", "revtim"}:
            state.target = word.name
            self.style_name.clear()
            self.date.clear()
        elif word.name in _DATE and word.number:
            self.date[word.name] = word.number

    def _style(self, word: Word) -> None:
        if word.name in {"s", "cs", "ds", "ts"}:
            self.style_number = word.number or 0
        elif word.name == "outlinelevel" and word.number is not None and word.number < 9:
            self.styles.setdefault(self.style_number, word.number + 1)

    def _leave(self, state: _State) -> None:
        above = self.states[-1].target
        text = joined("".join(self.style_name)).strip(" ;")
        if state.target == "footnote" and above != "footnote":
            self.notes.append(joined("".join(self.note)))
            self.note.clear()
        elif state.target == "stylesheet":
            if found := _HEADING.match(text):
                self.styles[self.style_number] = int(found[1])
            elif text.lower() in _TITLES:
                self.styles[self.style_number] = 1
            self.style_name.clear()
            self.style_number = 0
        elif state.target in _FACTS and text and above not in _FACTS:
            self.facts.setdefault(_FACTS[state.target], squeeze(text))
            self.style_name.clear()
        elif state.target in {"creatim", "revtim"} and {"yr", "mo", "dy"} <= self.date.keys():
            date = "-".join(f"{self.date[part]:0{width}d}" for part, width in _DATE.items())
            self.facts.setdefault("created" if state.target == "creatim" else "modified", date)

    def _format(self, word: Word, state: _State) -> None:
        name, number = word.name, word.number or 0
        if name in {"par", "sect", "page"}:
            self._end_paragraph()
        elif name in {"cell", "nestcell", "row", "nestrow"}:
            self._end_cell(name)
        elif name == "pard":
            self.paragraph = _Paragraph()
            state.look.paragraph(name, 0)
        elif name == "s":
            self.paragraph.style = number
        elif name == "outlinelevel":
            self.paragraph.level = number + 1 if number < 9 else 0
        elif name in {"ilvl", "pnlvl"}:
            self.paragraph.depth = min(number, 8)
        elif name in {"intbl", "itap"}:
            self.paragraph.in_table = name == "intbl" or number > 0
        elif name in {"v", "deleted", "plain"}:
            state.hide(word)
        elif not state.look.take(name, number):
            self.row.define(name, number)

    def _end_paragraph(self) -> None:
        text = self._taken()
        if self.paragraph.in_table:
            self.row.add(text)
            return
        self.number += 1
        self._end_table()
        self._place(text)

    def _taken(self) -> str:
        if self.unseen_parts:
            self.unseen.append(joined("".join(self.unseen_parts)))
            self.unseen_parts.clear()
        raw = joined("".join(self.parts)).replace("\t", " ")
        self.parts.clear()
        text = "\n".join(re.sub(r"[^\S\n\u3000]+", " ", line).strip() for line in raw.split("\n")).strip()
        label = squeeze(joined("".join(self.label)).replace("\t", " "))
        self.label.clear()
        if label and self.paragraph.in_table:
            return f"{_marker(label)} {text}"
        self._labelled = label
        return text

    _labelled: str = ""

    def _place(self, text: str) -> None:
        label, self._labelled = self._labelled, ""
        origin = Origin(place=f"para {self.number}")
        level = self.paragraph.level or self.styles.get(self.paragraph.style, 0)
        if label and text and not level and len(text) <= _LONG_ITEM:
            self.items_from = self.items_from or self.number
            self.items.append("  " * self.paragraph.depth + f"{_marker(label)} {text}")
        elif text:
            self._end_items()
            level = level or (0 if label else numbered_level(text))
            text = f"{label} {text}" if label and label[0].isalnum() else text
            kind = BlockKind.HEADING if level else BlockKind.PARAGRAPH
            self.draft.add(kind, " ".join(text.split("\n")) if level else text, level=level, origin=origin)
        for note in self.notes:
            self._end_items()
            self.draft.add(BlockKind.FOOTNOTE, squeeze(note), origin=origin)
        self.notes.clear()

    def _end_items(self) -> None:
        if self.items:
            origin = Origin(place=f"para {self.items_from}")
            self.draft.add(BlockKind.LIST, "\n".join(self.items), origin=origin)
            self.items = []
            self.items_from = 0

    def _end_cell(self, name: str) -> None:
        if name in {"nestcell", "nestrow"}:
            self.row.add(self._taken())
            return
        if name == "cell":
            self.row.add(self._taken())
            self.row.close_cell()
        elif self.row.cells:
            self._end_items()
            self.rows_from = self.rows_from or self.number + 1
            self.rows.append(self.row)
            self.row = self.row.following()

    def _end_table(self) -> None:
        if self.rows:
            origin = Origin(place=f"table after para {self.rows_from - 1}")
            self.draft.add_table(draw(placed_cells(self.rows)), origin=origin)
            self.rows = []
            self.rows_from = 0

    def end(self) -> None:
        """Write what is still open at the end of the file."""
        if self.row.cells or self.row.words:
            self._end_cell("cell")
            self._end_cell("row")
        self._end_table()
        self.paragraph.in_table = False
        self._end_paragraph()
        self._end_items()


def _marker(label: str) -> str:
    """Return the number of an item as printed, "-" for a bullet of any shape."""
    return label if any(char.isalnum() for char in label) and not "\uf000" <= label[0] <= "\uf0ff" else "-"
