"""Write docs/cli.md from the command itself. With --check, only say whether it is fresh."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from kaijuan.cli.app import app

sys.path.insert(0, str(Path(__file__).parent))
from cli_shapes import SHAPES

PAGE = Path(__file__).parent / "cli.md"

HEAD = """# The command `kaijuan`

Generated from the command by `make docs`.

## Output and exit codes

Without `--json`, results are laid out for people, in colour on a terminal (not with `NO_COLOR`). Times are local.
With `--json`, before or after the command's name, standard output holds exactly one JSON document in UTF-8, on one
line; progress, notes and logs go to standard error. Fields may be added to a document, never renamed or removed.
Help is always text: `--help` wins over `--json`.
Spans are `[start, end)` in characters of the version's text, pages count from 1, boxes are in points from the top left
corner of the page, times are seconds since 1970 (UTC). `source` is the address by which a document is known,
percent-encoded; `path` is the same as a path that can be opened, or null where the source is no file.

| exit code | meaning |
|---|---|
| 0 | good; also when `ask` refuses because the documents do not say |
| 1 | an error, or `doctor` found something wrong |
| 2 | wrong use: the command line, a filter, a time or a setting cannot be read |
| 3 | a run finished and published, but some items failed or are held for review; also when a file or text of `chunks` \
cannot be read, or the judge of `eval answers` failed on some |
| 4 | `eval gate` found that sets score worse than before |
| 130 | stopped with Ctrl-C; what the run had staged is undone |
| 141 | the reader of the output went away |

Every failure with exit code 1 or 2 is, with `--json`, this document (codes: [errors](errors.md)):

```json
{"error": {"code": "busy", "message": "...", "hint": "...", "retry": true}}
```
"""


def page() -> str:
    """Return the whole page."""
    command = typer.main.get_command(app)
    parts = [HEAD, "## Global options\n\nBefore the command's name.\n", _options(command.params)]
    for name, each in commands(command):
        parts.extend(_command(name, each))
    return "\n".join(parts)


def commands(group: Any, before: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every command with its whole name, those of groups within too ("eval retrieval")."""
    for name, each in group.commands.items():
        if hasattr(each, "commands"):
            yield from commands(each, f"{before}{name} ")
        else:
            yield f"{before}{name}", each


def _command(name: str, command: Any) -> Iterator[str]:
    arguments = [parameter for parameter in command.params if parameter.param_type_name == "argument"]
    options = [parameter for parameter in command.params if parameter.param_type_name == "option"]
    words = " ".join(["kaijuan", name, *(_metavar(argument) for argument in arguments), "[OPTIONS]"])
    yield f"## `{name}`\n\n{command.help}\n\n```text\n{words}\n```\n"
    if arguments:
        yield "\n".join(f"- `{_metavar(argument)}`: {argument.help}" for argument in arguments) + "\n"
    yield _options(options)
    yield f"With `--json`:\n\n```text\n{SHAPES[name]}\n```\n"


def _options(parameters: list[Any]) -> str:
    rows = ["| option | meaning |", "|---|---|"]
    for option in parameters:
        names = ", ".join(f"`{name}`" for name in option.opts)
        value = f" `{option.metavar}`" if option.metavar else ""
        more = [option.help]
        if option.envvar:
            more.append(f"Environment: `{option.envvar}`.")
        if option.metavar and option.show_default and option.default is not None:
            more.append(f"Default: `{option.default}`.")
        rows.append(f"| {names}{value} | {' '.join(more)} |".replace("SNAPSHOT|TIME", "SNAPSHOT\\|TIME"))
    return "\n".join(rows) + "\n"


def _metavar(argument: Any) -> str:
    return str(argument.metavar or argument.name.upper()) + ("..." if argument.nargs == -1 else "")


def main() -> int:
    """Write or check the page; 1 when it is stale."""
    text = page()
    if "--check" not in sys.argv:
        PAGE.write_text(text, encoding="utf-8")
        return 0
    if PAGE.exists() and PAGE.read_text(encoding="utf-8") == text:
        return 0
    print("stale: cli.md; run `make docs`", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
