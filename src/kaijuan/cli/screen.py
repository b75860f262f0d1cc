"""Where output goes: JSON or text for people on standard output, everything else on standard error.

Text from documents, file names and errors is only ever shown through `line` and `lines`: rich markup in it is not read,
and control characters, which could move the cursor or reverse the reading direction, are shown as escapes.
"""

from __future__ import annotations

import io
import json
import os
import shlex
import shutil
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, TextIO
from urllib.parse import unquote, urlsplit

import typer

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

PIPED_COLUMNS = 100
"""Width for people's output when it goes to a file or pipe and COLUMNS is not set."""
BROKEN_PIPE = 141
"""Exit code when the reader of the output went away, as a program killed by SIGPIPE has (128 + 13)."""
_PLACES = frozenset({"--home", "--kb", "--config"})
UNSEEN = frozenset("\u2028\u2029\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff")


def line(text: str) -> str:
    """Return text for one line: every control character, line breaks too, as an escape."""
    return "".join(_escape(letter) if _hidden(letter) else letter for letter in text)


def lines(text: str) -> str:
    """Return text for several lines: like `line`, but line breaks and tabs stay."""
    return "".join(_escape(letter) if letter not in "\n\t" and _hidden(letter) else letter for letter in text)


def place(source: str) -> str:
    """Return a source address as people write it: a path for files, below here a relative one, else the address."""
    parts = urlsplit(source)
    if parts.scheme != "file":
        return line(source)
    path = from_here(unquote(parts.path))
    return line(f"{path}#{unquote(parts.fragment)}" if parts.fragment else path)


def from_here(path: str) -> str:
    """Return a path below the working folder as a relative one."""
    with suppress(OSError, ValueError):
        return str(PurePosixPath(path).relative_to(os.getcwd()))
    return path


def name(source: str) -> str:
    """Return the last part of a source address."""
    shown = place(source)
    return PurePosixPath(shown).name or shown


def count(number: int, noun: str) -> str:
    """Return "1 chunk", "2 chunks"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def ordinal(number: int) -> str:
    """Return "1st", "2nd", "11th"."""
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th") if number % 100 not in (11, 12, 13) else "th"
    return f"{number}{ending}"


def own_command() -> str:
    """Return what to type to start this very command again: its name where the shell finds it, else its path."""
    script = Path(sys.argv[0])
    if script.stem != "kaijuan":
        script = Path(sys.executable).with_name("kaijuan")
    on_path = shutil.which("kaijuan")
    with suppress(OSError):
        if on_path and Path(on_path).samefile(script):
            return "kaijuan"
    if script.is_file():
        return shlex.quote(from_here(str(script.absolute())))
    return f"{shlex.quote(sys.executable)} -m kaijuan"


def go_on() -> str:
    """Return what to type to go on where this command is: its own name, and the place that it was told."""
    return " ".join([own_command(), *global_options(sys.argv[1:])])


def global_options(words: Sequence[str]) -> list[str]:
    """Return those words of a command line that say where it works, ready for a shell: --home, --kb, --config."""
    kept: list[str] = []
    rest = iter(words)
    for word in rest:
        option, found, value = word.partition("=")
        if not word.startswith("-"):
            break  # the command: what follows is its own
        if option in _PLACES:
            kept.append(f"{option} {shlex.quote(value if found else next(rest, ''))}")
    return kept


def out() -> Console:
    """Return the console for results."""
    return _console(sys.stdout)


def err() -> Console:
    """Return the console for progress, notes and errors."""
    return _console(sys.stderr)


def show(*items: RenderableType) -> None:
    """Print results for people."""
    _need_output()
    with _pipe_may_break():
        sys.stdout.write(_rendered(items))
        sys.stdout.flush()


def _rendered(items: Iterable[RenderableType]) -> str:
    console = out()
    with console.capture() as printed:
        for item in items:
            # rich forgets no_wrap when it prints; a command to copy must stay whole on a narrow screen.
            console.print(item, soft_wrap=bool(getattr(item, "no_wrap", False)))
    text = printed.get()
    if console.is_terminal:
        return text
    # Tables and indents are filled up with blanks, which are of no use in a file.
    return "".join(f"{each.rstrip()}\n" for each in text.split("\n")).removesuffix("\n")


def show_text(text: str) -> None:
    """Print text as it is for a file or program; on a terminal nothing in it may move the cursor."""
    _need_output()
    with _pipe_may_break():
        sys.stdout.write(lines(text) if sys.stdout.isatty() else text)
        sys.stdout.flush()


def show_json(document: object) -> None:
    """Print the one JSON document, UTF-8 whatever the locale says."""
    _need_output()
    # Surrogates from undecodable file names cannot be encoded; as \udcXX they are valid JSON.
    data = (json.dumps(document, ensure_ascii=False, allow_nan=False) + "\n").encode("utf-8", "backslashreplace")
    with _pipe_may_break():
        buffer = getattr(sys.stdout, "buffer", None)
        if buffer is None:
            sys.stdout.write(data.decode())
        else:
            sys.stdout.flush()
            buffer.write(data)
        sys.stdout.flush()


def forgive_encodings() -> None:
    """Let text that the terminal's encoding lacks be shown as escapes instead of ending the command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def join(parts: Iterable[str], by: str = " › ") -> str:
    """Return a title path on one line."""
    return by.join(line(part) for part in parts)


def _hidden(letter: str) -> bool:
    return letter in UNSEEN or unicodedata.category(letter) in ("Cc", "Cs")


def _escape(letter: str) -> str:
    return letter.encode("unicode_escape", "surrogatepass").decode()


def _console(stream: TextIO) -> Console:
    from rich.console import Console

    width = None if stream.isatty() or "COLUMNS" in os.environ else PIPED_COLUMNS
    return Console(file=stream, width=width, markup=False, emoji=False, highlight=False)


@contextmanager
def _pipe_may_break() -> Iterator[None]:
    """End the command quietly when the reader of standard output has gone (`kaijuan list | head -1`).

    Where it cannot be written for another reason (closed, disk full), say so and end with exit code 1.
    """
    try:
        yield
    except BrokenPipeError:
        _forget_output()
        raise typer.Exit(BROKEN_PIPE) from None
    except OSError as error:
        _forget_output()
        _say_output_is_lost(error.strerror or str(error))
        raise typer.Exit(1) from None


def _forget_output() -> None:
    # The interpreter flushes once more at its end; that must not complain.
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _say_output_is_lost(why: str) -> None:
    err().print(f"Error: standard output cannot be written: {why}.", soft_wrap=True)


def _need_output() -> None:
    if sys.stdout is None:  # started with it closed (`>&-`)
        _say_output_is_lost("it is closed")
        raise typer.Exit(1)
