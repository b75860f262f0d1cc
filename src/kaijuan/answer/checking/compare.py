"""What a claim says otherwise than its evidence: told by laying the one along the other."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

from kaijuan.answer.checking.claims import Fault, FaultKind
from kaijuan.answer.checking.reading import Reading, Token, TokenKind, read
from kaijuan.core.text.sentences import sentences

MOST_SENTENCES = 4
"""Sentences of the evidence that one claim is laid along."""
ADDS = 0.07
"""Share of a claim that a further sentence must hold beyond those before it."""
ENOUGH = 0.75
"""Share of a claim that one sentence holds which is then the only one that counts: what the others say, such as another
year, is about something else."""
SHORT = 4
"""Tokens of a stretch in which a claim says one thing and the evidence another; longer ones are other sentences."""
_VALUES = frozenset({TokenKind.AMOUNT, TokenKind.DAY})
_FAULT_OF = {TokenKind.AMOUNT: FaultKind.NUMBER, TokenKind.DAY: FaultKind.DATE, TokenKind.NAME: FaultKind.NAME}
_MOST_PAIRS = 60
_LONGEST_THING = 6
"""Tokens of a name, or of a phrase, that may be exchanged with another."""
_PASSIVE = re.compile(r"被|由|遭|受到|为.{1,12}所|\bby\b|\bof\b")
_AND = re.compile(r"(?:[\s,，、/;；&]|和|与|及|以及|跟|同|或|and|or|vs\.?|与其|。|\W)*")
_LATIN = re.compile(r"[a-z0-9]")
_MARKS = re.compile(r"[\W_]+")

Op = tuple[str, int, int, int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """The texts a claim cites, read: the sentences nearest to the claim in `focus`, everything in `all`."""

    focus: tuple[Token, ...]
    focus_text: str
    """Normalised."""
    focus_written: str
    all: tuple[Token, ...]
    folded: str
    squeezed: str
    """Without anything but letters and digits."""
    languages: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A claim laid along its evidence. Shares are of the claim's content, 0 to 1."""

    faults: tuple[Fault, ...]
    coverage: float
    """What the nearest sentences hold."""
    held: float
    """What the evidence holds anywhere."""
    aligned: float
    """What they hold in the same order."""
    replaced: float
    """What stands where the evidence has something else, and which it has nowhere."""
    focus: str
    """The nearest sentences, as written."""
    foreign: bool
    """Whether claim and evidence are in different languages, so that words say nothing."""


def compare(claim_text: str, texts: Sequence[str]) -> Comparison:
    """Lay a claim along its evidence and say what differs."""
    claim = read(claim_text)
    evidence = _evidence(claim, texts)
    foreign = bool(claim.language) and bool(evidence.languages) and claim.language not in evidence.languages
    tokens = _unified(claim.tokens, evidence)
    ops = _operations(tokens, evidence.focus)
    found = [*_absent_values(tokens, evidence), *_absent_names(tokens, evidence, foreign)]
    if not foreign:
        found += _stretches(tokens, evidence, ops)
        found += _passed_over(tokens, evidence.focus, ops)
        found += _denied(tokens, evidence.focus, ops)
        found += _turned(tokens, evidence.focus, ops)
        found += _swapped(claim, tokens, evidence)
    weights = sum(token.weight for token in tokens) or 1.0
    return Comparison(
        faults=tuple(dict.fromkeys(found)),
        coverage=sum(token.weight for token in tokens if _has(token, evidence.focus, evidence.focus_text)) / weights,
        held=sum(token.weight for token in tokens if _has(token, evidence.all, evidence.folded)) / weights,
        aligned=sum(tokens[at].weight for at in _matched(ops)) / weights,
        replaced=sum(token.weight for token in _lone(tokens, evidence, ops)) / weights,
        focus=evidence.focus_written,
        foreign=foreign,
    )


