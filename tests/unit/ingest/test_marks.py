"""Passages that say next to nothing are told by rule; whatever says something is left alone."""

from __future__ import annotations

import pytest

from kaijuan.ingest.clean.marks import mark

CONTENTS = "Contents\n1 Introduction ........ 3\n1.1 Scope ........... 4\n2 Rules ............ 7\n第三章 附则……………… 12"


@pytest.mark.parametrize(
    ("text", "word"),
    [
        (CONTENTS, "contents"),
        ("目录\n作战的原则 … … … … １\n国防问题的意见 … … … ３\n谦逊态度 … … ６\n战争的形势 … … … ８", "contents"),
        ("-----\n* * *\n……", "signs"),
        ("Copyright © 2024 Example Ltd. All rights reserved.", "copyright"),
        ("版权所有：示例报社 京ICP备05070218号 京公网安备110102020000001号", "copyright"),
        ("We use cookies to improve this site. Accept all cookies or open the cookie settings.", "cookies"),
        ("本网站使用 Cookie 改善体验。接受所有 Cookies", "cookies"),
        ("首页 | 关于我们 | 联系我们 | 网站地图 | 登录 注册", "navigation"),
        ("Home  Sign in  Search  Contact us  Privacy policy", "navigation"),
        ("填写示例 " * 200, "repetition"),
    ],
)
def test_marked(text: str, word: str) -> None:
    assert mark(text) == word


@pytest.mark.parametrize(
    "text",
    [
        "Yes.",
        "5 天",
        "是。",
        "The policy covers cookies: we use cookies only for signing in and keep them for a day. "
        "Nobody is told about them. "
        "Who wants none can switch them off; the site then works all the same, but forgets the language chosen.",
        "版权法保护作品。作者去世后五十年内，他人使用作品须经许可并支付报酬，法律另有规定的除外。Copyright lasts long.",
        "如需联系我们，请拨打客服电话并说明订单号，工作人员会在一个工作日内回复。",
        "| 项目 | 2023 | 2024 |\n| 收入 | 100 | 120 |\n| 成本 | 80 | 90 |",
        "He waited... and waited... and then... nothing.\nSo it went on.\nFor days.\nAnd weeks.",
        "def f():\n    return 0\n\n\ndef g():\n    return 1\n",
    ],
)
def test_left_alone(text: str) -> None:
    assert mark(text) == ""
