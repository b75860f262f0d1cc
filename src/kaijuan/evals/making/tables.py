"""Questions about cells of tables: row by column, and which of two rows has more."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import combinations, product

from kaijuan.core.text.language import language_of
from kaijuan.evals.making.chinese.words import in_script_of
from kaijuan.evals.making.items import Draft, Head, Kind
from kaijuan.evals.making.material import Material, Row, Table, bare_heading

LONGEST_LABEL = 60
LONGEST_CELL = 160
MOST_ROWS = 60
"""Rows of a table that are asked about, the first ones."""
MOST_PAIRS = 20
"""Pairs of rows compared in one table."""
_NUMBER = re.compile(r"[^\d\-−+.]*([-−+]?\d{1,3}(?:,\d{3})+(?:\.\d+)?|[-−+]?\d+(?:\.\d+)?)\D*")
_UNIT = re.compile(r"\s*[（(]\s*([^（()）]{1,8})\s*[)）]\s*\Z")
_NOT_A_LABEL = re.compile(r"\A[\W\d_]*\Z")
_YEAR = re.compile(r"(?:19|20)\d\d")
_OF_TIME = re.compile(
    r"\b(?:fy|fiscal|years?|ended|as|of|at|on|q[1-4]|h[12]|quarter|months?|three|six|nine|twelve|january|february|march"
    r"|april|may|june|july|august|september|october|november|december|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\b"
    r"|[\d\s,./`'’*-]|[年月日第一二三四上下半季度末底止截至]",
    re.IGNORECASE,
)
_FOOTNOTE = re.compile(r"\s*[(（]\d{1,2}[)）]\s*\Z")
_SUMS = re.compile(r"\b(?:sub)?totals?\b|\bnet\b|合计|总计|小计|共计", re.IGNORECASE)
_CHANGE = re.compile(r"change|difference|increase|variance|增减|变动|变化|同比|环比", re.IGNORECASE)
_NO_NAME = frozenset({"other", "others", "total", "subtotal", "其他", "其它", "合计", "总计", "小计", "共计"})
"""Labels that say nothing without the rows around them."""
_TRIVIAL = frozenset({"", "-", "—", "–", "n/a", "none", "无", "无。", "/", "x", "✓", "√", "yes", "no", "是", "否", "*"})


def cell_drafts(material: Material) -> Iterator[Draft]:
    """Yield a question for every cell whose row and column are named, and comparisons of two rows."""
    for table in material.tables:
        if not _is_regular(table):
            continue
        place = _place(material.head, table)
        for row in table.rows[:MOST_ROWS]:
            yield from _cells(table, row, place)
        yield from _compared_rows(table, place)


def _is_regular(table: Table) -> bool:
    """Say whether rows and columns are named: distinct, short labels, none of them a mere number."""
    labels = [row.cells[0] for row in table.rows]
    heads = table.header[1:]
    return (
        len(table.header) >= 2
        and all(0 < len(head) <= LONGEST_LABEL for head in heads)
        and len(set(labels)) == len(labels)
        and len(set(heads)) == len(heads)
        and all(not _NOT_A_LABEL.match(head) or _is_time(head) for head in heads)
        and sum(_is_label(label) for label in labels) >= len(labels) * 0.8
    )


def _is_label(label: str) -> bool:
    named = 0 < len(label) <= LONGEST_LABEL and not _NOT_A_LABEL.match(label)
    return named and label.casefold().strip(" :：") not in _NO_NAME


def _is_time(column: str) -> bool:
    """Say whether a column is a moment or a stretch of time: 2019, FY 2019, December 31, 2018, 2023年末."""
    return len(_YEAR.findall(column)) == 1 and not _OF_TIME.sub("", _FOOTNOTE.sub("", column))


def _place(head: Head, table: Table) -> str:
    """Return how a question names the table: by its document, and its section where there is one."""
    section = bare_heading(table.section[-1]) if table.section else ""
    title = head.title.strip("《》 ")
    if _is_chinese(table):
        return f"《{title}》" + (f"的“{section}”" if section and section not in title else "")
    return f'"{title}"' + (f" ({section})" if section and section.lower() not in title.lower() else "")


def _is_chinese(table: Table) -> bool:
    return language_of(" ".join([*table.header, *(row.cells[0] for row in table.rows)])) == "zh"


def _cells(table: Table, row: Row, place: str) -> Iterator[Draft]:
    label = row.cells[0]
    if not _is_label(label):
        return
    for column, value in zip(table.header[1:], row.cells[1:], strict=True):
        if not _says(value) or value == label or (len(_YEAR.findall(column)) > 1):
            continue
        column = _FOOTNOTE.sub("", column).strip(" `*")
        chinese = _is_chinese(table)
        question = _asked_zh(place, label, column, value) if chinese else _asked_en(place, label, column)
        yield Draft(
            kind=Kind.TABLE,
            how="table/cell",
            language="zh" if chinese else "en",
            question=in_script_of(question, label + column) if chinese else question,
            answers=(value,),
            evidence=(row.evidence,),
            about=f"{label} {column}",
        )


def _says(value: str) -> bool:
    return value.casefold() not in _TRIVIAL and len(value) <= LONGEST_CELL and any(map(str.isalnum, value))


def _asked_zh(place: str, label: str, column: str, value: str) -> str:
    unit = _UNIT.search(column)
    if _is_time(column):
        return f"{place}中，“{label}”在{column}是{'多少' if _NUMBER.fullmatch(value) else '什么'}？"
    if unit and _NUMBER.fullmatch(value):
        return f"{place}中，“{label}”的{_UNIT.sub('', column)}是多少{unit[1].strip()}？"
    asks = "多少" if _NUMBER.fullmatch(value) and value[:1].isdigit() else "什么"
    return f"{place}中，“{label}”的“{column}”是{asks}？"


def _asked_en(place: str, label: str, column: str) -> str:
    if _is_time(column):
        return f'In the table of {place}, what is the figure of "{label}" for {column}?'
    return f'In the table of {place}, what is the "{column}" of "{label}"?'


def _compared_rows(table: Table, place: str) -> Iterator[Draft]:
    made = 0
    if not all(all(row.cells) and not _SUMS.search(row.cells[0]) for row in table.rows):
        return  # rows of several kinds, or sums of others: their numbers do not compare
    for at, column in enumerate(table.header[1:], start=1):
        if _YEAR.search(column) or _CHANGE.search(column):
            continue  # accounts by year: each row has a measure of its own
        numbers = [(row, _number(row.cells[at])) for row in table.rows[:MOST_ROWS] if _is_label(row.cells[0])]
        if len(numbers) < 2 or any(number is None for _, number in numbers):
            continue
        for (one, first), (other, second) in combinations(numbers, 2):
            if first == second or _unit_of(one.cells[at]) != _unit_of(other.cells[at]):
                continue
            made += 1
            if made > MOST_PAIRS:
                return
            yield _comparison(table, (one, other), column, (first or 0, second or 0), place)


def _comparison(table: Table, rows: tuple[Row, Row], column: str, numbers: tuple[float, float], place: str) -> Draft:
    one, other = rows
    greater = one if numbers[0] > numbers[1] else other
    chinese = _is_chinese(table)
    names = one.cells[0], other.cells[0]
    if chinese:
        question = f"{place}中，“{names[0]}”和“{names[1]}”哪一个的“{_UNIT.sub('', column)}”数值更大？"
        question = in_script_of(question, column)
    else:
        question = f'In the table of {place}, which has the larger "{column}": "{names[0]}" or "{names[1]}"?'
    return Draft(
        kind=Kind.TABLE,
        how="table/compare-rows",
        language="zh" if chinese else "en",
        question=question,
        answers=(greater.cells[0],),
        evidence=(one.evidence, other.evidence),
        about=f"{names[0]} {names[1]} {column}",
    )


def compared_tables(materials: Sequence[tuple[Head, Sequence[Table]]]) -> Iterator[Draft]:
    """Yield questions on cells of one name in tables of two documents that belong together (two editions)."""
    for (one, tables), (other, others) in combinations(materials, 2):
        for first, second in product(tables, others):
            if first.header != second.header or not _is_regular(first) or not _is_regular(second):
                continue
            yield from _same_cells((one, first), (other, second))


def _same_cells(left: tuple[Head, Table], right: tuple[Head, Table]) -> Iterator[Draft]:
    rows = {row.cells[0]: row for row in right[1].rows}
    for row in left[1].rows[:MOST_ROWS]:
        twin = rows.get(row.cells[0])
        if twin is None or not _is_label(row.cells[0]):
            continue
        for at, column in enumerate(left[1].header[1:], start=1):
            one, other = _number(row.cells[at]), _number(twin.cells[at])
            if one is None or other is None or one == other:
                continue
            titles = left[0].title, right[0].title
            yield Draft(
                kind=Kind.MULTI,
                how="table/compare-editions",
                language="zh" if _is_chinese(left[1]) else "en",
                question=_asked_of_two(left[1], row.cells[0], column, titles),
                answers=(titles[0] if one > other else titles[1],),
                evidence=(row.evidence, twin.evidence),
                about=f"{row.cells[0]} {column}",
            )


def _asked_of_two(table: Table, label: str, column: str, titles: tuple[str, str]) -> str:
    if _is_chinese(table):
        words = f"《{titles[0].strip('《》')}》和《{titles[1].strip('《》')}》里，“{label}”的“{column}”哪一个更大？"
        return in_script_of(words, column)
    return f'In which is the "{column}" of "{label}" larger, "{titles[0]}" or "{titles[1]}"?'


def _number(value: str) -> float | None:
    found = _NUMBER.fullmatch(value.strip())
    return float(found[1].replace(",", "").replace("−", "-")) if found else None


def _unit_of(value: str) -> str:
    return re.sub(r"[\d.,\s\-−+]", "", value)
