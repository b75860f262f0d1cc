"""Written filters are read as meant, refused with the place of the mistake, and written back to the same tree."""

from __future__ import annotations

import datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kaijuan.core.filter_language import MAX_DEPTH, format_filter, parse_filter
from kaijuan.core.filters import And, Eq, Exists, Filter, In, Not, Or, Range, matches
from kaijuan.errors import FilterError


def _at(*parts: int) -> float:
    return datetime.datetime(*parts, tzinfo=datetime.UTC).timestamp()  # type: ignore[arg-type, misc]


DAY = _at(2024, 1, 1)
NEXT = _at(2024, 1, 2)


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("kind = pdf", Eq("kind", "pdf")),
        ("kind == 'pdf'", Eq("kind", "pdf")),
        ("KIND = PDF", Eq("kind", "PDF")),
        ("pages = 3", Eq("pages", 3)),
        ("score = -1.5e3", Eq("score", -1500.0)),
        ("draft = TRUE", Eq("draft", True)),
        ('draft = "true"', Eq("draft", "true")),
        ('code = "2024-01-01"', Eq("code", "2024-01-01")),
        ("version = v2.3.1", Eq("version", "v2.3.1")),
        ("version = 2.3.1", Eq("version", "2.3.1")),
        ("code = ERR-9988", Eq("code", "ERR-9988")),
        ("source = file:///home/a/b.pdf", Eq("source", "file:///home/a/b.pdf")),
        ("kind != pdf", Not(Eq("kind", "pdf"))),
        ("kind <> pdf", Not(Eq("kind", "pdf"))),
        ("tags has 财务", Eq("tags", "财务")),
        ("exists meta.author", Exists("meta.author")),
        ("kind in (pdf, 'docx')", In("kind", ("pdf", "docx"))),
        ("kind in ()", In("kind", ())),
        ("kind not in (pdf)", Not(In("kind", ("pdf",)))),
        ("not kind = pdf", Not(Eq("kind", "pdf"))),
        ("pages > 2", Range(field="pages", gt=2)),
        ("pages >= 2 < 10", Range(field="pages", gte=2, lt=10)),
        ("pages ≥ 2 ≤ 10", Range(field="pages", gte=2, lte=10)),
        ("a = 1 and b = 2 or c = 3", Or((And((Eq("a", 1), Eq("b", 2))), Eq("c", 3)))),
        ("a = 1 and (b = 2 or c = 3)", And((Eq("a", 1), Or((Eq("b", 2), Eq("c", 3)))))),
        ("not a = 1 and b = 2", And((Not(Eq("a", 1)), Eq("b", 2)))),
        ("not (a = 1 and b = 2)", Not(And((Eq("a", 1), Eq("b", 2))))),
        ("everything", And()),
        ("NOTHING", Or()),
        ("`not` = 1", Eq("not", 1)),
        (r'title = "a \"b\" \\ \n \u4e2d"', Eq("title", 'a "b" \\ \n 中')),
        ("title = 'it\"s'", Eq("title", 'it"s')),
    ],
)
def test_reads(text: str, tree: Filter) -> None:
    assert parse_filter(text) == tree


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("kind＝pdf", Eq("kind", "pdf")),
        (
            "（kind＝pdf or kind＝docx）and pages＞２",
            And((Or((Eq("kind", "pdf"), Eq("kind", "docx"))), Range(field="pages", gt=2))),
        ),
        ("kind in（pdf，docx、html）", In("kind", ("pdf", "docx", "html"))),
        ("kind！＝pdf", Not(Eq("kind", "pdf"))),
        ("title = “差旅（2025）”", Eq("title", "差旅（2025）")),
        ("title = 「手册，第一版」", Eq("title", "手册，第一版")),
        ("title = 规定：一", Eq("title", "规定：一")),
        ("kind = pdf 且 非 pages ≤ 3", And((Eq("kind", "pdf"), Not(Range(field="pages", lte=3))))),
        ("kind 属于 (pdf) 或 存在 author", Or((In("kind", ("pdf",)), Exists("author")))),
        ("tags　包含　财务", Eq("tags", "财务")),
    ],
)
def test_reads_chinese_signs_and_words(text: str, tree: Filter) -> None:
    assert parse_filter(text) == tree


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("updated >= 2024-01-01", Range(field="updated", gte=DAY)),
        ("updated < 2024/1/1", Range(field="updated", lt=DAY)),
        ("updated <= 2024-01-01", Range(field="updated", lt=NEXT)),
        ("updated > 2024年1月1日", Range(field="updated", gte=NEXT)),
        ("updated = 2024-01-01", Range(field="updated", gte=DAY, lt=NEXT)),
        ("updated != 2024-01-01", Not(Range(field="updated", gte=DAY, lt=NEXT))),
        ("updated = 2024年3月", Range(field="updated", gte=_at(2024, 3, 1), lt=_at(2024, 4, 1))),
        ("updated = 2024年", Range(field="updated", gte=DAY, lt=_at(2025, 1, 1))),
        ("updated = 2023年12月5号", Range(field="updated", gte=_at(2023, 12, 5), lt=_at(2023, 12, 6))),
        ("updated = 2024-01-01T10:00", Eq("updated", _at(2024, 1, 1, 10))),
        ("updated <= 2024-01-01T9:30:15", Range(field="updated", lte=_at(2024, 1, 1, 9, 30, 15))),
        ("updated > 2024-01-01T10:00+08:00", Range(field="updated", gt=_at(2024, 1, 1, 2))),
        ("updated in (2024-01-01T10:00Z)", In("updated", (_at(2024, 1, 1, 10),))),
        ("updated >= 2024-02-29 <= 2024-12-31", Range(field="updated", gte=_at(2024, 2, 29), lt=_at(2025, 1, 1))),
    ],
)
def test_reads_dates_as_utc_seconds(text: str, tree: Filter) -> None:
    assert parse_filter(text) == tree


