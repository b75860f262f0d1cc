"""Fit the judge of sufficiency (answer/sufficiency.json) and measure extraction, as one JSON document.

    python -m bench.fit_sufficiency ../shared/data --cache FOLDER [--docs N] [--queries N] [--write]

Answerable: questions over a corpus that holds their document. Unanswerable: the same set's questions with their
documents taken away ("gone"), the set's own unanswerable questions ("own"), and questions of other sets ("other").
Retrieval is exact: every chunk by cosine and BM25, fused, cut and grown by the retrieve room's own functions.
Every question is asked of a large base and of a small one. Evidence in another language than the question's is fitted
apart. Each set is judged by coefficients fitted on the others (leave one set out). Vectors are kept in the cache.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import math
import random
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import numpy.typing as npt

from bench.machine import machine
from kaijuan.answer.choose import choose
from kaijuan.answer.extract import Read, Scored
from kaijuan.answer.pipeline import cosines_of, read_evidence, sides
from kaijuan.answer.question import Question
from kaijuan.answer.settings import AnswerSettings
from kaijuan.answer.sufficiency import Features, features_of
from kaijuan.core.documents import Block, BlockKind, Chunk, ChunkLevel
from kaijuan.core.ids import BlockId, ChunkId, DocumentId, VersionId, stable_id
from kaijuan.core.spans import Span
from kaijuan.core.text.bm25 import document_weights, idf
from kaijuan.core.text.normalise import normalise
from kaijuan.index.ports import Embedder, EmbedderInfo, Hit, Vector, Vectors
from kaijuan.ingest.chunkers.recursive import RecursiveChunker
from kaijuan.ingest.settings import ChunkSettings
from kaijuan.models.embedders.e5_onnx import OnnxE5Embedder
from kaijuan.retrieve.cut import USED, fate
from kaijuan.retrieve.expand import areas
from kaijuan.retrieve.fuse import minmax
from kaijuan.retrieve.relevance import FITS, floors, relevance
from kaijuan.retrieve.results import Candidate, Passage, RouteScore
from kaijuan.retrieve.settings import RetrieveSettings
from kaijuan.retrieve.understand import understand

NEIGHBOURS = 4
"""Hundredths to both sides of a threshold that count with it."""
K = 8
SEED = 20240601
OWN = ("similarity", "passage_coverage", "focus", "missing", "relevance", "lead")
OWN_ANY = ("coverage", "passage_coverage", "missing")
FOREIGN = ("similarity",)
FOREIGN_ANY = ("distinct",)
"""Features of a fit: for evidence in the question's language and in another, with cosines of a known model or without.
The others added nothing beside these, or got the wrong sign."""
SMALL = 12
"""Documents of a small base. What is near by chance grows with a base: a fit on large ones alone refuses too much."""
PRUDENCE = {"own": 1.65, "foreign": 15.0}
"""What a wrong answer costs beside a wrong refusal, for the threshold. Across languages a reader cannot check as well,
and cosines tell less."""
Floats = npt.NDArray[np.float64]


class CachedEmbedder:
    """Keeps vectors by text in a folder, so that a fit can be tried again in seconds."""

    def __init__(self, inner: Embedder, folder: Path) -> None:
        self._inner = inner
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self._model = stable_id("model", inner.info.fingerprint)[:8]
        self._known: dict[str, Vector] = {}
        self._fresh: dict[str, Vector] = {}
        for file in sorted(folder.glob(f"{self._model}-*.npz")):
            with np.load(file) as stored:
                self._known.update(zip(stored["keys"].tolist(), stored["vectors"], strict=True))

    @property
    def info(self) -> EmbedderInfo:
        return self._inner.info

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        keys = [self._key("p", text) for text in texts]
        new = [at for at, key in enumerate(keys) if key not in self._known]
        for start in range(0, len(new), 256):
            some = new[start : start + 256]
            self._keep([keys[at] for at in some], await self._inner.embed_passages([texts[at] for at in some]))
        return np.stack([self._known[key] for key in keys])

    async def embed_query(self, text: str) -> Vector:
        key = self._key("q", text)
        if key not in self._known:
            self._keep([key], (await self._inner.embed_query(text))[None])
        return self._known[key]

    def token_spans(self, text: str) -> Sequence[Span]:
        return self._inner.token_spans(text)

    async def close(self) -> None:
        self.save()
        await self._inner.close()

    def save(self) -> None:
        if self._fresh:
            name = f"{self._model}-{stable_id('vectors', *self._fresh)}.npz"
            np.savez(
                self._folder / name,
                keys=np.array(list(self._fresh)),
                vectors=np.stack(list(self._fresh.values())).astype(np.float32),
            )
            self._fresh = {}

    def _keep(self, keys: Sequence[str], vectors: Vectors) -> None:
        fresh = dict(zip(keys, vectors, strict=True))
        self._known.update(fresh)
        self._fresh.update(fresh)
        if len(self._fresh) >= 1000:
            self.save()

    def _key(self, kind: str, text: str) -> str:
        return kind + hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=12).hexdigest()


@dataclass(frozen=True, kw_only=True)
class Query:
    text: str
    gold: frozenset[str]
    answers: tuple[str, ...]


@dataclass(kw_only=True)
class Corpus:
    """One set's documents with their chunks, all in memory."""

    titles: dict[str, str]
    texts: dict[str, str]
    chunks: dict[ChunkId, Chunk] = field(default_factory=dict)
    order: list[ChunkId] = field(default_factory=list)
    vectors: Vectors = field(default_factory=lambda: np.zeros((0, 1), dtype=np.float32))
    terms: dict[int, list[tuple[int, float]]] = field(default_factory=dict)
    blocks: dict[str, list[Block]] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Case:
    """One question asked of one corpus, and what came of it in one language of the evidence."""

    group: str
    foreign: bool
    kind: str
    features: Features
    hit: bool | None
    """Whether a chosen sentence holds the expected answer; None where that cannot be told."""
    first: bool | None


