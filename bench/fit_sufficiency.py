"""Fit the judge of sufficiency (answer/sufficiency.json) and measure extraction, as one JSON document.

    python -m bench.fit_sufficiency ../shared/data --home DIR --cache FOLDER [--queries N] [--sets NAME ...] [--write]

Answerable: questions over a base that holds their document. Unanswerable: the same set's questions with their documents
out of reach ("gone"), the set's own unanswerable questions ("own"), and questions of other sets ("other"). All are
asked of the whole corpus of their set through the engine, every second one also of a dozen documents ("_small").
Evidence in another language than the question's is fitted apart. Each set is judged by coefficients fitted on the
others (leave one set out). What the engine found is kept in the cache, so that a fit can be tried again in seconds.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import pickle
import random
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bench.machine import machine
from kaijuan import Kaijuan
from kaijuan.answer.choose import choose
from kaijuan.answer.extract import Read, Scored, read_units
from kaijuan.answer.pipeline import cosines_of, read_evidence, sides
from kaijuan.answer.question import Question, parts_of, read_question
from kaijuan.answer.settings import AnswerSettings
from kaijuan.answer.sufficiency import Features, features_of
from kaijuan.answer.units import units_of
from kaijuan.config import load_config
from kaijuan.core.filters import Filter, In, Not
from kaijuan.core.spans import Span
from kaijuan.core.text.normalise import normalise
from kaijuan.evals.answers.items import Expected, Groups, Item
from kaijuan.evals.answers.run import document_name
from kaijuan.evals.answers.sets import Wishes, load
from kaijuan.evals.bases import evals_folder, open_base
from kaijuan.index.ports import Vectors
from kaijuan.retrieve.results import Passage
from kaijuan.verbs.embedders import make_embedder

NEIGHBOURS = 4
"""Hundredths to both sides of a threshold that count with it."""
SEED = 20240601
OWN = ("similarity", "relevance", "lead", "pairs", "margin", "known", "missing")
OWN_ANY = ("coverage", "passage_coverage", "pairs", "margin", "missing")
FOREIGN = ("similarity", "above_mean", "apart")
FOREIGN_ANY = ("distinct",)
"""Features of a fit: for evidence in the question's language and in another, with cosines of a known model or without.
The others added nothing beside these, or got the wrong sign."""
SMALL = 12
"""Documents of a small base. What is near by chance grows with a base: a fit on large ones alone refuses too much."""
PRUDENCE = {"own": 1.65, "own, any model": 2.5, "foreign": 4.0, "foreign, any model": 15.0}
"""What a wrong answer costs beside a wrong refusal, for the threshold. Across languages a reader cannot check as well,
and cosines tell less; nor without the cosines of a known model."""
STRANGERS = 0.97
"""Share of questions that a base is not about which is refused at the threshold."""
SETS = ("cmrc2018_zh", "drcd_zht", "xquad_zh_en", "clapnq_en", "xquad_across", "xquad_across_en")
TARGET = Path(__file__).parent.parent / "src/kaijuan/answer/sufficiency.json"
Floats = npt.NDArray[np.float64]


class Found(NamedTuple):
    """One question with what the engine found for it: plain values, so that they can be kept."""

    group: str
    kind: str
    question: str
    gold: Groups
    relevant: frozenset[str]
    passages: list[Passage]
    kept: list[tuple[int, Span]]
    """Units that were compared by meaning: passage and place."""
    cosines: Vectors | None


@dataclass(frozen=True, kw_only=True)
class Case:
    """One question asked of one base, and what came of it in one language of the evidence."""

    group: str
    foreign: bool
    kind: str
    features: Features
    hit: bool | None
    """Whether a chosen sentence holds the expected answer; None where that cannot be told."""
    first: bool | None


async def found_for(name: str, options: argparse.Namespace) -> list[Found]:
    """Ask one set through the engine; the names "xquad_across" and "xquad_across_en" mean Chinese questions over
    English documents only, and English ones over Chinese documents."""
    across = name.startswith("xquad_across")
    into_han = name == "xquad_across_en"
    home = options.home
    data = load(options.data / ("xquad_zh_en" if across else name), Wishes(corpora=evals_folder(home) / "corpora"))
    chance = random.Random(SEED)
    good = [item for item in data.items if item.expected is Expected.ANSWER and item.relevant]
    bad = [item for item in data.items if item.expected is Expected.REFUSE]
    if across:
        good = [item for item in good if _is_han(item.question) is not into_han]
    chance.shuffle(good)
    chance.shuffle(bad)
    count = options.queries
    todo: list[tuple[str, Item]] = [("yes", item) for item in good[:count]]
    todo += [("gone", item) for item in good[count : 2 * count] or good[:count]]
    todo += [("own", item) for item in bad[:count]]
    todo += [("other", item) for item in others_for(name, options.data, count // 2)]
    rows: list[Found] = []
    async with open_base(data, home, load_config(home)) as base:
        addresses = {document_name(version.source): version.source for version in await base.engine.list()}
        language = "-zh-" if into_han else "-en-"
        open_ = {id: address for id, address in addresses.items() if not across or language in id}
        for at, (kind, item) in enumerate(todo):
            mine = tuple(open_[id] for id in sorted(item.relevant) if id in open_)
            within: list[Filter] = [In("source", tuple(open_.values()))] if across else []
            hidden: list[Filter] = [Not(In("source", mine))] if kind == "gone" and mine else []
            rows.append(await _found(base.engine, name, kind, item, [*within, *hidden]))
            if at % 2 == 0:
                rest = chance.sample(sorted(address for address in open_.values() if address not in mine), SMALL)
                small = In("source", (*rest, *mine) if kind == "yes" else tuple(rest))
                rows.append(await _found(base.engine, f"{name}_small", kind, item, [small]))
    return rows


def _is_han(text: str) -> bool:
    return any("\u4e00" <= letter <= "\u9fff" for letter in text)


async def _found(engine: Kaijuan, group: str, kind: str, item: Item, filters: list[Filter]) -> Found:
    settings = AnswerSettings()
    result = await engine.search(item.question, k=settings.passages, filters=filters)
    questions, _, kept = read_evidence(item.question, result.passages, settings)
    cosines = await cosines_of(questions[:1], kept, engine.embedder) if kept else None
    # Without views of mappings, which cannot be kept.
    passages = [replace(one, routes=dict(one.routes), about=dict(one.about)) for one in result.passages]
    places = [(read.unit.passage, read.unit.span) for read in kept]
    return Found(group, kind, item.question, item.gold, item.relevant, passages, places, cosines)


def cases_of(found: Found) -> list[Case]:
    """Return the case of each language of the evidence."""
    if found.cosines is None:
        return []
    question = read_question(parts_of(found.question)[0])
    settings = AnswerSettings()
    units = [unit for at, passage in enumerate(found.passages) for unit in units_of(passage, at, settings)]
    reads = read_units(units)
    at_place = {(read.unit.passage, read.unit.span): read for read in reads}
    kept = [at_place[place] for place in found.kept]
    cases = []
    for side in sides(question, found.passages, reads, kept, found.cosines[0]):
        tell = found.kind == "yes" and not side.foreign
        hit, first = _told(found.gold, question, side.scored, side.reads) if tell else (None, None)
        features = features_of(question, side.scored, side.reads, side.passages)
        case = Case(group=found.group, kind=found.kind, foreign=side.foreign, features=features, hit=hit, first=first)
        cases.append(case)
    return cases


def _told(
    gold: Groups, question: Question, scored: Sequence[Scored], reads: Sequence[Read]
) -> tuple[bool | None, bool | None]:
    """Say whether the answer is among the chosen sentences, and in the best; None where no sentence holds it."""
    answers = [_plain(answer) for group in gold for answer in group if len(answer) < 60]
    if not any(answer in _plain(read.unit.quote) for answer in answers for read in reads):
        return None, None
    chosen = [_plain(item.read.unit.quote) for item in choose(question, scored, reads, AnswerSettings())]
    hits = [any(answer in quote for answer in answers) for quote in chosen]
    return any(hits), bool(hits and hits[0])


def _plain(text: str) -> str:
    return normalise(text)[0].replace(" ", "")


def matrix(cases: Sequence[Case], names: Sequence[str]) -> Floats:
    return np.array([[asdict(case.features)[name] for name in names] for case in cases], dtype=np.float64)


def fit(cases: Sequence[Case], names: Sequence[str]) -> tuple[dict[str, float], float]:
    """Logistic regression by Newton's method with a small ridge; every (group, kind) weighs the same in its class."""
    raw = matrix(cases, names)
    # The ridge must not care that cosines differ by hundredths and coverages by tenths.
    scale = np.maximum(raw.std(axis=0), 1e-3)
    x = np.hstack([raw / scale, np.ones((len(cases), 1))])
    y = np.array([case.kind == "yes" for case in cases], dtype=np.float64)
    sizes: dict[tuple[str, str], int] = {}
    for case in cases:
        sizes[case.group, case.kind] = sizes.get((case.group, case.kind), 0) + 1
    weights = np.array([1.0 / sizes[case.group, case.kind] for case in cases])
    for value in (0.0, 1.0):
        weights[y == value] *= len(cases) / 2 / weights[y == value].sum()
    beta = np.zeros(x.shape[1])
    ridge = np.diag([0.5] * len(names) + [0.0])
    for _ in range(50):
        p = 1 / (1 + np.exp(-np.clip(x @ beta, -30, 30)))
        hessian = (x * (weights * p * (1 - p))[:, None]).T @ x + ridge
        step = np.linalg.solve(hessian, x.T @ (weights * (y - p)) - ridge @ beta)
        beta += step
        if np.abs(step).max() < 1e-8:
            break
    return dict(zip(names, (round(float(b), 4) for b in beta[:-1] / scale), strict=True)), round(float(beta[-1]), 4)


