"""What a model thinks aloud before it replies (`<think>...</think>`) is no part of the reply."""

from __future__ import annotations

OPENING, CLOSING = "<think>", "</think>"


class Thoughts:
    """Takes the text of a reply in pieces of any size and gives back what is not thinking."""

    def __init__(self) -> None:
        self._held = ""
        self._state = "before"

    def take(self, text: str) -> str:
        """Return what of the reply is sure by now."""
        if self._state == "after":
            return text
        self._held += text
        if self._state == "before" and not self._decided():
            return ""
        if self._state == "within":
            before, closing, after = self._held.partition(CLOSING)
            self._held = after if closing else before[-len(CLOSING) :]
            self._state = "behind" if closing else "within"
        if self._state == "behind":
            self._held = self._held.lstrip()
            return self._rest() if self._held else ""
        return self._rest() if self._state == "after" else ""

    def end(self) -> str:
        """Return what was held back and is no thought; a thought without an end has no reply after it."""
        return self._rest() if self._state == "before" else ""

    def _decided(self) -> bool:
        """Say whether it is known by now if the reply begins with thoughts."""
        start = self._held.lstrip()
        if start.startswith(OPENING):
            self._state, self._held = "within", start[len(OPENING) :]
        elif not OPENING.startswith(start):
            self._state = "after"
        return self._state != "before"

    def _rest(self) -> str:
        held, self._held, self._state = self._held, "", "after"
        return held
