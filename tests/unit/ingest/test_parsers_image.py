"""Pictures: every format and mode, upright or not, columns and tables, places of characters, hostile files."""

from __future__ import annotations

import io
import struct
import zlib
from contextlib import suppress

import numpy as np
import pytest
from PIL import Image, ImageDraw
from rapidfuzz.distance import Levenshtein
from tests.picture_files import han_font, page, saved, write

from kaijuan import registry
from kaijuan.core.documents import BlockKind, PageBox, ParsedDocument
from kaijuan.core.spans import Span
from kaijuan.errors import BrokenDocumentError, DocumentError, EmptyDocumentError, OversizeDocumentError
from kaijuan.ingest.parsers import pictures
from kaijuan.ingest.parsers.image import ImageParser
from kaijuan.ingest.ports import PageImage, RecognisedLine, Recogniser
from kaijuan.ingest.recognising import PictureError, TimeUsedUpError
from kaijuan.testing.contracts.parser import ParserContract, check_document

LINES = ("The quick brown fox jumps over the lazy dog", "and finds a needle in the haystack today.")
SMALL = (900, 260)


@pytest.fixture(scope="module")
def onboard() -> Recogniser:
    made: Recogniser = registry.load("recogniser", "onboard")(2)
    return made


@pytest.fixture
def parser(onboard: Recogniser) -> ImageParser:
    made = ImageParser()
    made.recogniser = onboard
    return made


def small() -> Image.Image:
    return page(*LINES, size=SMALL, left=60, top=60)


class TestImageParser(ParserContract):
    @pytest.fixture(autouse=True)
    def _recogniser(self, onboard: Recogniser) -> None:
        self._onboard = onboard

    def make(self) -> ImageParser:
        made = ImageParser()
        made.recogniser = self._onboard
        return made

    def good(self) -> bytes:
        return saved(small())

    def broken(self) -> list[bytes]:
        return [b"\x89PNG\r\n\x1a\n" + bytes(40), b"\xff\xd8\xff\xe0" + bytes(40), b"GIF89a", saved(small())[:300]]


@pytest.mark.parametrize("format", ["PNG", "JPEG", "WEBP", "TIFF", "GIF", "BMP", "AVIF", "JPEG2000", "PPM"])
def test_every_format_is_read(parser: ImageParser, format: str) -> None:
    document = parser.parse(saved(small(), format), f"a.{format.lower()}")
    check_document(document)
    assert document.text == " ".join(LINES)
    assert document.page_sizes == ((900.0, 260.0),)


@pytest.mark.parametrize("mode", ["1", "L", "P", "LA", "RGBA", "CMYK", "I;16", "I"])
def test_every_mode_is_read(parser: ImageParser, mode: str) -> None:
    image = small()
    if mode in {"I;16", "I"}:
        grey = np.asarray(image.convert("L"), np.uint16) * 200
        image = Image.fromarray(grey if mode == "I;16" else grey.astype(np.int32))
    else:
        image = image.convert(mode)
    data = saved(image, "TIFF" if mode in {"CMYK", "I", "I;16"} else "PNG")
    assert parser.parse(data, "a.png").text == " ".join(LINES)


@pytest.mark.parametrize("ink", [(0, 0, 0, 255), (255, 255, 255, 255)])
def test_letters_on_nothing_are_seen(parser: ImageParser, ink: tuple[int, ...]) -> None:
    image = Image.new("RGBA", SMALL, (*ink[:3], 0))
    write(image, *LINES, left=60, top=60, ink=f"#{bytes(ink).hex()}")
    assert parser.parse(saved(image), "a.png").text == " ".join(LINES)


@pytest.mark.parametrize("orientation", [3, 6, 8])
def test_notes_of_the_camera_set_it_upright(parser: ImageParser, orientation: int) -> None:
    turned = {3: Image.Transpose.ROTATE_180, 6: Image.Transpose.ROTATE_90, 8: Image.Transpose.ROTATE_270}[orientation]
    image = small().transpose(turned)
    notes = Image.Exif()
    notes[274] = orientation
    notes[306] = "2026:11:30 12:00:00"
    document = parser.parse(saved(image, "JPEG", exif=notes), "a.jpg")
    assert document.text == " ".join(LINES)
    assert document.page_sizes == ((900.0, 260.0),)
    assert document.metadata["created"] == "2026-11-30"


@pytest.mark.parametrize("turn", [90, 180, 270])
def test_a_page_scanned_the_wrong_way_round_is_read(parser: ImageParser, turn: int) -> None:
    image = small().rotate(turn, expand=True)
    document = parser.parse(saved(image), "a.png")
    check_document(document)
    assert document.text == " ".join(LINES)
    assert document.page_sizes == ((float(image.width), float(image.height)),)
    # The boxes lie where the words are shown.
    for line in document.blocks[0].lines:
        assert inked(image, line.box) > 0.03