def rows(path: Path) -> list[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def queries_of(folder: Path) -> tuple[list[Query], list[Query]]:
    """Return the answerable and the unanswerable questions of a set."""
    gold: dict[str, set[str]] = {}
    for line in (folder / "qrels.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        asked, doc, grade = line.split("\t")
        if int(grade) > 0:
            gold.setdefault(asked, set()).add(doc)
    good: list[Query] = []
    bad: list[Query] = []
    for row in rows(folder / "queries.jsonl"):
        answers = row.get("answer") or []
        query = Query(
            text=row["text"],
            gold=frozenset(gold.get(row["_id"], ())),
            answers=tuple([answers] if isinstance(answers, str) else answers),
        )
        if query.gold:
            good.append(query)
        elif row.get("answerability") == "UNANSWERABLE":
            bad.append(query)
    return good, bad


async def build(folder: Path, wanted: Iterable[str], size: int, embedder: Embedder) -> Corpus:
    """Read `wanted` documents and others up to `size`, chunk and embed them."""
    docs = {row["_id"]: row for row in rows(folder / "corpus.jsonl")}
    rest = sorted(set(docs) - set(wanted))
    random.Random(SEED).shuffle(rest)
    names = [name for name in wanted if name in docs] + rest
    corpus = Corpus(titles={}, texts={})
    for name in sorted(names[:size]):
        corpus.titles[name], corpus.texts[name] = docs[name].get("title") or "", docs[name]["text"].strip()
    chunker = RecursiveChunker(ChunkSettings())
    for name, text in corpus.texts.items():
        _chunk(corpus, name, text, chunker, embedder)
    children = [chunk for chunk in corpus.chunks.values() if chunk.level is ChunkLevel.CHILD]
    corpus.order = [chunk.id for chunk in children]
    texts = []
    for at, chunk in enumerate(children):
        title, body = corpus.titles[chunk.document_id], chunk.span.of(corpus.texts[chunk.document_id])
        texts.append(f"{title}\n{body}" if title else body)
        for term, weight in document_weights([(body, 1.0), (title, 0.75)]).items():
            corpus.terms.setdefault(term, []).append((at, weight))
    corpus.vectors = await embedder.embed_passages(texts)
    return corpus


def _chunk(corpus: Corpus, name: str, text: str, chunker: RecursiveChunker, embedder: Embedder) -> None:
    spans, at = [], 0
    for line in text.split("\n"):
        if line.strip():
            spans.append(Span(at, at + len(line)))
        at += len(line) + 1
    blocks = [
        Block(id=BlockId(stable_id("block", name, n)), ordinal=n, kind=BlockKind.PARAGRAPH, span=span)
        for n, span in enumerate(spans)
    ]
    corpus.blocks[name] = blocks
    made: list[Chunk] = []
    for draft in chunker.chunk(text, blocks, embedder):
        id = ChunkId(stable_id("chunk", name, draft.level, draft.span.start, draft.span.end))
        made.append(
            Chunk(
                id=id,
                version_id=VersionId(name),
                document_id=DocumentId(name),
                ordinal=len(made),
                level=draft.level,
                span=draft.span,
                parent_id=made[draft.parent].id if draft.parent is not None else None,
                tokens=draft.tokens,
            )
        )
    corpus.chunks.update((chunk.id, chunk) for chunk in made)


async def passages_of(corpus: Corpus, text: str, without: frozenset[str], embedder: Embedder) -> list[Passage]:
    """Search the corpus exactly, as if the documents `without` were not there."""
    settings = RetrieveSettings()
    query = understand(text)
    cosines = corpus.vectors @ await embedder.embed_query(text)
    words = np.zeros(len(corpus.order))
    for term, weight in query.weights.items():
        posting = corpus.terms.get(term, [])
        for at, value in posting:
            words[at] += weight * value * idf(len(corpus.order), len(posting))
    open_ = [at for at, id in enumerate(corpus.order) if corpus.chunks[id].document_id not in without]
    lists = {
        "dense": _top(corpus, cosines, open_, settings.route_k),
        "lexical": [hit for hit in _top(corpus, words, open_, settings.route_k) if hit.score > 0],
    }
    lowest = floors(lists)
    share = settings.dense_weight
    candidates = []
    fused = minmax(lists, {"dense": share, "lexical": 1 - share})
    for rank, item in enumerate(fused, start=1):
        score = relevance(query, item.routes, lowest, FITS.get(embedder.info.name))
        why = fate(item, fused[0].score, score, settings)
        place = RouteScore(rank, item.score)
        candidates.append(Candidate(chunk_id=item.id, routes=item.routes, fused=place, relevance=score, fate=why))
    used = [candidate for candidate in candidates if candidate.fate == USED]
    return [_passage(corpus, area, rank) for rank, area in enumerate(areas(used, corpus.chunks, corpus.chunks)[:K], 1)]


def _top(corpus: Corpus, scores: Any, open_: Sequence[int], k: int) -> list[Hit]:
    best = sorted(open_, key=lambda at: (-float(scores[at]), corpus.order[at]))[:k]
    return [Hit(corpus.order[at], float(scores[at])) for at in best]


def _passage(corpus: Corpus, area: Any, rank: int) -> Passage:
    name = str(area.version)
    best = area.best
    return Passage(
        rank=rank,
        score=best.fused.score,
        relevance=max(candidate.relevance for candidate in area.found),
        document_id=DocumentId(name),
        version_id=area.version,
        chunk_id=best.chunk_id,
        source=name,
        title=corpus.titles[name],
        title_path=(),
        text=area.span.of(corpus.texts[name]),
        span=area.span,
        hits=tuple(area.spans),
        pages=(),
        boxes=(),
        blocks=tuple(block for block in corpus.blocks[name] if block.span.intersect(area.span)),
        content_hash="",
        routes=best.routes,
    )


async def judge(corpus: Corpus, query: Query, kind: str, group: str, embedder: Embedder) -> list[Case]:
    settings = AnswerSettings()
    without = frozenset() if kind == "yes" else query.gold
    passages = await passages_of(corpus, query.text, without, embedder)
    questions, reads, kept = read_evidence(query.text, passages, settings)
    if not kept:
        return []
    cosines = await cosines_of(questions[:1], kept, embedder)
    cases = []
    for side in sides(questions[0], passages, reads, kept, cosines[0]):
        features = features_of(questions[0], side.scored, side.reads, side.passages)
        tell = kind == "yes" and not side.foreign
        hit, first = _found(query, questions[0], side.scored, side.reads) if tell else (None, None)
        cases.append(Case(group=group, kind=kind, foreign=side.foreign, features=features, hit=hit, first=first))
    return cases


def _found(
    query: Query, question: Question, scored: Sequence[Scored], reads: Sequence[Read]
) -> tuple[bool | None, bool | None]:
    """Say whether the answer is among the chosen sentences, and in the best; None where no sentence holds it."""
    answers = [_plain(answer) for answer in query.answers if len(answer) < 60]
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


def threshold_of(cases: Sequence[Case], p: Floats, prudence: float) -> float:
    """Return the threshold with the best mean, over groups and kinds, of the share judged rightly.

    Its neighbours count with it: one question more or less must not move it from one end of a plateau to the other.
    """
    steps = np.arange(0.15, 1.0, 0.01)
    values = np.array([balanced(cases, p, float(step), prudence) for step in steps])
    smooth = np.convolve(values, np.ones(2 * NEIGHBOURS + 1), "valid")
    return round(float(steps[NEIGHBOURS + int(smooth.argmax())]), 2)


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


def others_for(name: str, data: Path, count: int) -> list[Query]:
    """Return questions that the set's corpus has nothing to do with."""
    if name.endswith("_en"):
        texts = [row["text"] for row in rows(data / "financebench_en" / "queries.jsonl")]
        texts += [row["text"] for row in rows(data / "pubmedqa_en" / "queries.jsonl")][: len(texts)]
    else:
        texts = [row["text"] for row in rows(data / "simpleqa_zh" / "questions.jsonl")]
    return [Query(text=text, gold=frozenset(), answers=()) for text in random.Random(SEED).sample(texts, count)]


async def cases_of(name: str, folder: Path, data: Path, docs: int, count: int, embedder: Embedder) -> list[Case]:
    """Return the cases of one set; `name` may say "across": Chinese questions over English documents only."""
    good, bad = queries_of(folder)
    across = name.endswith("across")
    if across:
        good = [
            Query(text=q.text, gold=frozenset(d for d in q.gold if "-en-" in d), answers=())
            for q in good
            if any("\u4e00" <= c <= "\u9fff" for c in q.text)
        ]
    chance = random.Random(SEED)
    chance.shuffle(good)
    chance.shuffle(bad)
    good, own = good[: 2 * count], bad[:count]
    asked, gone = good[:count], good[count:]
    corpus = await build(folder, dict.fromkeys(d for q in good for d in sorted(q.gold)), docs, embedder)
    names = sorted(name for name in corpus.texts if "-en-" in name or not across)
    corpus = part_of(corpus, names)
    other = others_for("simple" if across else folder.name, data, count // 2)
    cases = []
    for kind, group in (("yes", asked), ("gone", gone), ("own", own), ("other", other)):
        for query in group:
            cases += await judge(corpus, query, kind, name, embedder)
            rest = chance.sample([one for one in names if one not in query.gold], SMALL)
            small = part_of(corpus, [*rest, *query.gold])
            cases += await judge(small, query, kind, f"{name}_small", embedder)
    return cases


def part_of(corpus: Corpus, documents: Collection[str]) -> Corpus:
    """Return a corpus of some of the documents."""
    kept = [at for at, id in enumerate(corpus.order) if corpus.chunks[id].document_id in documents]
    places = {old: new for new, old in enumerate(kept)}
    postings = {
        term: [(places[at], weight) for at, weight in posting if at in places] for term, posting in corpus.terms.items()
    }
    return replace(
        corpus,
        order=[corpus.order[at] for at in kept],
        vectors=corpus.vectors[kept],
        terms={term: posting for term, posting in postings.items() if posting},
    )


SETS = {
    "cmrc2018_zh": "cmrc2018_zh",
    "drcd_zht": "drcd_zht",
    "xquad_zh_en": "xquad_zh_en",
    "xquad_across": "xquad_zh_en",
    "clapnq_en": "clapnq_en",
    "mtrag_un_en": "mtrag_un_en",
}


async def run(options: argparse.Namespace, inner: Embedder) -> dict[str, Any]:
    embedder = CachedEmbedder(inner, options.cache)
    cases: list[Case] = []
    try:
        for name, folder in SETS.items():
            path = options.data / folder
            cases += await cases_of(name, path, options.data, options.docs, options.queries, embedder)
            embedder.save()
    finally:
        await embedder.close()
    models: dict[str, Any] = {}
    tables: dict[str, Any] = {}
    for model, names in ((embedder.info.name, (OWN, FOREIGN)), ("any", (OWN_ANY, FOREIGN_ANY))):
        for side, foreign, chosen in (("own", False, names[0]), ("foreign", True, names[1])):
            # Where questions and documents share no language is told by the set: "across" has no own side to speak of.
            mine = [case for case in cases if case.foreign is foreign and ("across" in case.group) is foreign]
            fitted = fit(mine, chosen)
            threshold = threshold_of(mine, probabilities(mine, fitted), PRUDENCE[side])
            part = {"coefficients": fitted[0], "intercept": fitted[1], "threshold": threshold}
            models.setdefault(model, {})[side] = part
            tables.setdefault(model, {})[side] = report(mine, chosen, threshold)
    record = {
        "by": "bench/fit_sufficiency.py",
        "seed": SEED,
        "embedder": embedder.info.fingerprint,
        "documents": options.docs,
        "small": SMALL,
        "prudence": PRUDENCE,
        "cases": {name: sum(case.group == name for case in cases) for name in sorted({one.group for one in cases})},
        "leave_one_set_out": tables,
    }
    return {"record": record, "models": models}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("data", type=Path)
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--docs", type=int, default=300)
    parser.add_argument("--queries", type=int, default=80)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    result = asyncio.run(run(options, OnnxE5Embedder(options.cache)))
    if options.write:
        target = Path(__file__).parent.parent / "src/kaijuan/answer/sufficiency.json"
        target.write_text(json.dumps(result, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
    print(json.dumps({"machine": machine(), **result}, ensure_ascii=False, indent=1))


if __name__ == "__main__":
    main()
