"""A glossary comes and goes as a table, in the columns of both languages, and what is wrong is named by its line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kaijuan.core.glossary import GlossaryTerm, TermChange, TermState
from kaijuan.core.glossary_csv import GlossaryRow, checked, read_csv, write_csv
from kaijuan.core.ids import KbId
from kaijuan.errors import UsageError


@pytest.mark.parametrize(
    "table",
    [
        "term,synonyms,note\n报销,费用报账|reimbursement,财务\n",
        "\ufeff术语,同义词,备注\r\n报销,费用报账|reimbursement,财务\r\n",
        "备注,词条,别名\n财务,报销, 费用报账 | reimbursement \n\n",
        'NOTE,Term,Synonyms\n财务,"报销","费用报账|reimbursement|报销|費用報賬"\n',
    ],
)
def test_tables_of_both_languages(table: str) -> None:
    assert read_csv(table) == [GlossaryRow(term="报销", synonyms=("费用报账", "reimbursement"), note="财务")]


def test_without_a_line_of_names() -> None:
    assert read_csv("SLA,服务级别协议,service level agreement\n") == [
        GlossaryRow(term="SLA", synonyms=("服务级别协议", "service level agreement"))
    ]


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("", "no line"),
        ("term,synonyms\n报销,\n", "Line 2"),
        ("term,synonyms\nok,fine\n,b\n", "Line 3"),
        (f"term,synonyms\n{'长' * 200},b\n", "is no word"),
        ("term,synonyms\na,A|ａ\n", "no synonym"),
        ('term,synonyms\n"open,b\n', "cannot be read"),
        (f"term,synonyms\na,{'|'.join(map(str, range(100)))}\n", "at most"),
    ],
)
def test_what_is_wrong_is_named(table: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        read_csv(table)


WORDS = st.text(st.characters(exclude_categories=("C", "Z"), exclude_characters="|"), min_size=1, max_size=20).filter(
    lambda word: bool(word.strip())
)


@given(st.lists(st.tuples(WORDS, st.lists(WORDS, min_size=1, max_size=4), WORDS), min_size=1, max_size=5))
def test_what_was_written_can_be_read(rows: list[tuple[str, list[str], str]]) -> None:
    terms, wanted = [], []
    for term, synonyms, note in rows:
        try:
            row = checked(term, synonyms, note)
        except UsageError:
            continue
        change = TermChange(state=TermState.LIVE, at=1.0, synonyms=row.synonyms, by="li", note=row.note)
        terms.append(GlossaryTerm(kb_id=KbId("k"), term=row.term, synonyms=row.synonyms, history=(change,)))
        wanted.append(row)
    if terms:
        assert read_csv(write_csv(terms)) == wanted