def _evidence(claim: Reading, texts: Sequence[str]) -> Evidence:
    """Read the evidence, and choose the sentences that hold most of the claim, each for what it adds."""
    spans = [(text, span) for text in texts for span in sentences(text)]
    readings = [read(span.of(text)) for text, span in spans]
    chosen: list[int] = []
    left = list(claim.tokens)
    whole = sum(token.weight for token in left) or 1.0
    held = 0.0
    while len(chosen) < MOST_SENTENCES:
        gains = [
            (sum(token.weight for token in left if _has(token, reading.tokens, reading.folded)), -at)
            for at, reading in enumerate(readings)
            if at not in chosen
        ]
        gain, at = max(gains, default=(0.0, 0))
        if (gain < ADDS * whole and (chosen or gain == 0)) or held >= ENOUGH * whole:
            break
        held += gain
        chosen.append(-at)
        best = readings[-at]
        left = [token for token in left if not _has(token, best.tokens, best.folded)]
    near = [readings[at] for at in sorted(chosen)] or readings[:1]
    folded = "\n".join(reading.folded for reading in readings)
    return Evidence(
        focus=tuple(_joined(near)),
        focus_text="\n".join(reading.folded for reading in near),
        focus_written=" ".join(reading.text for reading in near),
        all=tuple(_joined(readings)),
        folded=folded,
        squeezed=_MARKS.sub("", folded),
        languages=frozenset(reading.language for reading in readings if reading.language),
    )


def _joined(readings: Sequence[Reading]) -> Iterator[Token]:
    """Yield the tokens of several texts as of one, with places and clauses counted on."""
    place = clause = 0
    for reading in readings:
        for token in reading.tokens:
            yield replace(token, start=token.start + place, end=token.end + place, clause=token.clause + clause)
        place += len(reading.folded) + 1
        clause += max((token.clause for token in reading.tokens), default=0) + 1


def says(claimed: Token, said: Token) -> bool:
    """Say whether a value of the evidence is the claim's, in another unit or more exact perhaps."""
    if claimed.key == said.key:
        return True
    if claimed.day or said.day:
        return bool(claimed.day and said.day and claimed.day.is_said_by(said.day))
    return bool(claimed.amount and said.amount) and _measures(claimed, said)


def _measures(claimed: Token, said: Token) -> bool:
    one, other = claimed.measure, said.measure
    first, second = claimed.amount, said.amount
    if first is None or second is None or (one and second.unit) or (other and first.unit):
        return False
    if one and other:
        difference = abs(first.value * one.factor - second.value * other.factor)
        return one.dimension == other.dimension and difference * 2 <= first.step * one.factor
    return replace(first, measure="").is_said_by(replace(second, measure=""))


def _plain(one: Token, other: Token) -> bool:
    """Say whether two amounts are the same number, whatever they count."""
    return one.amount is not None and other.amount is not None and one.amount.value == other.amount.value


def _unified(tokens: Sequence[Token], evidence: Evidence) -> list[Token]:
    """Return the claim's tokens with the keys that the evidence has for the same values and names."""
    known = {token.key for token in evidence.focus}
    unified: list[Token] = []
    for token in tokens:
        if token.key not in known and token.kind in _VALUES:
            same = next((other for other in (*evidence.focus, *evidence.all) if says(token, other)), None)
            token = replace(token, key=same.key) if same else token
        unified.append(token)
    return unified


def _has(token: Token, others: Sequence[Token], folded: str) -> bool:
    """Say whether tokens or text have what a token of the claim says."""
    if token.kind in _VALUES:
        return any(says(token, other) for other in others)
    if any(token.key == other.key for other in others):
        return True
    return token.kind in (TokenKind.NAME, TokenKind.WORD) and not _LATIN.match(token.key) and token.key in folded


def _operations(tokens: Sequence[Token], focus: Sequence[Token]) -> list[Op]:
    matcher = SequenceMatcher(None, [one.key for one in tokens], [one.key for one in focus], autojunk=False)
    return [(op, *places) for op, *places in matcher.get_opcodes()]  # type: ignore[misc]


def _matched(ops: Sequence[Op]) -> Iterator[int]:
    for op, start, end, _, _ in ops:
        if op == "equal":
            yield from range(start, end)


def _lone(tokens: Sequence[Token], evidence: Evidence, ops: Sequence[Op]) -> Iterator[Token]:
    for op, start, end, _, _ in ops:
        if op == "replace":
            yield from (one for one in tokens[start:end] if not _has(one, evidence.all, evidence.folded))


