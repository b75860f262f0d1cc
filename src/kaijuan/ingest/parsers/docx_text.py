"""The words of Word paragraphs and formulas, as they read with all changes accepted."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_BLANKS = re.compile(r"[^\S\u3000]+")
_COMPAT = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_THROUGH = frozenset(
    f"{W}{tag}" for tag in ("hyperlink", "ins", "smartTag", "sdt", "sdtContent", "fldSimple", "moveTo", "bdo", "dir")
) | {f"{_COMPAT}Fallback"}
_GONE = frozenset({f"{W}del", f"{W}moveFrom", f"{W}pPr", f"{W}rPr", f"{W}sdtPr", f"{W}instrText", f"{W}delText"})
_MARKS = {f"{W}tab": " ", f"{W}br": "\n", f"{W}cr": "\n", f"{W}noBreakHyphen": "-", f"{W}softHyphen": ""}


@dataclass(slots=True)
class Words:
    """A paragraph's text and what hangs on it."""

    text: str = ""
    formulas_only: bool = False
    footnotes: list[tuple[str, str]] = field(default_factory=list)
    """("footnote" or "endnote", id)."""
    boxes: list[Any] = field(default_factory=list)
    """Contents of text boxes anchored here."""


def words_of(paragraph: Any) -> Words:
    """Return the words of a `w:p`."""
    words = Words()
    parts: list[str] = []
    kinds: set[str] = set()
    _read(paragraph, words, parts, kinds)
    words.text = "\n".join(_BLANKS.sub(" ", line).strip() for line in "".join(parts).split("\n")).strip()
    words.formulas_only = kinds == {"formula"}
    return words


def _read(node: Any, words: Words, parts: list[str], kinds: set[str]) -> None:
    for child in node:
        tag = child.tag
        if tag in _GONE:
            continue
        if tag == f"{W}t":
            parts.append(child.text or "")
            if (child.text or "").strip():
                kinds.add("text")
        elif tag in _MARKS:
            parts.append("" if child.get(f"{W}type") in {"page", "column"} else _MARKS[tag])
        elif tag in {f"{M}oMath", f"{M}oMathPara"}:
            parts.append(formula_of(child))
            kinds.add("formula")
        elif tag == f"{_COMPAT}AlternateContent":
            # Choice and Fallback say the same thing twice.
            choice = child.find(f"{_COMPAT}Choice")
            _read(choice if choice is not None else child, words, parts, kinds)
        elif (tag == f"{W}r" and not _is_hidden(child)) or tag in _THROUGH:
            _read(child, words, parts, kinds)
        else:
            _anchor(child, words)


def _anchor(node: Any, words: Words) -> None:
    """Keep what hangs on a paragraph: notes and text boxes."""
    kind = {f"{W}footnoteReference": "footnote", f"{W}endnoteReference": "endnote"}.get(node.tag)
    if kind:
        words.footnotes.append((kind, node.get(f"{W}id", "")))
    elif node.tag in {f"{W}drawing", f"{W}pict", f"{W}object"}:
        words.boxes.extend(_boxes(node))


def _is_hidden(run: Any) -> bool:
    hidden = run.find(f"{W}rPr/{W}vanish")
    return hidden is not None and hidden.get(f"{W}val") not in {"0", "false"}


def _boxes(node: Any) -> list[Any]:
    found = []
    for box in node.iter(f"{W}txbxContent"):
        outer = next(
            (above for above in box.iterancestors() if above.tag in {f"{_COMPAT}Fallback", f"{W}txbxContent"}), None
        )
        # Inner boxes come with their outer one; a fallback repeats its choice.
        if outer is None or not _is_below(outer, node):
            found.append(box)
    return found


def _is_below(inner: Any, outer: Any) -> bool:
    return any(above is outer for above in inner.iterancestors())


def formula_of(node: Any, depth: int = 0) -> str:
    """Return an Office formula on one line in LaTeX-like form: fractions, powers, roots and sums keep their shape."""
    if depth > 60:
        return "".join(node.itertext())
    local = node.tag.rpartition("}")[2] if isinstance(node.tag, str) else ""
    if local == "t":
        return node.text or ""
    shape = _SHAPES.get(local)
    if shape is None:
        return "".join(formula_of(child, depth + 1) for child in node if not str(child.tag).endswith("Pr"))
    return shape(lambda name: _argument(node, name, depth))


def _argument(node: Any, name: str, depth: int) -> str:
    if name == "chr":
        found = next((pr.get(f"{M}val") for pr in node.iter(f"{M}chr")), None)
        return found or "∫"
    child = node.find(f"{M}{name}")
    return "" if child is None else formula_of(child, depth + 1)


def _limits(low: str, high: str) -> str:
    return (f"_{{{low}}}" if low else "") + (f"^{{{high}}}" if high else "")


_Arguments = Callable[[str], str]
_SHAPES: dict[str, Callable[[_Arguments], str]] = {
    "f": lambda part: f"\\frac{{{part('num')}}}{{{part('den')}}}",
    "sSup": lambda part: f"{part('e')}^{{{part('sup')}}}",
    "sSub": lambda part: f"{part('e')}_{{{part('sub')}}}",
    "sSubSup": lambda part: f"{part('e')}{_limits(part('sub'), part('sup'))}",
    "rad": lambda part: f"\\sqrt{{{part('e')}}}",
    "nary": lambda part: f"{part('chr')}{_limits(part('sub'), part('sup'))} {part('e')}",
    "d": lambda part: f"({part('e')})",
    "limLow": lambda part: f"{part('e')}_{{{part('lim')}}}",
    "limUpp": lambda part: f"{part('e')}^{{{part('lim')}}}",
}
