"""Which characters are which: classes for use between the brackets of a regular expression."""

from __future__ import annotations

HAN = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
"""Ideographs, the repetition mark 々 and the zero 〇."""
KANA = "\u3041-\u309f\u30a1-\u30ff\u31f0-\u31ff\uff66-\uff9f"
HANGUL = "\u1100-\u11ff\u3130-\u318f\uac00-\ud7a3"
THAI = "\u0e01-\u0eff\u1000-\u109f\u1780-\u17ff"
"""Thai, Lao, Myanmar and Khmer: written without blanks."""
UNSPACED = HAN + KANA + THAI
MARKS = "\u0300-\u036f\u0483-\u0487\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0900-\u0dff"
"""Signs that stand inside words but are no letters to `re`."""
WIDE_MARKS = "\u3001-\u3004\u3006\u3008-\u303f\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65"
"""Full-width and CJK punctuation."""
EAST_ASIAN = HAN + KANA + WIDE_MARKS + "\u2e80-\u2fdf\u3100-\u312f\u31c0-\u31ef"
"""Characters between which a blank or line break is layout, not language (radicals and bopomofo included)."""
INVISIBLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff"
)
"""Zero-width, joining, direction and variation characters, and the soft hyphen: never part of what is meant."""
