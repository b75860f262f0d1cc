"""The set and the scores that `make gate` holds the search against fit each other."""

from __future__ import annotations

from pathlib import Path

from kaijuan.config import Config
from kaijuan.evals.experiments.changes import public_settings
from kaijuan.evals.experiments.gate import check_sets, load_sets, read_baseline
from kaijuan.evals.metrics import METRICS

FOLDER = Path(__file__).parents[4] / "bench" / "gate"


def test_the_set_is_whole_and_the_scores_are_of_it() -> None:
    (data,) = load_sets([FOLDER / "company_zh_en"])
    assert data.problems == ()
    assert len(data.judged) == len(data.queries) >= 40
    baseline = read_baseline(FOLDER / "baseline.json")
    check_sets(baseline, [data])
    scores = baseline.sets["company_zh_en"].scores
    assert scores.keys() == set(METRICS)
    assert all(values.keys() == data.grades.keys() for values in scores.values())


def test_the_scores_are_of_the_settings_as_they_are() -> None:
    """Whoever changes a default that searching reads writes the scores anew, and sees them."""
    then = read_baseline(FOLDER / "baseline.json").settings
    now = public_settings(Config())
    for section in ("chunk", "retrieve"):
        assert then[section] == now[section], "run `make gate-baseline`, and read the difference"


def test_both_languages_are_asked() -> None:
    (data,) = load_sets([FOLDER / "company_zh_en"])
    english = sum(query.text.isascii() for query in data.judged)
    assert 15 <= english <= len(data.judged) - 15
