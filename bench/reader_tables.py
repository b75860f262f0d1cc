"""Parts of docs/benchmarks.md: readers beside updates and optimising, models beside each other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Row = dict[str, Any]
_HEAD = "| phase | seconds | searches | p50 / p95 / p99 ms | longest ms | wrong or failed |\n|---|---|---|---|---|---|"


def updating_table(result: Row) -> Iterator[str]:
    """Yield the rows of bench/updating.py."""
    yield (
        f"{result['documents']:,} documents, {result['chunks']:,} chunks; {result['changed']:,} of them are updated by "
        f"another process in {result['update_seconds']:.0f} s, in one snapshot, while {result['readers']} readers ask "
        "without pause and check every passage and citation. Vectors are a stub's. The load average was "
        f"{result['load_average']:.0f} on {result['machine']['cores']} cores. {result['note']}\n"
    )
    yield from _phases(result)


def optimising_table(result: Row) -> Iterator[str]:
    """Yield the rows of bench/optimising.py."""
    yield (
        f"{result['chunks']:,} chunks; {result['readers']} readers ask without pause and check every passage. Vectors "
        f"are a stub's. The load average was {result['load_average']:.0f} on {result['machine']['cores']} cores. "
        f"{result['note']}\n"
    )
    yield from _phases(result)
    memory = result["memory_mb"]
    highest = memory.get("highest while optimising", {})
    told = ", ".join(
        f"{name} {memory[name]['resident']} MB ({memory[name]['own']} of its own)"
        for name in ("before", "after", "started anew")
        if name in memory
    )
    peaks = ", ".join(f"{role} {highest[role]} MB" for role in ("index owner", "optimiser") if role in highest)
    yield f"\nThe index owner: {told}. Highest meanwhile: {peaks}." if peaks else f"\nThe index owner: {told}."


def _phases(result: Row) -> Iterator[str]:
    yield _HEAD
    for phase in result["phases"]:
        times = phase["ms"]
        faults = ", ".join(f"{count} {fault}" for fault, count in phase["faults"].items()) or "none"
        yield (
            f"| {phase['phase']} | {phase['seconds']:.0f} | {phase['searches']:,} "
            f"| {times['p50']:.0f} / {times['p95']:.0f} / {times['p99']:.0f} | {times['longest']:.0f} | {faults} |"
        )
    if result["p99_times"]:
        yield f"\nThe second phase has {result['p99_times']} times the p99 of the slower quiet one."


def models_table(result: Row) -> Iterator[str]:
    """Yield the rows of bench/models_beside.py."""
    yield (
        f"{result['set']}: {result['documents']:,} documents, {result['questions']} questions; nDCG@10 of the whole "
        "search as `kaijuan models compare` tells it. The reranker was fitted with the scores of the onboard model. "
        f"{result['note']}\n"
    )
    yield "| model | dimensions | built in s | nDCG@10 | same passages | better / worse | p | search, median ms |"
    yield "|---|---|---|---|---|---|---|---|"
    for row in result["models"]:
        share = "" if row["overlap"] is None else f"{100 * row['overlap']:.0f} %"
        sides = "" if row["better"] is None else f"{row['better']} / {row['worse']}"
        chance = "" if row["p_value"] is None else f"{row['p_value']:.3f}" if row["p_value"] >= 0.001 else "< 0.001"
        built = "" if row["built_seconds"] is None else f"{row['built_seconds']:.0f}"
        yield (
            f"| {row['model']} | {row['dimensions']} | {built} | {row['ndcg@10']:.3f} | {share} | {sides} | {chance} "
            f"| {row['ms']:.0f} |"
        )
    yield (
        f"\nSwitching took {result['switch_ms']:.0f} ms, rolling back {result['roll_back_ms']:.0f} ms; "
        f"{result['asked_meanwhile']} questions were asked meanwhile by {result['readers']} readers, "
        f"{result['failed_meanwhile']} failed."
    )
