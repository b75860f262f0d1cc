"""Scores of rankings against graded judgements, computed by trec_eval through ir-measures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import TYPE_CHECKING, Any

from kaijuan.errors import EvalDataError, MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Iterator

METRICS = ("ndcg@10", "recall@5", "recall@10", "recall@50", "mrr@10", "hit@1", "hit@5", "precision@5", "map")
"""Names of the metrics, in the order in which they are shown; all lie between 0 and 1, and more is better."""
_RECIPROCAL_DEPTH = 10


@dataclass(frozen=True, kw_only=True)
class Scores:
    """Every metric by question, and its mean over the questions."""

    by_query: Mapping[str, Mapping[str, float]]
    """Metric -> query id -> value."""
    means: Mapping[str, float]


def score(rankings: Mapping[str, Sequence[str]], grades: Mapping[str, Mapping[str, int]]) -> Scores:
    """Score document ids, best first, by question; EvalDataError when no question has a relevant document.

    The questions are those of `grades` with a positive grade: one that `rankings` lacks counts 0, one that only
    `rankings` has counts nothing. Give the grades of a sample when only a sample was asked. A document named twice
    counts at its first place. nDCG takes the grade as gain (Järvelin and Kekäläinen, 2002) and precision@5 divides
    by 5 even where fewer were found; the others take any positive grade as relevant.
    """
    relevant = {query: _positive(judged) for query, judged in grades.items()}
    queries = sorted(query for query, judged in relevant.items() if judged)
    if not queries:
        raise EvalDataError("No question has a relevant document, so there is nothing to score.")
    by_query = {metric: dict.fromkeys(queries, 0.0) for metric in METRICS}
    for metric, place, value in _calculated(
        [relevant[query] for query in queries], [list(dict.fromkeys(rankings.get(query, ()))) for query in queries]
    ):
        by_query[metric][queries[place]] = value
    means = {metric: fsum(values.values()) / len(queries) for metric, values in by_query.items()}
    return Scores(by_query=by_query, means=means)


def _positive(judged: Mapping[str, int]) -> dict[str, int]:
    return {document: grade for document, grade in judged.items() if grade > 0}


def _calculated(
    relevant: Sequence[Mapping[str, int]], rankings: Sequence[Sequence[str]]
) -> Iterator[tuple[str, int, float]]:
    """Yield metric, place of the question and value, for the questions for which something was found."""
    provider, measures = _library()
    judged, runs, heads = {}, {}, {}
    for place, (grades, ranking) in enumerate(zip(relevant, rankings, strict=True)):
        # The library sees numbers, not ids: it reads C strings, and would part ids at characters of its own.
        numbers = {document: str(number) for number, document in enumerate(dict.fromkeys((*ranking, *grades)))}
        judged[str(place)] = {numbers[document]: grade for document, grade in grades.items()}
        if ranking:
            # It sorts by score and breaks ties by id: whole numbers that fall keep the order given.
            falling = {numbers[document]: float(len(ranking) - at) for at, document in enumerate(ranking)}
            runs[str(place)] = falling
            heads[str(place)] = dict(list(falling.items())[:_RECIPROCAL_DEPTH])
    reciprocal = {measure: name for name, measure in measures.items() if name == "mrr@10"}
    others = {measure: name for name, measure in measures.items() if name != "mrr@10"}
    # trec_eval knows no depth for the reciprocal rank: it is given no more than the first ten.
    for names, run in ((others, runs), (reciprocal, heads)):
        if not run:
            continue
        for found in provider.iter_calc(list(names), judged, run):
            yield names[found.measure], int(found.query_id), float(found.value)


def check_installed() -> None:
    """Raise MissingExtraError now, rather than after an hour of asking."""
    _library()


def _library() -> tuple[Any, Mapping[str, Any]]:
    try:
        import ir_measures

        provider = ir_measures.providers.registry["pytrec_eval"]
        available = provider.is_available()
    except ImportError:
        available = False
    if not available:
        raise MissingExtraError(
            "Rankings are scored by ir-measures and pytrec-eval-terrier, which are not installed.",
            hint="Run: pip install 'kaijuan[eval]'.",
        )
    return provider, {
        "ndcg@10": ir_measures.nDCG @ 10,
        "recall@5": ir_measures.R @ 5,
        "recall@10": ir_measures.R @ 10,
        "recall@50": ir_measures.R @ 50,
        "mrr@10": ir_measures.RR,
        "hit@1": ir_measures.Success @ 1,
        "hit@5": ir_measures.Success @ 5,
        "precision@5": ir_measures.P @ 5,
        "map": ir_measures.AP,
    }
