"""Figures of this process in the text format of Prometheus."""

from __future__ import annotations

import bisect
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from kaijuan import __version__, telemetry
from kaijuan.server.access_log import Served

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
ANSWERS = "answers."
"""Counters of answers by how they ended begin with this."""
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)


class Durations:
    """How long requests took, counted in buckets."""

    def __init__(self) -> None:
        self._buckets = [0] * (len(_SECONDS) + 1)
        self._sum = 0.0

    def take(self, seconds: float) -> None:
        """Count one request."""
        self._buckets[bisect.bisect_left(_SECONDS, seconds)] += 1
        self._sum += seconds

    def lines(self, name: str, labels: str) -> Iterator[str]:
        """Yield the lines of a histogram."""
        below = 0
        for limit, count in zip((*map(str, _SECONDS), "+Inf"), self._buckets, strict=True):
            below += count
            yield f'{name}_bucket{{{labels},le="{limit}"}} {below}'
        yield f"{name}_sum{{{labels}}} {self._sum:.6f}"
        yield f"{name}_count{{{labels}}} {below}"


class Requests:
    """Requests by route, method and status, and how long those of each route took."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, str, str]] = Counter()
        self._durations: dict[tuple[str, str], Durations] = {}

    def take(self, request: Served) -> None:
        """Count one request."""
        self._counts[request.route, request.method, str(request.status or "aborted")] += 1
        self._durations.setdefault((request.route, request.method), Durations()).take(request.ms / 1000)

    def lines(self) -> Iterator[str]:
        """Yield the lines of all."""
        yield from _head("kaijuan_http_requests_total", "counter", "Requests by route, method and status.")
        for (route, method, status), count in sorted(self._counts.items()):
            yield f"kaijuan_http_requests_total{{{_labels(route=route, method=method, status=status)}}} {count}"
        yield from _head("kaijuan_http_request_seconds", "histogram", "From a request's head to its last byte.")
        for (route, method), durations in sorted(self._durations.items()):
            yield from durations.lines("kaijuan_http_request_seconds", _labels(route=route, method=method))


REQUESTS = Requests()
"""Of this process."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseFigures:
    """How fresh a base is, and what waits for it. Ages are seconds; `age` is None before the first snapshot."""

    kb: str
    age: float | None
    waiting: int
    failed: int
    oldest: float
    """Age of the oldest job that still waits; 0 where none does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What is told beside requests and events."""

    uptime: float
    tickets: Mapping[str, int]
    """Pieces of work of this process by state."""
    bases: Sequence[BaseFigures] = ()


def exposed(figures: Figures) -> str:
    """Return all figures as one text."""
    return "".join(f"{line}\n" for line in _lines(figures))


def _lines(figures: Figures) -> Iterator[str]:
    yield from _head("kaijuan_info", "gauge", "The version that runs.")
    yield f"kaijuan_info{{{_labels(version=__version__)}}} 1"
    yield from _head("kaijuan_uptime_seconds", "gauge", "Since the service was started.")
    yield f"kaijuan_uptime_seconds {figures.uptime:.1f}"
    yield from REQUESTS.lines()
    counters = telemetry.counters()
    yield from _head("kaijuan_answers_total", "counter", "Answers by how they ended, refusals among them.")
    for name in sorted(counters):
        if name.startswith(ANSWERS):
            yield f"kaijuan_answers_total{{{_labels(status=name.removeprefix(ANSWERS))}}} {counters[name]}"
    yield from _head("kaijuan_events_total", "counter", "What happened inside, by name.")
    for name in sorted(counters):
        if not name.startswith(ANSWERS):
            yield f"kaijuan_events_total{{{_labels(name=name)}}} {counters[name]}"
    yield from _head("kaijuan_tickets", "gauge", "Work of this process by state.")
    for state, count in sorted(figures.tickets.items()):
        yield f"kaijuan_tickets{{{_labels(state=state)}}} {count}"
    yield from _base_lines(figures.bases)


def _base_lines(bases: Sequence[BaseFigures]) -> Iterator[str]:
    yield from _head("kaijuan_snapshot_age_seconds", "gauge", "Since the newest snapshot of a base was published.")
    for one in bases:
        if one.age is not None:
            yield f"kaijuan_snapshot_age_seconds{{{_labels(kb=one.kb)}}} {one.age:.1f}"
    yield from _head("kaijuan_queue_jobs", "gauge", "Jobs of a base that wait or are under way, and given up.")
    for one in bases:
        yield f"kaijuan_queue_jobs{{{_labels(kb=one.kb, state='waiting')}}} {one.waiting}"
        yield f"kaijuan_queue_jobs{{{_labels(kb=one.kb, state='failed')}}} {one.failed}"
    yield from _head("kaijuan_queue_oldest_seconds", "gauge", "Age of the oldest job of a base that waits.")
    for one in bases:
        yield f"kaijuan_queue_oldest_seconds{{{_labels(kb=one.kb)}}} {one.oldest:.1f}"


def _head(name: str, kind: str, said: str) -> Iterator[str]:
    yield f"# HELP {name} {said}"
    yield f"# TYPE {name} {kind}"


def _labels(**labels: str) -> str:
    return ",".join(f'{name}="{_escaped(value)}"' for name, value in labels.items())


def _escaped(text: str) -> str:
    # What is no UTF-8 (half a surrogate pair in a name) would make the whole text unreadable.
    told = text.encode("utf-8", "backslashreplace").decode()
    return told.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
