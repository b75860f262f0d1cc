"""The part of docs/benchmarks.md about how documents are cut: JSON of the study to the lines of its tables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Row = dict[str, Any]
_BASELINE = "recursive"
_SURE = 0.05


def chunk_study_table(result: Row) -> Iterator[str]:
    """Yield the rows of bench/chunk_study.py."""
    sets, together = result["sets"], result["together"]
    arms = [_BASELINE, *together]
    budgets = list(sets[0]["arms"][_BASELINE]["coverage"])
    yield (
        "Whole documents, put together from the passages of public sets, or files with questions made from them: "
        f"{'; '.join(map(_size, sets))}. Small parts of the sets: what differs little cannot be told apart here, and "
        "with so few documents most evidence is among the first passages.\n"
    )
    yield (
        "Share of the evidence's characters in what is read of the passages found, in their order, up to "
        f"{', '.join(budgets)} tokens. A star: p below 0.05 against `recursive` by a paired randomisation test, "
        "corrected by Holm for the number of arms. `recursive` is parent and child: the children are found, their "
        "parents are read.\n"
    )
    yield f"| | {' | '.join(one['set'] for one in sets)} | tokens embedded |"
    yield "|---" * (len(sets) + 2) + "|"
    for arm in arms:
        cells = [_cell(one["arms"].get(arm)) for one in sets]
        yield f"| {arm} | {' | '.join(cells)} | {_embedded(sets, arm):.1f} × |"
    yield "\nThe difference to `recursive`, averaged over the sets, with its 95 % interval:\n"
    yield f"| | {' | '.join(f'{budget} tokens' for budget in budgets)} | sets |"
    yield "|---" * (len(budgets) + 2) + "|"
    for arm, found in together.items():
        yield f"| {arm} | {' | '.join(_whole(found[budget]) for budget in budgets)} | {found[budgets[0]]['sets']} |"
    yield "\nChildren, and their median in tokens:\n"
    yield f"| | {' | '.join(one['set'] for one in sets)} |"
    yield "|---" * (len(sets) + 1) + "|"
    for arm in arms:
        counts = [_count(one["arms"].get(arm)) for one in sets]
        yield f"| {arm} | {' | '.join(counts)} |"


def _size(one: Row) -> str:
    tokens = f" of {one['tokens']:,} tokens" if "tokens" in one else ""
    return f"{one['set']} {one['documents']} documents{tokens}, {one['questions']} questions"


def _cell(arm: Row | None) -> str:
    if arm is None:
        return ""
    found = arm.get("against", {})
    return " / ".join(f"{value:.3f}{_star(found.get(budget))}" for budget, value in arm["coverage"].items())


def _count(arm: Row | None) -> str:
    return "" if arm is None else f"{arm['chunks']}, {arm['median_tokens']:.0f}"


def _star(found: Row | None) -> str:
    return "*" if found is not None and found["p"] < _SURE else ""


def _whole(found: Row) -> str:
    return f"{found['effect']:+.3f}{_star(found)} ({found['low']:+.3f} to {found['high']:+.3f})"


def _embedded(sets: list[Row], arm: str) -> float:
    """Return how many times the tokens of `recursive` were embedded, in the sets that have the arm."""
    having = [one["arms"] for one in sets if arm in one["arms"]]
    own, base = (sum(arms[name]["embedded_tokens"] for arms in having) for name in (arm, _BASELINE))
    return own / base if base else 0.0
