"""Ten thousand documents as an office has them: mixed formats, Chinese and English, 5,000 to 20,000 characters each.

    python -m bench.living FOLDER [--documents N] [--longest N] [--seed N]

The same seed gives the same documents. Each says its own code (`KJ-000042`) once, by which it can be found.
"""

from __future__ import annotations

import argparse
import csv
import html
import io
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bench.texts import ENGLISH, HAN

FORMATS = ("md", "md", "md", "html", "html", "txt", "txt", "docx", "docx", "pdf", "csv")
"""One of these for each document in turn: so many parts of eleven."""
LONGEST = 20_000
"""Characters; the shortest have a quarter of them."""
_FOLDERS = ("制度", "合同", "会议纪要", "manuals", "reports", "projects")
_TOPICS = (
    ("差旅报销", "travel expenses"),
    ("采购审批", "purchase approval"),
    ("设备维护", "equipment maintenance"),
    ("信息安全", "information security"),
    ("质量检验", "quality inspection"),
    ("客户服务", "customer service"),
    ("库存盘点", "stock taking"),
    ("培训考核", "training and assessment"),
    ("供应商评估", "supplier assessment"),
    ("预算执行", "budget execution"),
    ("项目验收", "project acceptance"),
    ("网络运维", "network operation"),
)
_PEOPLE = ("王芳", "李雷", "赵敏", "陈刚", "Anna Weber", "Tom Reed", "刘洋", "Grace Liu")
_ZH = (
    "{who}应在{n}个工作日内提交{topic}材料，逾期按第{m}条处理。",
    "{topic}的标准为每月{n}元，超出部分须经{who}批准。",
    "自{year}年{month}月{day}日起，{topic}改由{who}负责，编号{code}。",
    "检查发现{n}项问题，其中{m}项已整改，其余由{who}跟进。",
    "型号{code}的额定功率为{n} W，工作温度不超过{m} ℃。",
)
_EN = (
    "{who} shall submit the papers for {topic} within {n} working days, see clause {m}. ",
    "The limit for {topic} is {n} a month; anything above it needs the approval of {who}. ",
    "From {year}-{month:02}-{day:02} on, {who} is responsible for {topic} under number {code}. ",
    "The review found {n} issues, {m} of them closed; {who} follows up the others. ",
    "Model {code} is rated at {n} W and works up to {m} degrees. ",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A heading with its paragraphs and perhaps a table."""

    heading: str
    paragraphs: Sequence[str]
    table: Sequence[Sequence[str]] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Writing:
    """A document before it has a format."""

    number: int
    title: str
    sections: Sequence[Section]

    @property
    def characters(self) -> int:
        """How much it says."""
        return sum(len(paragraph) for section in self.sections for paragraph in section.paragraphs)


def code_of(number: int) -> str:
    """Return the word that only this document says."""
    return f"KJ-{number:06d}"


def writing(number: int, *, seed: int = 0, edition: int = 1, longest: int = LONGEST) -> Writing:
    """Return a document; another edition of it differs in one section. The shortest are a quarter of the longest."""
    chance = random.Random(f"{seed}/{number}")
    chinese = chance.random()
    topic = _TOPICS[number % len(_TOPICS)]
    share = 0.0 if chinese < 0.3 else 0.8 if chinese < 0.4 else 1.0
    goal = chance.randint(longest // 4, longest)
    sections: list[Section] = []
    written = 0
    while written < goal:
        made = _section(chance, len(sections) + 1, topic, share, goal - written)
        sections.append(made)
        written += sum(map(len, made.paragraphs))
    if edition > 1:
        other = random.Random(f"{seed}/{number}/{edition}")
        sections[-1] = _section(other, len(sections), topic, share, min(1_500, goal))
    said = f"本文件编号 {code_of(number)}，第 {edition} 版。"
    mark = said if share else f"Document {code_of(number)}, edition {edition}."
    sections[0] = replace(sections[0], paragraphs=[mark, *sections[0].paragraphs])
    title = f"{topic[0]}管理办法 {number}" if share else f"Rules for {topic[1]} {number}"
    return Writing(number=number, title=title, sections=sections)


def _section(chance: random.Random, place: int, topic: tuple[str, str], share: float, left: int) -> Section:
    chinese = chance.random() < share
    name = topic[0] if chinese else topic[1]
    heading = f"第{place}章 {name}" if chinese else f"{place} On {name}"
    size = min(left, chance.randint(800, 3_000))
    paragraphs: list[str] = []
    while size > 0:
        text = "".join(_sentence(chance, name, chinese=chinese) for _ in range(chance.randint(3, 8)))[:size].strip()
        size -= max(len(text), 1)
        if text:
            paragraphs.append(text)
    rows = _table(chance, chinese=chinese) if chance.random() < 0.15 else ()
    return Section(heading=heading, paragraphs=paragraphs, table=rows)


def _sentence(chance: random.Random, topic: str, *, chinese: bool) -> str:
    if chance.random() < 0.3:
        return chance.choice(_ZH if chinese else _EN).format(
            who=chance.choice(_PEOPLE),
            topic=topic,
            n=chance.randint(2, 9_999),
            m=chance.randint(1, 90),
            year=chance.randint(2015, 2026),
            month=chance.randint(1, 12),
            day=chance.randint(1, 28),
            code=f"{chance.choice('ABCDEFG')}{chance.randint(100, 999)}-{chance.randint(10, 99)}",
        )
    if chinese:
        return "".join(_pick(chance, HAN, 120) for _ in range(chance.randint(10, 40))) + "。"
    return " ".join(_pick(chance, ENGLISH, 25) for _ in range(chance.randint(7, 20))).capitalize() + ". "


def _pick(chance: random.Random, words: Sequence[str], mean: int) -> str:
    return words[min(int(chance.expovariate(1 / mean)), len(words) - 1)]


def _table(chance: random.Random, *, chinese: bool) -> list[list[str]]:
    head = ["项目", "标准", "负责人"] if chinese else ["item", "limit", "owner"]
    return [head] + [
        [f"{chance.choice('ABCDEFG')}{chance.randint(10, 99)}", str(chance.randint(1, 9_999)), chance.choice(_PEOPLE)]
        for _ in range(chance.randint(4, 12))
    ]


# --- formats -----------------------------------------------------------------------------------------------------


def as_md(doc: Writing) -> bytes:
    """Return Markdown."""
    parts = [f"# {doc.title}"]
    for section in doc.sections:
        parts += [f"## {section.heading}", *section.paragraphs]
        if section.table:
            head, *rows = section.table
            lines = [head, ["---"] * len(head), *rows]
            parts.append("\n".join("| " + " | ".join(cells) + " |" for cells in lines))
    return "\n\n".join(parts).encode()


def as_txt(doc: Writing) -> bytes:
    """Return plain text."""
    parts = [doc.title]
    for section in doc.sections:
        parts += [section.heading, *section.paragraphs, *("\t".join(cells) for cells in section.table)]
    return "\n\n".join(parts).encode()


def as_html(doc: Writing) -> bytes:
    """Return a web page."""
    parts = [f"<!doctype html><html><head><meta charset=utf-8><title>{html.escape(doc.title)}</title></head><body>"]
    for section in doc.sections:
        parts.append(f"<h2>{html.escape(section.heading)}</h2>")
        parts += [f"<p>{html.escape(paragraph)}</p>" for paragraph in section.paragraphs]
        if section.table:
            rows = ("".join(f"<td>{html.escape(cell)}</td>" for cell in cells) for cells in section.table)
            parts.append("<table>" + "".join(f"<tr>{row}</tr>" for row in rows) + "</table>")
    return "\n".join([*parts, "</body></html>"]).encode()


def as_docx(doc: Writing) -> bytes:
    """Return a Word file."""
    import docx  # late: the other formats need no library

    made = docx.Document()
    made.add_heading(doc.title, 1)
    for section in doc.sections:
        made.add_heading(section.heading, 2)
        for paragraph in section.paragraphs:
            made.add_paragraph(paragraph)
        if section.table:
            table = made.add_table(rows=0, cols=len(section.table[0]))
            for cells in section.table:
                for cell, text in zip(table.add_row().cells, cells, strict=True):
                    cell.text = text
    out = io.BytesIO()
    made.save(out)
    return out.getvalue()


def as_pdf(doc: Writing) -> bytes:
    """Return a PDF with a text layer; the fonts are those that every reader has."""
    from reportlab.lib.pagesizes import A4
    from reportlab.lib.styles import ParagraphStyle
    from reportlab.pdfbase import pdfmetrics
    from reportlab.pdfbase.cidfonts import UnicodeCIDFont
    from reportlab.platypus import Paragraph, SimpleDocTemplate

    pdfmetrics.registerFont(UnicodeCIDFont("STSong-Light"))
    plain = ParagraphStyle("plain", fontName="STSong-Light", fontSize=10, leading=15, wordWrap="CJK", spaceAfter=6)
    large = ParagraphStyle("large", parent=plain, fontSize=15, leading=22)
    story = [Paragraph(html.escape(doc.title), large)]
    for section in doc.sections:
        story.append(Paragraph(html.escape(section.heading), large))
        story += [Paragraph(html.escape(text), plain) for text in section.paragraphs]
    out = io.BytesIO()
    SimpleDocTemplate(out, pagesize=A4, title=doc.title, invariant=1).build(story)
    return out.getvalue()


def as_csv(doc: Writing) -> bytes:
    """Return a table: a row for each paragraph."""
    out = io.StringIO()
    rows = csv.writer(out)
    rows.writerow(["section", "text", "title"])
    for section in doc.sections:
        rows.writerows([section.heading, text, doc.title] for text in section.paragraphs)
    return out.getvalue().encode()


_AS: dict[str, Callable[[Writing], bytes]] = {
    "md": as_md,
    "txt": as_txt,
    "html": as_html,
    "docx": as_docx,
    "pdf": as_pdf,
    "csv": as_csv,
}


def path_of(folder: Path, number: int) -> Path:
    """Return where a document lies."""
    name = f"{number:06d}.{FORMATS[number % len(FORMATS)]}"
    return folder / _FOLDERS[number % len(_FOLDERS)] / f"{number // 1000:03d}" / name


def write(folder: Path, number: int, *, seed: int = 0, edition: int = 1, longest: int = LONGEST) -> Path:
    """Write one document; another edition takes its place."""
    path = path_of(folder, number)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(_AS[path.suffix[1:]](writing(number, seed=seed, edition=edition, longest=longest)))
    return path


def write_all(folder: Path, documents: int, *, seed: int = 0, longest: int = LONGEST) -> Iterator[Path]:
    """Write so many documents."""
    for number in range(documents):
        yield write(folder, number, seed=seed, longest=longest)


def main() -> None:
    """Write a folder of documents."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--documents", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--longest", type=int, default=LONGEST, help="characters; the shortest have a quarter of them")
    options = parser.parse_args()
    paths = write_all(options.folder, options.documents, seed=options.seed, longest=options.longest)
    size = sum(path.stat().st_size for path in paths)
    print(f"{options.documents} documents, {size / 1e6:.0f} MB")


if __name__ == "__main__":
    main()
