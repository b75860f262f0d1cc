"""The page: stored runs in, one HTML file out. The words are in texts.py, the looks in page.html and page.css."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from kaijuan import __version__
from kaijuan.errors import EvalDataError, MissingExtraError
from kaijuan.evals.experiments.ablate import ablated
from kaijuan.evals.experiments.changes import shown
from kaijuan.evals.experiments.outcome import READER_STAGE, Judged, Outcome, outcome_of, table_of
from kaijuan.evals.experiments.store import StoredRun
from kaijuan.evals.experiments.variants import BASELINE
from kaijuan.evals.metrics import METRICS
from kaijuan.evals.report import plots
from kaijuan.evals.report.cases import contrast, hardest
from kaijuan.evals.report.excerpts import clean
from kaijuan.evals.report.figures import PERCENTILES, Row, best_of, by_kind, recall_curve, times
from kaijuan.evals.report.texts import LANGUAGE_TAGS, texts_in
from kaijuan.evals.results import STAGES
from kaijuan.evals.writing import write_target

SHOWN_METRICS = ("ndcg@10", "recall@5", "recall@10", "recall@50", "mrr@10", "hit@1", "precision@5", "map")
MOST_CURVES = 8
"""Variants drawn in one plot; more could not be told apart."""

Texts = Mapping[str, str]


def report_page(runs: Sequence[StoredRun], *, language: str = "en", metric: str = "") -> str:
    """Return the page about the runs of one experiment.

    EvalDataError when they cannot be compared, MissingExtraError without the packages that draw it.
    """
    texts = texts_in(language)
    if len({run.experiment for run in runs}) > 1:
        raise EvalDataError("The runs are of different experiments.", hint="Name one experiment, or its files.")
    table = table_of(runs)
    outcome = outcome_of(runs, metric=metric)
    page = _template(texts).render(
        t=texts,
        language=LANGUAGE_TAGS[language],
        css=_resource("page.css"),
        version=__version__,
        title=outcome.experiment,
        outcome=outcome,
        baseline=next(iter(table)),
        summary=_summary(outcome, table, texts),
        effects_plot=_effects_plot(outcome, texts),
        stages=_stages(table, outcome, texts),
        stage_worth=_stage_worth(table, outcome.metric),
        metrics=SHOWN_METRICS,
        kinds=by_kind(table, outcome.metric),
        recall=_recall(table, texts),
        latency=_latency(table, texts),
        contrasts=_contrasts(table, outcome.metric),
        hardest=() if outcome.variants else hardest(next(iter(table.values())), outcome.metric),
        made=_made(table),
        stage_colours=[plots.variable_of(colour) for colour in plots.STAGE_COLOURS],
        variant_colours=[plots.variable_of(colour) for colour in plots.VARIANT_COLOURS],
    )
    return str(page)


def write_page(path: Path, page: str) -> None:
    """Write a page, whole or not at all."""
    write_target(path, page, errors="replace")


def _summary(outcome: Outcome, table: Mapping[str, Row], texts: Texts) -> dict[str, Any]:
    row = next(iter(table.values()))
    questions = sum(len(run.run.queries) for run in row.values())
    words = {
        "variants": _counted(len(outcome.variants), "n_variants", texts),
        "questions": _counted(questions, "n_questions", texts),
        "sets": _counted(len(row), "n_sets", texts),
        "metric": outcome.metric,
    }
    verdicts = {arm.name: arm.pooled.verdict() for arm in outcome.variants}
    better = [name for name, verdict in verdicts.items() if verdict == "better"]
    worse = [name for name, verdict in verdicts.items() if verdict == "worse"]
    sentences = []
    if verdicts:
        between = texts["between_names"]
        some = texts["some_better"].format(names=between.join(better))
        sentences = [some if better else texts["none_better"]]
        sentences += [texts["some_worse"].format(names=between.join(worse))] if worse else []
    return {
        "line": texts["summary_variants" if verdicts else "summary_single"].format(**words),
        "verdict": texts["between_sentences"].join(sentences),
    }


def _counted(number: int, key: str, texts: Texts) -> str:
    return texts[f"{key}_1" if number == 1 else key].format(n=f"{number:,}")


def _effects_plot(outcome: Outcome, texts: Texts) -> str:
    marks: list[plots.Mark] = []
    for arm in outcome.variants:
        marks.append(_mark(arm.name, arm.pooled, strong=True))
        if len(outcome.sets) > 1:
            marks += [_mark(name, judged, strong=False) for name, judged in arm.sets.items()]
    if not marks:
        return ""
    label = f"{texts['effect']} · {outcome.metric}"
    return plots.effects(marks, id="effects", title=texts["variants_head"], label=label)


def _mark(name: str, judged: Judged, *, strong: bool) -> plots.Mark:
    found = judged.comparison
    return plots.Mark(
        name=name, effect=found.effect, low=found.low, high=found.high, verdict=judged.verdict(), strong=strong
    )


def _stages(table: Mapping[str, Row], outcome: Outcome, texts: Texts) -> list[dict[str, Any]]:
    """Return for each set the metrics after each stage of the baseline, and a plot of them."""
    found = []
    for number, (name, run) in enumerate(next(iter(table.values())).items()):
        means = {stage: run.scores(stage).means for stage in STAGES}
        plot = plots.bars(
            {texts[stage]: means[stage][outcome.metric] for stage in STAGES},
            id=f"stages{number}",
            title=f"{texts['stages_head']}: {name}",
            label=outcome.metric,
        )
        best = {metric: best_of([row[metric] for row in means.values()]) for metric in METRICS}
        found.append({"set": name, "means": means, "best": best, "plot": plot})
    return found


def _stage_worth(table: Mapping[str, Row], metric: str) -> list[tuple[str, Judged]]:
    """Return each stage with what a reader would be given if the search ended there, against what the reader is."""
    baseline = list(next(iter(table.values())).values())
    arms = ablated(baseline, metric=metric).variants
    return [(stage, arm.pooled) for stage, arm in zip(STAGES, arms, strict=False)]


def _recall(table: Mapping[str, Row], texts: Texts) -> list[dict[str, Any]]:
    """Return for each set the curves of the baseline's stages, and of the variants where there are some."""
    found = []
    labels = ("K", texts["recall"])
    for number, (name, run) in enumerate(next(iter(table.values())).items()):
        stages = {stage: recall_curve(run, stage) for stage in STAGES}
        variants = {
            variant: recall_curve(row[name], READER_STAGE) for variant, row in list(table.items())[:MOST_CURVES]
        }
        title = f"{texts['recall_head']}: {name}"
        found.append(
            {
                "set": name,
                "stages": plots.curves(
                    stages, id=f"recall{number}s", title=title, labels=labels, colours=plots.STAGE_COLOURS
                ),
                "variants": plots.curves(variants, id=f"recall{number}v", title=title, labels=labels)
                if len(table) > 1
                else "",
            }
        )
    return found


