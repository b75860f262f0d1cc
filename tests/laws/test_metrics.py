"""The library's metrics are those of the textbook, on any rankings and grades."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from kaijuan.evals.metrics import METRICS, score

DOCUMENTS = [f"d{n}" for n in range(70)]
rankings = st.dictionaries(st.sampled_from("pqrs"), st.lists(st.sampled_from(DOCUMENTS), max_size=80))
judgements = st.dictionaries(
    st.sampled_from("pqrs"), st.dictionaries(st.sampled_from(DOCUMENTS), st.integers(-1, 4), max_size=12), min_size=1
).filter(lambda grades: any(grade > 0 for judged in grades.values() for grade in judged.values()))


def textbook(ranking: Sequence[str], judged: Mapping[str, int]) -> dict[str, float]:
    """Return every metric by its definition."""
    found = list(dict.fromkeys(ranking))
    gains = {document: grade for document, grade in judged.items() if grade > 0}
    hits = [place for place, document in enumerate(found, start=1) if document in gains]

    def discounted(grades: Sequence[int]) -> float:
        return sum(grade / math.log2(place + 1) for place, grade in enumerate(grades[:10], start=1))

    def within(depth: int) -> int:
        return sum(place <= depth for place in hits)

    return {
        "ndcg@10": discounted([gains.get(each, 0) for each in found]) / discounted(sorted(gains.values())[::-1]),
        "recall@5": within(5) / len(gains),
        "recall@10": within(10) / len(gains),
        "recall@50": within(50) / len(gains),
        "mrr@10": 1 / hits[0] if within(10) else 0.0,
        "hit@1": float(within(1) > 0),
        "hit@5": float(within(5) > 0),
        "precision@5": within(5) / 5,
        "map": sum((count + 1) / place for count, place in enumerate(hits)) / len(gains),
    }


@settings(deadline=None)
@given(rankings, judgements)
def test_every_metric_is_the_textbook_s(ranked: dict[str, list[str]], grades: dict[str, dict[str, int]]) -> None:
    judged = {query: docs for query, docs in grades.items() if any(grade > 0 for grade in docs.values())}
    expected = {query: textbook(ranked.get(query, ()), docs) for query, docs in judged.items()}
    found = score(ranked, grades)
    for metric in METRICS:
        assert set(found.by_query[metric]) == set(judged)
        for query, values in expected.items():
            assert math.isclose(found.by_query[metric][query], values[metric], abs_tol=1e-6)
        mean = sum(values[metric] for values in expected.values()) / len(expected)
        assert math.isclose(found.means[metric], mean, abs_tol=1e-6)
