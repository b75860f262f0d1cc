"""Styles of OpenDocument files: how lists number, what a paragraph is, and what is hidden."""

from __future__ import annotations

from kaijuan.ingest.parsers.docx_numbering import written
from kaijuan.ingest.parsers.opc import Element, child, descendants, local, number_of, value_of

_FORMS = {
    "1": "decimal",
    "a": "lowerletter",
    "A": "upperletter",
    "i": "lowerroman",
    "I": "upperroman",
    "一, 二, 三, ...": "chineseCounting",
    "壹, 贰, 叁, ...": "chineseLegalSimplified",
    "①, ②, ③, ...": "decimalEnclosedCircle",
}
BULLET = "-"


class Styles:
    """The styles of a document, its own and the shared ones."""

    def __init__(self, content: Element, shared: Element | None) -> None:
        roots = [content] if shared is None else [shared, content]
        self._styles = {value_of(node, "name"): node for root in roots for node in descendants(root, "style")}
        self._lists = {value_of(node, "name"): node for root in roots for node in descendants(root, "list-style")}
        self._outline = next((node for root in roots for node in descendants(root, "outline-style")), None)

    def chain(self, name: str) -> list[Element]:
        """Return a style and those it is made from, nearest first."""
        found: list[Element] = []
        while name in self._styles and self._styles[name] not in found and len(found) < 30:
            found.append(self._styles[name])
            name = value_of(found[-1], "parent-style-name")
        return found

    def names(self, name: str) -> list[str]:
        """Return the names of a style and of those it is made from, as people see them, in lower case."""
        shown = [value_of(style, "display-name") or value_of(style, "name") for style in self.chain(name)]
        return [text.replace("_20_", " ").lower() for text in (*shown, *([] if shown else [name]))]

    def list_of(self, name: str) -> str:
        """Return the list style that a paragraph style brings with it."""
        return next((said for style in self.chain(name) if (said := value_of(style, "list-style-name"))), "")

    def is_hidden(self, name: str) -> bool:
        """Say whether a slide of this style is not shown."""
        return any(
            value_of(node, "visibility") == "hidden" for style in self.chain(name) for node in style if local(node)
        )

    def is_bold(self, name: str) -> bool:
        """Say whether text or cells of this style stand out by bold type or a ground."""
        for style in self.chain(name):
            text, cell = child(style, "text-properties"), child(style, "table-cell-properties")
            if value_of(text, "font-weight") == "bold" or value_of(cell, "background-color") not in {"", "transparent"}:
                return True
        return False

    def marker(self, list_name: str, level: int, counts: list[int]) -> str:
        """Return what is printed before an item, "" for nothing. `counts` are those of all levels down to its own."""
        form = self._level(self._lists.get(list_name), level)
        if form is None or local(form) != "list-level-style-number":
            return BULLET
        return self._numbered(form, self._lists.get(list_name), counts)

    def outline(self, level: int, counts: list[int]) -> str:
        """Return the number of a heading, "" when headings of this level have none."""
        form = self._level(self._outline, level)
        return self._numbered(form, self._outline, counts) if form is not None else ""

    def start(self, list_name: str, level: int) -> int:
        """Return the first number of a list."""
        return number_of(value_of(self._level(self._lists.get(list_name), level), "start-value"), 1)

    def _level(self, style: Element | None, level: int) -> Element | None:
        return next((node for node in children_all(style) if number_of(value_of(node, "level")) == level), None)

    def _numbered(self, form: Element, style: Element | None, counts: list[int]) -> str:
        shape = value_of(form, "num-format")
        if not shape:
            return ""
        shown = max(1, number_of(value_of(form, "display-levels"), 1))
        parts = []
        for level in range(max(1, len(counts) - shown + 1), len(counts) + 1):
            inner = self._level(style, level)
            parts.append(written(counts[level - 1], _FORMS.get(value_of(inner, "num-format") or shape, "decimal")))
        return value_of(form, "num-prefix") + ".".join(parts) + value_of(form, "num-suffix")


def children_all(node: Element | None) -> list[Element]:
    """Return all direct children that are elements."""
    return [at for at in node if local(at)] if node is not None else []