def _absent_values(tokens: Sequence[Token], evidence: Evidence) -> Iterator[Fault]:
    """Yield the numbers and dates that the evidence has nowhere."""
    for token in tokens:
        if token.kind not in _VALUES:
            continue
        said = [other for other in evidence.all if says(token, other)]
        if said and not (token.measure and not any(other.measure for other in said)):
            continue
        if said and not any(other.measure and _plain(token, other) for other in evidence.all):
            continue
        if token.day and _assembled(token, evidence):
            continue
        if token.kind is TokenKind.DAY:
            near = next((other for other in evidence.focus if other.kind is TokenKind.DAY), None)
            yield Fault(kind=FaultKind.DATE, detail=token.text, said=near.text if near else "")
            continue
        same = next((other for other in evidence.all if _plain(token, other)), None)
        if same is None:
            near = next((other for other in evidence.focus if _alike(token, other)), None)
            yield Fault(kind=FaultKind.NUMBER, detail=token.text, said=near.text if near else "")
        elif _units_differ(token, same):
            yield Fault(kind=FaultKind.UNIT, detail=token.text, said=same.text)


def _units_differ(one: Token, other: Token) -> bool:
    """Say whether two amounts are measured in known units, and not in the same."""
    first, second = (
        token.measure.dimension if token.measure else token.amount.unit if token.amount else ""
        for token in (one, other)
    )
    return bool(first) and bool(second)


def _alike(one: Token, other: Token) -> bool:
    """Say whether two values are of one kind and measured alike, so that one can stand in the other's place."""
    if one.kind is not other.kind:
        return False
    if one.kind is TokenKind.DAY or not (one.amount and other.amount):
        return one.kind is TokenKind.DAY or one.amount is other.amount
    if one.measure or other.measure:
        return bool(one.measure and other.measure) and one.measure.dimension == other.measure.dimension  # type: ignore[union-attr]
    return bool(one.amount and other.amount) and one.amount.unit == other.amount.unit


def _assembled(token: Token, evidence: Evidence) -> bool:
    """Say whether a date is said in parts: the year in one place, month and day in another (1998年……7月3日)."""
    day = token.day
    if day is None:
        return False
    days = [other.day for other in evidence.all if other.day]
    parts = [(day.year, "year"), (day.month, "month"), (day.day, "day")]
    if day.year is not None and day.month is not None:
        later = any(
            one.year is None and one.month == day.month and (day.day is None or one.day == day.day) for one in days
        )
        return later and any(one.year == day.year for one in days)
    return all(value is None or any(getattr(one, name) == value for one in days) for value, name in parts)


def _absent_names(tokens: Sequence[Token], evidence: Evidence, foreign: bool) -> Iterator[Fault]:
    """Yield the names that the evidence has nowhere; across languages only what is written alike in both."""
    initials = _initials(evidence.all)
    for token in tokens:
        if token.kind is not TokenKind.NAME or _has(token, evidence.all, evidence.folded):
            continue
        if foreign and not any(map(str.isdigit, token.key)):
            continue
        squeezed = _MARKS.sub("", token.text.casefold())
        if squeezed in evidence.squeezed or squeezed in initials:
            continue
        yield Fault(kind=FaultKind.NAME, detail=token.text)


def _initials(tokens: Sequence[Token]) -> frozenset[str]:
    """Return the short forms that runs of capital words would have: nfl for National Football League."""
    found: set[str] = set()
    run = ""
    for token in tokens:
        run = run + token.text[:1].casefold() if token.capital else ""
        found.update(run[at:] for at in range(len(run) - 1))
    return frozenset(found)


def _stretches(tokens: Sequence[Token], evidence: Evidence, ops: Sequence[Op]) -> Iterator[Fault]:
    """Yield what stands in the place of another value or name of the evidence, though it may have it elsewhere."""
    loose = _loose(tokens, ops)
    for op, start, end, first, last in ops:
        mine, theirs = tokens[start:end], evidence.focus[first:last]
        if op == "replace" and len(mine) <= SHORT and len(theirs) <= SHORT and _held_between(ops, start, end):
            for token in mine:
                rival = _rival(token, theirs, loose, evidence)
                if rival is not None:
                    kind = _FAULT_OF.get(rival.kind, FaultKind.NUMBER)
                    yield Fault(kind=kind, detail=token.text, said=rival.text)


