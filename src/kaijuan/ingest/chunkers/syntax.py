"""The outline of source code by tree-sitter: what it defines at the top, what it imports, where a body may be cut.

Grammars are the extra `code`. Without it, or for a language without a grammar here, there is no outline.
"""

from __future__ import annotations

import importlib
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from importlib.util import find_spec
from typing import TYPE_CHECKING

import numpy as np

from kaijuan import telemetry
from kaijuan.core.spans import Span
from kaijuan.ingest.kinds import LANGUAGES

if TYPE_CHECKING:
    from tree_sitter import Language, Node

MOST_CHARACTERS = 300_000
"""Longer code has no outline: it is data more often than not."""
_GRAMMARS = {
    "bash": (("tree_sitter_bash", "language"),),
    "c": (("tree_sitter_c", "language"), ("tree_sitter_cpp", "language")),
    "cpp": (("tree_sitter_cpp", "language"),),
    "go": (("tree_sitter_go", "language"),),
    "java": (("tree_sitter_java", "language"),),
    "javascript": (("tree_sitter_javascript", "language"),),
    "python": (("tree_sitter_python", "language"),),
    "rust": (("tree_sitter_rust", "language"),),
    "sql": (("tree_sitter_sql", "language"),),
    "typescript": (("tree_sitter_typescript", "language_typescript"), ("tree_sitter_typescript", "language_tsx")),
}
"""By language, the grammars to try; the next where one finds mistakes (a .h of C++, a .ts with markup)."""
_ALSO = {"c++": "cpp", "golang": "go", "py3": "python", "python3": "python", "shell": "bash", "sh": "bash"}
_IMPORTS = re.compile(r"import|include|use_declaration|using|package|extern_crate")
_DEFINES = re.compile(r"(?:definition|declaration|_item|specifier|export_statement|\Astatement)\Z")
_BODY = re.compile(r"block|body|_list\Z|compound_statement|declarations|suite")
_COMMENT = re.compile(r"comment|attribute_item|decorator")
_WORD = re.compile(r"[^\W\d]\w+")
_DEEPEST = 4
"""Levels of bodies inside bodies at whose members code may be cut."""
_MOST_NESTED = 200
_WIDEST_INDENT = 400
_LEAST_STEPS = 1_000
_STEPS_A_BYTE = 0.03
"""Steps (calls of the progress callback) after which a parser is stopped: some grammars take a time that grows faster
than the text on what is no program. Ordinary code takes about 0.01 a byte. Counted, not timed: the same text always
has the same outline."""
_LONGEST_HEAD = 120
_READ = 1 << 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Top:
    """A definition at the top level with the comments before it, or a statement between definitions."""

    span: Span
    defines: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """Where a definition of several lines stands, and its first line."""

    span: Span
    line: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Outline:
    """All places count in the text that was given."""

    tops: tuple[Top, ...]
    imports: tuple[Span, ...]
    levels: tuple[tuple[int, ...], ...]
    """Beginnings of members and statements, by how many bodies they stand in, each level in order."""
    heads: tuple[Head, ...]
    """In order of their beginnings, outer before inner."""

    def heads_at(self, place: int) -> list[str]:
        """Return the first lines of the definitions that `place` stands inside of, outermost first."""
        last = bisect_right(self.heads, place - 1, key=lambda head: head.span.start)
        return [head.line for head in self.heads[:last] if head.span.end > place]

    def imports_for(self, text: str, span: Span) -> list[str]:
        """Return the imports whose names the code in `span` uses, as written, each on one line."""
        used = set(_WORD.findall(span.of(text)))
        lines = (" ".join(one.of(text).split()) for one in self.imports if not span.contains(one))
        return [line for line in lines if used & _bound(line)]


_COMMON = frozenset({"from", "import", "include", "package", "require", "static", "use", "using"})


def _bound(line: str) -> set[str]:
    """Return the names that an import makes known, as far as its words tell."""
    names = line.rpartition(" import ")[2] if line.startswith("from ") else line
    return set(_WORD.findall(names)) - _COMMON


def _language(syntax: str) -> str:
    language = syntax.lower()
    return _ALSO.get(language, LANGUAGES.get(language, language))


def has_grammar(syntax: str) -> bool:
    """Say whether there is a grammar for a language, and it is installed."""
    grammars = _GRAMMARS.get(_language(syntax), ())
    return bool(grammars) and all(find_spec(module) is not None for module, _ in grammars)


