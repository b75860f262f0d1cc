"""Laws of making sets: no question changes its split, evidence is exact, and order comes from the seed alone."""

from __future__ import annotations

import csv
import io
import tempfile
from collections.abc import Sequence
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from kaijuan.core.documents import Block
from kaijuan.core.ids import BlockId
from kaijuan.core.spans import Span
from kaijuan.core.text.language import language_of
from kaijuan.errors import DocumentError
from kaijuan.evals.making.carry import Carried
from kaijuan.evals.making.checks import fault_of
from kaijuan.evals.making.choose import in_turns
from kaijuan.evals.making.drafting import article_of, drafts_of
from kaijuan.evals.making.export import export
from kaijuan.evals.making.folder import read_splits, write_splits
from kaijuan.evals.making.formats import Format
from kaijuan.evals.making.items import Draft, Evidence, Head, Item, Kind, Split
from kaijuan.evals.making.material import material_of
from kaijuan.evals.making.splits import Shares, assign, family_of, split_of
from kaijuan.ingest.parsers.markdown import MarkdownParser
from kaijuan.ingest.parsers.record import RecordParser

TITLES = st.sampled_from(["差旅办法 2023", "差旅办法 2025", "Handbook v1", "Handbook v2", "Quay", "港口", "2024", ""])
DOCUMENTS = st.lists(st.tuples(st.text(min_size=1, max_size=12), TITLES), max_size=12)


@st.composite
def shares(draw: st.DrawFn) -> Shares:
    train = draw(st.integers(0, 100))
    dev = draw(st.integers(0, 100 - train))
    return Shares(train=train, dev=dev, test=100 - train - dev)


