"""Outlines of code, made in a process of their own: grammars are native code, and what they read is untrusted.

A text that breaks its grammar, or takes too long, has no outline and is cut by blank lines; nothing else suffers. The
process starts with the first code that is cut and ends with this one.
"""

from __future__ import annotations

from collections import OrderedDict
from functools import cache
from typing import Any

from kaijuan.core.spans import Span
from kaijuan.ingest.chunkers.syntax import MOST_CHARACTERS, Head, Outline, Top, has_grammar, outline
from kaijuan.ingest.isolate import Sandbox

SECONDS = 20.0
"""For one text of at most 300,000 characters; the parse itself is bounded by its steps."""
MEMORY_MB = 600
_TASK = f"{__name__}:outline_task"
_REMEMBERED = 64


def outline_of(text: str, syntax: str) -> Outline | None:
    """Return the outline of code, None where there is no grammar for it or it cannot be read. Blocks meanwhile."""
    if not has_grammar(syntax) or len(text) > MOST_CHARACTERS:
        return None
    return _outlines().of(text, syntax)


class _Outlines:
    """Asks the process, and remembers the last few: a document is often cut more than once in a row."""

    def __init__(self) -> None:
        self._sandbox = Sandbox(seconds=SECONDS, memory_mb=MEMORY_MB)
        self._known: OrderedDict[tuple[str, str], Outline | None] = OrderedDict()

    def of(self, text: str, syntax: str) -> Outline | None:
        key = (text, syntax)
        if key not in self._known:
            plain = self._sandbox.run(_TASK, text.encode("utf-8", "surrogatepass"), syntax=syntax)
            self._known[key] = None if plain is None else _from_plain(plain)
            if len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)
        return self._known[key]


@cache
def _outlines() -> _Outlines:
    return _Outlines()


def outline_task(data: bytes, syntax: str) -> dict[str, Any] | None:
    """Return an outline as plain data; called in the other process."""
    found = outline(data.decode("utf-8", "surrogatepass"), syntax)
    if found is None:
        return None
    return {
        "tops": [[top.span.start, top.span.end, int(top.defines)] for top in found.tops],
        "imports": [[one.start, one.end] for one in found.imports],
        "levels": [list(level) for level in found.levels],
        "heads": [[head.span.start, head.span.end, head.line] for head in found.heads],
    }


def _from_plain(plain: dict[str, Any]) -> Outline:
    return Outline(
        tops=tuple(Top(span=Span(start, end), defines=bool(defines)) for start, end, defines in plain["tops"]),
        imports=tuple(Span(start, end) for start, end in plain["imports"]),
        levels=tuple(tuple(level) for level in plain["levels"]),
        heads=tuple(Head(span=Span(start, end), line=line) for start, end, line in plain["heads"]),
    )
