"""Rules on scanned pages, also where rows are low and the rules across are thick."""

import cv2
import numpy as np
import pytest

from kaijuan.ingest.parsers.pdf_lines import Run
from kaijuan.ingest.parsers.recognised import Frame
from kaijuan.ingest.parsers.scanned_rules import rules_of

HEIGHT = 28


def words(x: float, y: float) -> Run:
    chars = list("12.5")
    lefts = [x + 14 * at for at in range(4)]
    rights = [left + 13 for left in lefts]
    return Run(chars, lefts, rights, x, y, rights[-1], y + HEIGHT, float(HEIGHT), bold=False)


@pytest.mark.parametrize("thick", [1, 2, 4])
@pytest.mark.parametrize("row", [60, 72, 140])
def test_standing_rules_go_through_rows_of_any_height(thick: int, row: int) -> None:
    image = np.full((900, 1400, 3), 255, np.uint8)
    xs, ys = (100, 500, 900, 1300), tuple(range(80, 80 + 5 * row, row))
    for y in ys:
        cv2.line(image, (xs[0], y), (xs[-1], y), (0, 0, 0), thick)
    for x in xs:
        cv2.line(image, (x, ys[0]), (x, ys[-1]), (0, 0, 0), 3)
    runs = [words(x + 20, y + (row - HEIGHT) / 2) for x in xs[:-1] for y in ys[:-1]]
    for run in runs:
        place = (int(run.x0), int(run.y1))
        cv2.putText(image, "12.5", place, cv2.FONT_HERSHEY_SIMPLEX, 0.9, (0, 0, 0), 2)
    rules = rules_of(image, runs, Frame(width=1400.0, height=900.0))
    assert [round(rule.at / 10) * 10 for rule in rules.standing] == list(xs)
    assert all(abs(rule.start - ys[0]) < 5 and abs(rule.end - ys[-1]) < 5 for rule in rules.standing)
    assert [round(rule.at / 4) for rule in rules.lying] == [round(y / 4) for y in ys]
