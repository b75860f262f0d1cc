"""What a service said, fit to be shown: short, and without the key that it was asked with."""

from __future__ import annotations

import html
import json
import re

HIDDEN = "***"
MOST = 200
"""Characters that are shown of what a service said."""
_LOOKED_AT = 1 << 15
"""Characters of a reply that are looked at: all of a hostile one would take minutes."""
_LONGEST_LETTER = 16
"""Characters that one letter of a key takes, in any of its spellings."""
_BEARER = re.compile(r"(bearer)(?:\s|[:=+]|%20|\\u0020|&nbsp;)+\S+", re.IGNORECASE)


def redact(text: str, key: str, *, most: int = MOST) -> str:
    """Return the text on one line, without the key and without any bearer token, cut to `most` characters.

    The key is found as it is and escaped, as JSON, Python, HTML and addresses do. Cutting comes last: half a key would
    not be found.
    """
    whole = " ".join(text.split())
    line = whole[:_LOOKED_AT]
    if key:
        line = re.sub(_written(key), HIDDEN, line, flags=re.IGNORECASE)
    shown = _BEARER.sub(rf"\1 {HIDDEN}", line)
    if len(whole) > _LOOKED_AT:
        # The beginning of a key may stand at the end, and was not found.
        shown = shown[: max(0, len(shown) - _LONGEST_LETTER * len(key))]
    return shown[:most]


def _written(key: str) -> str:
    """Return a pattern of the ways in which a key may be written."""
    whole = {key, json.dumps(key)[1:-1], repr(key)[1:-1], html.escape(key)}
    longest_first = sorted(whole, key=len, reverse=True)
    return "|".join([*map(re.escape, longest_first), "".join(map(_letter, key))])


def _letter(letter: str) -> str:
    code = ord(letter)
    # Backslashes are taken once and for all: a reply that is made of them must not cost the square of its length.
    plain = r"\\{1,4}+" if letter == "\\" else rf"\\{{0,3}}+{re.escape(letter)}"
    ways = [plain, rf"\\{{1,3}}+(?:u00|x){code:02x}", f"%{code:02x}", f"&#0*{code};", f"&#x0*{code:x};"]
    if html.escape(letter) != letter:
        ways.append(html.escape(letter))
    return f"(?:{'|'.join(ways)})"
