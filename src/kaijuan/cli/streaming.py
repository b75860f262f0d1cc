"""An answer on the terminal while it is being made: words as a model writes them, then the whole in their place."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from rich.text import Text

from kaijuan.answer.events import DoneEvent, Phase, QuestionEvent, SentenceEvent, StatusEvent, TokenEvent
from kaijuan.cli import screen

if TYPE_CHECKING:
    from kaijuan.answer.events import AnswerEvent
    from kaijuan.answer.results import Answer

LINES = 12
"""Lines of an unfinished answer that are shown; its end is what moves."""
_SHOWN = 4000
_PHASES = {
    Phase.SEARCHING: "… searching / 检索",
    Phase.READING: "… reading / 阅读",
    Phase.WRITING: "… writing / 撰写",
    Phase.CHECKING: "… checking / 核对",
    Phase.REPAIRING: "… checking again / 复核",
    Phase.FALLING_BACK: "… the documents' own sentences / 改用文档原句",
}


class Progress:
    """What is shown of the events so far: checked sentences, and the words that are not checked yet in grey."""

    def __init__(self) -> None:
        self._sentences: dict[int, str] = {}
        self._words = ""
        self._phase = ""

    def take(self, event: AnswerEvent) -> None:
        """Take in one event."""
        if isinstance(event, StatusEvent):
            self._phase = _PHASES[event.phase]
            if event.phase is Phase.FALLING_BACK:
                self._sentences, self._words = {}, ""
        elif isinstance(event, TokenEvent):
            self._words += event.text
        elif isinstance(event, SentenceEvent):
            self._settle(event)
        elif isinstance(event, QuestionEvent):
            self._phase = f"→ {event.text}"

    def _settle(self, event: SentenceEvent) -> None:
        """Put a checked sentence in the place of its words."""
        if event.kept:
            self._sentences[event.index] = event.sentence.text
        at = self._words.find(event.sentence.text[-_TAIL:])
        self._words = self._words[at + len(event.sentence.text[-_TAIL:]) :] if at >= 0 else self._words[-_TAIL:]

    def shown(self) -> Text:
        """Return what to draw."""
        checked = "\n".join(self._sentences[at] for at in sorted(self._sentences))[-_SHOWN:]
        lines = screen.lines(checked).split("\n") if checked else []
        pending = screen.lines(self._words.strip()[-_SHOWN:]).split("\n")
        text = Text("\n".join(lines[-LINES:]))
        if pending != [""]:
            text.append(("\n" if lines else "") + "\n".join(pending[-LINES:]), style="dim")
        if self._phase:
            text.append(f"{chr(10) if text.plain else ''}{screen.line(self._phase)}", style="dim italic")
        return text


_TAIL = 12


def follow(events: Iterable[AnswerEvent], *, quiet: bool) -> Answer:
    """Return the answer at the end of the events; on a terminal they are shown meanwhile and wiped away."""
    if quiet or not sys.stdout.isatty():
        return _last(events)
    from rich.live import Live

    progress = Progress()
    with Live(console=screen.out(), transient=True, auto_refresh=False, vertical_overflow="crop") as live:

        def seen() -> Iterator[AnswerEvent]:
            for event in events:
                if not isinstance(event, DoneEvent):
                    progress.take(event)
                    live.update(progress.shown(), refresh=True)
                yield event

        return _last(seen())


def _last(events: Iterable[AnswerEvent]) -> Answer:
    """Return the answer of the last event. All are taken: what is left open would outlive the base."""
    found: Answer | None = None
    for event in events:
        if isinstance(event, DoneEvent):
            found = event.answer
    if found is None:
        raise AssertionError("the last event has the answer")
    return found