@pytest.mark.parametrize("sign", ["<", "<=", "=", "!=", ">=", ">"])
@pytest.mark.parametrize("seconds", [DAY - 1, DAY, DAY + 43200, NEXT - 1, NEXT, NEXT + 1])
def test_a_day_compares_as_a_whole(sign: str, seconds: float) -> None:
    place = -1 if seconds < DAY else 1 if seconds >= NEXT else 0
    wanted = {"<": place < 0, "<=": place <= 0, "=": place == 0, "!=": place != 0, ">=": place >= 0, ">": place > 0}
    assert matches(parse_filter(f"updated {sign} 2024-01-01"), {"updated": seconds}) is wanted[sign]


@pytest.mark.parametrize(
    ("text", "position", "says"),
    [
        ("", 1, "a field name"),
        ("kind", 5, "after"),
        ("kind = ", 8, "a value"),
        ("kind = and", 8, "a value"),
        ("kind = pdf docx", 12, '"and", "or" or the end'),
        ("(kind = pdf", 12, '")"'),
        ("kind = pdf)", 11, "the end"),
        ("kind in pdf", 9, '"("'),
        ("kind in (pdf docx)", 14, '","'),
        ("kind in (pdf,", 14, "a value"),
        ("pages > many", 9, "a number or a date"),
        ("pages > true", 9, "a number or a date"),
        ("pages > 1 > 2", 11, "twice"),
        ("updated = 2024-02-30", 11, "no such date"),
        ("updated = 2024-01-01T25:00", 11, "no such date"),
        ("updated in (2024-01-01)", 13, "a whole day"),
        ("9类型 = pdf", 1, "a field name"),
        ("kind not pdf", 10, '"in"'),
        ("kind = 'pdf", 8, "never closed"),
        (r"kind = '\x'", 9, "escape"),
        (r"kind = '\u12'", 9, "hexadecimal"),
        ("kind ! pdf", 6, "quotes"),
        ("pages = " + "9" * 101, 9, "at most 100"),
        ("pages = 1e999", 9, "too large"),
    ],
)
def test_errors_point_at_the_place(text: str, position: int, says: str) -> None:
    with pytest.raises(FilterError) as caught:
        parse_filter(text)
    assert f"at character {position}:" in caught.value.message
    assert says in caught.value.message


