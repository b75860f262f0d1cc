"""What the parsing benches count: alike texts, cells in their places, the order of columns, spoiled files."""

from __future__ import annotations

from pathlib import Path

import pypdfium2
import pytest
from bench.fuzz_parsers import End, fresh, note
from bench.markdown_scores import all_grids, likeness, table_cells
from bench.parsing_pdf import f1, repeated
from bench.parsing_peers import Child
from bench.reading_order import tau, wanted, words_of
from bench.spoiling import spoiled
from reportlab.pdfgen import canvas
from tests.seed_files import SAMPLES, pdf

TABLE = "| a | b |\n| --- | --- |\n| 1 | 2 |\n"
OTHER = "| x | y |\n| --- | --- |\n| 8 | 9 |\n"


def test_marks_and_links_do_not_count_words_do() -> None:
    assert likeness("# **A** [b](http://c)", "A b") == (1.0, 1.0)
    assert likeness("<table><tr><td>A</td></tr></table>", "| A |") == (1.0, 1.0)
    assert likeness("abcd", "abxd")[0] == pytest.approx(0.75)
    assert likeness("abcd and more", "abcd")[1] == 1.0


def test_cells_must_stand_in_their_places() -> None:
    assert table_cells(TABLE, TABLE) == {"agreed": 4, "ours": 4, "reference": 4}
    assert table_cells("| a | b |\n| --- | --- |\n| 2 | 1 |\n", TABLE)["agreed"] == 2
    assert table_cells("| **a** | b<br> |\n| --- | --- |\n| 1 | 2 |\n", TABLE)["agreed"] == 4
    assert table_cells("||Caption|\n|---|---|\n|a|b|\n||2|\n", "| a | b |\n| --- | --- |\n| | 2 |\n")["agreed"] == 3
    assert table_cells("words", TABLE) == {"agreed": 0, "ours": 0, "reference": 4}
    assert table_cells(TABLE, "no table")["ours"] == 4


def test_tables_meet_those_that_are_likest() -> None:
    mixed = "| a | y |\n| --- | --- |\n| 8 | 9 |\n"
    assert table_cells(f"{mixed}\n", f"{TABLE}\n{OTHER}") == {"agreed": 3, "ours": 4, "reference": 8}


def test_merged_cells_repeated_or_blank_or_in_html_are_the_same() -> None:
    merged = '<table><tr><td colspan="2">a</td></tr><tr><td>1</td><td>2</td></tr></table>'
    assert all_grids(merged) == [[["a", "a"], ["1", "2"]]]
    for text in (merged, "| a | a |\n| --- | --- |\n| 1 | 2 |", "| a | |\n| --- | --- |\n| 1 | 2 |"):
        assert table_cells(text, merged) == {"agreed": 3, "ours": 3, "reference": 3}
        assert likeness(f"x\n\n{text}\n\ny", f"x\n\n{merged}\n\ny") == (1.0, 1.0)


def test_f1_is_of_all_cells_together() -> None:
    assert (
        f1(
            [
                {"cells": {"agreed": 1, "ours": 2, "reference": 2}},
                {"cells": dict.fromkeys(("agreed", "ours", "reference"), 0)},
            ]
        )
        == 0.5
    )


def test_order_is_told_by_words_that_occur_once() -> None:
    order = ["alpha", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel"]
    for text, wanted_tau in ((" ".join(order), 1.0), (" ".join(reversed(order)), -1.0)):
        found, share = tau(text, order)
        assert found == pytest.approx(wanted_tau)
        assert share == 1.0
    found, share = tau(" ".join([*order, "alpha", "alpha"]), order)
    assert (found, share) == (None, 0.875)
    assert words_of("前三章内 the Chapter") == ["前三章", "三章内", "chapter"]


def test_wanted_words_are_read_box_by_box(tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    paper = canvas.Canvas(str(path), pagesize=(300, 400), invariant=True)
    for line, (left, right) in enumerate([("alpha", "delta"), ("bravo", "echoes"), ("charlie", "alpha")]):
        paper.drawString(30, 350 - 20 * line, left)
        paper.drawString(180, 350 - 20 * line, right)
    paper.save()
    columns: list[list[float]] = [[0, 0, 150, 400], [150, 0, 300, 400]]
    assert wanted(path, {"1": columns}) == ["bravo", "charlie", "delta", "echoes"]
    assert wanted(path, {"1": columns[::-1]}) == ["delta", "echoes", "bravo", "charlie"]


def test_pages_are_repeated(tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    path.write_bytes(pdf())
    assert len(pypdfium2.PdfDocument(repeated(path, [0, 1, 0, 1, 0]))) == 5


@pytest.mark.parametrize("name", ["a.json", "a.docx", "a.doc", "a.pdf", "a.txt"])
def test_spoiling_changes_files_the_same_way_again(name: str) -> None:
    data = SAMPLES[name]
    made = [spoiled(data, f"k/{number}") for number in range(20)]
    assert made == [spoiled(data, f"k/{number}") for number in range(20)]
    assert len({*made, data}) > 15


def test_a_run_counts_ends_deaths_and_faults() -> None:
    row = fresh()
    note(row, 3, "a.zip", [End("read", 0.5, 50.0), End("parse_timeout", 61.0, fault="too long", death="time")])
    assert (row["files"], row["outcomes"], row["deaths"]) == (1, {"read": 1, "parse_timeout": 1}, {"time": 1})
    assert row["slowest"] == {"seconds": 61.0, "number": 3, "file": "a.zip"}
    assert row["faults"] == [{"number": 3, "file": "a.zip", "fault": "too long"}]


def test_a_reader_that_dies_is_told_from_one_that_is_late(tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text('#!/bin/sh\necho \'{"about": "x", "cpu": 0}\'\nread a\ncase $a in *slow*) sleep 60;; esac\n')
    python.chmod(0o755)
    for name, error in (("dies", "crash"), ("slow", "late")):
        child = Child("x", python, tmp_path)
        try:
            assert child.start["about"] == "x"
            assert child.ask(tmp_path / name, 5 if error == "crash" else 0.5) == {"error": error}
        finally:
            child.end()
