"""Looks through all documents for what an unanswerable question must not find."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kaijuan.core.text.normalise import folded
from kaijuan.evals.making.items import Draft

_HAN = "\u3400"


class AbsenceCheck:
    """Is shown every document once; afterwards knows which drafts could be answered after all."""

    def __init__(self, drafts: Sequence[Draft]) -> None:
        self._open = {draft.id: _Wanted(draft) for draft in drafts if draft.absent is not None}

    def look(self, title: str, text: str) -> None:
        """Read one document; drafts whose answer it may hold are crossed out."""
        seen = folded(f"{title}\n{text}")
        for id, wanted in list(self._open.items()):
            if wanted.in_text(seen):
                del self._open[id]

    def absent(self, draft: Draft) -> bool:
        """Say whether nothing was seen that could answer the draft."""
        return draft.id in self._open


class _Wanted:
    """What would answer one draft."""

    def __init__(self, draft: Draft) -> None:
        absence = draft.absent
        assert absence is not None
        self._phrases = [folded(phrase) for phrase in absence.phrases]
        self._subject = folded(absence.subject)
        words = [folded(word) for word in absence.words]
        self._han = [word for word in words if word and word[0] >= _HAN]
        starts = [re.escape(word) for word in words if word and word[0] < _HAN]
        self._starts = re.compile(rf"(?<![^\W_])(?:{'|'.join(starts)})") if starts else None

    def in_text(self, text: str) -> bool:
        """Say whether a text holds a phrase, or names the subject and has one of the words."""
        if any(phrase in text for phrase in self._phrases):
            return True
        if not (self._han or self._starts) or self._subject not in text:
            return False
        return any(word in text for word in self._han) or (
            self._starts is not None and self._starts.search(text) is not None
        )
