"""Relations in English articles, and what an article is about."""

from __future__ import annotations

import re

from kaijuan.evals.making.english.words import DATE, END, FULL_DATE, NAME, PERSONS, PLACE, YEAR
from kaijuan.evals.making.facts import Fact, Relation, Sort, Topic
from kaijuan.evals.making.material import Material, Statement

_BRACKETS = r"(?:\s*\([^()]*\))*"
_TITLE_NOTE = re.compile(r"\s*\([^()]*\)\s*\Z")
_IS = re.compile(r"\b(?:is|was|are|were) (?P<np>(?:an?|the) [^.;]+)")
_STOP = re.compile(
    r"[,.;(]|\s(?:in|of|by|from|who|which|that|for|and|directed|written|located|produced|based|published|released|"
    r"with|on|at|about|starring|known|created|between|under|where|whose|founded|named|made|or|during|serving|near|to)\b"
)
_SORTS = {
    Sort.PERSON: "actor actress singer songwriter composer politician player footballer writer author poet painter "
    "director producer screenwriter filmmaker lawyer physician scientist physicist chemist mathematician historian "
    "philosopher musician guitarist drummer rapper model journalist general officer king queen prince princess duke "
    "earl bishop priest cricketer swimmer athlete boxer wrestler coach manager businessman businesswoman economist "
    "engineer architect judge diplomat nobleman missionary theologian psychologist educator cyclist driver skier "
    "gymnast sprinter golfer jockey chef explorer astronomer biologist botanist activist comedian dancer photographer "
    "sculptor novelist playwright pitcher goalkeeper midfielder defender striker quarterback soldier merchant educator",
    Sort.WORK: "film movie album song single novel book series game play opera magazine newspaper journal musical "
    "sitcom soundtrack documentary anime manga comic ep show episode poem painting software",
    Sort.PLACE: "village town city municipality district county province river lake mountain island hamlet suburb "
    "commune station airport bridge building church cathedral castle park stadium museum street road highway volcano "
    "hotel neighborhood neighbourhood settlement community peninsula bay region township parish",
    Sort.BODY: "company band group club university college school organization organisation team label corporation "
    "association airline bank party agency society foundation institute institution brand network firm manufacturer "
    "publisher retailer orchestra",
}  # fmt: skip
_SORT_OF = {word: sort for sort, words in _SORTS.items() for word in words.split()}
_PRONOUNS = {Sort.PERSON: "He|She", Sort.OTHER: "It"}


def topic_of(material: Material) -> Topic | None:
    """Return what an article is about; None where the document is not an article about its title."""
    title = " ".join(material.head.title.split())
    short = _TITLE_NOTE.sub("", title)
    lead = next((statement for statement in material.statements if statement.lead), None)
    if lead is None or not short or not short[0].isalnum() or len(short) > 60:
        return None
    begins = re.match(rf"(?:The )?[\"“']?{_loose(short)}[\"”']?(?=[\s(,])", lead.text)
    found = _IS.search(lead.text, begins.end()) if begins else None
    if begins is None or found is None or len(_outside(lead.text[begins.end() : found.start()])) > 90:
        return None
    phrase = found["np"].split(" ", 1)[1]
    stop = _STOP.search(phrase)
    noun = (phrase[: stop.start()] if stop else phrase).split()[-1:] or [""]
    sort = _SORT_OF.get(noun[0].lower(), Sort.OTHER)
    if sort is Sort.OTHER and re.search(rf"\((?:[^()]*\b)?(?:born|{DATE}\s?[–-]\s?)", lead.text):
        sort = Sort.PERSON
    return Topic(name=title, short=short, sort=sort, noun=noun[0].lower())


def _loose(short: str) -> str:
    """Return a pattern for a name of which the text may hold more: middle names between first and last."""
    words = short.split()
    if len(words) == 2 and all(word[:1].isupper() and word.isalpha() for word in words):
        return rf"{re.escape(words[0])}(?: [A-Z“\"][\w.'’-]*[”\"]?){{0,4}} {re.escape(words[1])}"
    return re.escape(short)


def _outside(text: str) -> str:
    return re.sub(r"\([^()]*\)", "", text)


def facts_of(material: Material, topic: Topic) -> list[Fact]:
    """Return the facts that an article states about its topic, each relation once."""
    found: dict[str, Fact] = {}
    for statement in material.statements:
        rest = _about(topic, statement)
        if rest is None:
            continue
        for relation in RELATIONS:
            if relation.name in found or (relation.sorts and topic.sort not in relation.sorts):
                continue
            if relation.lead_only and not statement.lead:
                continue
            match = next(filter(None, (pattern.search(rest) for pattern in relation.patterns)), None)
            if match and _sound(match["v"]):
                found[relation.name] = Fact(
                    topic=topic, relation=relation, value=_whole(match["v"]), statement=statement
                )
    return list(found.values())


