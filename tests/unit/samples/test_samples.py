"""The bundled samples are whole, small, readable, and hold what their questions ask for."""

from __future__ import annotations

import re
from pathlib import Path

import docx
import pypdfium2
import pytest

from kaijuan.samples import SampleQuestion, questions, sample_folder


def _text(path: Path) -> str:
    if path.suffix == ".pdf":
        with pypdfium2.PdfDocument(path) as document:
            return "".join(page.get_textpage().get_text_range() for page in document)
    if path.suffix == ".docx":
        return "\n".join(paragraph.text for paragraph in docx.Document(str(path)).paragraphs)
    return path.read_text(encoding="utf-8")


def test_all_formats_are_there_and_small() -> None:
    paths = list(sample_folder().iterdir())
    assert {path.suffix for path in paths} == {".pdf", ".docx", ".html", ".md", ".txt"}
    assert sum(path.stat().st_size for path in paths) < 300_000


def test_both_languages_and_one_refusal_are_asked() -> None:
    asked = questions()
    assert [question.refused for question in asked] == [False, False, False, True]
    assert [question.language for question in asked].count("zh") == 3
    assert "en" in {question.language for question in asked}
    assert any(question.source.endswith(".pdf") for question in asked)


@pytest.mark.parametrize("question", [q for q in questions() if not q.refused], ids=lambda q: q.source)
def test_the_named_source_holds_the_expected_words(question: SampleQuestion) -> None:
    assert question.expect in _text(sample_folder() / question.source)


def test_the_manual_has_a_text_layer_with_embedded_glyphs() -> None:
    with pypdfium2.PdfDocument(sample_folder() / "Q7网关产品手册.pdf") as document:
        assert len(document) == 3
        text = document[1].get_textpage().get_text_range()
        # A font that is only named renders blank without a system font: ink must show, and the font file be inside.
        grey = document[1].render(scale=1).to_pil().convert("L")
    assert re.search(r"ERR-9988 表示固件校验失败", text)
    assert sum(grey.histogram()[:96]) > 2000


def test_two_versions_of_the_travel_rule_contradict() -> None:
    old = _text(sample_folder() / "差旅管理办法-2023.md")
    new = _text(sample_folder() / "差旅管理办法-2025.docx")
    assert "每晚上限为 450 元" in old
    assert "每晚上限为 600 元" in new
    assert "取代 2023 年 3 月 1 日施行的 QH-HR-012 v1.0" in new
