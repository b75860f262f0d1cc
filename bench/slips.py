"""Slips of people who type, made by rule: a letter amiss in an English word, a character that only sounds right."""

from __future__ import annotations

import random
import re

import rjieba

from kaijuan.core.text.stopwords import CHINESE, ENGLISH
from kaijuan.retrieve.understanding.pinyin import alike

_WORD = re.compile(r"(?<![\w-])[a-z]{6,}(?![\w-])")
_HAN_RUN = re.compile("[\u4e00-\u9fff]+")


def with_slip(question: str, chance: random.Random) -> str:
    """Return the question with one word amiss, or as it is where it has no word to slip in."""
    return _han(question, chance) or _latin(question, chance) or question


def _latin(question: str, chance: random.Random) -> str:
    words = [match for match in _WORD.finditer(question) if match.group() not in ENGLISH]
    if not words:
        return ""
    word = chance.choice(words)
    at = chance.randrange(1, len(word.group()) - 1)
    letters = list(word.group())
    match chance.randrange(4):
        case 0:
            letters[at], letters[at + 1] = letters[at + 1], letters[at]
        case 1:
            del letters[at]
        case 2:
            letters.insert(at, letters[at])
        case _:
            letters[at] = chance.choice("abcdefghijklmnopqrstuvwxyz")
    return question[: word.start()] + "".join(letters) + question[word.end() :]


def _han(question: str, chance: random.Random) -> str:
    places = []
    for run in _HAN_RUN.finditer(question):
        at = run.start()
        for word in rjieba.cut(run.group()):
            if len(word) == 2 and word not in CHINESE:
                places.append((at, word))
            at += len(word)
    chance.shuffle(places)
    for at, word in places:
        which = chance.randrange(2)
        others = [other for other in alike(word[which]) if not rjieba.has_word(_put(word, which, other))]
        if others:
            return question[:at] + _put(word, which, chance.choice(others)) + question[at + 2 :]
    return ""


def _put(word: str, at: int, character: str) -> str:
    return word[:at] + character + word[at + 1 :]
