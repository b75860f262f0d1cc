"""Which of the documents found a question names: by words that tell them apart, such as a company, a product, a year.

A word of the question names documents where their titles or headings have it and no other document says it at all.
What such a document says is about what was asked; what another says in the same words may be about something else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kaijuan.answer.extract import Read
from kaijuan.answer.question import Question
from kaijuan.core.ids import DocumentId
from kaijuan.retrieve.results import Passage

_Documents = Mapping[DocumentId, Sequence[Read]]


def named(question: Question, reads: Sequence[Read], passages: Sequence[Passage]) -> dict[DocumentId, float]:
    """Return by document the share, 0 to 1, of the question's words that name it.

    Of those that are named most, words may tell some apart that others say too: of a firm's rules, those of 2021.
    """
    documents: dict[DocumentId, list[Read]] = {}
    for read in reads:
        documents.setdefault(passages[read.unit.passage].document_id, []).append(read)
    shares = dict.fromkeys(documents, 0.0)
    left = dict(question.weights)
    whole = sum(left.values())
    while len(documents) > 1:
        found = {key: titled for key in left if (titled := _naming(key, documents))}
        if not found:
            break
        for key, titled in found.items():
            for id in titled:
                shares[id] += left[key] / whole
        left = {key: weight for key, weight in left.items() if key not in found}
        most = max(shares[id] for id in documents)
        documents = {id: some for id, some in documents.items() if shares[id] == most}
    return shares


def _naming(key: str, documents: _Documents) -> frozenset[DocumentId]:
    """Return the documents that a word names; none where it names all or stands in another's text."""
    titled = {id for id, some in documents.items() if any(read.about(key) for read in some)}
    if not 0 < len(titled) < len(documents):
        return frozenset()
    others = (read for id, some in documents.items() if id not in titled for read in some)
    return frozenset() if any(read.says(key) for read in others) else frozenset(titled)


def is_beside(shares: Mapping[DocumentId, float], asked: DocumentId, other: DocumentId) -> bool:
    """Say whether the question names one document more than another, whose word then does not count against it."""
    return shares.get(other, 0.0) < shares.get(asked, 0.0)