def outline(text: str, syntax: str) -> Outline | None:
    """Return the outline of code, None where there is no grammar for it. Linear in the length of `text`.

    Runs native code: for untrusted text call `outlining.outline_of`.
    """
    language = _language(syntax)
    if language not in _GRAMMARS or len(text) > MOST_CHARACTERS:
        return None
    data = text.encode("utf-8", "surrogatepass")
    best: Node | None = None
    for module, function in _GRAMMARS[language]:
        grammar = _grammar(module, function)
        if grammar is None:
            return None
        root = _parsed(grammar, data)
        if root is None:
            continue
        best = root if best is None or not root.has_error else best
        if not root.has_error:
            break
    return _Reader(text, data).outline(best) if best is not None else None


def _parsed(grammar: Language, data: bytes) -> Node | None:
    from tree_sitter import Parser

    steps = int(_LEAST_STEPS + _STEPS_A_BYTE * len(data))

    def read(at: int, _point: object) -> bytes:
        return data[at : at + _READ]

    def enough(_at: int, _mistaken: bool) -> bool:
        nonlocal steps
        steps -= 1
        return steps < 0

    try:
        return Parser(grammar).parse(read, encoding="utf8", progress_callback=enough).root_node
    except ValueError:
        telemetry.event("chunk.no_outline", bytes=len(data))
        return None


def grammars_mark() -> str:
    """Return the versions of the grammars that are installed: with others, code is cut elsewhere."""
    names = sorted({module for found in _GRAMMARS.values() for module, _ in found})
    return ",".join(_version(name.replace("_", "-")) for name in ("tree_sitter", *names))


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "-"


@cache
def _grammar(module: str, function: str) -> Language | None:
    try:
        from tree_sitter import Language

        return Language(getattr(importlib.import_module(module), function)())
    except ImportError:
        telemetry.event("chunk.no_grammar", module=module, hint="pip install 'kaijuan[code]'")
        return None


class _Reader:
    def __init__(self, text: str, data: bytes) -> None:
        self._text = text
        self._at: Callable[[int], int] = int
        if len(data) != len(text):
            # Bytes 10xxxxxx continue a character: the running count of the others turns byte offsets into characters.
            raw = np.frombuffer(data, dtype=np.uint8)
            places = np.concatenate([[0], np.cumsum((raw & 0xC0) != 0x80)])
            self._at = lambda byte: int(places[byte])
        self._levels: list[list[int]] = [[] for _ in range(_DEEPEST)]
        self._heads: list[Head] = []

    def outline(self, root: Node) -> Outline:
        nodes = root.named_children
        imports = tuple(self._span(node) for node in nodes if _IMPORTS.search(node.type))
        tops = tuple(self._tops(nodes))
        self._walk(root)
        levels = tuple(tuple(sorted(set(level))) for level in self._levels)
        return Outline(
            tops=tops, imports=imports, levels=levels, heads=tuple(sorted(self._heads, key=lambda head: head.span))
        )

    def _tops(self, nodes: list[Node]) -> Iterator[Top]:
        start: int | None = None
        for node in nodes:
            span = self._span(node)
            start = span.start if start is None else start
            if _COMMENT.search(node.type):
                continue  # goes with what follows
            several = node.start_point[0] != node.end_point[0]
            defines = several and not _IMPORTS.search(node.type) and bool(_DEFINES.search(node.type))
            yield Top(span=Span(start, span.end), defines=defines)
            start = None

    def _walk(self, root: Node) -> None:
        """Note members of bodies and heads of definitions; nodes on one line are passed over."""
        stack = [(root, 0, 0)]
        while stack:
            node, depth, nested = stack.pop()
            body = depth < _DEEPEST and bool(_BODY.search(node.type)) and node.parent is not None
            if body:
                self._levels[depth].extend(self._members(node))
            for child in node.named_children:
                if child.start_point[0] == child.end_point[0]:
                    continue
                if _DEFINES.search(child.type) and not _IMPORTS.search(child.type):
                    self._heads.append(self._head(child))
                if nested < _MOST_NESTED:
                    stack.append((child, depth + body, nested + 1))

    def _members(self, body: Node) -> Iterator[int]:
        comment = False
        for child in body.named_children:
            at = self._at(child.start_byte)
            line = self._text.rfind("\n", max(0, at - _WIDEST_INDENT), at) + 1
            # Two statements on one line stay together, and a comment stays with what it is about.
            if line and not comment and not self._text[line:at].strip():
                yield line
            comment = bool(_COMMENT.search(child.type))

    def _head(self, node: Node) -> Head:
        span = self._span(node)
        first = self._text[span.start : min(span.end, span.start + _LONGEST_HEAD)]
        return Head(span=span, line=first.partition("\n")[0].strip())

    def _span(self, node: Node) -> Span:
        return Span(self._at(node.start_byte), self._at(node.end_byte))
