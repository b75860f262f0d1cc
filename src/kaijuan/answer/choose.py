"""Which of the scored units make the answer: the best, the steps after it, and only what adds to them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from kaijuan.answer.extract import ADDS, Read, Scored, alike, coverage, near_miss, rarities, same, words_of
from kaijuan.answer.question import AnchorKind, Question
from kaijuan.answer.settings import AnswerSettings
from kaijuan.answer.units import Unit
from kaijuan.core.documents import BlockKind
from kaijuan.core.text.analyse import analyse

_STEPS = 400
"""Characters of the steps that follow the best sentence of an answer to "how to"."""
_FIRST_STEP = re.compile(r"首先|先|第一|步骤一|步驟一|first\b|step 1|to begin", re.IGNORECASE)
TIED = 0.93
"""Share of the best score from which a sentence is shown beside the best whatever it adds: which of the two answers
cannot be told. Not where both speak of the same thing: then the best is the one that fits."""
TIED_KINDS = 0.8
"""The same for two that say alike of two kinds of the thing asked for, where the question names neither."""
_KIND_WORDS = 2
"""Words by which two kinds of a thing differ."""
_LEANS = re.compile(
    r"(?:这|這|该|該|此|其(?![他它余餘次])|他|她|它|牠|祂|从此|從此|同年|同月|同日|当时|當時|当年|當年|后者|後者|前者|之后|之後|随后|隨後|次年|翌年|不过|不過|但|因此|所以|于是|於是)"
    r"|(?:he|she|it|they|his|her|its|their"
    r"|this(?! (?:policy|document|handbook|manual|guide|page|section))"
    r"|that|these|those|then|the (?:latter|former)|such|in (?:this|that)"
    r"|however|therefore|but|so)\b",
    re.IGNORECASE,
)
"""How sentences begin that say of whom or when they speak only in the sentence before."""
_MOST_BEFORE = 2
"""Sentences put before one that leans."""
_STEP_KINDS = frozenset({BlockKind.LIST, BlockKind.CODE})


def choose(
    question: Question, scored: Sequence[Scored], reads: Sequence[Read], settings: AnswerSettings
) -> list[Scored]:
    """Return the best units, best first: one for each identifier, the steps after them, what adds to these, and last
    the sentences that they lean on.

    `reads` are all units of the evidence, in reading order: steps need not be among the scored.
    """
    ranked = sorted(scored, key=lambda item: (-item.score, item.read.unit.passage, item.read.unit.span))
    most = max(settings.sentences, 1)
    chosen: list[Scored] = []
    for item in _firsts(question, ranked):
        if _new(item, chosen):
            chosen.append(item)
    if question.how:
        chosen = _with_steps(question, chosen, reads, most)
    floor = settings.keep_ratio * ranked[0].score if ranked else 0.0
    rarity = rarities(question, [item.read for item in scored])
    for item in ranked:
        if len(chosen) >= most or item.score < floor:
            break
        tied = not question.how and _is_tied(question, item, ranked[0])
        if _new(item, chosen) and _belongs(question, item, chosen) and (tied or _adds(rarity, item, chosen)):
            chosen.append(item)
    for item in list(chosen):
        for before in _leant_on(item.read, reads):
            _append(chosen, Scored(read=before, coverage=0.0, similarity=0.0, score=0.0))
    return chosen


def _is_tied(question: Question, item: Scored, best: Scored) -> bool:
    """Say whether nobody can tell which of two the question means."""
    if not alike(best.read, item.read):
        return item.score >= TIED * best.score
    # Full backups, incremental backups: a question about backups says neither, and covers as much of each.
    left, right = words_of(best.read), words_of(item.read)
    asked = {term.text for term in analyse(question.text)}
    kinds = all(0 < len(own) <= _KIND_WORDS and asked.isdisjoint(own) for own in (left - right, right - left))
    return kinds and item.coverage == best.coverage and item.score >= TIED_KINDS * best.score


def _leant_on(read: Read, reads: Sequence[Read]) -> list[Read]:
    """Return the sentences of the same paragraph without which nobody knows of what a sentence speaks."""
    found: list[Read] = []
    while len(found) < _MOST_BEFORE and read.unit.kind is BlockKind.PARAGRAPH and _LEANS.match(read.unit.quote):
        mine = [
            one
            for one in reads
            if (one.unit.passage, one.unit.block) == (read.unit.passage, read.unit.block)
            and one.unit.span.end <= read.unit.span.start
        ]
        if not mine:
            break
        read = mine[-1]
        found.append(read)
    return found


def _firsts(question: Question, ranked: Sequence[Scored]) -> list[Scored]:
    """Return the best unit and the best for each identifier it lacks: of two codes asked for, both are answered."""
    firsts: list[Scored] = list(ranked[:1])
    for anchor in question.anchors:
        if anchor.kind is AnchorKind.IDENTIFIER and not any(item.read.has(anchor) for item in firsts):
            firsts.extend([item for item in ranked if item.read.has(anchor)][:1])
    return firsts


def _with_steps(question: Question, chosen: Sequence[Scored], reads: Sequence[Read], most: int) -> list[Scored]:
    """Return the units with the sentences or list that follow them in their section."""
    out: list[Scored] = []
    for item in chosen:
        first = _beginning(question, item.read, reads)
        room = _STEPS
        for read in [first, *_following(first, reads)]:
            room -= len(read.unit.quote)
            if len(out) >= most or room < 0 or any(near_miss(anchor, read) for anchor in question.anchors):
                break
            _append(out, item if read is item.read else Scored(read=read, coverage=0.0, similarity=0.0, score=0.0))
        _append(out, item)
    return out


def _append(out: list[Scored], item: Scored) -> None:
    if _new(item, out):
        out.append(item)


def _beginning(question: Question, best: Read, reads: Sequence[Read]) -> Read:
    """Return the first sentence of the best one's block if the steps begin with it, else the best one itself.

    Of a list, the first unit of the block is the whole.
    """
    block = next(read for read in reads if (read.unit.passage, read.unit.block) == (best.unit.passage, best.unit.block))
    named = any(anchor.held(block.terms, block.quote) for anchor in question.anchors)
    whole = best.unit.kind is BlockKind.LIST and block.unit.span.contains(best.unit.span)
    opens = named or whole or _FIRST_STEP.match(block.unit.quote) is not None
    return block if opens and block.unit.span.start <= best.unit.span.start else best


def _following(first: Read, reads: Sequence[Read]) -> Iterator[Read]:
    """Yield what follows in the same block, and a list or code directly after it; the whole list before its items."""
    here = first.unit
    block = here.block
    for read in reads:
        unit = read.unit
        if unit.passage != here.passage or unit.span.start < here.span.end or unit.section != here.section:
            continue
        if unit.block != block:
            if block != here.block or unit.kind not in _STEP_KINDS:
                return
            block = unit.block
        if unit.asked == here.asked:
            yield read


def _belongs(question: Question, item: Scored, chosen: Sequence[Scored]) -> bool:
    """Say whether a unit has all anchors that the best one has, or stands in the section of one chosen.

    A procedure is never put together from two sections.
    """
    best = chosen[0].read
    if any(_section(item.read.unit) == _section(one.read.unit) for one in chosen):
        return True
    if question.how:
        return False
    return all(item.read.has(anchor) for anchor in question.anchors if best.has(anchor))


def _section(unit: Unit) -> tuple[object, ...]:
    return unit.passage, unit.section


def _adds(rarity: Mapping[str, float], item: Scored, chosen: Sequence[Scored]) -> bool:
    """Say whether a unit says something of the question that the chosen ones do not."""
    before = [one.read for one in chosen]
    return coverage(rarity, [*before, item.read]) - coverage(rarity, before) >= ADDS


def _new(item: Scored, chosen: Sequence[Scored]) -> bool:
    return not any(_overlap(item.read.unit, other.read.unit) or same(item.read, other.read) for other in chosen)


def _overlap(one: Unit, other: Unit) -> bool:
    return one.passage == other.passage and one.span.intersect(other.span) is not None