def _latency(table: Mapping[str, Row], texts: Texts) -> dict[str, Any]:
    found = times(table)
    drawn = {each.variant: each.milliseconds for each in found[:MOST_CURVES]}
    plot = plots.shares(
        drawn, id="latency", title=texts["latency_head"], labels=(texts["milliseconds"], texts["share"])
    )
    rows = {each.variant: {f"p{at}": each.percentile(at) for at in PERCENTILES} for each in found}
    return {"plot": plot, "rows": rows, "drawn": list(drawn)}


def _contrasts(table: Mapping[str, Row], metric: str) -> list[Any]:
    baseline = next(iter(table.values()))
    return [contrast(name, baseline, row, metric) for name, row in list(table.items())[1:]]


def _made(table: Mapping[str, Row]) -> dict[str, Any]:
    row = next(iter(table.values()))
    runs = [run for each in table.values() for run in each.values()]
    latest = max(runs, key=lambda run: run.origin.date)
    codes = {(run.origin.code, run.origin.processor) for run in runs}
    config = latest.run.config
    return {
        "origin": latest.origin,
        "several": len(codes) > 1,
        "seed": config["seed"],
        "limit": config["limit"],
        "k": config["k"],
        "sets": list(row.values()),
        "settings": next(iter(row.values())).settings,
        "problems": list(dict.fromkeys(f"{run.set}: {text}" for run in runs for text in run.run.problems)),
    }


def _template(texts: Texts) -> Any:
    try:
        from jinja2 import Environment, StrictUndefined
    except ImportError as error:
        raise MissingExtraError(
            "The page is written by jinja2, which is not installed.", hint="Run: pip install 'kaijuan[eval]'."
        ) from error
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    filters: dict[str, Callable[..., Any]] = {
        "clean": clean,
        "number": lambda value: f"{value:.3f}",
        "signed": lambda value: f"{value:+.3f}".replace("-", "\u2212") if round(value, 3) else "0",
        "p": lambda value: "<0.001" if value < 0.001 else f"{value:.3f}",
        "setting": shown,
        "name": lambda name: texts["baseline"] if name == BASELINE else clean(name),
        "pretty": lambda tree: json.dumps(tree, indent=1),
    }
    environment.filters.update(filters)
    return environment.from_string(_resource("page.html"))


def _resource(name: str) -> str:
    return (files("kaijuan.evals.report") / name).read_text(encoding="utf-8")
