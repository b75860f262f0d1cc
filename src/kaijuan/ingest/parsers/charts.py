"""Charts of Office files (DrawingML) as tables: what was drawn, from the values kept with the drawing."""

from __future__ import annotations

from dataclasses import dataclass

from kaijuan.ingest.parsers.number_formats import shown_number
from kaijuan.ingest.parsers.opc import Element, child, children, descendants, local, number_of, value_of
from kaijuan.ingest.parsers.pipes import Cell, PipeTable, table_of

_MOST_POINTS = 20_000


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart's title, and its values as a table (None where none are kept)."""

    title: str
    table: PipeTable | None


@dataclass(frozen=True, slots=True)
class _Series:
    name: str
    categories: dict[int, str]
    values: dict[int, str]


def chart_of(root: Element) -> Chart:
    """Return the chart of a `c:chartSpace`."""
    chart = child(root, "chart")
    title = _words(child(chart, "title"))
    series = [_series(node) for node in descendants(child(chart, "plotArea"), "ser")]
    title = title or (series[0].name if len(series) == 1 else "")
    return Chart(title, table_of(_rows(series)))


def _rows(series: list[_Series]) -> list[list[Cell]]:
    if not series:
        return []
    shared = all(one.categories == series[0].categories for one in series)
    rows = [[Cell("", header=True), *(Cell(one.name, header=True) for one in series)]]
    places = sorted(set().union(*(one.values.keys() | one.categories.keys() for one in series)))
    if shared:
        for at in places:
            label = series[0].categories.get(at, "")
            rows.append([Cell(label, header=True), *(Cell(one.values.get(at, "")) for one in series)])
        return rows
    # Scatter plots: each series has places of its own.
    for number, one in enumerate(series):
        for at in sorted(one.values):
            before = [Cell("")] * number
            rows.append([Cell(one.categories.get(at, ""), header=True), *before, Cell(one.values[at])])
    return rows


def _series(node: Element) -> _Series:
    name = " ".join(filter(None, _points(child(node, "tx")).values()))
    name = name or "".join(at.text or "" for at in children(child(node, "tx"), "v"))
    labels = child(node, "cat")
    labels = labels if labels is not None else child(node, "xVal")
    values = child(node, "val")
    return _Series(name, _points(labels), _points(values if values is not None else child(node, "yVal")))


def _points(node: Element | None) -> dict[int, str]:
    """Return the cached values below a reference by place; labels on several levels become one."""
    found: dict[int, str] = {}
    if node is None:
        return found
    for cache in node.iter():
        if local(cache) not in {"strCache", "numCache", "strLit", "numLit", "lvl"}:
            continue
        code = _text(child(cache, "formatCode"))
        for point in children(cache, "pt"):
            if len(found) >= _MOST_POINTS:
                break
            at = number_of(point.get("idx"))
            text = _shown(_text(child(point, "v")), value_of(point, "formatCode") or code)
            # The innermost level comes first.
            found[at] = f"{text} {found[at]}" if at in found and local(cache) == "lvl" else text
    return found


def _shown(text: str, code: str) -> str:
    if not code:
        return text
    try:
        return shown_number(float(text), code).strip()
    except ValueError:
        return text


def _text(node: Element | None) -> str:
    return (node.text or "").strip() if node is not None else ""


def _words(node: Element | None) -> str:
    """Return the words of a title: typed ones, else those taken from a cell."""
    typed = " ".join("".join(at.text or "" for at in descendants(node, "t")).split())
    return typed or " ".join(filter(None, _points(child(node, "tx")).values()))
