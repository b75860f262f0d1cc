"""Printed tables of contents: their lines repeat headings, and would be found in place of what they point to."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import chain

_ENTRY = re.compile(
    r"\s*+(\S.*?)(?:(?<!\.)\.{4,}+|(?<!…)…{2,}+|(?<!… )(?:… ){2,}+…?+|(?<!·)·{4,}+|(?<!\. )(?:\. ){4,}+)"
    r"\s*+(\d{1,5})\s*+$"
)
_LONGEST = 200
_LEAST_RUN = 3


def contents_lines(lines: Iterable[str]) -> set[int]:
    """Return the places of the lines that only point to a heading elsewhere in `lines`.

    Three or more in a row (blank lines apart) of title, leader dots and a page number that never falls. Only
    entries whose title is a whole line elsewhere count, so nothing is lost where they are left out: a price list
    looks alike. `lines` are walked over several times.
    """
    entries = {at: found for at, line in enumerate(lines) if len(line) <= _LONGEST and (found := _ENTRY.match(line))}
    if len(entries) < _LEAST_RUN:
        return set()
    wanted = {_key(entry[1]) for entry in entries.values()}
    titles = {key for at, line in enumerate(lines) if at not in entries and (key := _key(line)) in wanted}
    gone: set[int] = set()
    run: list[int] = []
    for at, line in enumerate(chain(lines, ["end"])):
        found = entries.get(at)
        if found and (not run or int(entries[run[-1]][2]) <= int(found[2])):
            run.append(at)
        elif found or line.strip():
            gone.update(run if len(run) >= _LEAST_RUN else ())
            run = [at] if found else []
    return {at for at in gone if _key(entries[at][1]) in titles}


def _key(text: str) -> str:
    return re.sub(r"\s+", "", text).casefold()
