"""Sentences and languages, by examples from real documents."""

from __future__ import annotations

import pytest

from kaijuan.core.text.language import language_of
from kaijuan.core.text.sentences import sentences


def split(text: str) -> list[str]:
    return [span.of(text) for span in sentences(text)]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("今天下雨。明天呢？好！", ["今天下雨。", "明天呢？", "好！"]),
        ("他说：“你好。”然后走了。", ["他说：“你好。”", "然后走了。"]),
        ("（见附件。）另行通知。", ["（见附件。）", "另行通知。"]),
        ("真的吗？！他不信……再说。", ["真的吗？！", "他不信……", "再说。"]),
        ("一是安全；二是效率。", ["一是安全；", "二是效率。"]),
        ('他说。"你好"，走了。', ["他说。", '"你好"，走了。']),
        ('"你好。"他说。', ['"你好。"', "他说。"]),
        ("版本 v2.3.1 修复了 3.5 版的问题。升级即可。", ["版本 v2.3.1 修复了 3.5 版的问题。", "升级即可。"]),
        ("系列正统续作.由于去世.结束", ["系列正统续作.", "由于去世.", "结束"]),
        ("It works. Really? Yes!", ["It works.", "Really?", "Yes!"]),
        ("Mr. Smith met Dr. Wu. They left.", ["Mr. Smith met Dr. Wu.", "They left."]),
        ("See Fig. 3 and no. 5. Then go.", ["See Fig. 3 and no. 5.", "Then go."]),
        ("He said no. Then he left.", ["He said no.", "Then he left."]),
        ("It costs $3.50, e.g. for tea. J. K. Li wrote.", ["It costs $3.50, e.g. for tea.", "J. K. Li wrote."]),
        ('"Why?" he asked. "Go."', ['"Why?" he asked.', '"Go."']),
        ("Open https://a.com/x?q=1&b=2! Then wait.", ["Open https://a.com/x?q=1&b=2!", "Then wait."]),
        ("Wait... what? Well... Fine.", ["Wait... what?", "Well...", "Fine."]),
        ("1. Open it. 2. Close it.", ["1. Open it.", "2. Close it."]),
        ("Steps:\n1. Open it\n2. Close it", ["Steps:", "1. Open it", "2. Close it"]),
        ("要求：\n（一）及时\n（二）准确\n- 完整\n• 有序", ["要求：", "（一）及时", "（二）准确", "- 完整", "• 有序"]),
        ("第一条 总则\n第二条 适用", ["第一条 总则", "第二条 适用"]),
        ("# 标题\n| a | b |\n| 1 | 2 |", ["# 标题", "| a | b |", "| 1 | 2 |"]),
        ("一行被\n折断的话。\n\n另一段", ["一行被\n折断的话。", "另一段"]),
        ("It cost about\n1.5 million. Done.", ["It cost about\n1.5 million.", "Done."]),
        ("Net loss (1,497,216) and (1,497,\n216) more.", ["Net loss (1,497,216) and (1,497,\n216) more."]),
        ("亏损(1,497,216)元；合计1,343元。", ["亏损(1,497,216)元；", "合计1,343元。"]),
        ("没有标点的文字", ["没有标点的文字"]),
        ("。", ["。"]),
        (" \n ", []),
        ("", []),
    ],
)  # fmt: skip
def test_sentences_end_where_a_reader_ends_them(text: str, wanted: list[str]) -> None:
    assert split(text) == wanted


@pytest.mark.parametrize("piece", ["中", "x", "5. a ", "e.g. ", '"', "\n", "?a", ". ", "1.\n", '." ', "；"])
def test_long_text_is_split_whole(piece: str) -> None:
    text = piece * (400_000 // len(piece))
    assert sum(len(found.replace(" ", "").replace("\n", "")) for found in split(text)) == len(
        text.replace(" ", "").replace("\n", "")
    )


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("员工手册规定了年假。", "zh"),
        ("員工手冊規定了年假。", "zh"),
        ("使用 Docker Compose 部署服务", "zh"),
        ("日本动画《となりのトトロ》由宫崎骏执导，讲述了姐妹二人在乡间的故事，广受观众好评，并在多国上映。", "ja"),
        ("The handbook of 北京 Ltd. sets the leave that every employee has", "en"),
        ("これは日本語の文章です。", "ja"),
        ("コンピュータ", "ja"),
        ("이것은 한국어입니다.", "ko"),
        ("Это русский текст", "ru"),
        ("2024-03-05 12:30", ""),
        ("", ""),
    ],
)
def test_the_script_tells_the_language(text: str, language: str) -> None:
    assert language_of(text) == language
