"""How far the words that extractive sentences cite carry them: by construction, and looked at again."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from kaijuan.answer.results import AnswerSentence
from kaijuan.core.citations import Citation
from kaijuan.core.text.normalise import folded

_PIECES = re.compile(r"[\n；;：:|]")
"""What stands between the cells of a row and the lines of a list, which are quoted one by one."""
_MARKS = re.compile(r"[\W_]+")


def supported(sentences: Sequence[AnswerSentence], citations: Sequence[Citation]) -> Iterator[AnswerSentence]:
    """Yield the sentences with the share of their pieces that their citations have word for word."""
    known = {citation.id: citation for citation in citations}
    for sentence in sentences:
        yield replace(sentence, support=_share(sentence, known))


def _share(sentence: AnswerSentence, known: Mapping[str, Citation]) -> float:
    cited = _MARKS.sub("", folded("\n".join(known[id].quote for id in sentence.citations)))
    pieces = [_MARKS.sub("", folded(piece)) for piece in _PIECES.split(sentence.text)]
    held = [piece in cited for piece in pieces if piece]
    return round(sum(held) / len(held), 4) if held else 0.0
