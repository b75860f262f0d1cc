"""The judge of sufficiency: its file, its monotony."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from importlib import resources

import pytest

from kaijuan.answer.question import read_question
from kaijuan.answer.sufficiency import Features, features_of, fit_for

MIDDLE = Features(
    similarity=0.85,
    chunk_similarity=0.85,
    distinct=0.5,
    coverage=0.5,
    passage_coverage=0.6,
    missing=0.0,
    foreign=0.0,
)


@pytest.mark.parametrize("model", ["multilingual-e5-small", "some-other-model"])
def test_more_evidence_is_never_less_likely_to_suffice(model: str) -> None:
    fit = fit_for(model)
    base = fit.probability(MIDDLE)
    assert 0 < base < 1
    for name in ("coverage", "passage_coverage"):
        assert fit.probability(replace(MIDDLE, **{name: 1.0})) >= base
    assert fit.probability(replace(MIDDLE, missing=1.0)) <= base


def test_the_file_names_only_features_that_exist() -> None:
    record = json.loads(resources.files("kaijuan.answer").joinpath("sufficiency.json").read_text(encoding="utf-8"))
    assert {"any", "multilingual-e5-small"} <= record["models"].keys()
    for fit in record["models"].values():
        assert fit["coefficients"].keys() <= asdict(MIDDLE).keys()
        assert 0 < fit["threshold"] < 1


def test_other_models_are_judged_without_their_cosines() -> None:
    assert not {"similarity", "chunk_similarity"} & fit_for("some-other-model").coefficients.keys()


def test_no_evidence_does_not_suffice() -> None:
    features = features_of(read_question("年假有几天？"), [], [], [])
    for model in ("multilingual-e5-small", "some-other-model"):
        assert fit_for(model).probability(features) < fit_for(model).threshold