def probabilities(cases: Sequence[Case], fitted: tuple[dict[str, float], float]) -> Floats:
    coefficients, intercept = fitted
    logits = matrix(cases, list(coefficients)) @ np.array(list(coefficients.values())) + intercept
    return np.asarray(1 / (1 + np.exp(-logits)), dtype=np.float64)


def auroc(good: Floats, bad: Floats) -> float:
    """Probability that an answerable question scores above an unanswerable one (Mann-Whitney)."""
    if not len(good) or not len(bad):
        return math.nan
    above = (good[:, None] > bad[None]).mean() + 0.5 * (good[:, None] == bad[None]).mean()
    return round(float(above), 4)


def threshold_of(cases: Sequence[Case], p: Floats, prudence: float, *, safe: bool) -> float:
    """Return the threshold with the best mean, over groups and kinds, of the share judged rightly; a `safe` one also
    refuses STRANGERS.

    Its neighbours count with it: one question more or less must not move it from one end of a plateau to the other.
    """
    steps = np.arange(0.15, 1.0, 0.01)
    values = np.array([balanced(cases, p, float(step), prudence) for step in steps])
    smooth = np.convolve(values, np.ones(2 * NEIGHBOURS + 1), "valid")
    best = float(steps[NEIGHBOURS + int(smooth.argmax())])
    return round(max(best, safe_for_strangers(cases, p)) if safe else best, 2)


