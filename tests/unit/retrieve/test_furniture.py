"""A passage that speaks to a question only by a paragraph that many documents share is told from others."""

from __future__ import annotations

import pytest

from kaijuan.core.spans import Span
from kaijuan.core.text.analyse import keys_of
from kaijuan.retrieve.furniture import only_furniture

NOTICE = "本文件含有保密信息，未经书面同意不得向第三方披露；如误收，请立即删除。"
DISCLAIMER = "This message is confidential; if you received it in error, delete it and inform the security office."


@pytest.mark.parametrize(
    ("own", "notice", "question", "expected"),
    [
        ("停车位由行政部按季度分配。", NOTICE, "误收的文件应当怎样删除？", True),
        ("停车位由行政部按季度分配。", NOTICE, "停车位怎么分配？", False),
        ("误收的文件交信息部删除，保密信息须登记。", NOTICE, "误收的文件应当怎样删除？", False),
        ("Parking lots are given out each quarter.", DISCLAIMER, "Who is told of a message received in error?", True),
        ("Parking lots are given out each quarter.", DISCLAIMER, "How are parking lots given out?", False),
        ("Parking lots are given out each quarter.", DISCLAIMER, "What does the canteen serve?", False),
    ],
)
def test_what_speaks_to_the_question(own: str, notice: str, question: str, expected: bool) -> None:
    text = f"{own}\n\n{notice}"
    furniture = [Span(len(own) + 2, len(text))]
    assert only_furniture(keys_of(question)[0], Span(0, len(text)), furniture, text) is expected
    assert not only_furniture(keys_of(question)[0], Span(0, len(own)), furniture, text)