def _rival(token: Token, theirs: Sequence[Token], loose: Sequence[Token], evidence: Evidence) -> Token | None:
    """Return what the evidence says in the place of a token and the claim does not say anywhere else."""
    if token.kind in _VALUES:
        found = (other for other in theirs if _alike(token, other) and not says(token, other))
        return next((rival for rival in found if not any(says(other, rival) for other in loose)), None)
    if token.kind is TokenKind.NAME or (
        token.kind is TokenKind.WORD and not _has(token, evidence.all, evidence.folded)
    ):
        names = (other for other in theirs if other.kind is TokenKind.NAME)
        return next((rival for rival in names if not any(other.key == rival.key for other in loose)), None)
    return None


def _loose(tokens: Sequence[Token], ops: Sequence[Op]) -> list[Token]:
    """Return the tokens of a claim that are not laid along one of the evidence: what is, is said of that."""
    matched = set(_matched(ops))
    return [token for at, token in enumerate(tokens) if at not in matched]


def _passed_over(tokens: Sequence[Token], focus: Sequence[Token], ops: Sequence[Op]) -> Iterator[Fault]:
    """Yield values that belong to something else: between them and what the claim says them of stands another."""
    loose = _loose(tokens, ops)
    for op, start, end, first, last in ops:
        if op != "delete" or start == 0 or end >= len(tokens) or tokens[end].kind not in _VALUES:
            continue
        near = focus[first : min(last, first + 2)]
        rival = next((one for one in near if _alike(tokens[end], one) and not says(tokens[end], one)), None)
        if rival is not None and not any(says(other, rival) for other in loose):
            yield Fault(kind=_FAULT_OF[rival.kind], detail=tokens[end].text, said=rival.text)


def _held_between(ops: Sequence[Op], start: int, end: int) -> bool:
    """Say whether the claim agrees with the evidence on both sides of a stretch, or on its only side."""
    equal = [(first, last) for op, first, last, _, _ in ops if op == "equal"]
    before = start == 0 or any(last == start for _, last in equal)
    after = not any(first >= end for first, _ in equal) or any(first == end for first, _ in equal)
    return before and after and bool(equal)


def _denied(tokens: Sequence[Token], focus: Sequence[Token], ops: Sequence[Op]) -> Iterator[Fault]:
    """Yield denials that stand on one side only, where what they deny is said on both."""
    for at, (op, start, end, first, last) in enumerate(ops):
        mine, theirs = tokens[start:end], focus[first:last]
        ours, others = _denials(mine), _denials(theirs)
        if op == "equal" or ours == others:
            continue
        follows = at + 1 < len(ops) and ops[at + 1][0] == "equal"
        if op == "replace" and len(mine) <= SHORT and len(theirs) <= SHORT and ours != others:
            yield _denial(mine, theirs)
        elif op != "replace" and follows and (mine or theirs)[-1].kind is TokenKind.DENIAL:
            nearer = tokens[end].start - mine[-1].end if mine else focus[last].start - theirs[-1].end
            if nearer <= _NEAR:
                yield _denial(mine, theirs)


_NEAR = 24
"""Characters between a denial and what it denies."""


def _denials(tokens: Sequence[Token]) -> int:
    return sum(token.kind is TokenKind.DENIAL for token in tokens) % 2


def _denial(mine: Sequence[Token], theirs: Sequence[Token]) -> Fault:
    words = (next((one.text for one in side if one.kind is TokenKind.DENIAL), "") for side in (mine, theirs))
    return Fault(kind=FaultKind.NEGATION, detail=next(words), said=next(words))


def _turned(tokens: Sequence[Token], focus: Sequence[Token], ops: Sequence[Op]) -> Iterator[Fault]:
    """Yield words whose opposite the evidence has instead, in a clause that says something of the claim."""
    equal = [range(start, end) for op, _, _, start, end in ops if op == "equal"]
    taken = {at for places in equal for at in places}
    clauses = {focus[at].clause for at in taken}
    near = [token for at, token in enumerate(focus) if token.clause in clauses and at not in taken]
    loose = _loose(tokens, ops)
    for token in loose:
        if token.kind is not TokenKind.TURN or any(one.key == token.key for one in near):
            continue
        rival = next((one for one in near if one.axis == token.axis and one.sign == -token.sign), None)
        if rival is not None and not any(one.key == rival.key for one in loose):
            kind = FaultKind.NEGATION if token.axis == "permission" else FaultKind.COMPARISON
            yield Fault(kind=kind, detail=token.text, said=rival.text)