def test_the_caret_stands_under_the_mistake_after_wide_letters() -> None:
    with pytest.raises(FilterError) as caught:
        parse_filter("title = 差旅 and kind")
    _, shown, caret = caught.value.message.split("\n")
    assert shown == "  title = 差旅 and kind"
    # Two Han letters take four columns.
    assert caret.index("^") == 2 + len("title = and kind ") - 1 + 4 + 1


def test_limits_refuse_instead_of_exhausting() -> None:
    with pytest.raises(FilterError, match="at most 20000"):
        parse_filter("a" * 20_001)
    with pytest.raises(FilterError, match="deep"):
        parse_filter("(" * 5000 + "a = 1" + ")" * 5000)
    with pytest.raises(FilterError, match="deep"):
        parse_filter("not " * 2000 + "a = 1")
    tree: Filter = Eq("a", 1)
    for _ in range(MAX_DEPTH + 1):
        tree = Not(And((tree, Eq("b", 2))))
    with pytest.raises(FilterError, match="deep"):
        format_filter(tree)


def test_writes_plainly() -> None:
    tree = And((Eq("kind", "pdf"), Or((Eq("a", 1), Not(Eq("b", "x y")))), Not(In("c", (1, True))), Not(Exists("d"))))
    assert format_filter(tree) == 'kind = pdf and (a = 1 or b != "x y") and c not in (1, true) and not exists d'
    assert format_filter(Or((And((Eq("a", 1), Eq("b", 2))), Eq("c", "真")))) == "a = 1 and b = 2 or c = 真"
    assert format_filter(And((Eq("in", "and"),))) == '`in` = "and"'


NAMES = st.sampled_from(["kind", "updated", "meta.author", "not", "everything", "_a1", "in"])
NUMBERS = st.integers(-(10**30), 10**30) | st.floats(allow_nan=False, allow_infinity=False)
VALUES = (
    st.text(max_size=12)
    | st.booleans()
    | NUMBERS
    | st.sampled_from(["true", "2024-01-01", "1e5", "且", "2024年", "a\\"])
)


def _range(name: str, sides: dict[str, float]) -> Range:
    return Range(field=name, **sides)


RANGES = st.builds(
    _range, NAMES, st.dictionaries(st.sampled_from(["gte", "gt", "lte", "lt"]), NUMBERS, min_size=1, max_size=4)
)
LEAVES: st.SearchStrategy[Filter] = (
    st.builds(Eq, NAMES, VALUES)
    | st.builds(In, NAMES, st.lists(VALUES, max_size=3).map(tuple))
    | RANGES
    | st.builds(Exists, NAMES)
    | st.sampled_from([And(), Or()])
)


def _grow(items: st.SearchStrategy[Filter]) -> st.SearchStrategy[Filter]:
    several = st.lists(items, min_size=2, max_size=3).map(tuple)
    return st.builds(And, several) | st.builds(Or, several) | st.builds(Not, items)


TREES: st.SearchStrategy[Filter] = st.recursive(LEAVES, _grow, max_leaves=8)


@settings(max_examples=300)
@given(TREES)
def test_what_is_written_reads_back_the_same(tree: Filter) -> None:
    again = parse_filter(format_filter(tree))
    assert again == tree
    # Equality of 1 and True would hide a lost boolean.
    assert repr(again).replace(".0", "") == repr(tree).replace(".0", "")


@settings(max_examples=200)
@given(st.text(alphabet="ab=<>!()（），“”\"'\\ 2024-01年and or not in,`", max_size=40))
def test_any_text_is_read_or_refused_with_our_error(text: str) -> None:
    try:
        tree = parse_filter(text)
    except FilterError:
        return
    assert parse_filter(format_filter(tree)) == tree
