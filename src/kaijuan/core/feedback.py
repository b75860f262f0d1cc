"""What readers say about answers (spec N4)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from kaijuan.core.ids import KbId


class FeedbackVerdict(StrEnum):
    """What somebody thought of an answer."""

    GOOD = "good"
    BAD = "bad"
    WRONG_SOURCE = "wrong_source"
    """The answer cites what does not support it."""
    INCOMPLETE = "incomplete"
    SHOULD_ANSWER = "should_answer"
    """It refused, and the documents do say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Feedback:
    """One opinion about one answer."""

    id: str
    kb_id: KbId
    trace_id: str
    at: float
    """Seconds since 1970, UTC."""
    by: str
    verdict: FeedbackVerdict
    question: str
    body: Mapping[str, object] = field(default_factory=dict)
    """Answer, comment and citations, as JSON."""
