"""`eval make`, `eval review` and `eval export`: sets of one's own."""

from __future__ import annotations

import getpass
import os
import time
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kaijuan.cli import screen
from kaijuan.cli.options import Json, session_of
from kaijuan.errors import UsageError
from kaijuan.evals.making.formats import Format
from kaijuan.evals.making.items import Kind, Split

if TYPE_CHECKING:
    from kaijuan.cli.session import Session
    from kaijuan.evals.making.items import Item
    from kaijuan.evals.making.modelled import ModelWriter
    from kaijuan.evals.making.pipeline import Made, Request

KINDS = ", ".join(Kind)
SPLITS = "|".join(Split)
STATES = "open|approved|rejected"
PAGE = 20
"""Questions that a list shows unless told otherwise."""

Folder = Annotated[Path, typer.Argument(metavar="DIR", help="Folder of the set.")]
Version = Annotated[
    int | None, typer.Option("--version", min=1, metavar="N", help="An earlier version; the newest by default.")
]


class Languages(StrEnum):
    """Languages in which questions are made."""

    CHINESE = "zh"
    ENGLISH = "en"


class Doings(StrEnum):
    """What `eval review` does."""

    LIST = "list"
    SHOW = "show"
    APPROVE = "approve"
    REJECT = "reject"
    EDIT = "edit"


class States(StrEnum):
    """Where a question stands."""

    OPEN = "open"
    APPROVED = "approved"
    REJECTED = "rejected"


