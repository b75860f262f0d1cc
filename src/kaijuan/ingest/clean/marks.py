"""Passages that say next to nothing (spec B1): a table of contents, a notice, furniture, the same over and over.

A mark is a word for the reason. It lowers the passage's score in a search (`retrieve.marked_weight`) and nothing else:
the passage stays in the text, in the index and in every span. Rules are meant to miss rather than to hit wrongly: a
short answer ("Yes.", "5 天") says much.
"""

from __future__ import annotations

import re
import zlib

_LEADER = re.compile(
    r"(?:\.{3,}|(?:\. ){3,}|…{2,}|(?:… ){2,}…?|·{3,}|-{5,}|_{5,})\s*(?:\d{1,4}|[ivxlc]{1,6})\s*\|?$", re.I
)
_LEAST_LINES, _LEADER_SHARE = 4, 0.6
_RIGHTS = re.compile(
    r"©\s?(?:copyright|(?:19|20)\d\d|[a-z]{2})|\(c\)\s?(?:19|20)\d\d"
    r"|\bcopyright\b|\ball rights reserved\b|版权所有|著作权所有|保留所有权利"
    r"|未经(?:书面)?(?:许可|授权)[^。]{0,20}不得(?:转载|复制)"
    r"|[京沪粤浙苏渝川鄂鲁闽]ICP备|公网安备",
    re.I,
)
_COOKIES = re.compile(
    r"\b(?:we|this (?:web)?site) uses? (?:\w+ )?cookies\b|\baccept (?:all )?cookies\b|\bcookie (?:settings"
    r"|preferences|policy)\b"
    r"|(?:本网站|本站|我们)使用\s?cookies?|接受(?:所有|全部)\s?cookies?",
    re.I,
)
_FURNITURE = re.compile(
    r"\b(?:skip to (?:main )?content|back to top|sign in|log in|subscribe|follow us|share this|privacy policy"
    r"|terms of (?:use|service)"
    r"|site ?map|contact us|about us|home|menu|search|next page|previous page)\b"
    r"|返回顶部|回到顶部|上一[页篇]|下一[页篇]|网站地图|联系我们|关于我们|隐私政策|使用条款|友情链接|分享到|扫一扫"
    r"|登录|注册|首页",
    re.I,
)
_NOTICE_CHARACTERS = 600
"""A notice is short; a longer passage that holds one says more than that."""
_LONGEST_PART = 160
"""Text without full stops is no notice from end to end because one stands in it."""
_SENTENCE = re.compile(r"[^。！？!?.\n]+[。！？!?.\n]?")
_WORD = re.compile(r"[^\W_]")
_LEAST_REPEATED = 400
_REPEATED = 0.1
"""Compressed to less than that share of its bytes, a text repeats itself."""


def mark(text: str) -> str:
    """Return why a passage says next to nothing, in a word; "" for any other."""
    if not _WORD.search(text):
        return "signs"
    if _is_contents(text):
        return "contents"
    if len(text) <= _NOTICE_CHARACTERS:
        for name, pattern, share in (
            ("copyright", _RIGHTS, 0.9),
            ("cookies", _COOKIES, 0.8),
            ("navigation", _FURNITURE, 0.8),
        ):
            if _share(text, pattern) >= share:
                return name
    return "repetition" if _repeats(text) else ""


def _is_contents(text: str) -> bool:
    if "..." not in text and "…" not in text and "·" not in text and ". . ." not in text and "-----" not in text:
        return False
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    return len(lines) >= _LEAST_LINES and sum(bool(_LEADER.search(line)) for line in lines) >= _LEADER_SHARE * len(
        lines
    )


def _share(text: str, pattern: re.Pattern[str]) -> float:
    """Return the share of the characters that stands in sentences and lines of a kind; 0 where there is none."""
    if not pattern.search(text):
        return 0.0
    parts = [part.group() for part in _SENTENCE.finditer(text)]
    if pattern is _FURNITURE:
        # Single words of menus, not sentences in which such a word occurs.
        hits = sum(len(match.group()) for match in pattern.finditer(text))
        words = len(_WORD.findall(text))
        return hits / words if words else 0.0
    hits = sum(min(len(part), _LONGEST_PART) for part in parts if pattern.search(part))
    return hits / sum(map(len, parts)) if parts else 0.0


def _repeats(text: str) -> bool:
    if len(text) < _LEAST_REPEATED:
        return False
    data = text.encode("utf-8", "replace")
    return len(zlib.compress(data, 1)) < _REPEATED * len(data)
