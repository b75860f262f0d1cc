"""What every recogniser must hold. Derive and give `recogniser`."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from kaijuan.ingest.ports import PageImage, RecognisedLine, Recogniser

WORDS = ("Kaijuan reads printed words", "Invoice number 20261130", "needle in the haystack")
_SIZE = 32
_LEFT = 60
_TOP = 50
_STEP = 80


def picture(*lines: str, width: int = 800, height: int = 400, ink: str = "black", paper: str = "white") -> PageImage:
    """Return a picture of lines of text, one under the other, 32 dots high."""
    page = Image.new("RGB", (width, height), paper)
    pen = ImageDraw.Draw(page)
    font = ImageFont.load_default(_SIZE)
    for number, line in enumerate(lines):
        pen.text((_LEFT, _TOP + number * _STEP), line, fill=ink, font=font)
    return np.asarray(page, np.uint8)


def squeezed(lines: list[RecognisedLine]) -> set[str]:
    """Return what lines say, blanks apart."""
    return {"".join(line.text.split()) for line in lines}


def check_lines(lines: list[RecognisedLine], image: PageImage) -> None:
    """Raise AssertionError when lines break a promise that boxes and reviews rest on."""
    height, width = image.shape[:2]
    for line in lines:
        assert line.text.strip(), "a line says nothing"
        assert "\n" not in line.text, "a line is one line"
        assert 0 <= line.confidence <= 1, "confidence is a share"
        assert len(line.corners) == 4, "a place has four corners"
        for x, y in line.corners:
            assert -1 <= x <= width + 1, "a corner leaves the picture"
            assert -1 <= y <= height + 1, "a corner leaves the picture"
        if line.edges:
            assert len(line.edges) == len(line.text) + 1, "an edge is missing"
            assert list(line.edges) == sorted(line.edges), "edges go back"
            assert 0 <= line.edges[0] <= line.edges[-1] <= 1, "edges are shares"


class RecogniserContract:
    """Behaviour shared by all recognisers."""

    @pytest.fixture
    def recogniser(self) -> Recogniser:
        """Return a recogniser."""
        raise NotImplementedError

    def test_has_a_fingerprint(self, recogniser: Recogniser) -> None:
        assert recogniser.fingerprint.strip()
        assert recogniser.fingerprint == recogniser.fingerprint

    @pytest.mark.parametrize(("ink", "paper"), [("black", "white"), ("white", "black"), ("#333366", "#e8e0c8")])
    def test_reads_print(self, recogniser: Recogniser, ink: str, paper: str) -> None:
        image = picture(*WORDS, ink=ink, paper=paper)
        found = recogniser.recognise(image)
        check_lines(found, image)
        assert squeezed(found) == {"".join(words.split()) for words in WORDS}

    def test_says_where(self, recogniser: Recogniser) -> None:
        found = recogniser.recognise(picture(*WORDS))
        for line in found:
            number = next(at for at, words in enumerate(WORDS) if words.split()[0] == line.text.split()[0])
            top, bottom = line.corners[0][1], line.corners[2][1]
            assert abs((top + bottom) / 2 - (_TOP + number * _STEP + _SIZE * 0.6)) < _SIZE / 3
            assert abs(line.corners[0][0] - _LEFT) < _SIZE / 2

    def test_says_where_each_character_stands(self, recogniser: Recogniser) -> None:
        """Letters with white between them: each edge given falls into the white, or nothing is given."""
        words = "A   B   C   D   E"
        image = picture(words)
        for line in recogniser.recognise(image):
            left, right = line.corners[0][0], line.corners[1][0]
            font = ImageFont.load_default(_SIZE)
            for letter in "ABCDE" if line.edges else "":
                place = line.text.index(letter)
                drawn = _LEFT + font.getlength(words[: words.index(letter)]) + font.getlength(letter) / 2
                begin, end = (left + (right - left) * line.edges[at] for at in (place, place + 1))
                assert begin - _SIZE / 3 < drawn < end + _SIZE / 3

    def test_the_same_picture_gives_the_same_lines(self, recogniser: Recogniser) -> None:
        image = picture(*WORDS)
        first = recogniser.recognise(image)
        recogniser.recognise(picture("something else in between"))
        assert recogniser.recognise(image) == first

    def test_leaves_the_picture_as_it_was(self, recogniser: Recogniser) -> None:
        image = picture(*WORDS).copy()
        before = image.copy()
        recogniser.recognise(image)
        assert (image == before).all()

    @pytest.mark.parametrize("shade", [0, 127, 255])
    def test_nothing_on_blank_paper(self, recogniser: Recogniser, shade: int) -> None:
        assert recogniser.recognise(np.full((300, 400, 3), shade, np.uint8)) == []

    @pytest.mark.parametrize(("height", "width"), [(8, 8), (8, 900), (900, 8), (40, 3000), (3000, 60)])
    def test_odd_shapes_end_well(self, recogniser: Recogniser, height: int, width: int) -> None:
        image = np.random.default_rng(7).integers(0, 256, (height, width, 3)).astype(np.uint8)
        check_lines(recogniser.recognise(image), image)

    @pytest.mark.parametrize("turn", [1, 2, 3])
    def test_a_turned_page_is_read_or_left(self, recogniser: Recogniser, turn: int) -> None:
        """Who reads turned pages says which way the lines run, by where the first corner is."""
        image = np.ascontiguousarray(np.rot90(picture(*WORDS), -turn))
        found = recogniser.recognise(image)
        check_lines(found, image)
        for line in found:
            if "".join(line.text.split()) in {"".join(words.split()) for words in WORDS}:
                (x0, y0), (x1, y1) = line.corners[:2]
                way = {1: y1 - y0, 2: x0 - x1, 3: y0 - y1}[turn]
                assert way > 0.9 * max(abs(x1 - x0), abs(y1 - y0))
