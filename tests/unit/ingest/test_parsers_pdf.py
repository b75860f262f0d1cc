import io
from collections.abc import Callable

import pypdfium2
import pytest
from reportlab.lib.utils import ImageReader
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfgen import canvas

from kaijuan.core.documents import ParsedDocument
from kaijuan.errors import EmptyDocumentError
from kaijuan.ingest.parsers.pdf import PdfParser

pdfmetrics.registerFont(UnicodeCIDFont("STSong-Light"))


def made(*pages: Callable[[canvas.Canvas], None], size: tuple[int, int] = (400, 600)) -> bytes:
    out = io.BytesIO()
    paper = canvas.Canvas(out, pagesize=size, invariant=True)
    for draw in pages:
        draw(paper)
        paper.showPage()
    paper.save()
    return out.getvalue()


def lines(
    *texts: str, x: int = 50, top: int = 500, size: int = 10, font: str = "Helvetica", step: int = 14
) -> Callable[[canvas.Canvas], None]:
    def draw(paper: canvas.Canvas) -> None:
        paper.setFont(font, size)
        for number, text in enumerate(texts):
            paper.drawString(x, top - number * step, text)

    return draw


def both(*drawn: Callable[[canvas.Canvas], None]) -> Callable[[canvas.Canvas], None]:
    def draw(paper: canvas.Canvas) -> None:
        for part in drawn:
            part(paper)

    return draw


def texts_of(document: ParsedDocument) -> list[str]:
    return [block.span.of(document.text) for block in document.blocks]


def parse(data: bytes) -> ParsedDocument:
    return PdfParser().parse(data, "made.pdf")


def test_english_lines_are_joined_and_hyphens_undone() -> None:
    text = [
        "A paragraph of several lines that are all about equally long, with an in-",
        "terrupted word and a well-known term that stays as it is, also when well-",
        "known is cut at the end of its line, which no reader would notice at all.",
    ]
    assert texts_of(parse(made(lines(*text)))) == [
        "A paragraph of several lines that are all about equally long, with an interrupted word and a well-known "
        "term that stays as it is, also when well-known is cut at the end of its line, which no reader would notice "
        "at all."
    ]


def test_chinese_lines_are_joined_without_blanks() -> None:
    text = ["第三条规定公司是企业法人，有独立的法人财产，享有法人财产权，并以其全部知", "识产权对公司的债务承担责任。"]
    document = parse(made(lines(*text, font="STSong-Light", x=20)))
    assert texts_of(document) == ["".join(text)]
    assert "知识产权" in document.text


def test_two_columns_are_read_one_after_the_other() -> None:
    left = [f"left column line number {n} goes here" for n in range(8)]
    right = [f"right column line number {n} is there" for n in range(8)]
    text = parse(made(both(lines(*left, x=20), lines(*right, x=220)))).text
    assert text.index("left column line number 7") < text.index("right column line number 0")


def test_rows_of_amounts_are_a_table() -> None:
    names = lines(*[f"item {n}" for n in range(8)], x=20)
    sums = lines(*[f"{n * 11}.00" for n in range(8)], x=220)
    assert "| item 3 | 33.00 |\n| item 4 | 44.00 |" in parse(made(both(names, sums))).text


def test_rows_without_evidence_of_a_table_stay_rows() -> None:
    names = lines(*[f"signed by person {n}" for n in range(4)], x=20)
    places = lines("in the town of", "and the village", "near a wide river", "or on the road", x=220)
    assert "signed by person 1 and the village\nsigned by person 2 near" in parse(made(both(names, places))).text


def test_a_sentence_over_the_page_end_keeps_both_pages() -> None:
    first = lines("A sentence that begins on the first page and is not yet at its end when", top=300)
    second = lines("the page is over, so it goes on here.", top=500)
    document = parse(made(first, second))
    assert len(document.blocks) == 1
    assert [line.box.page for line in document.blocks[0].lines] == [1, 2]


def test_headers_footers_and_page_numbers_go() -> None:
    def page(number: int) -> Callable[[canvas.Canvas], None]:
        words = ["alpha", "beta", "gamma", "delta"][number]
        return both(
            lines("The Running Header", top=575),
            lines(f"Words about {words} only.", top=400),
            lines(f"- {number + 1} -", top=20, x=190),
        )

    document = parse(made(*(page(number) for number in range(4))))
    assert "Header" not in document.text
    assert texts_of(document) == [f"Words about {words} only." for words in ("alpha", "beta", "gamma", "delta")]