def safe_for_strangers(cases: Sequence[Case], p: Floats) -> float:
    """Return the lowest threshold at which STRANGERS of the questions that the whole corpora are not about, of all
    sets together, are refused."""
    theirs = [
        float(value)
        for case, value in zip(cases, p, strict=True)
        if case.kind == "other" and not case.group.endswith("_small")
    ]
    return float(np.quantile(theirs, STRANGERS)) if theirs else 0.0


def balanced(cases: Sequence[Case], p: Floats, threshold: float, prudence: float) -> float:
    right: dict[tuple[str, str], list[bool]] = {}
    for case, value in zip(cases, p, strict=True):
        right.setdefault((case.group, case.kind), []).append((value >= threshold) == (case.kind == "yes"))
    yes = [fmean(values) for (_, kind), values in right.items() if kind == "yes"]
    no = [fmean(values) for (_, kind), values in right.items() if kind != "yes"]
    return (fmean(yes) + prudence * fmean(no)) / (1 + prudence)


def report(cases: Sequence[Case], names: Sequence[str], threshold: float) -> dict[str, Any]:
    """Judge each group by what the others taught, and beside it by what all of them taught."""
    out: dict[str, Any] = {}
    everything = fit(cases, names)
    for group in sorted({case.group for case in cases}):
        mine = [case for case in cases if case.group == group]
        family = group.removesuffix("_small")
        rest = [case for case in cases if case.group.removesuffix("_small") != family]
        p = probabilities(mine, fit(rest, names) if rest else everything)
        kinds = np.array([case.kind for case in mine])
        good = p[kinds == "yes"]
        out[group] = {
            "answered_of_answerable": round(float((good >= threshold).mean()), 3),
            "auroc": auroc(good, p[kinds != "yes"]),
            "fitted_on_all": {
                kind: round(float((probabilities(mine, everything)[kinds == kind] >= threshold).mean()), 3)
                for kind in sorted(set(kinds))
            },
        }
        for kind in sorted(set(kinds) - {"yes"}):
            bad = p[kinds == kind]
            out[group][kind] = {
                "n": len(bad),
                "auroc": auroc(good, bad),
                "refused": round(float((bad < threshold).mean()), 3),
            }
        told = [case for case in mine if case.hit is not None]
        if told:
            out[group]["answer_in_chosen"] = round(fmean(bool(case.hit) for case in told), 3)
            out[group]["answer_in_best"] = round(fmean(bool(case.first) for case in told), 3)
            out[group]["told"] = len(told)
    return out


