"""What a new version keeps of the one before: questions whose words still stand in the documents of now."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kaijuan.core.spans import Span
from kaijuan.evals.making.items import Absence, Draft, Evidence, Head, Item
from kaijuan.evals.making.reviews import Status


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A question of the version before, with its evidence where it stands now."""

    item: Item
    draft: Draft


class Carried:
    """Is shown every document once, then gives the questions that can stay."""

    def __init__(self, items: Sequence[Item]) -> None:
        self._items = [item for item in items if item.status != Status.REJECTED]
        """As they were made; edits are in the reviews and stay there."""
        self._wanted: Mapping[str, list[tuple[Item, int]]] = defaultdict(list)
        for item in self._items:
            for place, piece in enumerate(item.evidence):
                self._wanted[str(piece["source"])].append((item, place))
        self._found: dict[tuple[str, int], Evidence] = {}

    def look(self, head: Head, text: str) -> None:
        """Find the evidence in one document: the quoted words nearest to where they stood."""
        for item, place in self._wanted.get(head.source, ()):
            piece = item.evidence[place]
            start = _nearest(text, str(piece["quote"]), int(piece["start"]))
            if start >= 0 and head.split is item.split:
                span = Span(start, start + len(str(piece["quote"])))
                self._found[(item.id, place)] = Evidence(document=head, span=span, quote=span.of(text))

    def kept(self) -> list[Kept]:
        """Return the questions all of whose evidence was found, in their order."""
        found: list[Kept] = []
        for item in self._items:
            pieces = [self._found.get((item.id, place)) for place in range(len(item.evidence))]
            evidence = tuple(piece for piece in pieces if piece is not None)
            if len(evidence) == len(pieces):
                found.append(Kept(item=item, draft=_draft(item, evidence)))
        return found


def _nearest(text: str, quote: str, start: int) -> int:
    if not quote:
        return -1
    if text.startswith(quote, start):
        return start
    after = text.find(quote, start)
    before = text.rfind(quote, 0, start + len(quote) - 1)  # may reach beyond where it stood
    places = [place for place in (after, before) if place >= 0]
    return min(places, key=lambda place: abs(place - start), default=-1)


def _draft(item: Item, evidence: tuple[Evidence, ...]) -> Draft:
    absent: Mapping[str, Any] | None = item.extra.get("absent")
    return Draft(
        kind=item.kind,
        how=item.how,
        language=item.language,
        question=item.question,
        answers=item.answers,
        parts=item.parts,
        evidence=evidence,
        about=str(item.extra.get("about", "")),
        as_of=item.as_of,
        absent=None
        if absent is None
        else Absence(
            phrases=tuple(absent.get("phrases", ())),
            subject=str(absent.get("subject", "")),
            words=tuple(absent.get("words", ())),
        ),
        prompt=str(item.extra.get("prompt", "")),
    )
