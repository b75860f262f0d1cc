"""The judge of sufficiency: its file, its monotony."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from importlib import resources

import pytest

from kaijuan.answer.question import read_question
from kaijuan.answer.sufficiency import Features, Fit, is_foreign, judge_for
from kaijuan.answer.units import Unit
from kaijuan.answer.wanted import counts
from kaijuan.core.documents import BlockKind
from kaijuan.core.spans import Span

MIDDLE = Features(
    similarity=0.85,
    chunk_similarity=0.85,
    distinct=0.5,
    coverage=0.5,
    passage_coverage=0.6,
    known=0.7,
    focus=1.0,
    typed=1.0,
    unspoken=0.0,
    timeless=0.0,
    missing=0.0,
    relevance=0.6,
    lead=0.5,
    pairs=0.7,
    margin=0.2,
    above_mean=0.05,
    apart=0.4,
    into_han=0.0,
)
MODELS = ("multilingual-e5-small", "some-other-model")


def _fits() -> list[Fit]:
    return [
        fit
        for model in MODELS
        for fit in (judge_for(model).own, judge_for(model).foreign, judge_for(model).into_han)
        if fit
    ]


@pytest.mark.parametrize("fit", _fits())
def test_more_evidence_is_never_less_likely_to_suffice(fit: Fit) -> None:
    base = fit.probability(MIDDLE)
    assert 0 < base < 1
    for name in (
        "similarity",
        "above_mean",
        "apart",
        "coverage",
        "passage_coverage",
        "relevance",
        "focus",
        "distinct",
        "known",
        "pairs",
        "margin",
    ):
        assert fit.probability(replace(MIDDLE, **{name: 1.0})) >= base
    assert fit.probability(replace(MIDDLE, lead=2.0)) >= base
    assert fit.probability(replace(MIDDLE, missing=1.0)) <= base


@pytest.mark.parametrize("fit", _fits())
def test_the_wrong_kind_of_value_is_less_likely_to_suffice(fit: Fit) -> None:
    assert fit.probability(replace(MIDDLE, typed=0.0)) < fit.probability(MIDDLE)


@pytest.mark.parametrize("fit", _fits())
@pytest.mark.parametrize("name", ["unspoken", "timeless"])
def test_what_only_looks_like_an_answer_is_less_likely_to_suffice(fit: Fit, name: str) -> None:
    assert fit.probability(replace(MIDDLE, **{name: 1.0})) < fit.probability(MIDDLE)


@pytest.mark.parametrize("fit", _fits())
def test_the_margin_is_zero_at_the_threshold(fit: Fit) -> None:
    assert fit.margin(fit.threshold) == pytest.approx(0)
    assert fit.margin(fit.threshold + 0.01) > 0


def test_the_file_names_only_features_that_exist() -> None:
    record = json.loads(resources.files("kaijuan.answer").joinpath("sufficiency.json").read_text(encoding="utf-8"))
    assert {"any", "multilingual-e5-small"} <= record["models"].keys()
    for fits in record["models"].values():
        assert {"own", "foreign"} <= fits.keys() <= {"own", "foreign", "into_han"}
        for fit in fits.values():
            assert fit["coefficients"].keys() <= asdict(MIDDLE).keys()
            assert 0 < fit["threshold"] < 1


def test_evidence_in_chinese_for_who_asks_otherwise_is_judged_by_a_fit_of_its_own() -> None:
    judge = judge_for("multilingual-e5-small")
    into_han = replace(MIDDLE, into_han=1.0)
    assert judge.across(MIDDLE) is judge.foreign
    assert judge.across(into_han) is judge.into_han
    # Cosines are lower that way: what stands out from all others as far is worth more.
    low = replace(into_han, similarity=0.79, above_mean=0.055, apart=0.8)
    assert judge.across(low).margin(judge.across(low).probability(low)) > 0
    assert judge.foreign.margin(judge.foreign.probability(low)) < 0
    other = judge_for("some-other-model")
    assert other.across(into_han) is other.foreign


def test_other_models_are_judged_without_their_cosines() -> None:
    judge = judge_for("some-other-model")
    for fit in (judge.own, judge.foreign):
        assert not {"similarity", "chunk_similarity", "relevance", "lead"} & fit.coefficients.keys()


@pytest.mark.parametrize(
    ("question", "quote", "foreign"),
    [
        ("年假有几天？", "年假为十天。", False),
        ("年假有几天？", "Annual leave is ten days.", True),
        ("年假有几天？", "年次有給休暇は十日です。", False),
        ("年假有几天？", "有的字以エツ表示，如阁字读作カク。", False),
        ("年假有几天？", "2025", False),
        ("How long is it?", "年假为十天。", True),
    ],
)
def test_a_unit_in_another_language_is_known(question: str, quote: str, foreign: bool) -> None:
    unit = Unit(
        passage=0,
        span=Span(0, len(quote)),
        kind=BlockKind.PARAGRAPH,
        quote=quote,
        context="",
        header=None,
        header_quote="",
        found=True,
    )
    assert is_foreign(read_question(question), unit) is foreign


def test_who_asks_for_a_number_is_not_answered_by_words_alone_in_another_language() -> None:
    assert counts({}, "每月可以补卡 3 次")
    assert counts({"twelv": 1}, "twelve people")
    assert not counts({"issu": 1}, "issued by the people team.")
    assert not counts({}, "holiday calendar 2025")
