"""Commands that ask: search, ask, explain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from kaijuan.cli import screen, shapes
from kaijuan.cli.citing import opener, remember
from kaijuan.cli.options import AsOf, At, Extractive, Filters, Full, Json, K, NoFilters, Preset, Schema, session_of
from kaijuan.cli.session import read_as_of, read_filters, read_schema

if TYPE_CHECKING:
    from kaijuan.sync import Kaijuan


def search(  # noqa: PLR0913 one argument an option
    context: typer.Context,
    query: Annotated[str, typer.Argument(metavar="QUERY", help="What to look for.")],
    k: K = 5,
    filters: Filters = None,
    as_of: AsOf = None,
    at: At = None,
    preset: Preset = None,
    no_filters: NoFilters = False,
    full: Full = False,
    json: Json = False,
) -> None:
    """Find the passages nearest to a question, best first."""
    session = session_of(context, json)
    wanted, moment = read_filters(filters), read_as_of(as_of)
    with session.open() as base:
        result = base.search(
            query, k=k, filters=wanted, as_of=moment, at=at, preset=preset, read_filters=not no_filters
        )
        early = "" if session.json or result.snapshot else before_the_first(base)
    if session.json:
        screen.show_json(shapes.search_shape(result))
        return
    if early:
        _say(early)
        return
    from kaijuan.cli import passages

    screen.show(*passages.found(result, filtered=bool(wanted or at), full=full))


def ask(  # noqa: PLR0913 one argument an option
    context: typer.Context,
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="A question in Chinese or English.")],
    k: K = 8,
    filters: Filters = None,
    as_of: AsOf = None,
    at: At = None,
    preset: Preset = None,
    no_filters: NoFilters = False,
    extractive: Extractive = False,
    schema: Schema = None,
    json: Json = False,
) -> None:
    """Answer a question from the documents, every sentence cited, or say that they do not answer it."""
    session = session_of(context, json)
    wanted, moment = read_filters(filters), read_as_of(as_of)
    form = read_schema(schema)
    with session.open() as base:
        from kaijuan.cli.streaming import follow

        events = base.ask_stream(
            question,
            k=k,
            filters=wanted,
            as_of=moment,
            at=at,
            preset=preset,
            read_filters=not no_filters,
            extractive=extractive,
            response_schema=form,
        )
        answer = follow(events, quiet=session.json)
        remember(session, answer)
        early = "" if session.json or answer.snapshot else before_the_first(base)
        # A refusal does not tell whether there was anything to read.
        unread = (wanted or at) and not (session.json or answer.sentences or early)
        searched = base.search(question, k=1, filters=wanted, as_of=moment, at=at) if unread else None
    if session.json:
        screen.show_json(shapes.answer_shape(answer))
        return
    if early:
        _say(early)
        return
    from kaijuan.cli import answers, passages

    screen.show(*answers.answered(answer, opener(session)))
    if searched is not None and not searched.passages:
        screen.show(*passages.nothing(searched, filtered=True))


def explain(  # noqa: PLR0913 one argument an option
    context: typer.Context,
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="The question as it was asked.")],
    contains: Annotated[
        str | None, typer.Option("--contains", metavar="TEXT", help="Words of the passage, exactly as they stand.")
    ] = None,
    chunk: Annotated[str | None, typer.Option("--chunk", metavar="ID", help="The passage's chunk id.")] = None,
    k: K = 8,
    filters: Filters = None,
    as_of: AsOf = None,
    at: At = None,
    preset: Preset = None,
    no_filters: NoFilters = False,
    full: Full = False,
    json: Json = False,
) -> None:
    """Say stage by stage why a passage was or was not used for a question."""
    session = session_of(context, json)
    if (contains is None) == (chunk is None):
        raise typer.BadParameter("Give either --contains TEXT or --chunk ID.")
    wanted, moment = read_filters(filters), read_as_of(as_of)
    with session.open() as base:
        explanation = base.explain(
            question,
            contains=contains,
            chunk=chunk,
            k=k,
            filters=wanted,
            as_of=moment,
            at=at,
            preset=preset,
            read_filters=not no_filters,
        )
    if session.json:
        screen.show_json(shapes.explanation_shape(explanation))
        return
    from kaijuan.cli import passages

    screen.show(*passages.explained(explanation, full=full))


def before_the_first(base: Kaijuan) -> str:
    """Say that nothing was published at the time asked for, and when the first snapshot was."""
    from kaijuan.cli.tables import when

    snapshots = base.snapshots()
    if not snapshots:
        return "Nothing has been published yet."
    first = snapshots[0]
    return f"Nothing was published by then: the first snapshot is {first.number}, of {when(first.created_at)}."


def _say(words: str) -> None:
    from rich.text import Text

    screen.show(Text(words))
