"""Lines of long documents are kept small, and blocks leave as soon as no later page can go on with them."""

from __future__ import annotations

from collections.abc import Iterator

from kaijuan.ingest.parsers.pdf_blocks import groups_of
from kaijuan.ingest.parsers.pdf_code import Typewriting
from kaijuan.ingest.parsers.pdf_headings import Looks
from kaijuan.ingest.parsers.pdf_lines import Line, PrintedCell, PrintedTable
from kaijuan.ingest.parsers.pdf_pages import PrintedPages


def _line(text: str, page: int, y: float) -> Line:
    edges = tuple(72.0 + 5 * at for at in range(len(text) + 1))
    return Line(
        text=text, edges=edges, page=page, x0=72.0, y0=y, x1=edges[-1], y1=y + 10, size=10.0, bold=False, right=540.0
    )


def _page(number: int) -> list[Line]:
    return [_line(f"第{number}页的第{at}句话到这里说完了。", number, 80.0 + 40 * at) for at in range(12)]


def test_lines_come_out_as_they_went_in_as_often_as_asked() -> None:
    cell = PrintedCell(0, 0, [_line("格", 2, 90)])
    table = PrintedTable(2, (72.0, 300.0), [cell], 72.0, 80.0, 300.0, 120.0, ruled=True)
    given = [_page(1), [*_page(2), table.line()], []]
    pages = PrintedPages()
    for lines in given:
        pages.append(lines)
    assert list(pages) == given
    assert list(pages) == given
    assert pages.lines == 25
    pages.without([{0, 11}, set(), set()])
    assert list(pages) == [given[0][1:11], *given[1:]]
    assert pages.lines == 23
    assert list(pages.used_up()) == [given[0][1:11], *given[1:]]
    assert list(pages) == []


def test_blocks_leave_before_the_last_page_is_read() -> None:
    read = 0

    def pages() -> Iterator[list[Line]]:
        nonlocal read
        for number in range(1, 101):
            read = number
            yield _page(number)

    looks = Looks()
    looks.see(_page(1))
    groups = groups_of(pages(), looks.body(), Typewriting())
    first = next(groups)
    assert first.lines[0].text.startswith("第1页")
    assert read < 5
    assert sum(1 for _ in groups) == 1_199
