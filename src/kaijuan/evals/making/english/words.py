"""Shapes of English: names, dates, amounts, verbs and their forms. Strict rather than complete."""

from __future__ import annotations

import re

MONTH = (
    r"(?:January|February|March|April|May|June|July|August|September|October|November|December"
    r"|Jan\.|Feb\.|Mar\.|Apr\.|Jun\.|Jul\.|Aug\.|Sept?\.|Oct\.|Nov\.|Dec\.)"
)
YEAR = r"(?:1[0-9]{3}|20[0-9]{2})"
FULL_DATE = rf"(?:\d{{1,2}} {MONTH},? {YEAR}|{MONTH} \d{{1,2}},? {YEAR})"
DATE = rf"(?:{FULL_DATE}|{MONTH},? {YEAR}|{YEAR})"
_PARTICLE = r"(?:of|the|de|da|di|du|del|della|la|le|van|von|der|den|bin|ibn|al|el|and|y)"
_CAPITAL = r"[A-ZÀ-ÖØ-Þ][\w'’.-]*"
PERSON = rf"{_CAPITAL}(?: (?:(?:de|da|di|du|del|la|le|van|von|der|den|bin|ibn|al|el) ){{0,2}}{_CAPITAL}){{1,4}}"
"""A name of two to five words."""
NAME = rf"{_CAPITAL}(?: (?:{_PARTICLE} ){{0,2}}(?:{_CAPITAL}|\d+\b)){{0,6}}"
"""Any name that is written with capitals."""
PERSONS = rf"{PERSON}(?:, {PERSON})*(?:,? (?:and|&) {PERSON})?"
PLACE = (
    rf"{_CAPITAL}(?: (?:(?:of|the|de|la|and|upon|on) ){{0,2}}{_CAPITAL}){{0,4}}(?:, {_CAPITAL}(?: (?:of "
    rf")?{_CAPITAL}){{0,3}}){{0,3}}"
)
END = (
    r"(?=\s*(?:[.;,()]|$)|\s+(?:and|in|on|for|from|at|with|as|by|based|starring|who|which|that|when|where"
    r"|during|under|after|before|since|until|while|to|but)\b)"
)
"""What may follow a value, so that it is whole."""

NUMBER_WORDS = (
    "two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen"
    "|fifteen|sixteen|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|ninety"
)
NUMBER = rf"(?:\d{{1,3}}(?:,\d{{3}})+(?:\.\d+)?|\d+(?:\.\d+)?|{NUMBER_WORDS})"
SCALE = r"(?: (?:hundred|thousand|million|billion|trillion))?"
TIME_UNIT = r"(?:seconds?|minutes?|hours?|(?:working |business |calendar )?days?|weeks?|months?|years?)"
MONEY_UNIT = r"(?:yuan|RMB|dollars?|euros?|pounds?|cents?)"

_ANAPHORS = re.compile(
    r"\b(?:he|she|it|they|him|her|his|hers|its|their|them|theirs|this|that|these|those|we|us|our|ours|i|me|my"
    r"|former|latter|above|below|the following|respectively|aforementioned|herein|thereof|such|said|the same)\b",
    re.IGNORECASE,
)
"""Words that point at something outside the sentence."""


def points_outside(text: str) -> bool:
    """Say whether a sentence leans on another; IT and US in capitals are names."""
    return any(not (word.isupper() and len(word) > 1) for word in _ANAPHORS.findall(text))


_PAST = {
    "founded": "found",
    "established": "establish",
    "opened": "open",
    "moved": "move",
    "joined": "join",
    "became": "become",
    "began": "begin",
    "won": "win",
    "received": "receive",
    "published": "publish",
    "wrote": "write",
    "released": "release",
    "directed": "direct",
    "produced": "produce",
    "married": "marry",
    "graduated": "graduate",
    "premiered": "premiere",
    "closed": "close",
    "started": "start",
    "created": "create",
    "launched": "launch",
    "acquired": "acquire",
    "died": "die",
    "played": "play",
    "recorded": "record",
    "completed": "complete",
    "built": "build",
    "made": "make",
    "sold": "sell",
    "bought": "buy",
    "led": "lead",
    "earned": "earn",
    "had": "have",
    "reported": "report",
    "employed": "employ",
    "operated": "operate",
    "served": "serve",
    "signed": "sign",
    "left": "leave",
    "returned": "return",
    "studied": "study",
    "retired": "retire",
}
"""Past forms of verbs whose sentences questions are made of, and their plain forms."""


def plain_form(verb: str) -> str:
    """Return the plain form of a verb in the past or third person; "" where it is not known."""
    if verb in _PAST:
        return _PAST[verb]
    if verb.endswith("ies"):
        return verb[:-3] + "y"
    return ""