def test_a_tilted_page_is_read_in_order(parser: ImageParser) -> None:
    columns = page(*(f"left words of line {number}" for number in range(12)), size=(1200, 800), left=60)
    write(columns, *(f"right words of line {number}" for number in range(12)), left=660)
    document = parser.parse(saved(columns.rotate(2, fillcolor="white", resample=Image.Resampling.BICUBIC)), "a.png")
    check_document(document)
    assert document.text.index("left words of line 11") < document.text.index("right words of line 0")


def test_columns_are_read_one_after_the_other(parser: ImageParser) -> None:
    image = page(*(f"left column line number {number}" for number in range(10)), size=(1200, 800), left=60)
    write(image, *(f"right column line number {number}" for number in range(10)), left=640)
    text = parser.parse(saved(image), "a.png").text
    assert text.index("left column line number 9") < text.index("right column line number 0")


def test_chinese_is_read_without_blanks(parser: ImageParser) -> None:
    words = ("第三条 公司是企业法人，有独立的法人财产，享有", "法人财产权。公司以其全部财产对公司的债务承担责任。")
    document = parser.parse(saved(page(*words, size=(900, 260), left=40, top=60, font=han_font(34))), "a.png")
    assert "享有法人财产权" in document.text
    assert Levenshtein.distance(document.text.replace(" ", ""), "".join(words).replace(" ", "")) <= 1
    assert document.blocks[0].confidence > 0.9


def test_vertical_writing_is_read_from_right_to_left(parser: ImageParser) -> None:
    columns = ("元来日本語は漢文に倣い", "文字を上から下へまた行", "を右から左へと進めて表")
    image = Image.new("RGB", (300, 700), "white")
    pen = ImageDraw.Draw(image)
    for number, column in enumerate(columns):
        for place, char in enumerate(column):
            pen.text((220 - number * 80, 30 + place * 55), char, fill="black", font=han_font(44))
    text = parser.parse(saved(image), "a.png").text
    assert Levenshtein.distance(text, "".join(columns)) <= 2


def test_a_ruled_table_has_cells(parser: ImageParser) -> None:
    image = Image.new("RGB", (1000, 400), "white")
    pen = ImageDraw.Draw(image)
    rows = [("Product", "Price", "Stock"), ("Lantern", "12.50", "300"), ("Kettle", "48.00", "75")]
    for x in (100, 400, 650, 900):
        pen.line((x, 80, x, 320), fill="black", width=3)
    for y in (80, 160, 240, 320):
        pen.line((100, y, 900, y), fill="black", width=3)
    for row, cells in enumerate(rows):
        for x, words in zip((120, 420, 670), cells, strict=True):
            write(image, words, left=x, top=100 + row * 80)
    document = parser.parse(saved(image), "a.png")
    check_document(document)
    block = next(block for block in document.blocks if block.kind is BlockKind.TABLE)
    table = block.table
    assert table is not None
    assert 0.9 < block.confidence < 1
    assert [[cell.span.of(document.text) for cell in table.cells if cell.row == row] for row in range(3)] == [
        list(row) for row in rows
    ]


def test_cited_words_are_inside_of_their_boxes(parser: ImageParser) -> None:
    """Cut the box of a word out of the picture and recognise it again."""
    image = page(*LINES, "Second paragraph about vacation and holidays", size=(1000, 400), left=80)
    document = parser.parse(saved(image), "a.png")
    for word in ("quick", "lazy", "needle", "haystack", "vacation"):
        box = box_of(document, word)
        part = image.crop((int(box.x0) - 6, int(box.y0) - 6, int(box.x1) + 6, int(box.y1) + 6))
        framed = Image.new("RGB", (part.width + 80, part.height + 80), "white")
        framed.paste(part, (40, 40))
        assert word in parser.parse(saved(framed), "part.png").text


def box_of(document: ParsedDocument, word: str) -> PageBox:
    start = document.text.index(word)
    found = [
        box for block in document.blocks for line in block.lines if (box := line.box_of(Span(start, start + len(word))))
    ]
    assert len(found) == 1
    return found[0]


def inked(image: Image.Image, box: PageBox) -> float:
    part = np.asarray(image.convert("L"))[int(box.y0) : int(box.y1) + 1, int(box.x0) : int(box.x1) + 1]
    return float((part < 128).mean())


def test_each_frame_of_a_tiff_is_a_page(parser: ImageParser) -> None:
    frames = [page(f"This is page number {number}", size=(600, 200), left=40, top=60) for number in (1, 2, 3)]
    data = saved(frames[0], "TIFF", save_all=True, append_images=frames[1:])
    document = parser.parse(data, "a.tiff")
    check_document(document)
    assert document.pages == 3
    for number in (1, 2, 3):
        assert box_of(document, f"page number {number}").page == number


