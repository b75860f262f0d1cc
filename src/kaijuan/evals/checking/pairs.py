"""Pairs of claim and evidence, half of them true: for every fault as many true claims that could have had it."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kaijuan.core.ids import stable_id
from kaijuan.evals.checking.material import Material, Sentence
from kaijuan.evals.checking.rewording import reworded
from kaijuan.evals.checking.spoiling import SPOILS

FOREIGN = "foreign"
KINDS = (*SPOILS, FOREIGN)
_WINDOW = 3
"""Sentences around the cited one at most, in most pairs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A claim with what it cites. `kind` is what is wrong, or for a true claim what might have been."""

    kind: str
    language: str
    document: str
    claim: str
    evidence: tuple[str, ...]
    supported: bool
    was: str = ""
    now: str = ""

    @property
    def half(self) -> str:
        """The half of the documents it belongs to: thresholds are tuned on one and reported on the other."""
        return "tune" if int(stable_id("half", self.document)[:8], 16) % 2 else "report"


def make_pairs(material: Material, each: int, seed: int) -> list[Pair]:
    """Return up to `each` true and `each` wrong claims for every kind; the same for the same seed and material."""
    made: list[Pair] = []
    for kind in KINDS:
        chance = random.Random(f"{seed}:{material.language}:{kind}")  # noqa: S311 a draw, no secret
        sentences = list(material.sentences)
        chance.shuffle(sentences)
        made += (
            _foreign(material, sentences, each, chance)
            if kind == FOREIGN
            else _of(kind, material, sentences, each, chance)
        )
    return made


def _of(
    kind: str, material: Material, sentences: Sequence[Sentence], each: int, chance: random.Random
) -> Iterator[Pair]:
    left = each
    for sentence in sentences:
        if not left:
            return
        spoiled = SPOILS[kind](sentence, material, chance)
        if spoiled is None or spoiled.text == sentence.text:
            continue
        left -= 1
        evidence = _evidence(sentence, chance)
        yield Pair(
            kind=kind,
            language=material.language,
            document=sentence.document,
            claim=spoiled.text,
            evidence=evidence,
            supported=False,
            was=spoiled.was,
            now=spoiled.now,
        )
        yield _true(kind, sentence, material.language, chance)


def _foreign(material: Material, sentences: Sequence[Sentence], each: int, chance: random.Random) -> Iterator[Pair]:
    """Yield true claims, and such whose citation leads elsewhere: to another document, or away within their own."""
    left = each
    for at, sentence in enumerate(sentences):
        if not left:
            return
        far = [one for place, one in enumerate(sentence.around) if abs(place - sentence.place) > 1]
        other = sentences[(at + 7) % len(sentences)]
        if far and chance.random() < 0.5:
            evidence = tuple(chance.sample(far, min(2, len(far))))
        elif other.document != sentence.document:
            evidence = _evidence(other, chance)
        else:
            continue
        left -= 1
        yield Pair(
            kind=FOREIGN,
            language=material.language,
            document=sentence.document,
            claim=reworded(sentence.text, material.language, FOREIGN, chance),
            evidence=evidence,
            supported=False,
        )
        yield _true(FOREIGN, sentence, material.language, chance)


def _true(kind: str, sentence: Sentence, language: str, chance: random.Random) -> Pair:
    return Pair(
        kind=kind,
        language=language,
        document=sentence.document,
        claim=reworded(sentence.text, language, kind, chance),
        evidence=_evidence(sentence, chance),
        supported=True,
    )


def _evidence(sentence: Sentence, chance: random.Random) -> tuple[str, ...]:
    """Return the sentence alone, with its neighbours, or with all of the document's beginning."""
    drawn = chance.random()
    if drawn < 0.25:
        return (sentence.text,)
    if drawn < 0.75:
        start = max(0, sentence.place - chance.randint(0, _WINDOW - 1))
        end = sentence.place + 1 + chance.randint(0, _WINDOW - 1)
        return ("".join(_spaced(sentence.around[start:end])),)
    return ("".join(_spaced(sentence.around)),)


def _spaced(parts: Sequence[str]) -> Iterator[str]:
    for part in parts:
        yield part + (" " if part[-1].isascii() else "")
