"""The glossary of a base, and suggestions while somebody types."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field

from kaijuan.core.glossary import GlossaryTerm
from kaijuan.server.service import Caller, Reading, Reply, Writing, by
from kaijuan.verbs.shapes import Json, plain

router = APIRouter(tags=["glossary"])
Word = Annotated[str, Field(min_length=1, max_length=200)]


class NewTerm(BaseModel):
    """Words that mean the same."""

    model_config = ConfigDict(extra="forbid")

    term: Word
    synonyms: list[Word] = Field(min_length=1, max_length=50)
    note: str = Field(default="", max_length=2000)


class Table(BaseModel):
    """A glossary as CSV: term, synonyms between "|", note."""

    model_config = ConfigDict(extra="forbid")

    csv: str = Field(min_length=1, max_length=1_000_000)


@router.get("/kbs/{kb}/glossary")
async def glossary(base: Reading, removed: Annotated[bool, Query()] = False) -> Reply:
    """List the terms, by term."""
    return Reply({"terms": [_term(one) for one in await base.glossary(removed=removed)]})


@router.post("/kbs/{kb}/glossary", status_code=201)
async def add_term(body: NewTerm, base: Writing, who: Caller) -> Reply:
    """Let words mean the same from now on; a term that is there gets these synonyms too."""
    return Reply(_term(await base.add_term(body.term, body.synonyms, by=by(who), note=body.note)), status_code=201)


@router.post("/kbs/{kb}/glossary/import")
async def import_terms(body: Table, base: Writing, who: Caller) -> Reply:
    """Enter the rows of a table, all or none."""
    return Reply({"imported": await base.import_terms(body.csv, by=by(who))})


@router.delete("/kbs/{kb}/glossary/{term}")
async def remove_term(
    base: Writing,
    who: Caller,
    term: Annotated[str, Path(max_length=200)],
    synonym: Annotated[list[str] | None, Query(max_length=50, description="Only these.")] = None,
) -> Response:
    """Take a term, or some of its synonyms, out of use."""
    left = await base.remove_term(term, synonym or (), by=by(who))
    return Reply({"term": _term(left) if left is not None else None})


def _term(term: GlossaryTerm) -> Json:
    return {
        "term": term.term,
        "synonyms": list(term.synonyms),
        "state": term.state.value,
        "history": plain(term.history),
    }
