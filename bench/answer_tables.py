"""Parts of docs/benchmarks.md about evidence and answers: JSON of a benchmark to the lines of its table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Row = dict[str, Any]


def sufficiency_table(result: Row) -> Iterator[str]:
    """Yield the rows of bench/fit_sufficiency.py: each set judged by what the others taught."""
    [(model, sides)] = [item for item in result["record"]["leave_one_set_out"].items() if item[0] != "any"]
    fit = result["models"][model]["own"]
    yield (
        f"Embedder {model}, threshold {fit['threshold']}. Questions asked of whole corpora and of "
        f"{result['record']['small']} documents (`_small`): answerable ones; with their documents out of reach "
        "(gone); which the set itself calls unanswerable (own); of other sets (other). Each set is judged by a fit on "
        "the other sets. AUROC: the chance that an answerable question is judged surer than another. Last, of the "
        "answerable whose evidence holds the expected words: the share in which the sentences shown hold them.\n"
    )
    yield "| set | answerable answered | gone refused | own refused | other refused | AUROC | words shown |"
    yield "|---|---|---|---|---|---|---|"
    for name, row in sides["own"].items():
        refused = " | ".join(f"{row[kind]['refused']:.3f}" if kind in row else "" for kind in ("gone", "own", "other"))
        told = row.get("told", 0) >= _FEWEST
        shown = f"{row['answer_in_chosen']:.3f}" if told else ""
        yield f"| {name} | {row['answered_of_answerable']:.3f} | {refused} | {row['auroc']:.3f} | {shown} |"


_FEWEST = 10
"""Questions from which a share is worth showing."""


def checking_table(result: Row) -> Iterator[str]:
    """Yield the rows of bench/checking.py: what the checker finds in pairs made from real sentences."""
    yield (
        "Pairs of a claim and the words it cites, made from real sentences, half of them spoiled in one way; counted "
        "on the half of the documents on which nothing was tuned. F1 of finding the wrong claims.\n"
    )
    for language, row in result["languages"].items():
        pairs, documents, spent = row["made"], row["documents"], row["cpu_ms_a_claim"]
        yield f"\n{language}: {pairs:,} pairs of {documents} documents, {spent} ms a claim.\n"
        yield "| spoiled | pairs | found | missed | true ones blamed | F1 |\n|---|---|---|---|---|---|"
        for kind, found in row["report"].items():
            cells = (found["pairs"], found["wrong_found"], found["wrong_missed"], found["true_blamed"])
            yield f"| {kind} | {' | '.join(map(str, cells))} | {found['f1_wrong']:.3f} |"


def editions_table(result: Row) -> Iterator[str]:
    """Yield the rows of bench/editions.py: which of two editions is followed."""
    yield (
        f"{result['pairs']} pairs of rules, half of them Chinese, all in one base. `rule`: the newer one is given and "
        "the older named; `older`: a question that names the older one's year gets it; `comparison`: both are given; "
        "`undecidable`: nothing tells them apart, both are shown and the disagreement is said.\n"
    )
    yield "| question | asked | well | share |\n|---|---|---|---|"
    for name, row in result["shares"].items():
        yield f"| {name} | {row['of']} | {row['good']} | {row['share']:.3f} |"
