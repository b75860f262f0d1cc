"""Questions from single English sentences: the value becomes a question word, and subject and verb change places."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kaijuan.evals.making.english.words import MONEY_UNIT, NUMBER, SCALE, TIME_UNIT, points_outside
from kaijuan.evals.making.facts import Asked
from kaijuan.evals.making.material import Statement

SHORTEST, LONGEST = 20, 170
_AUX = r"(?:is|are|was|were|must be|may be|can be|should be|will be|shall be|must|may|can|should|will|shall)"
_SUBJECT = r"(?P<s>[\w'’/&-]+(?: [\w'’/#&().-]+){0,11}?)"
_TIME = rf"(?P<v>(?:up to |at least |at most |no more than )?(?P<n>{NUMBER}) (?P<unit>{TIME_UNIT}))"
_MONEY = rf"(?P<v>(?:[$€£]\s?{NUMBER}{SCALE}|{NUMBER}{SCALE} {MONEY_UNIT}))"
_TAIL = r"(?P<t>(?: [^.;:]{1,90}?)?)"
_END = r"(?:, (?:and|but|which|unless|except|provided)\b.*)?[.;]?\Z"
_PREPOSITION = r"(?P<p>within|for|after|at|every|before|in|by|up to|to)"

_IS_TIME = re.compile(
    rf"\A{_SUBJECT} (?P<a>is|are|was|were) {_TIME}(?P<t>(?: (?:for|in|after|when|if|of|from"
    rf"|per)\b[^.;:,]{{1,80}}?)?){_END}"
)
_IS_MONEY = re.compile(rf"\A{_SUBJECT} (?P<a>is|was) {_MONEY}{_TAIL}{_END}")
_IS_DONE = re.compile(
    rf"\A{_SUBJECT} (?P<a>{_AUX}) (?P<verb>(?!not\b)[a-z]+(?: [\w'’-]+){{0,8}}?) (?:{_PREPOSITION}) "
    rf"{_TIME}(?P<t>(?: (?:of|after|before|from|when|if|on|in)\b[^.;:,]{{1,60}}?)?){_END}"
)
_HAS = re.compile(
    rf"\A{_SUBJECT} (?P<verb>receive|get|have|need|earn|pay|has|gets|receives|needs|contains|holds|employs"
    rf"|includes|lasts?) (?:about |up to |at least )?(?P<v>(?P<n>{NUMBER}) (?P<what>[a-z]+s(?: of "
    rf"[a-z]+(?: [a-z]+)?)?))(?P<t>(?: (?:a|per|each|every|after|in|for|on|at|if|when"
    rf"|with)\b[^.;:,]{{1,60}}?)?){_END}"
)
_MEANS = re.compile(rf"\A(?P<s>[\w-]+(?: [\w-]+){{0,4}}) means (?P<v>(?:that )?[^.;]{{8,160}}){_END}")
_IF = re.compile(
    r"\A(?:[Ii]f|[Ww]hen) (?P<if>(?:an?|the|your?|any|no|[A-Z]\w*) [^,.;]{8,80}), (?P<v>(?:please "
    r")?(?:[a-z]+ (?:it|the|an?|your|to)\b|must|should|contact|call|open|run|check|restart|report"
    r"|use)[^.;]{6,140})[.;]?\Z"
)
_BY_WHOM = re.compile(
    rf"\A{_SUBJECT} (?P<a>{_AUX}) (?P<verb>(?:[a-z]+ ){{0,3}}[a-z]+(?:ed|en|de|ld|nt)(?: [a-z]+){{0,5}}?) "
    rf"by (?P<v>the (?:[A-Z]?[\w'’-]+ ){{0,3}}(?:manager|director|head|office|team|desk|department|officer"
    rf"|committee|board|minister|authority|council|secretary|chair|administrator|owner|supervisor|court"
    rf"|agency|commission)s?)(?P<t>(?: (?:in|on|before|after|when|within|at|if)\b[^.;:,]{{1,60}}?)?){_END}"
)
_WHAT_IS = re.compile(
    r"\A(?P<s>[Tt]he (?:(?!is\b|are\b)[\w'’-]+ ){0,5}(?!is\b|are\b)[\w'’-]+(?: of (?:the )?[\w'’ "
    r"-]{3,40})?) (?P<a>is|are) "
    r"(?P<v>(?!not\b|also\b|only\b|still\b|likely\b|able\b|expected\b|[a-z]+(?:ed|en|up)\b)[\w%$€£.,:/ "
    r"-]{3,80}?)(?:, and the\b.*)?[.;]?\Z"
)
_RULE_TITLE = re.compile(
    r"handbook|manual|guide|polic(?:y|ies)\b|runbook|playbook|\brules?\b|procedure|specification|\bterms\b|agreement"
    r"|standard|instruction|regulation|code of|contract|schedule|notice|requirements?\b|\bact\b|charter",
    re.IGNORECASE,
)
_AMOUNT = re.compile(rf"\b(?:{NUMBER})\b|\b{TIME_UNIT}\b")
_VERB = {
    "receives": "receive",
    "has": "have",
    "gets": "get",
    "needs": "need",
    "contains": "contain",
    "holds": "hold",
    "employs": "employ",
    "includes": "include",
    "lasts": "last",
}


def questions_of(statement: Statement, title: str, lower_words: frozenset[str]) -> Iterator[Asked]:
    """Yield questions about how long, how much, how many, by whom, what is meant and what to do.

    Only of rules, manuals and the like, whose sentences hold because the document says so.
    """
    text = re.sub(r"\s*\([^()]*\)", "", statement.text.strip())
    if not _RULE_TITLE.search(title) or "?" in text or len(text) > 260:
        return
    for asked in _asked(_with_small_start(text, lower_words)):
        question = _framed(asked.question, title)
        if SHORTEST <= len(question) <= LONGEST and not points_outside(asked.question):
            yield Asked(question=question, answer=asked.answer, how=asked.how)


def _framed(question: str, title: str) -> str:
    """Name the document, without which "the probation period" could be anybody's."""
    named = title.strip("“”\"' ")
    if not named or named in question:
        return question
    article = "" if named.lower().startswith(("the ", "a ", "an ")) or not named[-1].isalpha() else "the "
    return (
        f"According to {article}{named}, {question[0].lower() if _may_lower(question) else question[0]}{question[1:]}"
    )


