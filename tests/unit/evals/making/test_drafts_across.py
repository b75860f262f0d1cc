"""Drafts of tables, headings and FAQ, of two passages, and of what is not there."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.unit.evals.making.documents_made import article, drafts, manual, plain

from kaijuan.evals.making.absence import AbsenceCheck
from kaijuan.evals.making.absent import absent_attributes, absent_codes, absent_people, absent_topics
from kaijuan.evals.making.combined import Article, combined_drafts, pairs_of_drafts
from kaijuan.evals.making.drafting import article_of
from kaijuan.evals.making.items import Draft, Kind, Split
from kaijuan.evals.making.material import bare_heading
from kaijuan.evals.making.tables import compared_tables

RATES = """# 停车收费标准（{year} 版）

## 一、费率

| 车型 | 每天上限（元） | 适用时段 |
| --- | --- | --- |
| 小型车 | {small} | 全天 |
| 大型车 | {large} | 夜间 |
"""


def rates(year: int, small: int, large: int) -> str:
    return RATES.format(year=year, small=small, large=large)


def made(title: str, text: str, split: Split = Split.TRAIN) -> Article:
    found = article_of(article(title, text, split=split))
    assert found is not None
    return found


FILM = made("Grey Harbour", "Grey Harbour is a 1950 film directed by Lena Holt. It was released on 3 May 1950.")
LATER = made("Red Harbour", "Red Harbour is a 1960 film directed by Max Voss. It was released on 9 June 1960.")
LENA = made(
    "Lena Holt", "Lena Holt (1 May 1901 – 3 June 1980) was a Danish film director. She was born in Aarhus, Denmark."
)
MAX = made("Max Voss", "Max Voss (4 July 1911 – 8 May 1990) was a Dutch film director.")


def test_cells_are_asked_by_row_and_column_with_their_unit() -> None:
    found = {draft.question: draft for draft in drafts(manual(rates(2024, 60, 90))) if draft.how == "table/cell"}
    draft = found["《停车收费标准（2024 版）》的“费率”中，“小型车”的每天上限是多少元？"]
    assert draft.answers == ("60",)
    assert draft.evidence[0].quote == "| 小型车 | 60 | 全天 |"
    assert found["《停车收费标准（2024 版）》的“费率”中，“大型车”的“适用时段”是什么？"].answers == ("夜间",)


def test_two_rows_are_compared_by_their_numbers() -> None:
    (draft,) = [draft for draft in drafts(manual(rates(2024, 60, 90))) if draft.how == "table/compare-rows"]
    assert draft.answers == ("大型车",)
    assert len(draft.evidence) == 2


def test_rows_with_equal_numbers_are_not_compared() -> None:
    assert not [draft for draft in drafts(manual(rates(2024, 60, 60))) if draft.how == "table/compare-rows"]


def test_accounts_by_year_are_asked_by_time_and_not_compared() -> None:
    table = "| Item | 2023 | 2024 |\n| --- | --- | --- |\n| Fees | 12.5 | 14.0 |\n| Total fees | 20 | 21 |"
    found = [draft for draft in drafts(manual(f"# Quay Report\n\n## Income\n\n{table}\n")) if draft.kind is Kind.TABLE]
    asked = {draft.question: draft.answers for draft in found}
    assert asked['In the table of "Quay Report" (Income), what is the figure of "Fees" for 2024?'] == ("14.0",)
    assert not [draft for draft in found if draft.how == "table/compare-rows"]


def test_editions_of_a_table_are_compared() -> None:
    one, other = manual(rates(2023, 60, 90), id="2023.md"), manual(rates(2024, 80, 90), id="2024.md")
    (draft,) = compared_tables([(one.head, one.tables), (other.head, other.tables)])
    assert "小型车" in draft.question
    assert draft.kind is Kind.MULTI
    assert draft.answers == ("停车收费标准（2024 版）",)


@pytest.mark.parametrize(
    "table",
    [
        "| a | b |\n| --- | --- |\n| 1 | 2 |\n| 3 | 4 |",  # rows without names
        "| name | x | x |\n| --- | --- | --- |\n| one | 1 | 2 |\n| two | 3 | 4 |",  # two columns of one name
        "| name | x |\n| --- | --- |\n| one | 1 |\n| one | 2 |",  # two rows of one name
        "| name | |\n| --- | --- |\n| one | 1 |",  # a column without a name
    ],
)
def test_tables_whose_cells_have_no_name_of_their_own_are_left_out(table: str) -> None:
    assert not [draft for draft in drafts(manual(f"# T\n\n## Part\n\n{table}\n")) if draft.kind is Kind.TABLE]


def test_faq_pairs_are_taken_as_they_are() -> None:
    text = "常见问题\n\n问：停车场几点开门？\n答：每天早上六点开门。\n\n问：月票多少钱？\n答：每月三百元。\n"
    found = {draft.question: draft.answers for draft in drafts(plain(text)) if draft.how == "faq"}
    assert found == {"停车场几点开门？": ("每天早上六点开门。",), "月票多少钱？": ("每月三百元。",)}


def test_headings_that_say_nothing_are_not_asked_about() -> None:
    body = "The crane stands on the north quay and lifts up to forty tonnes in calm weather.\n"
    found = drafts(manual(f"# Quay Manual\n\n## Overview\n\n{body}\n## 2. North crane\n\n{body}"))
    assert [draft.question for draft in found if draft.how == "heading"] == [
        'What does the document "Quay Manual" say about north crane?'
    ]


@pytest.mark.parametrize(
    ("heading", "bare"),
    [
        ("3.1 Annual leave", "Annual leave"),
        ("第三章 附则", "附则"),
        ("（二）报销", "报销"),
        ("2024 plans", "2024 plans"),
        ("Leave", "Leave"),
    ],
)
def test_numbers_of_headings(heading: str, bare: str) -> None:
    assert bare_heading(heading) == bare


def test_comparisons_name_the_one_that_is_earlier_or_later() -> None:
    (draft,) = [draft for draft in combined_drafts([FILM, LATER], 0) if draft.how == "compare/released-on"]
    earlier = "first" in draft.question
    assert draft.answers == ("Grey Harbour" if earlier else "Red Harbour",)
    assert {piece.document.id for piece in draft.evidence} == {"Grey Harbour", "Red Harbour"}


def test_a_chain_follows_the_director_to_the_article_about_them() -> None:
    found = {draft.question: draft for draft in combined_drafts([FILM, LENA], 0)}
    draft = found["When was the director of Grey Harbour born?"]
    assert draft.answers == ("1 May 1901",)
    assert [piece.document.id for piece in draft.evidence] == ["Grey Harbour", "Lena Holt"]
    assert "Where was the director of Grey Harbour born?" in found


def test_no_question_joins_two_splits() -> None:
    elsewhere = made("Lena Holt", "Lena Holt (1 May 1901 – 3 June 1980) was a Danish film director.", Split.TEST)
    later = made(
        "Red Harbour", "Red Harbour is a 1960 film directed by Max Voss. It was released on 9 June 1960.", Split.DEV
    )
    assert not [
        draft for draft in combined_drafts([FILM, elsewhere, later], 0) if draft.how.startswith(("chain", "compare"))
    ]


def test_two_parts_are_asked_in_full_of_passages_far_apart() -> None:
    filler = "The quay is swept every morning by the harbour staff before the first ships arrive. " * 4
    fee = "## Fees\n\nThe mooring fee is 45 euros a night."
    keys = "## Keys\n\nLost keys must be reported to the office within 12 hours."
    text = f"# Quay Manual\n\n{fee}\n\n{filler}\n\n{keys}\n"
    (draft,) = pairs_of_drafts([draft for draft in drafts(manual(text)) if draft.how.startswith("en/")])
    assert draft.kind is Kind.MULTI
    assert draft.answers[0].startswith("45 euros")
    assert draft.answers[0].endswith("; within 12 hours")
    assert (draft.parts[0].startswith("45 euros"), draft.parts[1]) == (True, "within 12 hours")
    assert draft.question.count("According to") == 1


def test_what_an_article_does_not_tell_is_asked_only_when_no_document_tells_it() -> None:
    (draft,) = [draft for draft in absent_attributes(FILM) if draft.question == "Who edited Grey Harbour?"]
    assert draft.answers == ()
    check = AbsenceCheck([draft])
    check.look("Grey Harbour", "Grey Harbour is a 1950 film directed by Lena Holt.")
    assert check.absent(draft)
    check.look("Ben Cole", "Ben Cole was an editor. He worked on Grey Harbour.")
    assert not check.absent(draft)


def test_words_are_looked_for_at_the_beginning_of_words() -> None:
    (draft,) = [draft for draft in absent_attributes(LENA) if draft.question == "How tall was Lena Holt?"]
    check = AbsenceCheck([draft])
    check.look("Lena Holt", "Lena Holt left after the craft fair.")  # "ft" and "cm" stand inside words
    assert check.absent(draft)
    check.look("Lena Holt", "Lena Holt was tall.")
    assert not check.absent(draft)


def test_people_who_do_not_exist_have_names_of_two_who_do() -> None:
    found = list(absent_people([LENA, MAX], 0))
    assert {draft.about for draft in found} == {"Lena Voss", "Max Holt"}
    check = AbsenceCheck(found)
    check.look("List", "Guests: Max Holt, Lena Holt.")
    assert [check.absent(draft) for draft in found] == [draft.about != "Max Holt" for draft in found]


def test_a_code_is_turned_into_a_near_one() -> None:
    (source,) = [
        draft
        for draft in drafts(manual("# 船闸代码说明\n\n## BX\n\nBX-204 表示闸门已经关闭。\n"))
        if draft.how == "zh/means"
    ]
    (draft,) = absent_codes([source], 0)
    assert draft.kind is Kind.UNANSWERABLE
    assert "BX-204" not in draft.question
    assert draft.about.startswith("BX-2")
    assert draft.about != "BX-204"
    assert list(absent_codes([replace(source, how="zh/amount")], 0)) == []


def test_matters_of_the_workplace_are_asked_of_handbooks_alone() -> None:
    body = "Every employee has fifteen days of leave a year, asked for two weeks ahead.\n"
    handbook = manual(f"# Quay Employee Handbook\n\n## Leave\n\n{body}")
    assert any("parking spaces" in draft.question for draft in absent_topics(handbook))
    assert not list(absent_topics(manual(f"# Crane Manual\n\n## Leave\n\n{body}")))


def by_kind(found: list[Draft], kind: Kind) -> list[Draft]:
    return [draft for draft in found if draft.kind is kind]


def test_a_question_that_names_a_year_is_about_that_time() -> None:
    text = "# 港口值班管理办法（2024 版）\n\n## 一、值班\n\n值班人员每次值班不超过 12 小时。\n"
    (draft,) = by_kind(drafts(manual(text)), Kind.TIME)
    assert draft.as_of == "2024"
