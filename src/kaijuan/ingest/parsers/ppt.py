"""Old PowerPoint presentations (ppt): slides in order, titles as headings, lists, notes."""

from __future__ import annotations

from kaijuan.core.documents import BlockKind, ParsedDocument
from kaijuan.errors import BrokenDocumentError
from kaijuan.ingest.parsers.draft import Draft, Origin, stem
from kaijuan.ingest.parsers.ole_properties import properties_of
from kaijuan.ingest.parsers.ppt_file import Text, slides_of

_TITLES = frozenset({0, 6})
_BODIES = frozenset({1, 7, 8})
_SIGNS = str.maketrans({"\x0b": "\n", "\t": " ", "\x00": None})


class PptParser:
    """Parser of kind "ppt". Tables of this format are boxes side by side, and are read as such."""

    def parse(self, data: bytes, name: str) -> ParsedDocument:
        """Return the slides' blocks, each slide a page; summary properties become metadata."""
        slides = slides_of(data, name)
        if not slides:
            raise BrokenDocumentError(f"{name} holds no slides.")
        draft = Draft()
        for number, slide in enumerate(slides, 1):
            draft.leave_headings()
            origin = Origin(place=f"slide {number}", pages=(number,))
            titles = [text for text in slide.texts if text.sort in _TITLES]
            for text in titles:
                draft.add(BlockKind.HEADING, " ".join(_paragraphs(text)), level=1, origin=origin)
            for text in slide.texts:
                if text.sort not in _TITLES:
                    _write(draft, text, origin)
            for text in slide.notes:
                notes = Origin(place=f"slide {number} notes", pages=(number,))
                draft.add(BlockKind.PARAGRAPH, "\n".join(_paragraphs(text)), origin=notes)
        metadata = properties_of(data)
        title = str(metadata.pop("title", ""))
        title = draft.first_heading or stem(name) if not title or "powerpoint" in title.lower() else title
        return draft.finish("ppt", name, title=title, metadata=metadata, pages=len(slides))


def _paragraphs(text: Text) -> list[str]:
    return [line.translate(_SIGNS).strip() for line in text.text.split("\r")]


def _write(draft: Draft, text: Text, origin: Origin) -> None:
    items: list[str] = []
    for at, line in enumerate(_paragraphs(text)):
        level, bullet = text.levels[at] if at < len(text.levels) else (0, None)
        if not line:
            continue
        if bullet or (bullet is None and text.sort in _BODIES):
            items.append("  " * level + f"- {line}".replace("\n", "\n  "))
            continue
        draft.add(BlockKind.LIST, "\n".join(items), origin=origin)
        items = []
        draft.add(BlockKind.PARAGRAPH, line, origin=origin)
    draft.add(BlockKind.LIST, "\n".join(items), origin=origin)
