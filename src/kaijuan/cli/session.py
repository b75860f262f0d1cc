"""What the global options say, handed to every command, and the one place that opens the engine."""

from __future__ import annotations

import logging
import os
import shlex
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from kaijuan.cli import screen

if TYPE_CHECKING:
    from kaijuan.core.filters import Filter
    from kaijuan.sync import Kaijuan

DEFAULT_HOME = "~/.kaijuan"
DEFAULT_KB = "default"
DEFAULT_TENANT = "default"


@dataclass(slots=True, kw_only=True)
class Session:
    """The global options. `kb` is "" when the user named none."""

    home: Path
    kb: str = ""
    json: bool = False
    config: Path | None = None
    verbose: int = 0
    tenant: str = DEFAULT_TENANT
    user: str = ""
    """Whose rights count; "" for those of whoever runs the home."""

    @contextmanager
    def open(self, default_kb: str = DEFAULT_KB) -> Iterator[Kaijuan]:
        """Open the knowledge base for the length of a command."""
        from kaijuan.sync import Kaijuan  # late: `kaijuan --help` must not wait for the engine
        from kaijuan.verbs.wiring import EVERYONE

        principals: Collection[str] | None = None
        if self.user:
            with Kaijuan(self.home, self.kb or default_kb, config=self.config, tenant=self.tenant) as base:
                principals = base.who_is(self.user).principals
        with Kaijuan(
            self.home,
            self.kb or default_kb,
            config=self.config,
            tenant=self.tenant,
            principals=EVERYONE if principals is None else principals,
        ) as base:
            yield base


def start_logging(verbose: int) -> None:
    """Send the log to standard error: warnings, with -v what happens, with -vv everything."""
    level = {0: logging.WARNING, 1: logging.INFO}.get(verbose, logging.DEBUG)
    logging.basicConfig(level=level, format="%(asctime)s %(levelname)s %(name)s %(message)s")


def read_filters(expressions: list[str] | None) -> tuple[Filter, ...]:
    """Read the --filter options; FilterError shows where one goes wrong."""
    from kaijuan.core.filter_language import parse_filter

    return tuple(parse_filter(expression) for expression in expressions or ())


def command(home: Path, kb: str) -> str:
    """Return how a command on this home and base is begun where one types it, without what goes without saying."""
    words = [screen.own_command()]
    if home != Path(os.environ.get("KAIJUAN_HOME") or DEFAULT_HOME).expanduser():
        words.append(f"--home {shlex.quote(screen.from_here(str(home.absolute())))}")
    if kb != (os.environ.get("KAIJUAN_KB") or DEFAULT_KB):
        words.append(f"--kb {shlex.quote(kb)}")
    return " ".join(words)


def read_schema(path: Path | None) -> dict[str, object] | None:
    """Read --schema: a file with a JSON schema; None where none is given."""
    if path is None:
        return None
    from kaijuan.core.reply_schemas import read_text

    return read_text(path.read_bytes())


def read_as_of(text: str | None) -> int | float | str | None:
    """Read --as-of: a snapshot number stays an integer, a local date or time becomes seconds since 1970 (UTC).

    A date alone means the end of that day, so that what was published on it counts. What begins with a letter may be
    the tag of a snapshot, which the engine knows.
    """
    from kaijuan.core.arguments import moment

    return text if text is not None and text[:1].isalpha() else moment(text)
