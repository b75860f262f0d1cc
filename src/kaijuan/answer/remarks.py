"""Notes beside an answer: what is missing, what documents disagree about, what is no longer in force."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kaijuan.answer.cite import Citations, text_of
from kaijuan.answer.conflicts import Conflict
from kaijuan.answer.disagree import Cause, Disagreement
from kaijuan.answer.notes import Note, NoteKind
from kaijuan.answer.phrases import Phrases
from kaijuan.answer.question import Anchor, AnchorKind
from kaijuan.answer.units import Unit, file_name
from kaijuan.retrieve.results import Passage


def names_of(one: Passage, other: Passage) -> tuple[str, str]:
    """Return what two documents are called so that one tells them apart: their titles, else their files' names."""
    if one.title != other.title and one.title and other.title:
        return one.title, other.title
    return file_name(one), file_name(other)


def superseded(conflicts: Iterable[Conflict], citations: Citations, phrases: Phrases) -> list[Note]:
    """Say which edition is followed where an older one says otherwise: once for each sentence of the answer."""
    notes: dict[int, Note] = {}
    for conflict in conflicts:
        note = _overruled(conflict.holds.unit, conflict.outdated.unit, citations, phrases)
        notes.setdefault(id(conflict.holds), note)
    return list(notes.values())


def _overruled(holds: Unit, outdated: Unit, citations: Citations, phrases: Phrases) -> Note:
    newer, older = (citations.passage(unit.passage) for unit in (holds, outdated))
    names = names_of(newer, older)
    return Note(
        kind=NoteKind.SUPERSEDED,
        text=phrases.overruled.format(newer=names[0], older=names[1], quote=text_of(outdated, phrases)),
        citations=(citations.cite(holds.passage, holds.span), citations.cite(outdated.passage, outdated.span)),
        chunks=(newer.chunk_id, older.chunk_id),
    )


def disagreeing(found: Iterable[Disagreement], citations: Citations, phrases: Phrases) -> list[Note]:
    """Say what documents give different values for, and which is followed if that can be told."""
    notes: list[Note] = []
    for one in found:
        holds, other = one.holds.read.unit, one.other.read.unit
        if one.cause is not Cause.UNKNOWN:
            notes.append(_overruled(holds, other, citations, phrases))
            continue
        first, second = (citations.passage(unit.passage) for unit in (holds, other))
        names = names_of(first, second)
        text = phrases.disagree.format(
            one=names[0], other=names[1], says=text_of(holds, phrases), quote=text_of(other, phrases)
        )
        cited = (citations.cite(holds.passage, holds.span), citations.cite(other.passage, other.span))
        notes.append(Note(kind=NoteKind.CONFLICT, text=text, citations=cited, chunks=(first.chunk_id, second.chunk_id)))
    return notes


def stale(cited: Sequence[Unit], citations: Citations, phrases: Phrases) -> list[Note]:
    """Say of each cited document that does not hold today that it does not, and why."""
    notes: dict[str, Note] = {}
    for unit in cited:
        passage = citations.passage(unit.passage)
        words = phrases.standing(passage.validity)
        if words:
            note = Note(
                kind=NoteKind.STALE,
                text=phrases.stale.format(title=passage.title or file_name(passage), standing=words),
                citations=(citations.cite(unit.passage, unit.span),),
                chunks=(passage.chunk_id,),
            )
            notes.setdefault(passage.version_id, note)
    return list(notes.values())


def missing(anchors: Iterable[Anchor], phrases: Phrases) -> list[Note]:
    """Name what was asked for and occurs nowhere in the evidence."""
    wording = {
        AnchorKind.IDENTIFIER: phrases.missing_identifier,
        AnchorKind.NAME: phrases.missing_name,
        AnchorKind.NUMBER: phrases.missing_number,
    }
    return [Note(kind=NoteKind.MISSING, text=wording[anchor.kind].format(text=anchor.text)) for anchor in anchors]


def missing_part(text: str, phrases: Phrases) -> Note:
    """Name a part of the question that was not answered."""
    return Note(kind=NoteKind.MISSING, text=phrases.missing_part.format(text=text))


def closest(passage: Passage, phrases: Phrases) -> Note:
    """Name the document that came nearest to an answer without holding one."""
    text = phrases.closest.format(title=passage.title)
    return Note(kind=NoteKind.CLOSEST, text=text, chunks=(passage.chunk_id,))


def low_confidence(phrases: Phrases) -> Note:
    """Say that the evidence hardly suffices."""
    return Note(kind=NoteKind.LOW_CONFIDENCE, text=phrases.low_confidence)
