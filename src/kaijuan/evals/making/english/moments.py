"""Questions whose answer holds for a moment or a span of time, from English sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kaijuan.evals.making.english.words import DATE, MONTH, NAME, NUMBER, SCALE, YEAR, points_outside
from kaijuan.evals.making.facts import Asked, Sort, Topic
from kaijuan.evals.making.material import Statement

_WHEN = (
    rf"(?P<when>(?:the )?(?:{DATE}|(?:{YEAR} )?(?:{MONTH} )?{YEAR}(?: census| season| election)?|(?:fiscal "
    rf"(?:year )?)?{YEAR}|the {YEAR} [a-z]+))"
)
_AS_OF = re.compile(rf"\A(?:As of|At|By|On) {_WHEN},? (?P<rest>.+?)[.;]?\Z")
_VALUE = rf"(?P<v>[$€£]?\s?{NUMBER}{SCALE}(?:%| percent)?(?: [a-z]+)?)"
_POPULATION = re.compile(
    rf"\A(?:the|its|it had a|it has a) (?:total |estimated )?population (?:was|of|is)(?: about| "
    rf"approximately| estimated at)? {_VALUE}"
)
_HAD = re.compile(
    rf"\A(?P<s>it|he|she|[Tt]he (?:company|group|club|airline|school|university|bank|network"
    rf"|organi[sz]ation|museum|city|town|village)|{NAME}) (?P<verb>had|has|employed|employs|operated"
    rf"|operates|owned|owns|served|serves) (?:about |around |approximately |over |more than "
    rf")?(?P<v>(?P<n>{NUMBER}{SCALE}) (?P<what>(?:[a-z-]+ ){{0,2}}[a-z]+s))\b(?P<t>(?: (?:in|worldwide"
    rf"|across|throughout)[^.;,]{{0,50}})?)(?=[.;,]|\Z)"
)
_PLAIN = {
    "had": "have",
    "has": "have",
    "employed": "employ",
    "employs": "employ",
    "operated": "operate",
    "operates": "operate",
    "owned": "own",
    "owns": "own",
    "served": "serve",
    "serves": "serve",
}

_OFFICE = re.compile(
    rf"\b(?:served as|was|is best known as|became) (?:the |an? )?(?P<v>(?!its |his |her )(?:(?!who "
    rf")[A-Za-z-]+ ){{0,6}}?(?:President|Minister|Mayor|Governor|Director|Chairman|Chancellor|Secretary"
    rf"|Bishop|Archbishop|Warden|Ambassador|Speaker|Principal|Professor|Editor|Manager|Commander|Chief"
    rf"|Member of Parliament|Senator|Judge|Coach|coach|manager|captain|mayor|governor|president|bishop"
    rf"|chairman|director|editor|minister|ambassador|senator)(?: (?:of|for|to|in|at) (?:the )?{NAME})*)"
    rf",? (?:from|between|during)? ?\(?(?P<when>(?:{MONTH} )?{YEAR}) ?(?:to|until|till|and|[–-]) "
    rf"?(?P<end>(?:{MONTH} )?{YEAR})"
)
_EVENT = re.compile(
    rf"\AIn (?P<when>(?:{MONTH} )?{YEAR}),? (?P<s>he|she|it|{NAME}) (?P<verb>won|received|joined|founded"
    rf"|co-founded|married|published|released|wrote|established|acquired|became|moved to|was appointed|was "
    rf"elected|was awarded|was named)"
    rf" (?:as |to )?(?P<v>(?!to |up |in |with |by )[^.;,]{{3,90}}?)(?=(?<![ .][A-Z])[.;]|\Z|,(?! [A-Z\"“])"
    r"| and (?:was|then|later|in|he|she|it|became|moved|took|began)\b"
    r"| (?:where|which|who|with|after|before|along|working|starting|by|while|following|because|prior"
    r"|despite|although|until)\b)"
)
_WHAT = {
    "won": "What did {x} win in {w}?",
    "received": "What did {x} receive in {w}?",
    "joined": "What did {x} join in {w}?",
    "founded": "What did {x} found in {w}?",
    "co-founded": "What did {x} co-found in {w}?",
    "married": "Whom did {x} marry in {w}?",
    "published": "What did {x} publish in {w}?",
    "released": "What did {x} release in {w}?",
    "wrote": "What did {x} write in {w}?",
    "established": "What did {x} establish in {w}?",
    "acquired": "What did {x} acquire in {w}?",
    "became": "What did {x} become in {w}?",
    "moved to": "Where did {x} move in {w}?",
    "was appointed": "To which position was {x} appointed in {w}?",
    "was elected": "To which position was {x} elected in {w}?",
    "was awarded": "What was {x} awarded in {w}?",
    "was named": "What was {x} named in {w}?",
}


def timed_questions(statement: Statement, topic: Topic | None) -> Iterator[tuple[Asked, str]]:
    """Yield questions about an article's topic, or about who is named, with the moment that they name."""
    text = re.sub(r"\s*\([^()\d]*\)", "", statement.text.strip())
    if match := _AS_OF.match(text):
        yield from _as_of(match["when"], match["rest"], topic)
    if topic is None:
        return
    if topic.sort is Sort.PERSON and _is_about(text, topic) and (match := _OFFICE.search(text)):
        question = f"Which position did {topic.name} hold from {match['when']} to {match['end']}?"
        yield Asked(question=question, answer=match["v"], how="en/office"), f"{match['when']}–{match['end']}"
    if (match := _EVENT.match(text)) and _is_topic(match["s"], topic) and not points_outside(match["v"]):
        question = _WHAT[match["verb"]].format(x=topic.name, w=match["when"])
        yield Asked(question=question, answer=match["v"], how="en/event"), match["when"]


def _as_of(when: str, rest: str, topic: Topic | None) -> Iterator[tuple[Asked, str]]:
    if topic and (match := _POPULATION.match(rest)):
        question = f"As of {when}, what was the population of {topic.name}?"
        yield Asked(question=question, answer=match["v"], how="en/as-of"), when
    elif (match := _HAD.match(rest)) and (name := _named(match["s"], topic)):
        did = "did" if match["verb"] in {"had", "employed", "operated", "owned", "served"} else "does"
        question = f"As of {when}, how many {match['what']} {did} {name} {_PLAIN[match['verb']]}{match['t']}?"
        yield Asked(question=question, answer=match["v"], how="en/as-of"), when


def _named(subject: str, topic: Topic | None) -> str:
    """Return the name of whom a sentence is about; "" where only the text around it would tell."""
    if topic is not None and _is_topic(subject, topic):
        return topic.name
    named = subject[:1].isupper() and not subject.startswith(("The ", "It", "He", "She", "We", "They", "Our"))
    return subject if named else ""


def _is_topic(subject: str, topic: Topic) -> bool:
    words = subject.split()
    pronoun = {"he", "she"} if topic.sort is Sort.PERSON else {"it"}
    if subject in pronoun or subject == topic.short or (words[0].lower() == "the" and words[-1].lower() == topic.noun):
        return True
    return topic.sort is Sort.PERSON and subject == topic.short.split()[-1]


def _is_about(text: str, topic: Topic) -> bool:
    return re.match(rf"(?:He|She|{re.escape(topic.short)}|{re.escape(topic.short.split()[-1])})\b", text) is not None