def make(  # noqa: PLR0913 one argument an option
    context: typer.Context,
    folder: Folder,
    kind: Annotated[
        list[Kind] | None,
        typer.Option("--kind", metavar="KIND", help=f"Only questions of this kind: {KINDS}. May be repeated."),
    ] = None,
    count: Annotated[int, typer.Option("--count", min=1, metavar="N", help="How many of each kind, at most.")] = 50,
    language: Annotated[
        list[Languages] | None,
        typer.Option("--language", metavar="zh|en", help="Only in this language; both by default."),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Chooses other questions.")] = 0,
    shares: Annotated[
        str, typer.Option("--shares", metavar="A,B,C", help="Percent of the documents for train, dev and test.")
    ] = "60,20,20",
    as_of: Annotated[
        int | None, typer.Option("--as-of", min=1, metavar="SNAPSHOT", help="From an earlier snapshot of the base.")
    ] = None,
    model: Annotated[
        bool, typer.Option("--model", metavar="", help="Also let the model of the settings (eval.judge_*) write some.")
    ] = False,
    estimate: Annotated[
        bool, typer.Option("--estimate", metavar="", help="With --model: say what it would cost, and stop.")
    ] = False,
    json: Json = False,
) -> None:
    """Make questions with answers and exact evidence from the knowledge base, as a set to measure by.

    Run again, it makes the next version: questions that still hold stay, and none ever changes its split.
    """
    session = session_of(context, json)
    from kaijuan.evals.making.pipeline import Request
    from kaijuan.evals.making.splits import read_shares

    if estimate and not model:
        raise UsageError("--estimate tells the cost of --model.", hint="Rules cost nothing; give --model too.")
    request = Request(
        root=folder,
        kinds=tuple(dict.fromkeys(kind or Kind)),
        count=count,
        languages=tuple(sorted(set(language or Languages))),
        seed=seed,
        shares=read_shares(shares),
        snapshot=as_of,
    )
    made = _run(session, request, with_model=model, only_estimate=estimate)
    if session.json:
        screen.show_json(made if isinstance(made, dict) else _made_shape(made))
    elif not isinstance(made, dict):
        from kaijuan.cli.evaluation import sets

        screen.show(*sets.made(made))


def review(  # noqa: PLR0913 one argument an option
    context: typer.Context,
    folder: Folder,
    doing: Annotated[Doings, typer.Argument(metavar="list|show|approve|reject|edit", help="What to do.")],
    ids: Annotated[list[str] | None, typer.Argument(metavar="ID", help="Questions, by id or its beginning.")] = None,
    status: Annotated[
        States | None, typer.Option("--status", metavar=STATES, help="list: only questions that stand so.")
    ] = None,
    kind: Annotated[
        Kind | None, typer.Option("--kind", metavar="KIND", help=f"list: only questions of this kind: {KINDS}.")
    ] = None,
    split: Annotated[
        Split | None,
        typer.Option(
            "--split", metavar=SPLITS, help="Only this split. The test split is not shown unless it is asked for."
        ),
    ] = None,
    limit: Annotated[int, typer.Option("--limit", min=0, metavar="N", help="list: at most so many; 0: all.")] = PAGE,
    question: Annotated[str | None, typer.Option("--question", metavar="TEXT", help="edit: the new question.")] = None,
    answer: Annotated[
        list[str] | None, typer.Option("--answer", metavar="TEXT", help="edit: an accepted answer. May be repeated.")
    ] = None,
    note: Annotated[str, typer.Option("--note", metavar="TEXT", help="Why; kept with the verdict.")] = "",
    by: Annotated[
        str, typer.Option("--by", metavar="NAME", help="Who says so; by default the user of this machine.")
    ] = "",
    json: Json = False,
) -> None:
    """Look at the questions of a set and say which are good. Who said what, and when, is kept."""
    session = session_of(context, json)
    from kaijuan.evals.making.folder import read_reviewed

    items = read_reviewed(folder)
    if doing is Doings.LIST:
        if ids:
            raise UsageError("A list takes no ids.", hint="`show` shows single questions.")
        found = [item for item in items if _is_shown(item, split) and _fits(item, status, kind)]
        _list(session, found, items, limit)
        return
    chosen = _chosen(items, ids or [], split)
    if doing is Doings.SHOW:
        _show(session, folder, chosen)
        return
    _judge(folder, doing, chosen, question=question, answers=answer, note=note, by=by)
    _show(session, folder, [item for item in read_reviewed(folder) if item.id in {each.id for each in chosen}])


def export(  # noqa: PLR0913 one argument an option
    context: typer.Context,
    folder: Folder,
    to: Annotated[Path, typer.Option("--to", metavar="FILE", help="Where to write; a folder for beir.")],
    form: Annotated[
        Format, typer.Option("--format", metavar="beir|jsonl|csv|ragas", help="Layout of what is written.")
    ] = Format.BEIR,
    only: Annotated[States | None, typer.Option("--only", metavar=STATES, help="Only questions that stand so.")] = None,
    split: Annotated[
        Split | None, typer.Option("--split", metavar=SPLITS, help="Only this split; all three by default.")
    ] = None,
    kind: Annotated[Kind | None, typer.Option("--kind", metavar="KIND", help="Only questions of this kind.")] = None,
    version: Version = None,
    json: Json = False,
) -> None:
    """Write a set for other programs. Rejected questions are left out unless --only asks for them."""
    session = session_of(context, json)
    from kaijuan.evals.making.export import export as write
    from kaijuan.evals.making.folder import read_reviewed, version_folder

    chosen = [
        item
        for item in read_reviewed(folder, version)
        if split in (None, item.split)
        and _fits(item, only, kind)
        and (only is not None or item.status != States.REJECTED)
    ]
    write(version_folder(folder, version), chosen, to, form)
    if session.json:
        screen.show_json({"written": str(to), "format": str(form), "questions": len(chosen)})
        return
    from rich.text import Text

    screen.show(Text(f"{screen.count(len(chosen), 'question')} written to {screen.line(str(to))}."))


def _run(session: Session, request: Request, *, with_model: bool, only_estimate: bool) -> Made | dict[str, Any]:
    import asyncio

    return asyncio.run(_make(session, request, with_model=with_model, only_estimate=only_estimate))


async def _make(session: Session, request: Request, *, with_model: bool, only_estimate: bool) -> Made | dict[str, Any]:
    from kaijuan.cli.evaluation.stages import shown_stages
    from kaijuan.cli.session import DEFAULT_KB
    from kaijuan.engine import Kaijuan
    from kaijuan.evals.making.pipeline import make as build

    async with Kaijuan(session.home, session.kb or DEFAULT_KB, config=session.config) as engine:
        if not with_model:
            with shown_stages() as told:
                return await build(engine, request, told=told)
        from kaijuan.evals.making.modelled import ModelWriter

        writer = ModelWriter(engine.config.eval, request)
        try:
            expected = await _expected(engine, request, writer)
            if only_estimate:
                return expected
            with shown_stages() as told:
                return await build(engine, request, told=told, writer=writer)
        finally:
            await writer.close()


async def _expected(engine: Any, request: Request, writer: ModelWriter) -> dict[str, Any]:
    """Say on standard error what the model will be asked, and return it."""
    from dataclasses import asdict

    from rich.text import Text

    from kaijuan.evals.making.pipeline import documents_of

    snapshot, documents = await documents_of(engine, request)
    estimate = await writer.estimate(engine, documents, request, snapshot)
    words = f"Model {screen.line(writer.name)}: {estimate.in_words()}"
    screen.err().print(Text(words), soft_wrap=True)
    return {"model": writer.name} | asdict(estimate)


def _is_shown(item: Item, wanted: Split | None) -> bool:
    return item.split is wanted if wanted is not None else item.split is not Split.TEST


def _fits(item: Item, status: States | None, kind: Kind | None) -> bool:
    stands = item.status or States.OPEN
    return (status is None or stands == status) and kind in (None, item.kind)


def _chosen(items: Sequence[Item], ids: Sequence[str], wanted: Split | None) -> list[Item]:
    from kaijuan.evals.making.reviews import find

    if not ids:
        raise UsageError("No question was named.", hint="`kaijuan eval review DIR list` shows the ids.")
    chosen = list({item.id: item for item in (find(items, word) for word in ids)}.values())
    hidden = [item.id for item in chosen if not _is_shown(item, wanted)]
    if hidden:
        raise UsageError(
            f"Question {hidden[0]} is not in the split shown.",
            hint="Questions of the test split are shown with --split test only: who has seen them may tune on them.",
        )
    return chosen


def _judge(
    folder: Path,
    doing: Doings,
    chosen: Sequence[Item],
    *,
    question: str | None,
    answers: list[str] | None,
    note: str,
    by: str,
) -> None:
    from kaijuan.evals.making.folder import read_reviewed, render, version_folder
    from kaijuan.evals.making.reviews import Action, Review, append, check_edit, moment

    if doing is Doings.EDIT:
        if len(chosen) != 1:
            raise UsageError("One question is edited at a time.", hint="Name one id.")
        check_edit(chosen[0], question, answers)
    elif question is not None or answers is not None:
        raise UsageError("--question and --answer belong to edit.", hint="Use `edit`, which also approves.")
    at, who = moment(time.time()), by.strip() or _user()
    reviews = [
        Review(
            at=at,
            by=who,
            item=item.id,
            action=Action(doing),
            note=note,
            question=question,
            answers=None if answers is None else tuple(answers),
        )
        for item in chosen
    ]
    append(folder, reviews)
    render(version_folder(folder), read_reviewed(folder))


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return f"user {os.getuid()}" if hasattr(os, "getuid") else "unknown"


def _list(session: Session, found: Sequence[Item], items: Sequence[Item], limit: int) -> None:
    hidden = sum(item.split is Split.TEST for item in items) if not any(i.split is Split.TEST for i in found) else 0
    shown = found[:limit] if limit else found
    if session.json:
        screen.show_json({"questions": [_item_shape(item) for item in shown], "found": len(found), "hidden": hidden})
        return
    from kaijuan.cli.evaluation import sets

    screen.show(*sets.listed(shown, found=len(found), hidden=hidden))


def _show(session: Session, folder: Path, chosen: Sequence[Item]) -> None:
    from kaijuan.evals.making.reviews import read_reviews

    said = {item.id: [review for review in read_reviews(folder) if review.item == item.id] for item in chosen}
    if session.json:
        rows = [_item_shape(item) | {"reviews": [_review_shape(one) for one in said[item.id]]} for item in chosen]
        screen.show_json({"questions": rows})
        return
    from kaijuan.cli.evaluation import sets

    for item in chosen:
        screen.show(*sets.shown(item, said[item.id]))


def _made_shape(made: Made) -> dict[str, Any]:
    return {"folder": str(made.folder), "unchanged": made.unchanged} | dict(made.facts)


def _item_shape(item: Item) -> dict[str, Any]:
    from kaijuan.evals.making.folder import item_row

    return item_row(item) | {"status": item.status or str(States.OPEN)}


def _review_shape(review: Any) -> dict[str, Any]:
    from dataclasses import asdict

    return {name: value for name, value in asdict(review).items() if value not in (None, "")}
