"""Parts of docs/benchmarks.md about the service: many clients at once, and what never leaves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Row = dict[str, Any]


def serving_table(result: Row) -> Iterator[str]:
    """Yield the rows of bench/serving.py."""
    errors = "no error" if not result["errors"] else f"{result['errors']} errors"
    beside = float(result["load_average"]) > 2 * int(result["machine"]["cores"])
    yield (
        f"{result['clients']} clients at once for {result['seconds']:.0f} s over HTTP, {result['chunks']:,} chunks, "
        "searches and extractive answers mixed, the question's embedding by a stub: "
        f"{result['requests']:,} requests, {errors}, {result['per_second']} a second. Service, index owner and clients "
        f"share {result['machine']['cores']} cores, whose load average was {result['load_average']}"
        f"{': other work ran beside it, and the times say little' if beside else ''}.\n"
    )
    yield "| request | p50 ms | p95 ms | p99 ms |\n|---|---|---|---|"
    for kind, times in result["ms"].items():
        yield f"| {kind} | {times['p50']:.0f} | {times['p95']:.0f} | {times['p99']:.0f} |"
    yield "\n| process | processor ms a request | resident MB, first third | last third |\n|---|---|---|---|"
    for role, memory in result["memory_mb"].items():
        spent = result["processor_ms_a_request"][role]
        yield f"| {role} | {spent} | {memory['first third']} | {memory['last third']} |"


def leaks_table(result: Row) -> Iterator[str]:
    """Yield the rows of bench/leaks.py."""
    yield (
        "A marker planted in documents that are closed, and in all that is derived of them; calls generated from the "
        "OpenAPI document and the schemas of the MCP tools with their ids, by users of another tenant, of other "
        "groups, an editor and nobody.\n"
    )
    yield "| calls | operations and tools | markers that left | closed documents changed |\n|---|---|---|---|"
    yield f"| {result['calls']:,} | {result['operations']} | {result['leaks']} | {result['changed']} |"
    statuses = ", ".join(f"{count:,} of {status}" for status, count in result["statuses"].items())
    yield f"\nResponses: {statuses}."
