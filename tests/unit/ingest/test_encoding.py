import pytest

from kaijuan.errors import UnsupportedDocumentError
from kaijuan.ingest.encoding import decode

SIMPLIFIED = "第三条 公司是企业法人，有独立的法人财产，享有法人财产权。"
TRADITIONAL = "第三條 公司是企業法人，有獨立的法人財產，享有法人財產權。"
JAPANESE = "これは日本語の文章です。漢字とひらがなとカタカナがあります。"
KOREAN = "한국어 문장입니다. 인코딩을 바르게 읽어야 합니다."
ENGLISH = "It’s a “naïve” café — 15 € for the résumé, über alles."


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (SIMPLIFIED, "utf-8"),
        (SIMPLIFIED, "gb18030"),
        (SIMPLIFIED[:9], "gb18030"),
        ("简短的中文", "gb18030"),
        ("\U00020000 与常用字同在一处的生僻字", "gb18030"),
        (SIMPLIFIED, "utf-16"),
        (SIMPLIFIED, "utf-16-le"),
        (SIMPLIFIED, "utf-16-be"),
        (SIMPLIFIED, "utf-32"),
        ("plain ascii in two bytes", "utf-16-le"),
        ("plain ascii in four bytes", "utf-32-le"),
        (TRADITIONAL, "big5"),
        (TRADITIONAL[:9], "big5"),
        (JAPANESE, "cp932"),
        (JAPANESE, "euc_jp"),
        (KOREAN, "euc_kr"),
        (ENGLISH, "cp1252"),
        ("x" * 100_000 + SIMPLIFIED, "gb18030"),
        (SIMPLIFIED * 3000, "gb18030"),
    ],
)
def test_read_as_written(text: str, encoding: str) -> None:
    assert decode(text.encode(encoding)).text == text


@pytest.mark.parametrize("text", [SIMPLIFIED, SIMPLIFIED * 50, TRADITIONAL])
def test_clear_cases_give_no_warning(text: str) -> None:
    assert decode(text.encode("gb18030")).warnings == ()
    assert decode(text.encode("utf-8")).warnings == ()


def test_an_unclear_guess_is_told() -> None:
    assert decode("属马".encode("gb18030")).warnings
    assert decode(bytes([0x81, 0x20, 0x9D, 0x41] * 40)).warnings


def test_damage_is_told_and_the_rest_kept() -> None:
    data = SIMPLIFIED.encode()
    decoded = decode(data[:28] + b"\xff" + data[28:])
    assert decoded.encoding == "utf-8"
    assert decoded.text.replace("\ufffd", "") == SIMPLIFIED
    assert decoded.warnings
    assert decode(data[:-1]).warnings


def test_a_declaration_decides_close_cases_only() -> None:
    assert decode("café".encode("cp1252"), declared="iso-8859-1").text == "café"
    assert decode(SIMPLIFIED.encode(), declared="gbk").text == SIMPLIFIED
    assert decode(SIMPLIFIED.encode("gb18030"), declared="no such thing").text == SIMPLIFIED


def test_newlines_marks_and_nuls() -> None:
    assert decode(b"\xef\xbb\xbfa\r\nb\rc\x0cd").text == "a\nb\nc\nd"
    assert decode(b"long enough to be text " * 60 + b"\x00").text.endswith("text ")


@pytest.mark.parametrize("data", [bytes(range(256)) * 8, b"\x00\x01" * 500, b"ab\x00\x05\x01\xfe" * 100])
def test_binary_is_refused(data: bytes) -> None:
    with pytest.raises(UnsupportedDocumentError):
        decode(data)