def _swapped(claim: Reading, tokens: Sequence[Token], evidence: Evidence) -> Iterator[Fault]:
    """Yield two things of a claim that would fit the evidence in each other's place."""
    keys, other = [token.key for token in tokens], [token.key for token in evidence.focus]
    length = _longest_common(keys, other)
    runs = _runs(keys, other)
    tried = 0
    for at, (one, place) in enumerate(runs):
        for two, later in runs[at + 1 :]:
            if tried >= _MOST_PAIRS or not _exchangeable(claim, tokens, (one, two), evidence, (place, later)):
                continue
            tried += 1
            between = keys[one[1] : two[0]]
            swapped = [*keys[: one[0]], *keys[slice(*two)], *between, *keys[slice(*one)], *keys[two[1] :]]
            if _longest_common(swapped, other) >= length + (2 if between else 1):
                words = (claim.folded[tokens[start].start : tokens[end - 1].end] for start, end in (one, two))
                yield Fault(kind=FaultKind.NAME, detail=" ↔ ".join(words))
                return


def _turns(token: Token) -> bool:
    """Say whether a token is no thing: "north" is one, "before" is not."""
    return token.kind is TokenKind.TURN and token.axis != "compass"


Run = tuple[int, int]
"""A half-open range of tokens."""


def _runs(keys: Sequence[str], other: Sequence[str]) -> list[tuple[Run, int]]:
    """Return the stretches of a claim that the evidence has as they are, and where; none holds another."""
    runs: list[tuple[Run, int]] = []
    free = set(range(len(other)))
    at = 0
    while at < len(keys):
        starts = [place for place in sorted(free) if other[place] == keys[at]]
        lengths = [(_shared(keys, other, at, place, free), -place) for place in starts]
        size, place = max(lengths, default=(0, 0))
        if size:
            free -= set(range(-place, -place + size))
            runs.append(((at, at + size), -place))
        at += size or 1
    return runs


def _shared(keys: Sequence[str], other: Sequence[str], at: int, place: int, free: set[int]) -> int:
    size = 0
    while at + size < len(keys) and place + size in free and keys[at + size] == other[place + size]:
        size += 1
    return size


def _exchangeable(
    claim: Reading, tokens: Sequence[Token], runs: tuple[Run, Run], evidence: Evidence, places: tuple[int, int]
) -> bool:
    """Say whether two things stand in the other order in the evidence, and are no list there.

    Where nothing else is between them, both must be names: what is put first instead of last is no other statement.
    """
    one, two = runs
    if one[1] == two[0] and any(token.kind is not TokenKind.NAME for token in tokens[one[0] : two[1]]):
        return False
    if places[0] < places[1] or max(one[1] - one[0], two[1] - two[0]) > _LONGEST_THING:
        return False
    held = (*tokens[slice(*one)], *tokens[slice(*two)])
    values = {token.kind if token.kind in _VALUES else TokenKind.WORD for token in held}
    if len(values) != 1 or any(token.kind is TokenKind.DENIAL for token in held):
        return False
    if any(all(_turns(token) for token in tokens[slice(*run)]) for run in runs):
        return False
    early, late = evidence.focus[places[1] + two[1] - two[0] - 1], evidence.focus[places[0]]
    between = evidence.focus_text[early.end : late.start]
    if _AND.fullmatch(between):
        return False
    mine = claim.folded[tokens[one[1] - 1].end : tokens[two[0]].start]
    # Who did it comes last where the verb is passive: then the order must differ.
    return (_PASSIVE.search(mine) is None) == (_PASSIVE.search(between) is None)


def _longest_common(one: Sequence[str], other: Sequence[str]) -> int:
    """Return the length of the longest common subsequence."""
    row = [0] * (len(other) + 1)
    for key in one:
        before = 0
        for at, said in enumerate(other, start=1):
            before, row[at] = row[at], before + 1 if key == said else max(row[at], row[at - 1])
    return row[-1]