def test_of_a_film_the_first_picture_is_read(parser: ImageParser) -> None:
    frames = [page(f"This is picture {number}", size=(600, 200), left=40, top=60) for number in (1, 2)]
    data = saved(frames[0], "GIF", save_all=True, append_images=frames[1:], duration=100)
    assert parser.parse(data, "a.gif").text == "This is picture 1"


@pytest.mark.parametrize("shade", ["black", "white", "#888888"])
def test_a_blank_picture_is_empty(parser: ImageParser, shade: str) -> None:
    with pytest.raises(EmptyDocumentError, match="no words"):
        parser.parse(saved(Image.new("RGB", (400, 300), shade)), "a.png")


def test_without_a_recogniser_it_says_what_to_do() -> None:
    with pytest.raises(EmptyDocumentError) as caught:
        ImageParser().parse(saved(small()), "a.png")
    assert "ingest.recogniser" in caught.value.hint


def bomb(width: int, height: int) -> bytes:
    """Return a PNG that says it is so large; its one row of dots goes on for ever less."""
    head = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    body = zlib.compress(bytes(10_000_000))
    parts = ((b"IHDR", head), (b"IDAT", body), (b"IEND", b""))
    chunks = (
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in parts
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


@pytest.mark.parametrize(("width", "height"), [(100_000, 100_000), (12_000, 12_000), (2**31 - 1, 1)])
def test_bombs_are_named(parser: ImageParser, width: int, height: int) -> None:
    with pytest.raises(OversizeDocumentError):
        parser.parse(bomb(width, height), "a.png")


def test_a_large_picture_is_read_smaller_and_placed_right(parser: ImageParser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "_WORKING_DOTS", 200_000)
    image = page("LARGE WORDS", size=(1600, 600), left=200, top=200, font=None)
    image = image.crop((0, 100, 800, 400)).resize((1600, 600))
    document = parser.parse(saved(image), "a.png")
    assert document.page_sizes == ((1600.0, 600.0),)
    assert inked(image, box_of(document, "LARGE")) > 0.05


@pytest.mark.parametrize("cut", [0.3, 0.6, 0.9])
def test_a_picture_that_breaks_off_is_named(parser: ImageParser, cut: float) -> None:
    data = saved(small(), "JPEG")
    with pytest.raises(BrokenDocumentError):
        parser.parse(data[: int(len(data) * cut)], "a.jpg")


class _Worn:
    """Reads a first page, then nothing more."""

    fingerprint = "worn"

    def __init__(self, error: PictureError) -> None:
        self._error: PictureError = error
        self._read = 0

    def recognise(self, image: PageImage) -> list[RecognisedLine]:
        self._read += 1
        if self._read > 1:
            raise self._error
        return [RecognisedLine(text="first page", corners=((10, 10), (200, 10), (200, 40), (10, 40)))]


@pytest.mark.parametrize(("error", "words"), [(TimeUsedUpError("late"), "time"), (PictureError("odd"), "damaged")])
def test_pages_that_cannot_be_read_are_listed(error: PictureError, words: str) -> None:
    frames = [page(f"page {number}", size=(300, 100)) for number in (1, 2, 3)]
    parser = ImageParser()
    parser.recogniser = _Worn(error)
    document = parser.parse(saved(frames[0], "TIFF", save_all=True, append_images=frames[1:]), "a.tiff")
    assert document.unread_pages == (2, 3)
    assert document.pages == 3
    assert words in document.warnings[0]


@pytest.mark.parametrize("seed", range(40))
def test_spoiled_pictures_end_read_or_named(seed: int) -> None:
    rng = np.random.default_rng(seed)
    format = ("PNG", "JPEG", "TIFF", "GIF", "BMP", "WEBP")[seed % 6]
    data = np.frombuffer(saved(small(), format), np.uint8).copy()
    data[rng.integers(0, len(data), 12)] = rng.integers(0, 256, 12)
    parser = ImageParser()
    parser.recogniser = _Always()
    with suppress(DocumentError):
        check_document(parser.parse(data.tobytes(), "a.png"))


class _Always:
    fingerprint = "always"

    def recognise(self, image: PageImage) -> list[RecognisedLine]:
        height, width = image.shape[:2]
        return [RecognisedLine(text="words", corners=((0, 0), (width, 0), (width, height), (0, height)))]


def test_what_is_no_picture_is_named(parser: ImageParser) -> None:
    for data in (b"", b"plain words", b"%PDF-1.4", io.BytesIO(b"x").getvalue()):
        with pytest.raises(DocumentError):
            parser.parse(data, "a.png")
