"""A glossary as a table: term, synonyms, note, and on the way out who entered it and when."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from kaijuan.core.glossary import LONGEST_TERM, MOST_SYNONYMS, GlossaryTerm
from kaijuan.core.text.normalise import folded
from kaijuan.errors import UsageError

_BETWEEN = "|"
_COLUMNS = {
    "term": ("term", "word", "术语", "词条", "词语", "术語", "詞條"),
    "synonyms": ("synonyms", "synonym", "同义词", "近义词", "别名", "同義詞", "別名"),
    "note": ("note", "notes", "comment", "备注", "说明", "備註", "說明"),
}
MOST_ROWS = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class GlossaryRow:
    """One line of a table."""

    term: str
    synonyms: tuple[str, ...]
    note: str = ""


def checked(term: str, synonyms: Iterable[str], note: str = "") -> GlossaryRow:
    """Return a term with its synonyms tidied: no blanks around, none twice, none the term itself.

    UsageError where nothing is left, or where something is no word.
    """
    name = _word(term)
    others: dict[str, str] = {}
    for synonym in synonyms:
        word = _word(synonym)
        if folded(word) != folded(name):
            others.setdefault(folded(word), word)
    if not others:
        raise UsageError(f"{name!r} has no synonym.", hint="Give at least one other word for it.")
    if len(others) > MOST_SYNONYMS:
        raise UsageError(f"{name!r} has {len(others)} synonyms.", hint=f"A term has at most {MOST_SYNONYMS}.")
    return GlossaryRow(term=name, synonyms=tuple(others.values()), note=_plain(note).strip())


def _word(text: str) -> str:
    word = " ".join(_plain(text).split())
    if not folded(word).strip() or len(word) > LONGEST_TERM:
        raise UsageError(f"{word[:LONGEST_TERM]!r} is no word.", hint=f"A word has 1 to {LONGEST_TERM} characters.")
    return word


def _plain(text: str) -> str:
    return text.encode("utf-8", "replace").decode().replace("\x00", "")


def read_csv(text: str) -> list[GlossaryRow]:
    """Return the rows of a table with the columns term, synonyms and note (also 术语, 同义词, 备注).

    Several synonyms of one cell stand between "|". Without a line of names the columns are taken in this order, and
    further ones are synonyms too. UsageError names the line that cannot be read, and nothing is taken.
    """
    lines = list(_lines(text))
    if not lines:
        raise UsageError("The table has no line.", hint="A line is: term,synonym|synonym,note.")
    names = _names(lines[0][1])
    rows: list[GlossaryRow] = []
    for number, cells in lines[1:] if names else lines:
        try:
            rows.append(_row(cells, names))
        except UsageError as error:
            raise UsageError(f"Line {number} of the table: {error.message}", hint=error.hint) from error
    return rows


def _lines(text: str) -> Iterable[tuple[int, list[str]]]:
    reader = csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline=""), strict=True)
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                yield reader.line_num, cells
            if reader.line_num > MOST_ROWS:
                raise UsageError(f"The table has more than {MOST_ROWS} lines.")
    except csv.Error as error:
        raise UsageError(f"Line {reader.line_num} of the table cannot be read: {error}.") from error


def _names(cells: list[str]) -> dict[str, int]:
    """Return where the columns stand, {} where the first line is a term already."""
    found = {
        column: at
        for at, cell in enumerate(cells)
        for column, names in _COLUMNS.items()
        if cell.strip().lower() in names
    }
    return found if "term" in found and "synonyms" in found else {}


def _row(cells: list[str], names: dict[str, int]) -> GlossaryRow:
    if names:
        term, synonyms, note = (_cell(cells, names.get(column, -1)) for column in ("term", "synonyms", "note"))
    else:
        term, synonyms, note = cells[0], _BETWEEN.join(cells[1:]), ""
    return checked(term, [word for word in synonyms.split(_BETWEEN) if word.strip()], note)


def _cell(cells: list[str], at: int) -> str:
    return cells[at] if 0 <= at < len(cells) else ""


def write_csv(terms: Iterable[GlossaryTerm]) -> str:
    """Return the table of a glossary; `read_csv` takes it."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["term", "synonyms", "note", "by", "at"])
    for term in terms:
        last = term.history[-1]
        at = datetime.fromtimestamp(last.at, UTC).isoformat(timespec="seconds")
        writer.writerow([term.term, _BETWEEN.join(term.synonyms), last.note, last.by, at])
    return out.getvalue()
