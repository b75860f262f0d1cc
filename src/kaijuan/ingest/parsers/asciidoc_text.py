"""The words of AsciiDoc text without its marks."""

from __future__ import annotations

import re
from collections.abc import Mapping

_REFERENCE = re.compile(r"(?<!\\)\{([\w][\w-]*)\}")
_BUILT_IN = {
    "nbsp": " ",
    "empty": "",
    "sp": " ",
    "plus": "+",
    "vbar": "|",
    "lt": "<",
    "gt": ">",
    "amp": "&",
    "apos": "'",
}
_PASSES: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"\[\[[^\[\]]*\]\]|\[\[\[[^\[\]]*\]\]\]"), ""),
    (re.compile(r"indexterm2?:\[[^\]]*\]|\(\(\([^()]*\)\)\)"), ""),
    (re.compile(r"footnote(?:ref)?:[\w-]*\[([^\]]*)\]"), r" (\1)"),
    (re.compile(r"<<[^<>,]+,\s*([^<>]+)>>"), r"\1"),
    (re.compile(r"<<#?([^<>,]+)>>"), r"\1"),
    (re.compile(r"image:(?!:)\S+?\[([^\],]*)[^\]]*\]"), r"\1"),
    (re.compile(r"(?:link|xref|mailto):(?:\+\+)?[^\s\[\]]*?(?:\+\+)?\[([^\]]+?)\^?(?:,\s*\w+=[^\]]*)?\]"), r"\1"),
    (re.compile(r"(?:link|xref):([^\s\[\]]+)\[\]"), r"\1"),
    (re.compile(r"(https?://[^\s\[\]]+)\[([^\]]+?)\^?(?:,\s*\w+=[^\]]*)?\]"), r"\2"),
    (re.compile(r"(https?://[^\s\[\]]+)\[\]"), r"\1"),
    (re.compile(r"(?:stem|latexmath|asciimath):\[([^\]]*)\]"), r"$\1$"),
    (re.compile(r"(?:kbd|btn|menu|pass|icon)(?::[\w ,]*)?:?\[([^\]]*)\]"), r"\1"),
    (re.compile(r"\[[.#][^\[\]]*\](?=[#*_`])"), ""),
    (re.compile(r"`\+([^`\n]+)\+`|\+\+\+([^\n]{0,300}?)\+\+\+"), r"\1\2"),
    (re.compile(r"(?<!\\)(\*\*|__|``|##|\^|~)(?=\S)([^\n]{0,300}?\S)\1"), r"\2"),
    (re.compile(r"(?<![\w\\*_`#])([*_`#])(?=\S)([^\n]{0,300}?\S)\1(?![\w*_`#])"), r"\2"),
    (re.compile(r"(?<![\w\\*_`#])([*_`#])(?=\S)([^\n]{0,300}?\S)\1(?![\w*_`#])"), r"\2"),
    (re.compile(r"\\(?=[*_`#^~{<\[])"), ""),
)
_LONGEST = 20_000


def plain(text: str, attributes: Mapping[str, str]) -> str:
    """Return text as a reader sees it: references to attributes resolved once, marks and addresses taken away."""
    if len(text) > _LONGEST:
        return text
    text = _REFERENCE.sub(lambda found: _value(found[0], found[1].lower(), attributes), text)
    for pattern, shown in _PASSES:
        text = pattern.sub(shown, text)
    return " ".join(text.split(" ")).strip()


def _value(whole: str, name: str, attributes: Mapping[str, str]) -> str:
    return attributes.get(name, _BUILT_IN.get(name, whole))
