"""How pieces of text that layout has torn apart are put together: no blank between Han, one between words."""

from __future__ import annotations

import re

_WIDE = (
    "\u2e80-\u303f\u3040-\u30ff\u3100-\u312f\u31a0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\ufe30-\ufe4f\uff01-\uff9f"
    "\uffe0-\uffe6\U00020000-\U0003ffff"
)
_EITHER = "“”‘’…—·"
_IS_WIDE = re.compile(f"[{_WIDE}]")
_LINE_BREAK = re.compile(
    rf"(?<=[{_WIDE}])[^\S\n\u3000]*+\n[^\S\u3000]*+(?=[{_WIDE}{_EITHER}0-9])"
    rf"|(?<=[{_EITHER}0-9])[^\S\n\u3000]*+\n[^\S\u3000]*+(?=[{_WIDE}])"
)
_SPREAD = re.compile(rf"(?<![{_WIDE}])([\u4e00-\u9fff])[^\S\n]+(?=[\u4e00-\u9fff](?![{_WIDE}]))")
ARTICLE = r"第[零〇一二三四五六七八九十百千0-9]{1,8}[条條](?:之[一二三四五六七八九十]{1,3})?"
"""The number of an article, as a pattern."""
_ARTICLE_ALONE = re.compile(ARTICLE)
_BLANKS = re.compile(r"[^\S\u3000]+")


def is_wide(char: str) -> bool:
    """Say whether `char` is Han, kana, or their punctuation: scripts written without blanks between words."""
    return bool(_IS_WIDE.match(char))


def glue(left: str, right: str) -> str:
    """Return what stands between two characters that a line end separated: "" or one blank.

    Chinese and Japanese are written without blanks, and a number next to Han belongs to it (第3条); everything
    else is words. See shared case: a blank inside a Chinese word keeps it from being found.
    """
    wide_left, wide_right = is_wide(left), is_wide(right)
    if wide_left and wide_right:
        return ""
    if wide_left and (right in _EITHER or right.isdigit()):
        return ""
    if wide_right and (left in _EITHER or left.isdigit()):
        return ""
    return " "


def squeeze(text: str) -> str:
    """Return `text` on one line: line ends between Han vanish, every other run of white space is one blank."""
    return _BLANKS.sub(" ", _LINE_BREAK.sub("", text)).strip()


def close_up(title: str) -> str:
    """Return a heading whose characters were spread for looks as words: 第一章 总 则 becomes 第一章 总则."""
    return _SPREAD.sub(r"\1", title)


def is_article(text: str) -> bool:
    """Say whether a text is the number of an article and nothing else; a blank follows it also in Chinese."""
    return bool(_ARTICLE_ALONE.fullmatch(text))


def join_lines(lines: list[str]) -> str:
    """Return printed lines as running text."""
    joined: list[str] = []
    for line in (piece.strip() for piece in lines):
        if not line:
            continue
        if joined:
            joined.append(" " if len(joined) == 1 and is_article(joined[0]) else glue(joined[-1][-1], line[0]))
        joined.append(line)
    return "".join(piece for piece in joined if piece)