def _may_lower(question: str) -> bool:
    return question.split(" ", 1)[0] in {
        "What",
        "How",
        "Who",
        "When",
        "Within",
        "For",
        "After",
        "At",
        "By",
        "Every",
        "In",
        "Up",
        "Before",
        "Where",
        "To",
    }


def _asked(text: str) -> Iterator[Asked]:
    yield from _statements_of_time(text)
    if match := _IS_MONEY.match(text):
        yield Asked(question=f"How much {match['a']} {match['s']}{match['t']}?", answer=match["v"], how="en/how-much")
    if match := _HAS.match(text):
        verb = _VERB.get(match["verb"], match["verb"])
        does = "does" if match["verb"] in _VERB else "do"
        what = match["what"]
        yield Asked(
            question=f"How many {what} {does} {match['s']} {verb}{match['t']}?", answer=match["v"], how="en/how-many"
        )
    if match := _MEANS.match(text):
        yield Asked(question=f"What does {match['s']} mean?", answer=match["v"].removeprefix("that "), how="en/means")
    if match := _IF.match(text):
        yield Asked(question=f"What should be done if {match['if']}?", answer=match["v"], how="en/condition")
    if match := _BY_WHOM.match(text):
        first, _, rest = match["a"].partition(" ")
        done = f"{rest} {match['verb']}".strip()
        yield Asked(question=f"By whom {first} {match['s']} {done}{match['t']}?", answer=match["v"], how="en/done-by")


def _statements_of_time(text: str) -> Iterator[Asked]:
    if match := _IS_TIME.match(text):
        yield Asked(question=f"How long {match['a']} {match['s']}{match['t']}?", answer=match["v"], how="en/how-long")
    elif match := _WHAT_IS.match(text):
        yield Asked(question=f"What {match['a']} {match['s']}?", answer=match["v"], how="en/what-is")
    if (match := _IS_DONE.match(text)) and not _AMOUNT.search(match["verb"]):
        first, _, rest = match["a"].partition(" ")
        done = f"{rest} {match['verb']}".strip()
        asks = _asks_of(match["p"], match["unit"])
        question = f"{asks} {first} {match['s']} {done}{match['t']}?"
        yield Asked(question=question, answer=f"{match['p']} {match['v']}", how="en/how-long")


def _asks_of(preposition: str, unit: str) -> str:
    if preposition == "for":
        return "For how long"
    if preposition == "every":
        return "How often"
    many = f"how many {unit if unit.endswith('s') else unit + 's'}"
    return f"{preposition.capitalize()} {many}"


def _with_small_start(text: str, lower_words: frozenset[str]) -> str:
    """Write the first word small where the document elsewhere does so: then it is no name."""
    first = re.match(r"[A-Z][a-z]+\b|A\b", text)
    if first and (first.group().lower() in lower_words or first.group() in {"The", "A", "An", "Each", "Every", "All"}):
        return text[0].lower() + text[1:]
    return text
