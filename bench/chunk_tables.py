"""The part of docs/benchmarks.md about how documents are cut: JSON of the study to the lines of its tables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Row = dict[str, Any]
_BASELINE = "recursive"
_SURE = 0.05


def chunk_study_table(result: Row) -> Iterator[str]:
    """Yield the rows of bench/chunk_study.py."""
    sets, together, budget = result["sets"], result["together"], result["budget"]
    sizes = "; ".join(_size(one) for one in sets)
    yield (
        "Whole documents, put together from the passages of public sets, or files with questions made from them: "
        f"{sizes}. Small parts of the sets, so that what differs little cannot be told apart here.\n"
    )
    yield (
        "Share of the evidence's characters in what is read of the passages found, in their order: up to "
        f"**{budget:,}** tokens (up to 500, up to 2,000). A star: p below 0.05 against `recursive` in the set by a "
        "paired randomisation test, corrected by Holm for the number of arms. `recursive` is parent and child: the "
        "children are found, their parents are read.\n"
    )
    yield f"| | {' | '.join(one['set'] for one in sets)} | all, difference at {budget:,} | embedded |"
    yield "|---" * (len(sets) + 3) + "|"
    for arm in sets[0]["arms"]:
        cells = [_cell(one["arms"][arm]) for one in sets]
        yield f"| {arm} | {' | '.join(cells)} | {_whole(together.get(arm))} | {_embedded(sets, arm):.1f} × |"
    yield ""
    yield "| | " + " | ".join(f"{one['set']}: children, median tokens" for one in sets) + " |"
    yield "|---" * (len(sets) + 1) + "|"
    for arm in sets[0]["arms"]:
        counts = [f"{one['arms'][arm]['chunks']}, {one['arms'][arm]['median_tokens']:.0f}" for one in sets]
        yield f"| {arm} | {' | '.join(counts)} |"


def _size(one: Row) -> str:
    tokens = f" of {one['tokens']:,} tokens" if "tokens" in one else ""
    return f"{one['set']} {one['documents']} documents{tokens}, {one['questions']} questions"


def _cell(arm: Row) -> str:
    low, middle, high = arm["coverage"].values()
    star = "*" if arm.get("p", 1.0) < _SURE else ""
    return f"**{middle:.3f}**{star} ({low:.3f}, {high:.3f})"


def _whole(found: Row | None) -> str:
    if found is None:
        return ""
    star = "*" if found["p"] < _SURE else ""
    return f"{found['effect']:+.3f}{star} ({found['low']:+.3f} to {found['high']:+.3f})"


def _embedded(sets: list[Row], arm: str) -> float:
    """Return how many times the tokens of `recursive` were embedded."""
    own, base = (sum(one["arms"][name]["embedded_tokens"] for one in sets) for name in (arm, _BASELINE))
    return own / base if base else 0.0
