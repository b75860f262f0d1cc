"""What of a document is compared with others as possible furniture, and how many others are enough."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kaijuan.core.documents import BlockKind, ParsedBlock
from kaijuan.core.spans import Span
from kaijuan.ingest.clean.recurring import EDGE, digests, enough, kin
from kaijuan.ingest.dedupe.shingles import signature

NOTICE = "本邮件及其附件含有保密信息，仅限收件人使用；如误收，请立即删除并通知发件人。"
DISCLAIMER = "This message may contain confidential information; if you received it in error, delete it and tell us."


def _laid_out(*paragraphs: str, kind: BlockKind = BlockKind.PARAGRAPH) -> tuple[str, list[ParsedBlock]]:
    text, blocks = "", []
    for said in paragraphs:
        blocks.append(ParsedBlock(kind=kind, span=Span(len(text), len(text) + len(said))))
        text += said + "\n\n"
    return text, blocks


def _body(count: int) -> list[str]:
    return [
        f"Paragraph {at} tells of matter {at * 7919} and of what follows from it for the reader." for at in range(count)
    ]


@pytest.mark.parametrize("said", [NOTICE, DISCLAIMER])
def test_a_notice_at_either_end_is_compared_and_its_looks_do_not_count(said: str) -> None:
    found = digests(*_laid_out(*_body(12), said))
    again = digests(*_laid_out(f"  {said.upper()} ", *_body(9)))
    assert found[12] == again[0]


def test_in_the_middle_only_what_stands_there_several_times_is_compared() -> None:
    body = _body(6 * EDGE)
    assert EDGE + 2 not in digests(*_laid_out(*body[: EDGE + 2], DISCLAIMER, *body[EDGE + 2 :]))
    twice = digests(
        *_laid_out(*body[: EDGE + 2], DISCLAIMER, *body[EDGE + 2 : EDGE + 6], DISCLAIMER, *body[EDGE + 6 :])
    )
    assert twice[EDGE + 2] == twice[EDGE + 7]


@pytest.mark.parametrize(
    "said",
    [
        "Not applicable.",
        "适用范围",
        "第五条 本办法由人力资源部负责解释，自发布之日起施行，原有规定同时废止。",
        "Article 12. This agreement is governed by the laws of the place where it was signed.",
        "§ 9 Notices under this contract are to be made in writing and sent to the last known address.",
        "3.2 The supplier keeps the records of every delivery for at least five full years.",
        "（二）申请人应当如实提交有关材料并对其真实性负责，不得隐瞒。",
        "三、违反本规定的，由主管部门责令限期改正，逾期不改的予以通报。",
        "What should an employee do who has lost the card that opens the office doors?",
        "办理下列事项的申请人应当向窗口提交以下材料并填写申请表格：",
    ],
)
def test_labels_clauses_questions_and_lead_ins_never_are(said: str) -> None:
    assert 8 not in digests(*_laid_out(*_body(8), said))


@pytest.mark.parametrize(
    "kind", [BlockKind.HEADING, BlockKind.TABLE, BlockKind.CODE, BlockKind.LIST, BlockKind.CAPTION]
)
def test_only_running_text_is_compared(kind: BlockKind) -> None:
    assert digests(*_laid_out(*_body(3), DISCLAIMER, kind=kind)) == {}


def test_a_clause_below_the_heading_of_its_article_is_none() -> None:
    text, blocks = _laid_out(*_body(3), DISCLAIMER)
    last = ParsedBlock(kind=BlockKind.PARAGRAPH, span=blocks[-1].span, title_path=("第三章 附则", "第二十条"))
    assert set(digests(text, [*blocks[:-1], last])) == {0, 1, 2}


def test_what_most_of_a_document_is_is_what_it_says() -> None:
    assert digests(*_laid_out("Hello.", DISCLAIMER)) == {}


@given(st.integers(0, 10**6), st.integers(2, 50), st.floats(0, 1))
def test_enough_is_never_less_than_either_bound(total: int, least: int, share: float) -> None:
    wanted = enough(total, least, share)
    assert wanted >= least
    assert wanted >= share * total - 1e-6 * total
    assert wanted == least or wanted - 1 < share * total


@given(st.permutations(range(7)))
def test_kin_is_the_same_in_any_order(order: list[int]) -> None:
    base = " ".join(_body(30))
    texts = [
        base,
        base.replace("matter 7919 ", "matter 1 "),
        NOTICE * 2,
        DISCLAIMER,
        base + " And more.",
        "other " * 50,
        "",
    ]
    signatures = {str(at): signature(texts[at]) for at in order}
    found = kin(signatures)
    assert found == kin(dict(sorted(signatures.items())))
    assert len({found[name] for name in ("0", "1", "4")}) == 1
    assert len(set(found.values())) == 5