def others_for(name: str, data: Path, count: int) -> list[Item]:
    """Return questions that the set's corpus has nothing to do with."""
    if name.endswith("_en"):
        texts = [row["text"] for row in rows(data / "financebench_en" / "queries.jsonl")]
        texts += [row["text"] for row in rows(data / "pubmedqa_en" / "queries.jsonl")][: len(texts)]
    else:
        texts = [row["text"] for row in rows(data / "simpleqa_zh" / "questions.jsonl")]
    chosen = random.Random(SEED).sample(texts, count)
    return [Item(id=text, question=text, kind="other", expected=Expected.REFUSE) for text in chosen]


def rows(path: Path) -> list[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]


async def gathered(options: argparse.Namespace) -> list[Case]:
    """Return the cases of all sets; what was found before is read from the cache."""
    cases: list[Case] = []
    options.cache.mkdir(parents=True, exist_ok=True)
    for name in options.sets:
        path = options.cache / f"ev-{name}.pkl"
        if not path.exists():
            path.write_bytes(pickle.dumps([tuple(row) for row in await found_for(name, options)]))
        for row in pickle.loads(path.read_bytes()):
            cases += cases_of(Found(*row))
    return cases


async def run(options: argparse.Namespace) -> dict[str, Any]:
    cases = await gathered(options)
    embedder = make_embedder(load_config(options.home).embedder, evals_folder(options.home) / "cache")
    info = embedder.info
    await embedder.close()
    before = json.loads(TARGET.read_text(encoding="utf-8"))
    models: dict[str, Any] = {}
    tables: dict[str, Any] = {}
    for model, names in ((info.name, (OWN, FOREIGN)), ("any", (OWN_ANY, FOREIGN_ANY))):
        for side, foreign, chosen in (
            ("own", False, names[0]),
            ("foreign", True, names[1]),
            ("into_han", True, names[1]),
        ):
            if side == "into_han" and model == "any":
                continue
            # Where questions and documents share no language is told by the set: "across" has no own side to speak of.
            mine = [case for case in cases if case.foreign is foreign and ("across" in case.group) is foreign]
            mine = [case for case in mine if not foreign or bool(case.features.into_han) is (side == "into_han")]
            if not mine:  # the sets that would tell were not asked: what is there stays
                models.setdefault(model, {})[side] = before["models"][model][side]
                tables.setdefault(model, {})[side] = before["record"]["leave_one_set_out"][model].get(side, {})
                continue
            fitted = fit(mine, chosen)
            # Without cosines strangers cannot be told so well: nearly everything would be refused.
            safe = model != "any"
            prudence = PRUDENCE[f"{side}, any model" if model == "any" else "foreign" if foreign else side]
            threshold = threshold_of(mine, probabilities(mine, fitted), prudence, safe=safe)
            part = {"coefficients": fitted[0], "intercept": fitted[1], "threshold": threshold}
            models.setdefault(model, {})[side] = part
            tables.setdefault(model, {})[side] = report(mine, chosen, threshold)
    by_hand = {"by_hand": before["record"]["by_hand"]} if "by_hand" in before["record"] else {}
    record = {
        **by_hand,
        "by": "bench/fit_sufficiency.py",
        "seed": SEED,
        "embedder": info.fingerprint,
        "documents": "the whole corpus of each set",
        "small": SMALL,
        "prudence": PRUDENCE,
        "cases": before["record"]["cases"]
        | {name: sum(case.group == name for case in cases) for name in sorted({one.group for one in cases})},
        "leave_one_set_out": tables,
    }
    return {"record": record, "models": models}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("data", type=Path)
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--queries", type=int, default=80)
    parser.add_argument("--sets", nargs="+", default=list(SETS))
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    result = asyncio.run(run(options))
    if options.write:
        TARGET.write_text(json.dumps(result, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
    print(json.dumps({"machine": machine(), **result}, ensure_ascii=False, indent=1))


if __name__ == "__main__":
    main()
