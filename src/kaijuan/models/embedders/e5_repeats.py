"""Tokens of texts between blanks, each word searched for once: no piece reaches over a blank.

In English and in code most words have stood before in the same 200,000 characters, and to look them up takes a third of
the time of searching again. The spans are those of the search itself, place by place (a test compares them).
"""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Found = tuple[Ints, Ints]
"""Starts and ends of tokens in order."""

_SHORTEST = 4_000
"""Characters from which it pays."""
_LONGEST_WORD = 1_000
_A_BLANK_IN = 12
"""Characters to a blank, at most: in Chinese nearly every run between blanks is new."""
_ASCII = 0x7E
_MARK = 0x2581
_BLANK = 0x20


class Repeats:
    """Which texts can be searched word by word, from the rules by which the tokenizer makes characters alike."""

    def __init__(self, rule_of: npt.NDArray[np.int32], offsets: Ints, to: Ints) -> None:
        """`rule_of` has for each code point 0 or the number of its rule, whose characters are a part of `to`."""
        sizes = np.diff(offsets)
        at_end = np.append(to, 0)[np.maximum(offsets[1:] - 1, 0)] == _BLANK
        alone = (sizes == 1) & at_end
        odd = (sizes == 0) | (at_end & ~alone)
        self._parts = np.concatenate([[False], alone])[rule_of]
        self._parts[_BLANK] = True
        # A character that vanishes, or ends with a blank, would join words or part them.
        self._odd = np.concatenate([[False], odd])[rule_of]
        self._odd[_MARK] = True
        separators = "".join(re.escape(chr(code)) for code in np.flatnonzero(self._parts).tolist())
        self._between = re.compile(f"[{separators}]+")

    def found(self, text: str, search: Callable[[str], Found]) -> Found | None:
        """Return the tokens of a text, None where it must be searched as a whole. `search` finds those of a short one,
        a token that is a blank alone included."""
        if len(text) < _SHORTEST:
            return None
        codes = np.frombuffer(text.encode("utf-32-le"), dtype=np.uint32)
        parts = self._parts[codes]
        if parts.sum() * _A_BLANK_IN < len(text) or self._odd[codes].any():
            return None
        inside = np.concatenate([[False], ~parts, [False]])
        borders = np.flatnonzero(inside[1:] != inside[:-1])
        begins, ends = borders[::2], borders[1::2]
        if not len(begins) or (begins[0] == 0 and codes[0] > _ASCII) or int((ends - begins).max()) > _LONGEST_WORD:
            return None
        words = self._between.split(text)
        words = words[not words[0] : len(words) - (not words[-1])]
        seen: dict[str, int] = {}
        numbers = np.array([seen.setdefault(word, len(seen)) for word in words], dtype=np.int64)
        return _placed(_Words(list(seen), search), numbers, begins, ends, len(text))


class _Words:
    """The tokens of different words, their places counted from the beginning of each; before it stands a blank, -1."""

    def __init__(self, words: list[str], search: Callable[[str], Found]) -> None:
        starts, ends = search(" " + " ".join(words))
        sizes = np.array([len(word) + 1 for word in words], dtype=np.int64)
        blanks = np.cumsum(sizes) - sizes
        # A token without a character of its own stands behind the one that has it.
        word = np.searchsorted(blanks, starts - (starts == ends), side="right") - 1
        self.starts, self.ends = starts - blanks[word] - 1, ends - blanks[word] - 1
        self.counts = np.bincount(word, minlength=len(words))
        self.firsts = np.cumsum(self.counts) - self.counts


def _placed(words: _Words, numbers: Ints, begins: Ints, ends: Ints, size: int) -> Found:
    counts = words.counts[numbers]
    owner = np.repeat(np.arange(len(numbers)), counts)
    nth = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
    token = words.firsts[numbers[owner]] + nth
    first, last = begins[owner] + words.starts[token], begins[owner] + words.ends[token]
    # A blank that is a token of its own is the first of those before the word.
    runs = np.concatenate([[0], ends[:-1]])[owner]
    alone = words.starts[token] < 0
    first, last = np.where(alone, runs, first), np.where(alone, runs + 1, last)
    if alone[0] and begins[0] == 0:
        first, last = first[1:], last[1:]
    if ends[-1] < size:
        first, last = np.append(first, ends[-1]), np.append(last, ends[-1] + 1)
    return first, last