def _about(topic: Topic, statement: Statement) -> str | None:
    """Return what a sentence says after its subject, where that is the topic."""
    names = [_loose(topic.short)]
    if topic.sort is Sort.PERSON:
        names += ["He", "She", re.escape(topic.short.split()[-1])]
    else:
        names += ["It"] + ([f"The {topic.noun}"] if topic.noun else [])
    match = re.match(rf"(?:The )?[\"“']?(?:{'|'.join(names)})[\"”']?(?=[\s(,])", statement.text)
    return statement.text[match.end() :] if match else None


_SHORTENED = re.compile(r"(?:\b[A-Z]|\b(?:Inc|Bros|Jr|Sr|Co|Corp|Ltd|St|Mt|Dr|Prof))\.\Z")


def _whole(value: str) -> str:
    """Return a value without the mark that ends its sentence."""
    value = value.strip(" ,")
    return value if _SHORTENED.search(value) else value.rstrip(".")


def _sound(value: str) -> bool:
    return 2 < len(value.strip()) <= 120 and value.count("(") == value.count(")")


def _r(
    name: str,
    pattern: str | tuple[str, ...],
    question: str,
    sorts: str = "",
    words: str = "",
    **more: object,
) -> Relation:
    return Relation(
        name=name,
        patterns=tuple(map(re.compile, (pattern,) if isinstance(pattern, str) else pattern)),
        question=question,
        sorts=frozenset(Sort(sort) for sort in sorts.split()),
        words=tuple(words.split("|")) if words else (),
        **more,  # type: ignore[arg-type] # the optional fields, as they are
    )


_LEAD = r"\A[^.;]{0,200}?"
_SIMPLE = r"\A(?: \([^()]*\))?(?:,[^,;]{2,60},)? ?"
"""From the subject straight to its verb, over brackets or one aside."""
_BY = {
    "directed": ("directed", "direct|filmmaker", "the director of {x}"),
    "written": ("wrote", "writ|wrote|author", "the writer of {x}"),
    "produced": ("produced", "produc", ""),
    "developed": ("developed", "develop", ""),
    "founded": ("founded", "found|establish", "the founder of {x}"),
    "created": ("created", "creat", "the creator of {x}"),
}


def _by_relations() -> list[Relation]:
    found = []
    for verb, (past, words, noun) in _BY.items():
        found.append(
            _r(
                f"{verb}-by",
                rf"\A(?:(?!based on|same name)[^.;:]){{0,90}}?\b(?:co-)?{verb}(?: and [a-z-]+ed)? by "
                rf"(?P<v>{PERSONS}){END}",
                f"Who {past} {{x}}?",
                sorts="work body place other",
                words=words,
                noun=noun,
            )
        )
    return found


_DATED = {
    "released": ("released", "work", "released|releas"),
    "founded": ("founded", "body", "found|establish|form"),
    "established": ("established", "body place", "found|establish|form"),
    "formed": ("formed", "body", "found|establish|form"),
    "built": ("built", "place", "built|construct|complet"),
    "completed": ("completed", "place", "built|construct|complet"),
    "published": ("published", "work", "publish|releas"),
    "launched": ("launched", "work body", "launch|found"),
    "incorporated": ("incorporated", "body place", "incorporat"),
}


def _dated_relations() -> list[Relation]:
    return [
        _r(
            f"{verb}-on",
            rf"{_SIMPLE}(?:was|were) (?:first |officially |originally )?{verb}(?: (?!and|in|on|by|under)[a-z]+){{0,2}}"
            rf" (?:on|in) (?P<v>{DATE})(?=[.,;]|$| by\b| and\b| as\b| with\b| under\b| through\b| via\b| at\b)",
            f"When was {{x}} {past}?",
            sorts=sorts,
            words=words,
            compared=(f"Which was {past} first, {{a}} or {{b}}?", f"Which was {past} later, {{a}} or {{b}}?"),
        )
        for verb, (past, sorts, words) in _DATED.items()
    ]


