"""Figures of this process in the text format of Prometheus."""

from __future__ import annotations

import bisect
import re
from collections import Counter
from collections.abc import Iterator, Mapping

from kaijuan import __version__, telemetry

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
_STATUS = re.compile(r"http\.(\d{3}|aborted)")


class Durations:
    """How long requests took, counted in buckets."""

    def __init__(self) -> None:
        self._buckets = [0] * (len(_SECONDS) + 1)
        self._sum = 0.0

    def take(self, seconds: float) -> None:
        """Count one request."""
        self._buckets[bisect.bisect_left(_SECONDS, seconds)] += 1
        self._sum += seconds

    def lines(self, name: str) -> Iterator[str]:
        """Yield the lines of a histogram."""
        yield f"# TYPE {name} histogram"
        below = 0
        for limit, count in zip((*map(str, _SECONDS), "+Inf"), self._buckets, strict=True):
            below += count
            yield f'{name}_bucket{{le="{limit}"}} {below}'
        yield f"{name}_sum {self._sum:.6f}"
        yield f"{name}_count {below}"


REQUESTS = Durations()
"""Of this process."""


def exposed(*, seconds: float, tickets: Mapping[str, int]) -> str:
    """Return all figures: `seconds` since the start, and work under way and ended by state."""
    return "".join(f"{line}\n" for line in _lines(seconds, tickets))


def _lines(seconds: float, tickets: Mapping[str, int]) -> Iterator[str]:
    yield "# TYPE kaijuan_info gauge"
    yield f'kaijuan_info{{version="{__version__}"}} 1'
    yield "# TYPE kaijuan_uptime_seconds gauge"
    yield f"kaijuan_uptime_seconds {seconds:.1f}"
    statuses: Counter[str] = Counter()
    events: Counter[str] = Counter()
    for name, count in telemetry.counters().items():
        found = _STATUS.fullmatch(name)
        if found:
            statuses[found[1]] += count
        else:
            events[name] += count
    yield "# TYPE kaijuan_http_requests_total counter"
    yield from (f'kaijuan_http_requests_total{{status="{status}"}} {statuses[status]}' for status in sorted(statuses))
    yield from REQUESTS.lines("kaijuan_http_request_seconds")
    yield "# TYPE kaijuan_events_total counter"
    yield from (f'kaijuan_events_total{{name="{_escaped(name)}"}} {events[name]}' for name in sorted(events))
    yield "# TYPE kaijuan_tickets gauge"
    yield from (f'kaijuan_tickets{{state="{state}"}} {tickets[state]}' for state in sorted(tickets))


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