def test_headings_by_size_weight_and_outline() -> None:
    def draw(paper: canvas.Canvas) -> None:
        lines("The Title", size=20, top=550)(paper)
        lines("1 First Part", size=14, top=500)(paper)
        lines("Body text that is long enough to count as the text of this page.", top=470)(paper)
        lines("Bold words", font="Helvetica-Bold", top=440)(paper)
        lines("More body text that is long enough to count as the text of it.", top=410)(paper)

    document = parse(made(draw))
    headings = [(block.level, block.span.of(document.text)) for block in document.blocks if block.level]
    assert headings == [(1, "The Title"), (2, "1 First Part"), (3, "Bold words")]
    assert document.title == "The Title"
    assert document.blocks[-1].title_path == ("1 First Part", "Bold words")


@pytest.mark.parametrize("turned", [0, 90, 180, 270])
def test_boxes_are_where_the_reader_sees_them(turned: int) -> None:
    def draw(paper: canvas.Canvas) -> None:
        paper.setPageRotation(turned)
        # The point 30 right and 50 down of the corner as shown, and the pen turned against the page.
        paper.translate(*{0: (30, 550), 90: (50, 30), 180: (370, 50), 270: (550, 370)}[turned])
        paper.rotate(turned)
        paper.setFont("Helvetica", 10)
        paper.drawString(0, 0, "words near the top left")

    document = parse(made(draw))
    assert document.page_sizes == ((400.0, 600.0),)
    (line,) = document.blocks[0].lines
    assert document.text == "words near the top left"
    assert line.edges[0] == pytest.approx(30, abs=1)
    assert line.box.y0 < 50 < line.box.y1 + 1
    assert line.box.y1 - line.box.y0 < 16


def test_a_cropped_page_counts_from_its_visible_corner() -> None:
    source = pypdfium2.PdfDocument(made(both(lines("seen words here"), lines("cut away", x=50, top=30))))
    source[0].set_cropbox(40, 100, 400, 550)
    out = io.BytesIO()
    source.save(out)
    source.close()
    document = parse(out.getvalue())
    assert document.page_sizes == ((360.0, 450.0),)
    assert document.text == "seen words here"
    assert document.blocks[0].lines[0].edges[0] == pytest.approx(10, abs=1)


def picture(paper: canvas.Canvas) -> None:
    from PIL import Image

    paper.drawImage(ImageReader(Image.new("L", (20, 20), 128)), 0, 0, 400, 600)


def test_pages_without_text_layer_are_listed_and_blank_pages_are_not() -> None:
    words = lines("Words on a page that has a text layer and can be read.")
    document = parse(made(words, picture, lambda paper: None))
    assert document.pages == 3
    assert document.unread_pages == (2,)
    assert any("recogniser is off" in warning and "2" in warning for warning in document.warnings)


def test_a_scan_says_that_it_is_one() -> None:
    with pytest.raises(EmptyDocumentError, match="scanned"):
        parse(made(picture, picture))


def test_text_drawn_twice_is_read_once() -> None:
    text = lines("bold by drawing twice")
    shifted = lines("bold by drawing twice", x=50)
    assert parse(made(both(text, shifted))).text == "bold by drawing twice"


@pytest.mark.parametrize("gap", [" ", "\u3000"])
def test_the_blank_after_an_article_number_stays(gap: str) -> None:
    text = [f"第九十六条{gap}股份有限公司的注册资本为登记的全体发起人认购的", "股本总额。依照第九条 的规定办理。"]
    found = parse(made(lines(*text, font="STSong-Light", x=20))).text
    assert found.startswith("第九十六条 股份")
    assert "依照第九条的规定" in found, "elsewhere a narrow gap between Han is layout"


def test_a_table_of_contents_is_left_out() -> None:
    contents = lines(*(f"{number} Part {word} ............ {number}" for number, word in enumerate("ABCD", 1)))
    parts = [lines(f"{number} Part {word}", f"Words about {word}.") for number, word in enumerate("ABCD", 1)]
    found = parse(made(contents, *parts)).text
    assert "...." not in found
    assert all(f"{number} Part {word}" in found for number, word in enumerate("ABCD", 1))


@pytest.mark.parametrize("said", ["(anonymous)", "unspecified", "Unknown", "N/A", "--"])
def test_what_programs_write_for_want_of_an_author_is_no_author(said: str) -> None:
    def made(author: str) -> bytes:
        out = io.BytesIO()
        paper = canvas.Canvas(out, invariant=True)
        paper.setAuthor(author)
        paper.setSubject(author)
        paper.drawString(72, 700, "A page with a few words on it.")
        paper.save()
        return out.getvalue()

    assert not {"author", "subject"} & set(PdfParser().parse(made(said), "a.pdf").metadata)
    named = PdfParser().parse(made("Unknown Pleasures Ltd"), "a.pdf").metadata
    assert named["author"] == named["subject"] == "Unknown Pleasures Ltd"
