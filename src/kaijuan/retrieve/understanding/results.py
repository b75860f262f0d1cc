"""What the steps of understanding found out, as the trace keeps it: plain text and numbers only."""

from __future__ import annotations

from dataclasses import dataclass

from kaijuan.core.chat import NOTHING, Usage
from kaijuan.core.ids import DocumentId
from kaijuan.core.spans import Span
from kaijuan.retrieve.understanding.kinds import QuestionKind

OK = "ok"


@dataclass(frozen=True, slots=True, kw_only=True)
class StepReport:
    """How one step fared. `state` is "ok", "off", "timeout", "failed: code" or "skipped: why"."""

    name: str
    state: str
    said: tuple[str, ...] = ()
    """What it found, a few words each for people; empty where it found nothing."""
    milliseconds: float = 0.0
    dropped: int = 0
    """What a language model said that could not be used: an anchor was lost, a number made up, the language changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Expansion:
    """Words that mean the same as some in the question, searched beside them and never instead."""

    span: Span
    """What in the question they stand for."""
    words: str
    by: str
    """"glossary", "abbreviation" or "spelling"."""
    source: str = ""
    """The document that explains it, or who entered it."""

    def __str__(self) -> str:
        return self.words


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadFilter:
    """A filter read from the question. `text` is in the filter language; `field` exists in the base."""

    field: str
    text: str
    said: str
    """The words of the question that say so."""

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """The question in other words, searched beside it."""

    kind: str
    """"rewrite", "hyde", "step-back" or "part"."""
    text: str
    after: tuple[int, ...] = ()
    """Of a part: the numbers, from 1, of the parts whose answers stand in it."""

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True, kw_only=True)
class Clarification:
    """One concrete question to the asker, with choices, the likeliest first. The search goes on without an answer."""

    question: str
    choices: tuple[str, ...]
    about: str
    """What is not said: a field, or a name that means several things."""
    needed: bool = False
    """The documents answer differently by what is chosen, so that no single answer is right."""
    documents: tuple[DocumentId, ...] = ()
    """The documents that offer the choices: who may not read them may not be shown these."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Understanding:
    """All that was understood of a question before it was searched."""

    kinds: tuple[QuestionKind, ...] = (QuestionKind.LOOKUP,)
    """The first decides; always at least one."""
    entities: tuple[str, ...] = ()
    """What the question names."""
    times: tuple[str, ...] = ()
    """Of when it speaks, in its own words."""
    mood: str = "neutral"
    """"urgent", "displeased" or "neutral"."""
    standalone: str = ""
    """A follow-up made a question of its own; "" where the question was searched as it is."""
    anchors: tuple[str, ...] = ()
    """What no rewrite may lose, as it stands in the question."""
    expansions: tuple[Expansion, ...] = ()
    filters: tuple[ReadFilter, ...] = ()
    relaxed: bool = False
    """The filters that were read left nothing, so that everything was searched."""
    variants: tuple[Variant, ...] = ()
    clarification: Clarification | None = None
    steps: tuple[StepReport, ...] = ()
    routing: str = ""
    """Why a language model was or was not asked for other words; "" where none is configured."""
    usage: Usage = NOTHING
    """What was asked of language models."""
