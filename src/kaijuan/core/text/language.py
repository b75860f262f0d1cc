"""Which language a text is in, by its script."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

from kaijuan.core.text.characters import HAN

SAMPLE = 20_000
"""Characters looked at. A document's language shows in its first pages."""
KANA_SHARE = 0.05
"""Share of kana among East Asian letters from which a text is Japanese. Japanese has a third to a half; a Chinese
text that quotes a Japanese name has less than this."""
EAST_ASIAN_SHARE = 0.12
"""Share of East Asian letters from which a text is not English: one of them says as much as several Latin ones, and
technical Chinese is full of Latin names."""

MIXED = (0.02, 0.25)
"""Shares of East Asian letters between which a short text is in no one language: English about a Chinese product, a
Chinese page that is mostly code."""
MIXED_KANA = (0.01, 0.15)
"""Likewise of kana among East Asian letters: Chinese about Japan. Japanese has a third to a half."""

_SCRIPTS = (
    ("zh", re.compile(f"[{HAN}]")),
    ("ja", re.compile("[\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fd-\u30ff\uff66-\uff9d]")),
    ("ko", re.compile("[\u1100-\u11ff\u3131-\u318e\uac00-\ud7a3]")),
    ("en", re.compile("[A-Za-z\u00c0-\u024f]")),
    ("ru", re.compile("[\u0400-\u04ff]")),
    ("ar", re.compile("[\u0620-\u064a\u0671-\u06d3]")),
    ("he", re.compile("[\u05d0-\u05ea]")),
    ("el", re.compile("[\u0370-\u03ff]")),
    ("hi", re.compile("[\u0904-\u0939]")),
    ("th", re.compile("[\u0e01-\u0e2e]")),
)


class _ScriptOf(dict[str, str]):
    """Character to the name of its script, "" for none, learnt as characters are met: bounded by Unicode itself."""

    def __missing__(self, character: str) -> str:
        name = next((name for name, script in _SCRIPTS if script.match(character)), "")
        self[character] = name
        return name


_SCRIPT_OF = _ScriptOf()


def language_of(text: str) -> str:
    """Return "zh" (simplified or traditional), "en", "ja", "ko" or another script's main language; "" for none.

    Latin script counts as English: telling Latin languages apart needs words, and nothing here depends on it.
    """
    return _language(_letters(text))


def tongue_of(text: str) -> str:
    """Return `language_of` a passage, or "" where so much of it is in another language that it is in neither.

    Vectors of texts in one language lie together, those of mixed texts between: they may be compared with a question
    in either, as they are.
    """
    counts = _letters(text)
    letters = sum(counts.values())
    east_asian = _east_asian(counts)
    if letters and MIXED[0] < east_asian / letters < MIXED[1]:
        return ""
    if counts["ko"] == 0 and east_asian and MIXED_KANA[0] < counts["ja"] / east_asian < MIXED_KANA[1]:
        return ""
    return _language(counts)


def _letters(text: str) -> dict[str, int]:
    """Return how many letters of each script are in the sample, by the script's main language."""
    counts = {name: 0 for name, _ in _SCRIPTS}
    # By character and not by pattern: a text repeats its characters, and ten searches cost twice as much.
    for character, count in Counter(text[:SAMPLE]).items():
        if script := _SCRIPT_OF[character]:
            counts[script] += count
    return counts


def _east_asian(counts: Mapping[str, int]) -> int:
    return counts["zh"] + counts["ja"] + counts["ko"]


def _language(counts: Mapping[str, int]) -> str:
    letters = sum(counts.values())
    if not letters:
        return ""
    east_asian = _east_asian(counts)
    if east_asian >= EAST_ASIAN_SHARE * letters:
        if counts["ko"] > counts["zh"] + counts["ja"]:
            return "ko"
        return "ja" if counts["ja"] >= KANA_SHARE * east_asian and counts["ja"] > 1 else "zh"
    rest = {name: count for name, count in counts.items() if name not in {"zh", "ja", "ko"}}
    return max(rest, key=lambda name: rest[name])
