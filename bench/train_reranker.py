"""Train the onboard reranker on candidates that bench/candidates.py kept, and judge it on sets it has not seen.

    python -m bench.train_reranker --from DIR [--write] [--cache DIR]       (`make train-reranker` does all of it)

A question belongs to the training half when the hash of its first relevant document says so; the other half is never
trained on. Sets whose licence forbids more than evaluation are never trained on at all. Every set is judged by a model
that saw no question of it ("unseen"), and the shipped model by the halves it did not see. Prints JSON; with --write the
weights go into the package.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bench.machine import machine
from bench.reranker_fit import Fitted, Group, calibrated, fitted
from kaijuan import registry
from kaijuan.core.ids import ChunkId, DocumentId, stable_id
from kaijuan.core.text.language import language_of
from kaijuan.evals.metrics import score
from kaijuan.index.ports import Hit
from kaijuan.retrieve.fuse import FUSIONS, Fused, with_foreign
from kaijuan.retrieve.ports import Reading
from kaijuan.retrieve.rerank import model as reranker_model
from kaijuan.retrieve.rerank.features import FEATURES
from kaijuan.retrieve.rerank.model import Calibration, Model, Term
from kaijuan.retrieve.rerank.onboard import OnboardReranker

EVALUATION_ONLY = frozenset({"rgb_news_zh", "financebench_en"})
"""Licences that forbid commercial use: what is shipped must not be made from these."""
CODE = "cosqa_code_en"
CODE_WEIGHTS = (0.0, 1.0, 2.0, 4.0, 8.0)
ROUTE_K = 50
RERANK_K = 40
EVEN = {"dense": 0.5, "lexical": 0.5}
EMBEDDER = "multilingual-e5-small"
NO_WEIGHTS = Model(terms=(), calibrations={reranker_model.ANY: Calibration(score=1.0, intercept=0.0)})
GONE = "#gone"
NOT_ORDERING = frozenset({"cosine", "density", "cosine_above", "density_above", "fused_gap"})
ORDERING = tuple(name for name in FEATURES if name not in NOT_ORDERING)
RIDGE = 1.0
"""Much: by less of it, what was learned on some sets harmed others."""
CALIBRATION_RIDGE = 0.003
EVIDENCE = ("coverage", "soft_rare", "exact", "exact_missing", "density_above")
"""What compares across questions and embedding models, beside the score."""
COSINES = ("cosine", "cosine_above")
"""What compares across questions for one embedding model only."""
LOOKED_AT = 3
"""Best candidates of a question by which evidence is judged."""
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Question:
    """The candidates of one question as the reranker meets them, and what the routes alone would have given."""

    id: str
    training: bool
    grades: Mapping[str, int]
    documents: tuple[str, ...]
    """Of each candidate, in the fused order."""
    foreign: npt.NDArray[np.bool_]
    rows: Floats
    rest: tuple[str, ...]
    """Documents of what comes after the candidates."""
    routes: Mapping[str, tuple[str, ...]]

    @property
    def labels(self) -> Floats:
        """Return the grade of each candidate's document."""
        return np.array([self.grades.get(name, 0) for name in self.documents], dtype=np.float64)


def questions_of(path: Path, reranker: OnboardReranker) -> list[Question]:
    """Return the questions of one set with the features of their candidates.

    Each comes twice where it has an answer: as it is, and with its documents gone, which makes near misses.
    """
    with gzip.open(path, "rt", encoding="utf-8") as file:
        kept = json.load(file)
    chunks = kept["chunks"]
    languages = {chunk["language"] for chunk in chunks}
    gone = [_gone(one, chunks) for one in kept["questions"] if one["grades"]]
    return [_question(one, chunks, languages, reranker) for one in [*kept["questions"], *gone]]


