"""What callers may write, brought to one form: targets, filters, moments."""

from __future__ import annotations

import os
from collections.abc import Iterable
from datetime import date, datetime, time, timedelta

from kaijuan.core.filter_language import parse_filter
from kaijuan.core.filters import Filter
from kaijuan.errors import UsageError

Targets = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]
"""One path or address, or several."""
Filters = str | Filter | Iterable[str | Filter]
"""One filter, in the filter language or as a tree, or several that must all hold."""
Moment = int | float | datetime | str | None
"""A snapshot number (int), a time in seconds since 1970 (float), a datetime, text with either, or None for now."""

Day = date | str | None
"""A day, as a date or as text like 2025-03-01, or None."""


def targets(given: Targets) -> list[str]:
    """Return the targets as text. One alone may be given bare: a string is never taken for a list of letters."""
    if isinstance(given, str | os.PathLike):
        return [os.fspath(given)]
    found = list(given)
    for target in found:
        if not isinstance(target, str | os.PathLike):
            raise UsageError(f"{target!r} is not a path or an address.")
    return [os.fspath(target) for target in found]


def patterns(given: Iterable[str]) -> tuple[str, ...]:
    """Return patterns of paths. One alone may be given bare."""
    return (given,) if isinstance(given, str) else tuple(given)


def filters(given: Filters) -> tuple[Filter, ...]:
    """Return the filters as trees; FilterError for text that cannot be read."""
    if isinstance(given, str | Filter):
        return (_filter(given),)
    return tuple(_filter(item) for item in given)


def _filter(given: object) -> Filter:
    if isinstance(given, str):
        return parse_filter(given)
    if isinstance(given, Filter):
        return given
    raise UsageError(f"{given!r} is not a filter.", hint="Write text like 'kind = pdf', or use kaijuan.core.filters.")


def moment(given: Moment) -> int | float | None:
    """Return a snapshot number, a time in seconds since 1970, or None.

    Text is a snapshot number or an ISO 8601 date or time; without a zone it is local, and a date alone means the end
    of that day.
    """
    if given is None or isinstance(given, float):
        return given
    if isinstance(given, int) and not isinstance(given, bool):
        return given
    if isinstance(given, datetime):
        return given.timestamp()
    if isinstance(given, str):
        return _written(given.strip())
    raise UsageError(f"{given!r} is neither a snapshot nor a time.", hint="Give a number, a datetime or an ISO date.")


def day(given: Day) -> date | None:
    """Return the day that is asked about, or None; text is an ISO 8601 date."""
    if given is None or isinstance(given, date):
        return given.date() if isinstance(given, datetime) else given
    try:
        return date.fromisoformat(given.strip())
    except (ValueError, AttributeError) as error:
        raise UsageError(f"{str(given)[:80]!r} is not a day.", hint="Give one like 2025-03-01.") from error


def _written(text: str) -> int | float:
    try:
        if text.isascii() and text.isdigit():
            return int(text)
        when = datetime.fromisoformat(text)
        if len(text) <= len("2025-01-01"):
            when = datetime.combine(when.date() + timedelta(days=1), time.min) - timedelta(milliseconds=1)
        return when.timestamp()
    except (ValueError, OverflowError) as error:
        raise UsageError(
            f"{text[:80]!r} is neither a snapshot nor a time.",
            hint="Give a number from `kaijuan snapshots`, a date like 2025-03-01 or a time like 2025-03-01T14:30.",
        ) from error
