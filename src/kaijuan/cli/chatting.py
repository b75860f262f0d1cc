"""The command for conversations: questions that go on from each other, kept by name."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from kaijuan.cli import screen, shapes
from kaijuan.cli.citing import opener, remember
from kaijuan.cli.options import Extractive, Filters, Json, K, Preset, session_of
from kaijuan.cli.session import Session, read_filters
from kaijuan.errors import KaijuanError, NotFoundError, UsageError

if TYPE_CHECKING:
    from kaijuan.answer.results import Answer
    from kaijuan.core.filters import Filter
    from kaijuan.sync import Kaijuan

DEFAULT_SESSION = "default"
_LEAVING = frozenset({"/exit", "/quit", "/q", "exit", "quit", "退出"})


def chat(  # noqa: PLR0913 one argument an option
    context: typer.Context,
    name: Annotated[
        str, typer.Option("--session", "-s", metavar="NAME", help="Which conversation; begun if there is none.")
    ] = DEFAULT_SESSION,
    message: Annotated[
        str | None, typer.Option("-m", "--message", metavar="TEXT", help="Ask one question and return.")
    ] = None,
    k: K = 8,
    filters: Filters = None,
    preset: Preset = None,
    extractive: Extractive = False,
    list_: Annotated[bool, typer.Option("--list", metavar="", help="List your conversations.")] = False,
    show: Annotated[bool, typer.Option("--show", metavar="", help="Show the conversation so far.")] = False,
    delete: Annotated[bool, typer.Option("--delete", metavar="", help="Delete the conversation.")] = False,
    pin: Annotated[
        str | None,
        typer.Option("--pin", metavar="FACT", help="Keep something in mind for the conversation; it is no evidence."),
    ] = None,
    unpin: Annotated[
        str | None, typer.Option("--unpin", metavar="FACT|N", help="Forget a pinned fact, by its words or number.")
    ] = None,
    json: Json = False,
) -> None:
    """Hold a conversation: follow-up questions are understood from those before, every sentence is cited."""
    session = session_of(context, json)
    wanted = read_filters(filters)
    if sum((list_, show, delete, pin is not None, unpin is not None, message is not None)) > 1:
        raise typer.BadParameter("Give one of -m, --list, --show, --delete, --pin and --unpin.")
    with session.open() as base:
        if list_:
            _list(session, base)
        elif show:
            _show(session, base, name)
        elif delete:
            base.forget_conversation(name)
            _told(session, {"deleted": name}, f"Deleted the conversation {name}.")
        elif pin is not None or unpin is not None:
            talk = base.pin_fact(name, pin) if pin is not None else base.unpin_fact(name, str(unpin))
            said = f"Pinned: {'; '.join(talk.facts)}" if talk.facts else "Nothing is pinned."
            _told(session, {"session": talk.name, "facts": list(talk.facts)}, said)
        elif message is not None:
            _one(session, base, name, message, _How(k=k, filters=wanted, preset=preset, extractive=extractive))
        else:
            _talk(session, base, name, _How(k=k, filters=wanted, preset=preset, extractive=extractive))


class _How:
    """How questions are answered."""

    def __init__(self, *, k: int, filters: tuple[Filter, ...], preset: str | None, extractive: bool) -> None:
        self.k, self.filters, self.preset, self.extractive = k, filters, preset, extractive

    def ask(self, base: Kaijuan, name: str, text: str, *, quiet: bool) -> Answer:
        """Ask the next question and return the answer."""
        from kaijuan.cli.streaming import follow

        events = base.converse_stream(
            text, session=name, k=self.k, filters=self.filters, preset=self.preset, extractive=self.extractive
        )
        return follow(events, quiet=quiet)


def _one(session: Session, base: Kaijuan, name: str, text: str, how: _How) -> None:
    answer = how.ask(base, name, text, quiet=session.json)
    if session.json:
        remember(session, answer)
        screen.show_json({"session": name, "asked": text, **shapes.answer_shape(answer)})
        return
    _answered(session, text, answer)


def _talk(session: Session, base: Kaijuan, name: str, how: _How) -> None:
    """Read questions until the end of input; a question that fails does not end the conversation."""
    if session.json:
        raise UsageError("A conversation with --json takes one question.", hint="Give it with -m TEXT.")
    from rich.text import Text

    terminal = sys.stdin.isatty()
    if terminal:
        said = f"Conversation {name}. Ask in Chinese or English; an empty line or /exit ends it. 空行或 /exit 结束。"
        screen.show(Text(screen.line(said), style="dim"))
    while (text := _read(terminal)) is not None:
        try:
            _answered(session, text, how.ask(base, name, text, quiet=False))
        except KaijuanError as error:
            screen.err().print(Text(screen.lines(f"Error: {error}"), style="red"), soft_wrap=True)
        screen.show(Text(""))


def _read(terminal: bool) -> str | None:
    """Return the next question, None at the end. Without a terminal empty lines are passed over."""
    while True:
        try:
            line = input("> " if terminal else "")
        except (EOFError, UnicodeDecodeError):
            return None
        text = line.strip()
        if text.lower() in _LEAVING or (terminal and not text):
            return None
        if text:
            return text


def _answered(session: Session, text: str, answer: Answer) -> None:
    from rich.text import Text

    from kaijuan.cli import answers

    if answer.question.strip() != text.strip():
        screen.show(Text(screen.line(f"→ {answer.question}"), style="dim"))
    remember(session, answer)
    screen.show(*answers.answered(answer, opener(session)))


def _list(session: Session, base: Kaijuan) -> None:
    try:
        found = base.conversations()
    except NotFoundError:
        found = []
    if session.json:
        shown = [
            {"name": one.name, "turns": one.turns, "created_at": one.created_at, "updated_at": one.updated_at}
            for one in found
        ]
        screen.show_json({"conversations": shown})
        return
    from kaijuan.cli import talk_tables

    screen.show(*talk_tables.conversations(found))


def _show(session: Session, base: Kaijuan, name: str) -> None:
    talk = base.conversation(name)
    if session.json:
        head = talk.conversation
        screen.show_json(
            {
                "name": head.name,
                "created_at": head.created_at,
                "updated_at": head.updated_at,
                "summary": head.summary,
                "facts": list(head.facts),
                "turns": [
                    {
                        "number": turn.number,
                        "at": turn.at,
                        "question": turn.question,
                        "standalone": turn.standalone,
                        "status": turn.status,
                        "answer": turn.answer,
                        "titles": list(turn.titles),
                        "trace_id": turn.trace_id,
                        "withheld": turn.withheld,
                    }
                    for turn in talk.turns
                ],
            }
        )
        return
    from kaijuan.cli import talk_tables

    screen.show(*talk_tables.conversation(talk))


def _told(session: Session, document: dict[str, object], said: str) -> None:
    if session.json:
        screen.show_json(document)
        return
    from rich.text import Text

    screen.show(Text(screen.lines(said)))
