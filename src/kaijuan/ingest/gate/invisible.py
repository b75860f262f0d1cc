"""Characters without a shape that carry a message: Unicode tags, runs of zero-width signs, reversed reading order.

Ordinary uses stay: joiners in emoji and in Indic and Arabic words, one zero-width blank as a place to break a line,
a byte order mark, tags in the emoji of a region's flag, direction marks in Hebrew and Arabic.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from kaijuan.core.reviews import Finding
from kaijuan.ingest.gate.matter import Matter

_SUSPECT = re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e01ef\ufe00-\ufe0f\u180e\u3164]")
_TAGS = re.compile("(?<!\U0001f3f4)(?<![\U000e0020-\U000e007f])[\U000e0020-\U000e007e]{3,}")
"""Unicode tags (U+E0020 to U+E007E mirror ASCII), not those of a flag."""
_RUN = re.compile("[\u200b-\u200f\u2060-\u2064\ufeff\u180e]{16,}")
_VARIANTS = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]{4,}")
"""Variation selectors, of which 256 make a byte each; a letter takes one."""
_REVERSED = re.compile("[\u202d\u202e](?=[^\u202c\n]{0,400}[A-Za-z0-9一-鿿]{3})")
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff]")
_SCATTERED = re.compile("[\u200b-\u200d\u2060\ufeff]")
_LATIN_OR_HAN = re.compile("[A-Za-z一-鿿]")
_MOST_SHARE, _LEAST_SCATTERED = 0.2, 32
"""A text with that many zero-width signs among its letters hides words from whoever searches for them."""


def invisible(matter: Matter) -> Iterator[Finding]:
    """Find payloads in the text and in the hidden texts."""
    for text in (matter.text, *matter.parsed.hidden):
        if text.isascii() or not _SUSPECT.search(text):
            continue
        for said, match in _payloads(text):
            shown = _spelled(match.group()) if said.startswith("Unicode tags") else f"{len(match.group())} characters"
            if text is matter.text:
                yield matter.finding("invisible", said, match.start(), match.end(), shown=shown)
            else:
                yield Finding(detector="invisible", said=said, excerpt=shown)
            break
        else:
            if said := _scattered(text):
                yield Finding(detector="invisible", said=said)


def _payloads(text: str) -> Iterator[tuple[str, re.Match[str]]]:
    if match := _TAGS.search(text):
        yield "Unicode tags that spell a hidden message", match
    for match in _RUN.finditer(text):
        # One sign over and over is dirt of an editor; a message takes two, as ones and noughts.
        if len(set(match.group())) > 1:
            yield "a run of zero-width characters", match
    if match := _VARIANTS.search(text):
        yield "a run of variation selectors", match
    if (match := _REVERSED.search(text)) and not _RIGHT_TO_LEFT.search(text):
        yield "characters that reverse the order of reading", match


def _scattered(text: str) -> str:
    signs = len(_SCATTERED.findall(text))
    if signs < _LEAST_SCATTERED or signs < _MOST_SHARE * len(_LATIN_OR_HAN.findall(text)):
        return ""
    return f"{signs} zero-width characters between letters"


def _spelled(tags: str) -> str:
    return "".join(chr(ord(letter) - 0xE0000) for letter in tags)[:160]
