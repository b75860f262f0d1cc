"""`kaijuan parse`: what is read, as JSON, Markdown, for people, and as a page in which nothing runs."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from lxml import html
from reportlab.pdfgen import canvas
from tests import sample_files

from kaijuan.cli import app


def run(capsys: pytest.CaptureFixture[str], home: Path, *words: str) -> tuple[int, str]:
    code = app.run(["--home", str(home), "parse", *words])
    return code, capsys.readouterr().out


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def test_json_holds_blocks_places_and_cells(capsys: pytest.CaptureFixture[str], tmp_path: Path, home: Path) -> None:
    file = tmp_path / "表.xlsx"
    file.write_bytes(sample_files.xlsx())
    code, out = run(capsys, home, "--json", str(file))
    read = json.loads(out)
    assert code == 0
    assert (read["status"], read["kind"], read["pages"], read["language"]) == ("ok", "xlsx", 2, "zh")
    assert read["metadata"]["author"] == "韩梅梅"
    assert read["seconds"] > 0
    assert read["peak_mb"] > 1
    block = read["blocks"][2]
    assert {key: block[key] for key in ("id", "kind", "place", "pages", "boxes", "title_path", "confidence")} == {
        "id": 3,
        "kind": "table",
        "place": "sheet 销售!A2:D4",
        "pages": [1],
        "boxes": [],
        "title_path": ["销售"],
        "confidence": 1.0,
    }
    assert block["table"]["hidden_rows"] == [2]
    cell = next(cell for cell in block["table"]["cells"] if cell["text"] == "华东")
    assert (cell["row"], cell["column"], cell["rows"], cell["columns"], cell["header"]) == (1, 0, 2, 1, False)
    start, end = cell["span"]
    # Spans count in the document's text; a block's own begin there too.
    assert block["text"][start - block["span"][0] : end - block["span"][0]] == "华东"
    assert not home.exists(), "parsing stores nothing"


def test_an_archive_shows_its_members_and_a_bad_one_makes_the_exit_code_3(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, home: Path
) -> None:
    file = tmp_path / "a.zip"
    file.write_bytes(sample_files.zipped({"a.md": "# 题\n\n文".encode(), "b.docx": b"none"}))
    code, out = run(capsys, home, "--json", str(file))
    read = json.loads(out)
    assert code == 3
    assert read["status"] == "partial"
    assert [(one["source"].rpartition("#")[2], one["status"], one["kind"]) for one in read["members"]] == [
        ("a.md", "ok", "markdown"),
        ("b.docx", "failed", ""),
    ]
    assert read["members"][1]["error"]["code"] == "document_broken"


@pytest.mark.parametrize("words", [["--json"], ["--markdown"], []])
def test_a_missing_file_is_named(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, home: Path, words: list[str]
) -> None:
    code = app.run(["--home", str(home), "parse", *words, str(tmp_path / "none.pdf")])
    shown = capsys.readouterr()
    assert code == 3
    assert "does not exist" in shown.out + shown.err


@pytest.mark.parametrize("words", [["--json", "--markdown", "a.txt"], ["."]])
def test_wrong_use(capsys: pytest.CaptureFixture[str], home: Path, words: list[str]) -> None:
    assert run(capsys, home, *words)[0] == 2


def test_markdown_says_what_each_block_is(capsys: pytest.CaptureFixture[str], tmp_path: Path, home: Path) -> None:
    file = tmp_path / "x.html"
    page = (
        "<h2>题</h2><p># 不是标题</p><pre><code class='language-sql'>select `a`</code></pre><blockquote>引</blockquote>"
    )
    page += "<ul><li>甲</ul><table><tr><th>a<th>b<tr><td>1<td>2</table>"
    file.write_text(page, encoding="utf-8")
    code, out = run(capsys, home, "--markdown", str(file))
    assert code == 0
    assert out == (
        "## 题\n\n\\# 不是标题\n\n```sql\nselect `a`\n```\n\n> 引\n\n- 甲\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n"
    )


def test_markdown_of_several_documents_says_where_each_begins(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, home: Path
) -> None:
    file = tmp_path / "a.zip"
    file.write_bytes(sample_files.zipped({"a.md": "# 题\n\n文".encode(), "二.txt": b"more"}))
    code, out = run(capsys, home, "--markdown", str(file))
    assert code == 0
    assert out == "# 题\n\n文\n\n---\n\n# a.zip#二.txt\n\nmore\n"


def test_people_see_numbers_kinds_and_places(capsys: pytest.CaptureFixture[str], tmp_path: Path, home: Path) -> None:
    file = tmp_path / "x.xlsx"
    file.write_bytes(sample_files.xlsx())
    code, out = run(capsys, home, str(file))
    assert code == 0
    assert "3. table, 3 × 4, sheet 销售!A2:D4" in out
    assert "The sheet '旧表' is hidden" in out


EVIL = "</div><script>alert(1)</script><img src=x onerror=alert(2)>\"'&amp;"


def previewed(tmp_path: Path, home: Path, name: str, data: bytes) -> Any:
    (tmp_path / name).write_bytes(data)
    target = tmp_path / "out.html"
    assert app.run(["--home", str(home), "parse", str(tmp_path / name), "--preview", str(target)]) == 0
    return html.document_fromstring(target.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", ["evil.json", "evil.csv"])
def test_nothing_in_a_document_becomes_part_of_the_preview(tmp_path: Path, home: Path, name: str) -> None:
    data = json.dumps({"title": EVIL, "text": EVIL * 20}) if name.endswith("json") else f'{EVIL},"b"\n1,2\n3,4\n'
    page = previewed(tmp_path, home, name, data.encode())
    assert not page.xpath("//script | //*[@onerror] | //img | //a[@href[not(starts-with(., '#'))]]")
    assert "alert(1)" in page.text_content()
    policy = page.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")
    assert policy == ["default-src 'none'; style-src 'unsafe-inline'; img-src data:"]


def test_the_preview_of_a_workbook_shows_merged_and_hidden_cells(tmp_path: Path, home: Path) -> None:
    page = previewed(tmp_path, home, "x.xlsx", sample_files.xlsx())
    merged = page.xpath("//td[@rowspan='2']")
    assert [cell.text_content() for cell in merged] == ["华东"]
    assert len(page.xpath("//tr[@class='hidden']")) == 1
    assert page.xpath("//th[1]")[0].text_content() == "地区"


def test_the_preview_of_a_pdf_shows_its_pages_with_boxes_beside_the_text(tmp_path: Path, home: Path) -> None:
    out = io.BytesIO()
    drawn = canvas.Canvas(out, pagesize=(200, 100), invariant=True)
    for words in ("First page here.", "Second page here."):
        drawn.drawString(20, 50, words)
        drawn.showPage()
    drawn.save()
    page = previewed(tmp_path, home, "x.pdf", out.getvalue())
    assert len(page.xpath("//img[starts-with(@src, 'data:image/png;base64,')]")) == 2
    targets = [link.get("href")[1:] for link in page.xpath("//div[@class='box']/a")]
    assert targets
    assert all(len(page.xpath(f"//*[@id='{target}']")) == 1 for target in targets)
    box = page.xpath("//div[@class='box']")[0].get("style")
    left, top = (float(part.split(":")[1].rstrip("%")) for part in box.split(";")[:2])
    assert 9 < left < 12
    assert 30 < top < 50


def test_a_preview_that_cannot_be_written_is_named(tmp_path: Path, home: Path) -> None:
    (tmp_path / "a.txt").write_text("words", encoding="utf-8")
    words = ["--home", str(home), "parse", str(tmp_path / "a.txt"), "--preview", str(tmp_path / "no" / "x.html")]
    assert app.run(words) == 2
