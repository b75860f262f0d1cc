"""Documents for the tests of making sets, read by the product's own parsers."""

from __future__ import annotations

from kaijuan.core.documents import Block, ParsedDocument
from kaijuan.core.ids import BlockId
from kaijuan.core.text.language import language_of
from kaijuan.evals.making.drafting import article_of, drafts_of
from kaijuan.evals.making.items import Draft, Head, Split
from kaijuan.evals.making.material import Material, material_of
from kaijuan.ingest.parsers.markdown import MarkdownParser
from kaijuan.ingest.parsers.record import RecordParser
from kaijuan.ingest.parsers.text import TextParser


def head(title: str, language: str, *, id: str = "", split: Split = Split.TRAIN) -> Head:
    name = id or title
    return Head(
        id=name,
        source=f"file:///docs/{name}",
        version_id=f"version-{name}",
        version=1,
        title=title,
        language=language,
        split=split,
    )


def article(title: str, text: str, *, split: Split = Split.TRAIN) -> Material:
    """Return a record as corpora hold them: a title and running text."""
    return _material(RecordParser().parse(text.encode(), title), title, split)


def manual(markdown: str, *, id: str = "", split: Split = Split.TRAIN) -> Material:
    """Return a Markdown document with headings."""
    parsed = MarkdownParser().parse(markdown.encode(), id or "manual.md")
    return _material(parsed, parsed.title, split, id)


def plain(text: str) -> Material:
    """Return a plain text document."""
    parsed = TextParser().parse(text.encode(), "plain.txt")
    return _material(parsed, parsed.title, Split.TRAIN)


def _material(parsed: ParsedDocument, title: str, split: Split, id: str = "") -> Material:
    blocks = [
        Block(id=BlockId(str(at)), ordinal=at, kind=each.kind, span=each.span, title_path=each.title_path)
        for at, each in enumerate(parsed.blocks)
    ]
    return material_of(head(title, language_of(parsed.text), id=id, split=split), parsed.text, blocks)


def asked(material: Material) -> dict[str, tuple[str, ...]]:
    """Return the questions that rules make of one document, with their answers."""
    return {draft.question: draft.answers for draft in drafts(material)}


def drafts(material: Material) -> list[Draft]:
    return list(drafts_of(material, article_of(material)))
