"""An opened citation for people and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.padding import Padding
from rich.text import Text

from kaijuan.cli import screen
from kaijuan.cli.passages import location
from kaijuan.core.text.language import language_of
from kaijuan.verbs.citing import Match, OpenedCitation, Standing
from kaijuan.verbs.shapes import Json, opened_shape

if TYPE_CHECKING:
    from rich.console import RenderableType

_MATCH = {
    "en": {
        Match.EXACT: "The exact words:",
        Match.MOVED: "The words stand at another place than the citation says:",
        Match.BLOCK: "The exact words were not found again; this is the paragraph in which they stood:",
        Match.PAGE: "The text of this version cannot be read; only the place is known.",
    },
    "zh": {
        Match.EXACT: "所引原文：",
        Match.MOVED: "原文所在位置与引用记录的不同：",
        Match.BLOCK: "没有找到与引用完全一致的文字，以下是其所在的段落：",
        Match.PAGE: "该版本的文本无法读取，只知道所在位置。",
    },
}
_STANDING = {
    "en": {
        Standing.CURRENT: "Version {number}, the current one.",
        Standing.OLDER: "Version {number}; the document has a newer version {newest}.",
        Standing.REMOVED: "Version {number} of a document that has been removed.",
    },
    "zh": {
        Standing.CURRENT: "第 {number} 版，即当前版本。",
        Standing.OLDER: "第 {number} 版；该文档已有更新的第 {newest} 版。",
        Standing.REMOVED: "第 {number} 版；该文档已被移除。",
    },
}
_PAGE = {"en": "p.{}", "zh": "第{}页"}
_BOX = {
    "en": "page {page}: x {x0:.0f} to {x1:.0f}, y {y0:.0f} to {y1:.0f}",
    "zh": "第 {page} 页：横 {x0:.0f} 至 {x1:.0f}，纵 {y0:.0f} 至 {y1:.0f}",
}


def opened(found: OpenedCitation) -> Json:
    """`cite --json`."""
    return opened_shape(found)


def shown(found: OpenedCitation) -> Iterator[RenderableType]:
    """Show the words within their surroundings, the place, and how the version stands."""
    cited = found.citation
    language = "zh" if language_of(cited.quote or cited.title) == "zh" else "en"
    yield location(cited.title, cited.source, cited.title_path, cited.pages, _PAGE[language])
    exact = found.match is Match.EXACT
    yield Text(_MATCH[language][found.match], style="dim" if exact else "yellow")
    if cited.quote:
        words = Text(screen.lines(found.before), style="dim")
        words.append(screen.lines(cited.quote), style="bold")
        words.append(screen.lines(found.after), style="dim")
        yield Padding(words, (0, 0, 0, 4), expand=False)
    standing = _STANDING[language][found.standing].format(number=found.number, newest=found.newest)
    yield Text(standing, style="" if found.standing is Standing.CURRENT else "yellow")
    yield Text(screen.place(cited.source), style="dim")
    for box in cited.boxes:
        yield Text(_BOX[language].format(page=box.page, x0=box.x0, x1=box.x1, y0=box.y0, y1=box.y1), style="dim")
    yield Text(cited.ref, style="dim")
