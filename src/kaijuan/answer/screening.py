"""Words that a model streams, shown as they come; not so a link, until its sentence was held against its sources."""

from __future__ import annotations

import re

_OPEN_END = re.compile(r"[A-Za-z0-9:/._\-@!?=&%#\[\]()]+\Z")
"""A word in Latin letters that may go on: it may yet become an address."""
_ADDRESS = re.compile(r"://|\bwww\.|\]\(|!\[|\bhttps?:|\b(?:javascript|data|mailto):|\S@\S+\.\w", re.IGNORECASE)
_LONGEST = 80


class Screen:
    """Takes words and gives back those to show. A foreign link could lead people, or a page that draws it, anywhere."""

    def __init__(self) -> None:
        self._held = ""
        self._closed = False

    def take(self, words: str) -> str:
        """Return what may be shown by now; nothing more of a sentence with an address."""
        self._held += words
        if self._closed:
            return ""
        if _ADDRESS.search(self._held):
            self._closed = True
            return ""
        open_end = _OPEN_END.search(self._held)
        stop = open_end.start() if open_end and len(open_end.group()) < _LONGEST else len(self._held)
        shown, self._held = self._held[:stop], self._held[stop:]
        return shown

    def next_sentence(self) -> None:
        """Begin anew: the sentence is shown whole when it was checked. Words of the one after it may wait here."""
        if self._closed:
            self._held, self._closed = "", False

    def end(self) -> str:
        """Return the last word, which nothing can go on from."""
        held, self._held = self._held, ""
        return "" if self._closed else held