def _gone(one: Mapping[str, Any], chunks: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return a question as if no document of the base answered it."""
    lists = {
        name: [hit for hit in hits if chunks[hit[0]]["document"] not in one["grades"]]
        for name, hits in one["lists"].items()
    }
    return {**one, "id": f"{one['id']}{GONE}", "grades": {}, "lists": lists, "first": min(one["grades"])}


def _question(
    one: Mapping[str, Any], chunks: Sequence[Mapping[str, Any]], languages: set[str], reranker: OnboardReranker
) -> Question:
    fused, lists = fused_of(one, languages)
    own = language_of(one["text"])
    head = fused[:RERANK_K]
    readings = [_reading(item, chunks[int(item.id)]) for item in head]
    names = [chunks[int(item.id)]["document"] for item in fused]
    first = one.get("first") or min(one["grades"], default=one["id"])
    return Question(
        id=one["id"],
        training=int(stable_id("half", first)[-1], 16) % 2 == 0,
        grades=one["grades"],
        documents=tuple(names[: len(head)]),
        foreign=np.array([bool(own and item.language and item.language != own) for item in readings], dtype=np.bool_),
        rows=reranker.features(one["text"], readings),
        rest=tuple(names[len(head) :]),
        routes={name: tuple(chunks[int(hit.id)]["document"] for hit in hits) for name, hits in lists.items()},
    )


def fused_of(
    one: Mapping[str, Any], languages: set[str], way: str = "minmax"
) -> tuple[list[Fused], dict[str, list[Hit]]]:
    """Return what the search would make of a question's lists, and the two main lists."""
    lists = {name: [Hit(ChunkId(str(place)), value) for place, value in hits] for name, hits in one["lists"].items()}
    main = {name: lists[name][:ROUTE_K] for name in EVEN}
    own = language_of(one["text"])
    apart = {
        f"dense_{name}": lists[f"dense_{name}"][:ROUTE_K]
        for name in sorted(languages)
        if own and name != own and lists.get(f"dense_{name}")
    }
    fused = FUSIONS[way](main, EVEN)
    return (with_foreign(fused, main["dense"], apart, EMBEDDER) if apart else fused), {n: lists[n] for n in EVEN}


def _reading(item: Fused, chunk: Mapping[str, Any]) -> Reading:
    return Reading(
        chunk_id=ChunkId(chunk["id"]),
        document_id=DocumentId(chunk["document"]),
        title=chunk["title"],
        title_path=tuple(chunk["path"]),
        text=chunk["text"],
        language=chunk["language"],
        routes=item.routes,
        fused=item.score,
    )


def fusions(path: Path) -> dict[str, float]:
    """Return nDCG@10 of every way to join the lists of one set, lists of other languages included."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        kept = json.load(file)
    chunks, asked = kept["chunks"], [one for one in kept["questions"] if one["grades"]]
    languages = {chunk["language"] for chunk in chunks}
    found = {}
    for way in FUSIONS:
        rankings = {
            one["id"]: list(
                dict.fromkeys(chunks[int(item.id)]["document"] for item in fused_of(one, languages, way)[0])
            )
            for one in asked
        }
        found[way] = round(score(rankings, {one["id"]: one["grades"] for one in asked}).means["ndcg@10"], 4)
    return found


def groups_of(questions: Sequence[Question], weight: float) -> list[Group]:
    """Return what is to be put in order: the candidates of one question and side, each document by its best one."""
    groups = []
    for one in questions:
        for side in (False, True):
            places = np.flatnonzero(one.foreign == side)
            seen: set[str] = set()
            first = [at for at in places if not (one.documents[at] in seen or seen.add(one.documents[at]))]  # type: ignore[func-returns-value]
            # Other chunks of a relevant document may hold nothing of the answer: neither right nor wrong.
            wrong = [at for at in places if one.documents[at] not in one.grades and at not in first]
            chosen = np.array([*first, *wrong], dtype=np.int64)
            right = one.labels[chosen] > 0 if len(chosen) else np.zeros(0, dtype=np.bool_)
            if right.any() and not right.all():
                groups.append(Group(rows=one.rows[chosen], right=right, weight=weight))
    return groups


def ranking(one: Question, scores: Floats | None) -> list[str]:
    """Return documents, best first, as the search orders them: within each language by score, places as fused."""
    names = list(one.documents)
    if scores is not None:
        for side in (False, True):
            places = np.flatnonzero(one.foreign == side)
            best = places[np.lexsort((places, -np.round(scores[places], 9)))]
            for place, at in zip(places, best, strict=True):
                names[place] = one.documents[at]
    return list(dict.fromkeys([*names, *one.rest]))


def quality(questions: Sequence[Question], fit: Fitted | None, metric: str = "ndcg@10") -> float:
    """Return the mean of a metric over judged questions, in the fused order or a model's."""
    judged = [one for one in questions if one.grades]
    found = {one.id: ranking(one, None if fit is None else fit.scores(one.rows)) for one in judged}
    return score(found, {one.id: one.grades for one in judged}).means[metric]


def route_quality(questions: Sequence[Question], route: str, metric: str = "ndcg@10") -> float:
    """Return the same for one route alone."""
    judged = [one for one in questions if one.grades]
    found = {one.id: list(dict.fromkeys(one.routes[route])) for one in judged}
    return score(found, {one.id: one.grades for one in judged}).means[metric]


def train(
    sets: Mapping[str, Sequence[Question]], names: Sequence[str], features: Sequence[str], ridge: float
) -> Fitted:
    """Fit on the training halves of the named sets, each set counting the same."""
    groups = []
    for name in names:
        half = groups_of([one for one in sets[name] if one.training and one.grades], 1.0)
        groups += [Group(rows=one.rows, right=one.right, weight=1.0 / len(half)) for one in half]
    fit = fitted(groups, features, ridge)
    return coded(fit, [one for one in sets[CODE] if one.training]) if CODE in names else fit


def coded(fit: Fitted, questions: Sequence[Question]) -> Fitted:
    """Add what meaning counts more in code, tried on the training half of the one set that holds code.

    One set among many moves the fit itself too little, and what looks like no code has nothing of this.
    """
    feature = FEATURES.index("dense_code")
    tried = [
        Fitted(terms=(*fit.terms, Term(feature=feature, weight=weight)) if weight else fit.terms)
        for weight in CODE_WEIGHTS
    ]
    return max(tried, key=lambda one: round(quality(questions, one), 6))


def judged(sets: Mapping[str, Sequence[Question]], features: Sequence[str], ridge: float) -> dict[str, dict[str, Any]]:
    """Return nDCG@10 on every set: routes, fused, by a model that saw nothing of the set, and by the whole model."""
    learned = [name for name in sets if name not in EVALUATION_ONLY]
    whole = train(sets, learned, features, ridge)
    table = {}
    for name, questions in sets.items():
        unseen = train(sets, [other for other in learned if other != name], features, ridge)
        spared = [one for one in questions if not one.training or name in EVALUATION_ONLY]
        table[name] = {
            "questions": sum(bool(one.grades) for one in questions),
            "dense": route_quality(questions, "dense"),
            "lexical": route_quality(questions, "lexical"),
            "fused": quality(questions, None),
            "unseen": quality(questions, unseen),
            "spared_better_route": max(route_quality(spared, route) for route in EVEN),
            "spared_fused": quality(spared, None),
            "spared_whole": quality(spared, whole),
            "recall@50_better_route": max(route_quality(questions, route, "recall@50") for route in EVEN),
            "recall@50_fused": quality(questions, None, "recall@50"),
        }
        table[name] = {key: round(value, 4) for key, value in table[name].items()}
    return table


def terms_json(terms: Sequence[Term]) -> list[dict[str, Any]]:
    """Return terms as the package keeps them."""
    return [
        {"feature": FEATURES[one.feature], "weight": round(one.weight, 5)}
        | ({} if one.knot is None else {"knot": round(one.knot, 4)})
        for one in terms
    ]


@dataclass(frozen=True, kw_only=True)
class Rows:
    """The best candidates of many questions, each with whether it answers."""

    rows: Floats
    scores: Floats
    right: npt.NDArray[np.bool_]
    weights: Floats


def best_rows(questions: Sequence[Question], fit: Fitted) -> Rows:
    """Return what evidence is judged by: of every document the best candidate, of a question the best few."""
    rows, scores, right, weights = [], [], [], []
    for one in questions:
        found = fit.scores(one.rows)
        order = np.argsort(-found, kind="stable")
        seen: set[str] = set()
        chosen = []
        for at in order[:LOOKED_AT]:
            if one.documents[at] not in seen:
                seen.add(one.documents[at])
                chosen.append(at)
        rows += [one.rows[at] for at in chosen]
        scores += [found[at] for at in chosen]
        right += [one.grades.get(one.documents[at], 0) > 0 for at in chosen]
        weights += [1.0 / len(questions) / len(chosen)] * len(chosen)
    return Rows(rows=np.array(rows), scores=np.array(scores), right=np.array(right), weights=np.array(weights))


def calibration(
    sets: Mapping[str, Sequence[Question]], names: Sequence[str], fit: Fitted, *, cosine: bool
) -> Calibration:
    """Fit what scores mean on the training halves of the named sets."""
    halves = [best_rows([one for one in sets[name] if one.training], fit) for name in names]
    return calibrated(
        np.concatenate([half.rows for half in halves]),
        np.concatenate([half.scores for half in halves]),
        np.concatenate([half.right for half in halves]),
        np.concatenate([half.weights for half in halves]),
        [*EVIDENCE, *COSINES] if cosine else EVIDENCE,
        CALIBRATION_RIDGE,
    )


def chances(questions: Sequence[Question], fit: Fitted, said: Calibration) -> list[float]:
    """Return the highest evidence that each question gets."""
    model = Model(terms=fit.terms, calibrations={reranker_model.ANY: said})
    return [
        float(model.chances(one.rows, fit.scores(one.rows), reranker_model.ANY).max(initial=0.0)) for one in questions
    ]


def auroc(yes: Sequence[float], no: Sequence[float]) -> float:
    """Return how often a question with an answer gets more evidence than one without (Mann-Whitney)."""
    wins = np.subtract.outer(np.array(yes), np.array(no))
    return float((wins > 0).mean() + 0.5 * (wins == 0).mean())


def reliability(questions: Sequence[Question], fit: Fitted, said: Calibration) -> list[dict[str, float]]:
    """Return for each tenth of evidence how many candidates had it, its mean, and the share that answers."""
    model = Model(terms=fit.terms, calibrations={reranker_model.ANY: said})
    best = best_rows(questions, fit)
    given = model.chances(best.rows, best.scores, reranker_model.ANY)
    table = []
    for low in np.arange(0.0, 1.0, 0.1):
        there = (given >= low) & (given < low + 0.1 + 1e-9 * (low > 0.85))
        if there.any():
            row = {"count": int(there.sum()), "said": given[there].mean(), "true": best.right[there].mean()}
            table.append({key: round(float(value), 3) for key, value in row.items()})
    return table


def _told(kinds: Mapping[str, Sequence[Question]], fit: Fitted, said: Calibration) -> dict[str, float]:
    """Return medians of evidence by kind of question, and how well the answerable stand out from each other kind."""
    given = {kind: chances(members, fit, said) for kind, members in kinds.items() if members}
    return {
        **{
            f"auroc_{kind}": round(auroc(given["answerable"], given[kind]), 4) for kind in given if kind != "answerable"
        },
        **{f"median_{kind}": round(float(np.median(values)), 3) for kind, values in given.items()},
    }


def evidence(sets: Mapping[str, Sequence[Question]], features: Sequence[str], ridge: float) -> dict[str, Any]:
    """Return how well evidence tells answerable questions from others, by models that saw no question of it."""
    learned = [name for name in sets if name not in EVALUATION_ONLY]
    table: dict[str, Any] = {}
    whole = train(sets, learned, features, ridge)
    whole_said = calibration(sets, learned, whole, cosine=True)
    for name, questions in sets.items():
        others = [other for other in learned if other != name]
        fit = train(sets, others, features, ridge)
        said = calibration(sets, others, fit, cosine=True)
        kinds = {
            "answerable": [one for one in questions if one.grades],
            "gone": [one for one in questions if one.id.endswith(GONE)],
            "own": [one for one in questions if not one.grades and not one.id.endswith(GONE)],
        }
        table[name] = {f"unseen_{key}": value for key, value in _told(kinds, fit, said).items()}
        spared = {
            kind: [one for one in members if not one.training or name in EVALUATION_ONLY]
            for kind, members in kinds.items()
        }
        table[name] |= {f"spared_{key}": value for key, value in _told(spared, whole, whole_said).items()}
    return table


def record_of(sets: Mapping[str, Sequence[Question]], features: Sequence[str], ridge: float) -> dict[str, Any]:
    """Return the file for the package: weights, calibrations, and how they were made."""
    learned = [name for name in sets if name not in EVALUATION_ONLY]
    whole = train(sets, learned, features, ridge)
    calibrations = {
        key: calibration(sets, learned, whole, cosine=key == EMBEDDER) for key in (EMBEDDER, reranker_model.ANY)
    }
    spared = [one for name in learned for one in sets[name] if not one.training]
    return {
        "made_by": "bench/train_reranker.py",
        "machine": machine(),
        "trained_on": {name: sum(bool(one.grades) and one.training for one in sets[name]) for name in learned},
        "never_trained_on": sorted(EVALUATION_ONLY),
        "ridge": ridge,
        "reliability": reliability(spared, whole, calibrations[EMBEDDER]),
        "order": terms_json(whole.terms),
        "calibrations": {
            key: {"score": round(one.score, 5), "intercept": round(one.intercept, 5), "terms": terms_json(one.terms)}
            for key, one in calibrations.items()
        },
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--from", dest="folder", type=Path, required=True)
    parser.add_argument("--cache", type=Path, required=True, help="where the tokenizer may be kept")
    parser.add_argument("--ridge", type=float, default=RIDGE)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    reranker = OnboardReranker(EMBEDDER, registry.load("words", "onboard")(given.cache), NO_WEIGHTS)
    sets = {}
    paths = sorted(given.folder.glob("*.json.gz"))
    for path in paths:
        sets[path.name.removesuffix(".json.gz")] = questions_of(path, reranker)
        print(f"{path.name}: read", file=sys.stderr, flush=True)
    record = record_of(sets, ORDERING, given.ridge)
    result = {
        "machine": machine(),
        "fusions": {path.name.removesuffix(".json.gz"): fusions(path) for path in paths},
        "order": judged(sets, ORDERING, given.ridge),
        "evidence": evidence(sets, ORDERING, given.ridge),
        "reliability": record["reliability"],
        "trained_on": record["trained_on"],
    }
    print(json.dumps(result, indent=1))
    if given.write:
        target = Path(reranker_model.__file__).with_name(reranker_model.FILE)
        target.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
