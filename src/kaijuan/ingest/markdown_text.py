"""A parsed document as Markdown, for people and for tools that take nothing else."""

from __future__ import annotations

import re
from collections.abc import Callable

from kaijuan.core.documents import BlockKind, ParsedBlock, ParsedDocument

_LEADING = re.compile(r"^(\s*)([#>]|[-+*](?=\s)|\d+[.)](?=\s))", re.M)
_DEEPEST_HEADING = 6


def as_markdown(document: ParsedDocument) -> str:
    """Return the blocks one after the other, each written as what it is."""
    return "\n\n".join(_written(block, block.span.of(document.text)) for block in document.blocks) + "\n"


def _written(block: ParsedBlock, text: str) -> str:
    shape = _SHAPES.get(block.kind)
    # What begins like a mark of Markdown is text all the same.
    return shape(block, text) if shape else _LEADING.sub(r"\1\\\2", text)


def _heading(block: ParsedBlock, text: str) -> str:
    return f"{'#' * min(max(block.level, 1), _DEEPEST_HEADING)} {' '.join(text.split())}"


def _code(block: ParsedBlock, text: str) -> str:
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", text)), default=0))
    return f"{fence}{block.syntax}\n{text}\n{fence}"


_SHAPES: dict[BlockKind, Callable[[ParsedBlock, str], str]] = {
    BlockKind.HEADING: _heading,
    BlockKind.CODE: _code,
    BlockKind.FORMULA: lambda _, text: text if text.startswith("$$") else f"$$\n{text}\n$$",
    BlockKind.QUOTE: lambda _, text: "\n".join(f"> {line}" for line in text.split("\n")),
    BlockKind.CAPTION: lambda _, text: f"*{' '.join(text.split())}*",
    BlockKind.TABLE: lambda _, text: text,
    BlockKind.LIST: lambda _, text: text,
}
