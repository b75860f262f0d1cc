"""Which passages hold the names in programs that a question has, to the letter (spec G1).

Words and vectors take getUserName, getUserNames and get_user_name for nearly the same; who types one of them does not.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from kaijuan.retrieve.ports import Reading

_AS_WRITTEN = 2
_BUT_FOR_CASE = 1


def held_to_the_letter(names: Sequence[str], reading: Reading) -> int:
    """Return how well a candidate's text, title and headings hold the names, each as a whole word: 0 for not at all.

    A name counts 2 where it stands as it is written in the question, and 1 where only its capitals differ.
    """
    text = "\n".join((reading.text, reading.title, *reading.title_path))
    return sum(_held(name, text) for name in names)


def _held(name: str, text: str) -> int:
    if name.lower() not in text.lower():
        return 0
    whole = rf"(?<![A-Za-z0-9_]){re.escape(name)}(?![A-Za-z0-9_])"
    if re.search(whole, text):
        return _AS_WRITTEN
    return _BUT_FOR_CASE if re.search(whole, text, re.IGNORECASE | re.ASCII) else 0
