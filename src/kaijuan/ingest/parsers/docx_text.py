"""The words of Word paragraphs and formulas, as they read with all changes accepted."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from kaijuan.ingest.parsers.figures import alt_text
from kaijuan.ingest.parsers.omml import latex
from kaijuan.ingest.parsers.opc import local, relation_id, value_of

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_BLANKS = re.compile(r"[^\S\u3000]+")
_COMPAT = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_THROUGH = frozenset(
    f"{W}{tag}" for tag in ("hyperlink", "ins", "smartTag", "sdt", "sdtContent", "fldSimple", "moveTo", "bdo", "dir")
) | {f"{_COMPAT}Fallback"}
_FORMULA = "\x00"
"""Marks both ends of a formula until it is known whether anything stands beside it."""
_GONE = frozenset({f"{W}del", f"{W}moveFrom", f"{W}pPr", f"{W}rPr", f"{W}sdtPr", f"{W}instrText", f"{W}delText"})
_SYMBOLS = {"F0FE": "☑", "F052": "☑", "F0FD": "☒", "F0A8": "☐", "F06F": "☐", "F0FC": "✓", "F0FB": "✗", "F0E0": "→"}
"""Signs of the fonts Wingdings that stand for something."""
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
    pictures: list[str] = field(default_factory=list)
    """Descriptions of pictures."""
    images: list[str] = field(default_factory=list)
    """Ids of the relations to the pictures themselves."""
    drawings: list[tuple[str, str]] = field(default_factory=list)
    """("chart" or "diagram", id of the relation to its part)."""


def words_of(paragraph: Any) -> Words:
    """Return the words of a `w:p`."""
    words = Words()
    parts: list[str] = []
    kinds: set[str] = set()
    _read(paragraph, words, parts, kinds)
    words.formulas_only = kinds == {"formula"}
    # Between words a formula needs its marks; alone it is what it is.
    raw = "".join(parts).replace(_FORMULA, "" if words.formulas_only else "$")
    words.text = "\n".join(_BLANKS.sub(" ", line).strip() for line in raw.split("\n")).strip()
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
        elif tag == f"{W}sym":
            parts.append(_SYMBOLS.get((child.get(f"{W}char") or "").upper(), ""))
        elif tag in _MARKS:
            parts.append("" if child.get(f"{W}type") in {"page", "column"} else _MARKS[tag])
        elif tag in {f"{M}oMath", f"{M}oMathPara"}:
            parts.append(f"{_FORMULA}{latex(child)}{_FORMULA}")
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
        _draw(node, words)


def _draw(node: Any, words: Words) -> None:
    """Keep charts and diagrams by their parts, and pictures by what their author says of them."""
    for at in node.iter():
        name = local(at)
        if name == "chart" and relation_id(at):
            words.drawings.append(("chart", relation_id(at)))
        elif name == "relIds":
            words.drawings.append(("diagram", value_of(at, "dm")))
        elif name in {"blip", "imagedata"}:
            id = relation_id(at)
            words.images.extend([id] if id and id not in words.images else [])
        elif name in {"docPr", "shape"}:
            said = alt_text(value_of(at, "descr") or value_of(at, "alt"))
            words.pictures.extend([said] if said and said not in words.pictures else [])


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
