"""What a table or a piece of code is, in words: by these it is found where its own text has none of the question's.

Kept apart from the text. What is quoted is the table or the code itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from kaijuan.core.documents import Block, BlockKind, Table
from kaijuan.core.spans import Span
from kaijuan.ingest.chunkers.atomic import columns_of

_SEEN = 20_000
_MOST_NAMES = 12
_LONGEST_NAME = 40
_LONGEST_SAID = 160
_MOST_DEFINED = 6
_DEFINES = re.compile(
    r"^[^\S\n]*(?:(?:export|default|public|private|protected|internal|static|final|abstract|async|pub(?:\([a-z]+\))?|"
    r"unsafe|inline|virtual|override)[^\S\n]+)*"
    r"(?P<what>def|class|function|func|fn|interface|struct|enum|trait|impl|type|CREATE (?:TABLE|VIEW|FUNCTION|"
    r"PROCEDURE|INDEX))\b[^\S\n]*(?:\([^()\n]{0,80}\)[^\S\n]*)?(?P<name>[A-Za-z_][\w.]*)?",
    re.MULTILINE | re.IGNORECASE,
)
_DOCSTRING = re.compile(r'(?:"""|\'\'\')\s*(?P<py>[^"\'\n]{3,200})|/\*\*?\s*\*?\s*(?P<block>[^*\n]{3,200})')
_COMMENT = re.compile(r"^[^\S\n]*(?://+!?|#+|--)\s*(?P<line>[^\n!]{3,200})", re.MULTILINE)
_PARTS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")


def described(text: str, blocks: Sequence[Block], span: Span, language: str) -> str:
    """Return what is to be said of a chunk, "" where it is neither mostly a table nor mostly code.

    `blocks` are those that share characters with `span`; `language` decides the words.
    """
    sizes = {
        kind: sum(len(shared) for block in blocks if block.kind is kind and (shared := block.span.intersect(span)))
        for kind in (BlockKind.TABLE, BlockKind.CODE)
    }
    kind = max(sizes, key=lambda kind: sizes[kind])
    if 2 * sizes[kind] <= len(span):
        return ""
    chosen = [block for block in blocks if block.kind is kind]
    if kind is BlockKind.TABLE:
        return "；".join(_table(text, block, language) for block in chosen[:2])
    return _code(span.of(text)[:_SEEN], chosen[0].syntax, language)


def _table(text: str, block: Block, language: str) -> str:
    names = [name[:_LONGEST_NAME] for name in columns_of(text, [block]).split(" | ") if name][:_MOST_NAMES]
    rows, columns = (block.table.rows, block.table.columns) if block.table else (0, len(names))
    key = _key(text, block.table) if block.table else ""
    if language == "zh":
        said = ["表格" + (f"，{rows} 行 {columns} 列" if rows else "")]
        said += [f"各列为{'、'.join(names)}"] if names else []
        said += [f"每行是一个{key}"] if key else []
        return "，".join(said)
    size = f" of {rows} rows and {columns} columns" if rows else ""
    table = f"Table{size}" + (f" with columns {', '.join(names)}" if names and not rows else "")
    table += f": {', '.join(names)}" if names and rows else ""
    return f"{table}; one row for each {key}" if key else table


def _key(text: str, table: Table) -> str:
    """Return the name of the first column whose cells all differ, "" where none has a name or all repeat."""
    heads = {cell.column: " ".join(cell.span.of(text).split()) for cell in table.cells if cell.header}
    for column in range(min(table.columns, 3)):
        cells = [
            " ".join(cell.span.of(text).split()) for cell in table.cells if not cell.header and cell.column == column
        ]
        if len(cells) > 1 and len(set(cells)) == len(cells) and not all(_is_number(cell) for cell in cells):
            return heads.get(column, "")[:_LONGEST_NAME]
    return ""


def _is_number(cell: str) -> bool:
    return cell.replace(".", "").replace(",", "").replace("%", "").strip().isdecimal()


def _code(code: str, syntax: str, language: str) -> str:
    names = list(dict.fromkeys(_defined(code)))[:_MOST_DEFINED]
    about = _about(code)
    if not names and not about:
        return ""
    kind = f"{syntax} " if syntax else ""
    if language == "zh":
        head = f"{kind}代码" + (f"，定义{'、'.join(names)}" if names else "")
        return f"{head}：{about}" if about else head
    head = f"{kind}code" + (f" that defines {', '.join(names)}" if names else "")
    return f"{head}: {about}" if about else head


def _defined(code: str) -> Iterator[str]:
    for match in _DEFINES.finditer(code):
        name = match["name"]
        if name:
            # read_settings_file is asked for as "read settings file".
            words = " ".join(_PARTS.findall(name)).lower()
            yield f"{name} ({words})" if words != name.lower() and " " in words else name


def _about(code: str) -> str:
    found = _DOCSTRING.search(code)
    said = (found["py"] or found["block"]) if found else ""
    if not said and (comment := _COMMENT.search(code)):
        said = comment["line"]
    return " ".join(said.split())[:_LONGEST_SAID]
