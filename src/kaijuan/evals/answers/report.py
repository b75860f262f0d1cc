"""The figures of a run over answers: a share is None, never NaN, where nothing was measured."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from kaijuan.evals.answers.assess import Assessment
from kaijuan.evals.answers.conflicts import Handling, names_conflict
from kaijuan.evals.answers.given import as_row
from kaijuan.evals.answers.items import Expected
from kaijuan.evals.answers.judges.rules import graded
from kaijuan.evals.answers.ports import Grade
from kaijuan.evals.answers.refusal import Outcome, answered_share, curve, ranking, risk_area, table
from kaijuan.evals.answers.run import AnswerRun
from kaijuan.evals.writing import write_target

DECIMALS = 4
PERCENTILES = (50, 95, 99)
Found = Sequence[Assessment]


def summary_of(run: AnswerRun) -> dict[str, Any]:
    """Return the figures of a run as JSON has them; shares between 0 and 1, times in milliseconds."""
    measured = [one for one in run.assessments if not one.given.failure]
    asked = {one.item.kind for one in run.assessments}
    kinds = [kind for kind in run.data.labels if kind in asked]
    return {
        "set": run.data.name,
        "documents": run.documents,
        "chunks": run.chunks,
        "questions": len(run.assessments),
        "failed": _failures(run.assessments),
        "metrics": metrics_of(measured),
        "by_kind": {
            kind: {
                "label": run.data.labels[kind],
                **metrics_of([one for one in measured if one.item.kind == kind]),
            }
            for kind in kinds
        },
        "refusal": _refusal(measured),
        "conflicts": _conflicts(measured),
        "judge": _judging(run, measured),
        "latency_ms": _latency(measured),
        "config": dict(run.config),
        "ingest": {"reused": run.reused, "seconds": run.ingest_seconds},
        "resumed": run.resumed,
        "fingerprint": run.data.fingerprint,
        "problems": list(run.problems),
    }


def metrics_of(found: Found) -> dict[str, Any]:
    """Return what was measured of some answers, each figure over those that it can be told of.

    `exact`, `f1` and `recall` are of the `compared` questions, which have an answer, `hit` and `given` of the `short`
    ones, whose answer can be looked for; refusals give nothing. `hit_answered` and `telling` are of those that were
    answered, `right` of those that were `judged`. Citations are measured by answer and averaged; `faithful` and
    `verbatim` are shares of all statements.
    """
    compared = [one.correctness for one in found if one.correctness is not None]
    answered = [one for one in found if one.given.answered]
    cited = [one.cited for one in found if one.cited is not None]
    statements = sum(len(one.supports) for one in cited)
    quotes = [quote.exact for one in found for quote in one.given.quotes]
    figures: dict[str, float | None] = {
        "answered": _mean(one.given.answered for one in found),
        "exact": _mean(one.exact for one in compared),
        "f1": _mean(one.f1 for one in compared),
        "recall": _mean(one.recall for one in compared),
        "hit": _mean(one.hit for one in compared),
        "given": _mean(one.given for one in compared),
        "hit_answered": _mean(one.correctness.hit for one in answered if one.correctness is not None),
        "telling": _mean(one.telling for one in answered),
        "right": _right(answered),
        "citation_recall": _mean(one.recall for one in cited),
        "citation_precision": _mean(one.precision for one in cited),
        "cited_relevant": _mean(one.cited_relevant for one in found),
        "relevant_cited": _mean(one.relevant_cited for one in found),
        "faithful": sum(one.faithful for one in cited) / statements if statements else None,
        "verbatim": sum(one.verbatim for one in cited) / statements if statements else None,
        "quotes_exact": _mean(quotes),
    }
    return {
        "questions": len(found),
        "compared": len(compared),
        "short": sum(one.given is not None for one in compared),
        "judged": sum(one.ruling is not None and one.ruling.grade is not None for one in answered),
        **{name: _rounded(value) for name, value in figures.items()},
        "statements": statements,
        "quotes": len(quotes),
    }


def save(path: Path, summaries: Sequence[dict[str, Any]], runs: Sequence[AnswerRun]) -> None:
    """Write figures and every single answer to a JSON file, whole or not at all."""
    sets = [
        {"summary": summary, "answers": [_row(one) for one in run.assessments]}
        for summary, run in zip(summaries, runs, strict=True)
    ]
    text = json.dumps({"sets": sets}, ensure_ascii=False, indent=1, allow_nan=False)
    write_target(path, text + "\n", errors="backslashreplace")


def _row(one: Assessment) -> dict[str, Any]:
    item, cited, ruling = one.item, one.cited, one.ruling
    return {
        "id": item.id,
        "question": item.question,
        "kind": item.kind,
        "expected": item.expected,
        "gold": item.gold,
        "planted": item.planted,
        **as_row(one.given),
        "correctness": asdict(one.correctness) if one.correctness else None,
        "ruling": asdict(ruling) if ruling else None,
        "citation_recall": cited.recall if cited else None,
        "citation_precision": cited.precision if cited else None,
        "supports": cited.supports if cited else (),
        "handling": one.handling,
    }


def _refusal(found: Found) -> dict[str, Any]:
    outcomes = [one.outcome for one in found]
    kept = answered_share(outcomes, Expected.ANSWER)
    let_through = answered_share(outcomes, Expected.REFUSE)
    refused = None if let_through is None else 1 - let_through
    return {
        "table": table(outcomes),
        "answerable_answered": _rounded(kept),
        "unanswerable_refused": _rounded(refused),
        "balanced_accuracy": None if kept is None or refused is None else _rounded((kept + refused) / 2),
        "right_all_the_same": sum(one.right_all_the_same for one in found),
        "unjudged": sum(one.answered and one.wrong is None for one in outcomes),
        "confidence_auroc": _rounded(ranking(outcomes)),
        "risk_area": _rounded(risk_area(outcomes)),
        "curve": [{name: _rounded(value) for name, value in asdict(point).items()} for point in _useful(outcomes)],
    }


def _useful(outcomes: Sequence[Outcome]) -> list[Any]:
    """Return the points of the curve; none where nothing was asked."""
    return curve(outcomes) if outcomes else []


def _conflicts(found: Found) -> dict[str, Any]:
    """Return how conflicts were handled, by kind of question, and how often an answer named one."""
    mine = [one for one in found if one.handling is not None]
    kinds = dict.fromkeys(one.item.kind for one in mine)
    return {
        kind: {
            "questions": sum(one.item.kind == kind for one in mine),
            **{str(way): sum(one.handling is way and one.item.kind == kind for one in mine) for way in Handling},
            "notes": sum(names_conflict(one.item, one.given) for one in mine if one.item.kind == kind),
        }
        for kind in kinds
    }


def _judging(run: AnswerRun, found: Found) -> dict[str, Any]:
    """Return what the judge said of answers and of citations, what it could not tell, and where it failed."""
    rulings = [one.ruling for one in found if one.ruling is not None]
    answers = Counter(one.failure or one.grade or "undecided" for one in rulings)
    citations = sum((one.cited.judged for one in found if one.cited is not None), Counter[str]())
    expected = {str(grade) for grade in Grade} | {"undecided"}
    failed = {word: count for word, count in (answers + citations).items() if word not in expected}
    reasons = dict.fromkeys(one.reason for one in rulings if one.failure and one.reason)
    return {
        "name": run.judge,
        "answers": _counted(answers),
        "citations": _counted(citations),
        "failures": failed,
        "failed": sum(failed.values()),
        "failure_examples": list(reasons)[:3],
        "beside_rules": _beside_rules(found),
    }


def _beside_rules(found: Found) -> dict[str, int]:
    """Return how often a judge ruled as rules do, on the answers that both can rule on: a judge that is kinder to what
    does not contain the expected answer is to be doubted."""
    order = [Grade.NONE, Grade.PART, Grade.FULL]
    pairs: list[tuple[int, int]] = []
    for one in found:
        judge = one.ruling.grade if one.ruling else None
        rules = graded(one.correctness) if one.correctness else None
        if judge is not None and rules is not None:
            pairs.append((order.index(judge), order.index(rules)))
    return {
        "both": len(pairs),
        "same": sum(judge == rules for judge, rules in pairs),
        "kinder": sum(judge > rules for judge, rules in pairs),
        "stricter": sum(judge < rules for judge, rules in pairs),
    }


def _counted(rulings: Counter[str]) -> dict[str, int]:
    return {word: rulings[word] for word in (*map(str, Grade), "undecided")}


def _right(answered: Found) -> float | None:
    """Return the share that the judge found fully right, of the answers that it could rule on."""
    return _mean(one.ruling.grade is Grade.FULL for one in answered if one.ruling and one.ruling.grade is not None)


def _failures(found: Found) -> dict[str, int]:
    return dict(Counter(one.given.failure.partition(":")[0] for one in found if one.given.failure))


def _latency(found: Found) -> dict[str, float]:
    if not found:
        return {}
    values = np.percentile([one.given.milliseconds for one in found], PERCENTILES)
    return {f"p{at}": round(float(value), 2) for at, value in zip(PERCENTILES, values, strict=True)}


def _mean(values: Iterable[float | bool | None]) -> float | None:
    known = [float(value) for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, DECIMALS)
