"""Make a question ready: normalised text for people to see, weighted terms for the lexical route."""

from __future__ import annotations

from kaijuan.core.text.bm25 import numbered, weighted_terms
from kaijuan.core.text.normalise import folded
from kaijuan.errors import UsageError
from kaijuan.retrieve.ports import Query

MAX_QUERY_CHARACTERS = 20_000


def understand(text: str) -> Query:
    """Return the query; UsageError when there is nothing to ask or far too much."""
    if not text.strip():
        raise UsageError("The question is empty.", hint="Write what you want to know.")
    if len(text) > MAX_QUERY_CHARACTERS:
        raise UsageError(
            f"The question has {len(text)} characters.", hint=f"Shorten it to at most {MAX_QUERY_CHARACTERS}."
        )
    terms = weighted_terms(text)
    return Query(text=text, normalised=folded(text), terms=tuple(terms), weights=numbered(terms))