RELATIONS: tuple[Relation, ...] = (
    _r(
        "born-on",
        (
            rf"\A[^.;()]{{0,60}}\((?:[^()]*?[;,] ?)?(?:born|b\.)(?: in| on)? (?P<v>{FULL_DATE})(?![^()]*\bor\b)",
            rf"\A[^.;]{{0,60}}? was born on (?P<v>{FULL_DATE})",
            rf"\A(?: [A-Z][\w.]+)*\s?\( ?(?P<v>{FULL_DATE}) ?(?:in [^()–-]+)?[–-]",
        ),
        "When was {x} born?",
        sorts="person",
        words="born|birth",
        compared=("Who was born first, {a} or {b}?", "Who was born later, {a} or {b}?"),
    ),
    _r(
        "died-on",
        (
            rf"\A[^()]{{0,40}}\([^()]*?{YEAR}[^()]*?[–-]\s?(?P<v>{FULL_DATE})\)",
            rf"\A[^.;]{{0,30}}? died (?:[a-z ]+)?on (?P<v>{FULL_DATE})",
        ),
        "When did {x} die?",
        sorts="person",
        words="died|death",
        compared=("Who died first, {a} or {b}?", "Who died later, {a} or {b}?"),
    ),
    _r(
        "born-in",
        rf"\A[^.;]{{0,40}}? was born (?:on {FULL_DATE},? )?in (?P<v>{PLACE})(?=[.;,]|$| on\b| to\b| and\b| in\b)",
        "Where was {x} born?",
        sorts="person",
        words="born|birth",
    ),
    _r(
        "educated-at",
        rf"\A[^.;]{{0,60}}? (?:was educated at|graduated from|studied at|attended) (?:the "
        rf")?(?P<v>{NAME})(?=[.;]|$|,? where\b| in \d|, graduating)",
        "Where was {x} educated?",
        sorts="person",
        words="educat|graduat|stud|attend|university|college|school|degree",
    ),
    _r(
        "starring",
        rf"\A[^.;]{{0,140}}?\b(?:starring|stars) (?P<v>{PERSONS})(?=[.;]|$| and is\b| in (?:the|lead|their)\b)",
        "Who starred in {x}?",
        sorts="work",
        words="star|cast|role",
    ),
    _r(
        "music-by",
        rf"\A[^.;]{{0,140}}?\b(?:music|score|soundtrack)(?: was| is)? (?:composed )?by (?P<v>{PERSONS}){END}",
        "Who composed the music for {x}?",
        sorts="work",
        words="music|compos|score|soundtrack",
    ),
    _r(
        "designed-by",
        rf"\A[^.;]{{0,60}}? was designed by (?:the )?(?:architects? )?(?P<v>{PERSONS}){END}",
        "Who designed {x}?",
        sorts="place body",
        words="design|architect",
    ),
    *_by_relations(),
    *_dated_relations(),
    _r(
        "located-in",
        rf"\A[^.;]{{0,60}}? (?:is|are|was) (?:located|situated|headquartered|based) (?:in|on|at|near) "
        rf"(?:the )?(?P<v>{PLACE})(?=[.;]|$|,? and\b|, which\b)",
        "Where is {x} located?",
        sorts="place body",
        words="locat|situat|headquarter|based",
    ),
    _r(
        "place-in",
        r"\A[^.;,]{0,40}? is an? (?:[a-z-]+ ){0,3}(?:village|town|city|municipality|hamlet|suburb"
        r"|commune|river|lake|mountain|island|settlement|district)"
        r" (?:located |situated )?in (?:the )?(?P<v>[^.;()]{4,90})(?=[.;(]|$)",
        "Where is {x}?",
        sorts="place",
        words="locat|situat",
        lead_only=True,
    ),
    _r(
        "named-after",
        rf"\A[^.;]{{0,60}}? (?:is|was) named (?:after|for|in honou?r of) (?P<v>(?:the )?(?:[a-z]+ "
        rf"){{0,4}}{NAME})(?=[.;,]|$| and\b| who\b| in\b)",
        "Who or what is {x} named after?",
        words="named",
    ),
    _r(
        "population",
        r"\A[^.;]{0,60}? (?:has|had) a population of (?:about |around |approximately "
        r")?(?P<v>\d[\d,]*(?:\.\d+ million)?)(?=[.;,]|$| people\b| inhabitants\b| \()",
        "What is the population of {x}?",
        sorts="place",
        words="population|inhabitants",
    ),
    _r(
        "by-company",
        rf"\A[^.;]{{0,60}}? was (?:released|distributed) by (?P<v>{NAME})(?=[.;]|$| on\b| in\b)",
        "Which company released {x}?",
        sorts="work",
        words="releas|distribut|publish|label",
    ),
    _r(
        "stage-name",
        rf"\A[^.;]{{0,60}}?(?:,|\)),? (?:better |best |professionally |commonly |also )?known "
        rf"(?:professionally )?(?:by (?:his|her) stage name|as) (?P<v>{NAME})(?=[,.;]|$| (?:is|was)\b)",
        "What else is {x} known as?",
        words="known|stage name|alias",
        lead_only=True,
    ),
    _r(
        "definition",
        r"\A(?: \([^()]*\))?(?:,[^,;]{2,60},)? (?:is|was) (?P<v>(?:an?|the) [^;:]{15,180}?)(?=\.\Z|, "
        r"(?:who|which|where)\b| who\b)",
        "What is {x}?",
        lead_only=True,
    ),
)