@given(st.lists(st.tuples(DOCUMENTS, shares()), max_size=6))
@settings(deadline=None)
def test_no_document_ever_changes_its_split(versions: list[tuple[list[tuple[str, str]], Shares]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        seen: dict[str, Split] = {}
        for documents, wanted in versions:
            families = {source: family_of(title, source) for source, title in documents}
            found = assign(families.items(), wanted, read_splits(root))
            write_splits(root, found)
            for source, (_, split) in found.items():
                assert seen.setdefault(source, split) is split
        assert read_splits(root).documents == seen


@given(st.lists(st.text(max_size=20), min_size=1, unique=True), shares(), st.data())
@settings(deadline=None)
def test_a_split_hangs_on_the_family_alone(families: list[str], wanted: Shares, data: st.DataObject) -> None:
    some = data.draw(st.lists(st.sampled_from(families), unique=True))
    whole = assign([(family, family) for family in families], wanted)
    part = assign([(family, family) for family in some], wanted)
    assert all(whole[family] == part[family] for family in some)


@given(shares())
@settings(max_examples=20, deadline=None)
def test_the_shares_are_kept(wanted: Shares) -> None:
    found = [split_of(f"document {number}", wanted) for number in range(2000)]
    for split, share in ((Split.TRAIN, wanted.train), (Split.DEV, wanted.dev), (Split.TEST, wanted.test)):
        assert abs(found.count(split) / 20 - share) < 6


SENTENCES = st.sampled_from(
    [
        "Quay is a 1931 film directed by Lena Holt and starring Max Voss.",
        "It was released on 4 March 1931.",
        "As of 2010, the population was 1,234.",
        "The fee is 45 euros a night.",
        "港口（Quay，1931年3月4日）是一座位于云州市的港口，由林远设计，全长1280米。",
        "截至2010年底，港口共有36个泊位。",
        "1962年，港口被列为文物。",
        "值班人员每次值班不超过 12 小时。",
        "| a | b |\n| --- | --- |\n| 甲（元） | 12 |\n| 乙 | 1,200 |",
        "## 第三章 收费",
        "## 3.1 Fees",
        "问：几点开门？",
        "答：六点。",
        "（（《「“\"'[",
        "\u200b\u202e\x0b",
    ]
)
NAMES = ["Quay", "港口", "港口管理办法（2024 版）", "Quay Handbook", "", "x" * 90]
NOISE = st.text(alphabet="港口abQ19年月日元是由于在（）()《》“”|#*-—.,，。：;\n \t", max_size=60)
TEXTS = st.lists(SENTENCES | NOISE, min_size=1, max_size=12).map("\n\n".join) | st.text(max_size=200)


@given(
    st.sampled_from(["Quay", "港口", "港口管理办法（2024 版）", "Quay Handbook", "", "x" * 90]), TEXTS, st.booleans()
)
@settings(max_examples=150, deadline=None)
def test_evidence_is_the_text_at_its_span(title: str, text: str, is_record: bool) -> None:
    parser = RecordParser() if is_record else MarkdownParser()
    try:
        parsed = parser.parse(text.encode("utf-8", "replace"), title or "untitled")
    except DocumentError:
        return
    blocks = [
        Block(id=BlockId(str(at)), ordinal=at, kind=each.kind, span=each.span, title_path=each.title_path)
        for at, each in enumerate(parsed.blocks)
    ]
    head = _head("d", title, language_of(parsed.text))
    material = material_of(head, parsed.text, blocks)
    for draft in drafts_of(material, article_of(material)):
        assert draft.evidence
        for piece in draft.evidence:
            assert piece.quote == piece.span.of(parsed.text)
        fault_of(draft)  # whatever it is, it is judged


def _head(id: str, title: str = "", language: str = "en") -> Head:
    return Head(id=id, source=id, version_id="v", version=1, title=title, language=language)


def _draft(number: int, how: str) -> Draft:
    piece = Evidence(document=_head("d"), span=Span(number, number + 1), quote="q")
    return Draft(
        kind=Kind.SINGLE, how=how, language="en", question=f"What is {number}?", answers=("q",), evidence=(piece,)
    )


@given(st.lists(st.tuples(st.integers(0, 30), st.sampled_from("abc")), max_size=40), st.integers(), st.randoms())
@settings(deadline=None)
def test_the_order_hangs_on_the_seed_alone(drawn: list[tuple[int, str]], seed: int, chance: object) -> None:
    drafts = [_draft(number, how) for number, how in drawn]
    order = in_turns(drafts, seed)
    chance.shuffle(drafts)  # type: ignore[attr-defined] # a random.Random
    assert in_turns(drafts, seed) == order
    assert {(draft.id, draft.how) for draft in order} == {(draft.id, draft.how) for draft in drafts}


@given(st.text(alphabet="ab\n", max_size=40), st.text(alphabet="ab", min_size=1, max_size=3), st.integers(0, 60))
@settings(deadline=None)
def test_evidence_is_found_where_its_words_stand_nearest(text: str, quote: str, start: int) -> None:
    item = _item(evidence=({"source": "d", "start": start, "end": start + len(quote), "quote": quote},))
    carried = Carried([item])
    carried.look(_head("d"), text)
    places = [at for at in range(len(text)) if text.startswith(quote, at)]
    found = carried.kept()
    assert bool(found) == bool(places)
    for kept in found:
        span = kept.draft.evidence[0].span
        assert span.of(text) == quote
        assert abs(span.start - start) == min(abs(at - start) for at in places)


@given(st.text(max_size=30))
@settings(deadline=None)
def test_no_exported_cell_begins_like_a_formula(text: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "set.csv"
        export(Path(folder), [_item(question=text, answers=(text,))], target, Format.CSV)
        rows = list(csv.reader(io.StringIO(target.read_bytes().decode("utf-8-sig"), newline="")))
    for cell in rows[1]:
        assert not cell.lstrip(" ").startswith(("=", "+", "-", "@", "\t", "\r", "\n"))


def _item(*, evidence: Sequence[dict[str, object]] = (), question: str = "q", answers: tuple[str, ...] = ()) -> Item:
    return Item(
        id="x",
        kind=Kind.SINGLE,
        split=Split.TRAIN,
        language="en",
        question=question,
        answers=answers,
        evidence=tuple(evidence),
        how="en/x",
    )
