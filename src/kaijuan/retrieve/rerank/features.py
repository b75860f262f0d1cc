"""What the onboard reranker looks at: cheap facts about a question and a candidate's text, most between 0 and 1.

What the routes say is compared within the candidates of one question, so that it carries over to other models and
corpora; what the texts say is counted in shares of the question.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kaijuan.retrieve.ports import Words
from kaijuan.retrieve.rerank.terms import Asked, Floats, Numbers, Text, among, negated

FEATURES = (
    *("fused", "fused_gap", "dense", "dense_gap", "dense_listed", "lexical", "lexical_listed", "agreement"),
    *("coverage", "coverage_rare", "pairs", "window", "phrase", "exact", "exact_missing", "rarest"),
    *("title", "path", "title_only", "polarity", "length", "siblings", "leader"),
    *("soft", "soft_rare", "soft_telling", "soft_least", "soft_title"),
    *("dense_code", "dense_uncovered"),
    # The only ones that compare across questions by what the routes say; they tell evidence, not order.
    *("cosine", "density", "cosine_above", "density_above"),
)
"""Names of the columns, in their order."""
WINDOW = 32
"""Words of a text within which terms stand together: about a sentence or two."""
_LONG_TEXT = 400.0
_HIGHEST_DENSITY = 10.0
"""About the highest density there is."""
_LEAST = 1e-6
_COMPARED = 640
"""Pairs of pieces that are compared at once. A larger product is shared among threads by the library that does it, and
these wait for each other several times as long as one of them takes for it all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """One candidate. Scores are None where the route did not list it."""

    document: str
    text: Text
    title: Numbers
    """Its words, ascending, each once; likewise those of its headings."""
    path: Numbers
    pieces: Numbers
    """Pieces of words of the text, and of title and headings, each once; empty where nothing compares them."""
    pieces_above: Numbers
    code: float
    """How much it looks like program code, 0 to 1."""
    dense: float | None
    lexical: float | None
    fused: float


@dataclass(frozen=True, slots=True, kw_only=True)
class _Matched:
    """Which terms of the question (columns) the candidates (rows) hold, and where."""

    held: npt.NDArray[np.bool_]
    places: list[tuple[Numbers, Numbers]]
    """For each candidate: places in its words, and the question's term at each of them."""


def features_of(asked: Asked, candidates: Sequence[Facts], words: Words | None = None) -> Floats:
    """Return one row a candidate, shape (candidates, len(FEATURES)). Without `words` nothing is compared softly."""
    if not candidates:
        return np.zeros((0, len(FEATURES)))
    matched = _match(asked, candidates)
    columns = {
        **_routes(candidates),
        **_words(asked, candidates, matched),
        **_documents(candidates),
        **_soft(asked, candidates, words),
    }
    # Where words find little, and in code, meaning says more.
    code = np.array([candidate.code for candidate in candidates])
    columns["dense_code"] = columns["dense"] * code
    columns["density"] = _density(asked, candidates)
    # Above what comes up by chance: more alike between models and bases than the scores themselves.
    columns["cosine_above"] = 10.0 * (columns["cosine"] - np.median(columns["cosine"]))
    columns["density_above"] = columns["density"] - np.median(columns["density"])
    columns["dense_uncovered"] = columns["dense"] * (1.0 - columns["coverage_rare"].max())
    return np.stack([columns[name] for name in FEATURES], axis=1)


def _match(asked: Asked, candidates: Sequence[Facts]) -> _Matched:
    order = np.argsort(asked.words, kind="stable")
    ranked = asked.words[order]
    held = np.zeros((len(candidates), len(order)), dtype=np.bool_)
    places = []
    for row, candidate in enumerate(candidates):
        words = candidate.text.words
        at = np.searchsorted(ranked, words)
        hit = np.flatnonzero(
            (at < len(ranked)) & (ranked[np.minimum(at, len(ranked) - 1)] == words) if len(ranked) else []
        )
        terms = order[at[hit]]
        held[row, terms] = True
        places.append((hit.astype(np.uint32), terms.astype(np.uint32)))
    return _Matched(held=held, places=places)


def _routes(candidates: Sequence[Facts]) -> dict[str, Floats]:
    fused = np.array([candidate.fused for candidate in candidates])
    top = fused.max() or 1.0
    dense, dense_listed = _scaled([candidate.dense for candidate in candidates])
    lexical, lexical_listed = _scaled([candidate.lexical for candidate in candidates])
    cosines = np.array([np.nan if candidate.dense is None else candidate.dense for candidate in candidates])
    lowest, best = (np.nanmin(cosines), np.nanmax(cosines)) if dense_listed.any() else (0.0, 0.0)
    return {
        "fused": fused / top,
        "fused_gap": 1.0 - (top - fused) / (top + fused),
        "dense": dense,
        # A tenth of cosine is a great distance for the models in use.
        "dense_gap": -10.0 * (best - np.where(np.isnan(cosines), lowest, cosines)),
        "dense_listed": dense_listed,
        "lexical": lexical,
        "lexical_listed": lexical_listed,
        "agreement": np.minimum(dense, lexical),
        "cosine": np.where(np.isnan(cosines), lowest, cosines),
    }


def _density(asked: Asked, candidates: Sequence[Facts]) -> Floats:
    """Return BM25 for each unit of what was asked; a candidate that the route did not list has none."""
    total = float(asked.weights.sum()) or 1.0
    return np.array([(candidate.lexical or 0.0) / total for candidate in candidates]) / _HIGHEST_DENSITY


def _scaled(scores: Sequence[float | None]) -> tuple[Floats, Floats]:
    """Return scores scaled to 0-1 among those that are there, 0 for the others; and which are there."""
    values = np.array([np.nan if score is None else score for score in scores], dtype=np.float64)
    there = ~np.isnan(values)
    scaled = np.zeros(len(values))
    if there.any():
        low, high = values[there].min(), values[there].max()
        scaled[there] = (values[there] - low) / (high - low) if high > low else 1.0
    return scaled, there.astype(np.float64)


def _words(asked: Asked, candidates: Sequence[Facts], matched: _Matched) -> dict[str, Floats]:
    count = len(candidates)
    held = matched.held
    weights = asked.weights
    # How rare a term is among the candidates: what all of them hold tells none apart.
    holders = held.sum(axis=0)
    rarity = np.log1p((count - holders + 0.5) / (holders + 0.5))
    rare = weights * rarity
    exact = asked.exact
    return {
        "coverage": _share(held, weights),
        "coverage_rare": _share(held, rare),
        "pairs": np.array([_pair_share(asked, candidate.text) for candidate in candidates]),
        "window": np.array([_window(places, weights + rare) for places in matched.places]),
        "phrase": np.array([_phrases(places, len(weights)) for places in matched.places]),
        "exact": _share(held[:, exact], weights[exact]),
        "exact_missing": ((~held[:, exact]).sum(axis=1) > 0).astype(np.float64) if exact.any() else np.zeros(count),
        "rarest": _rarest(held, rare),
        "title": np.array([_held_share(asked, candidate.title) for candidate in candidates]),
        "path": np.array([_held_share(asked, candidate.path) for candidate in candidates]),
        "title_only": np.array(
            [_title_only(asked, row, candidate) for row, candidate in zip(held, candidates, strict=True)]
        ),
        "polarity": np.array(
            [_polarity(asked, places, candidate) for places, candidate in zip(matched.places, candidates, strict=True)]
        ),
        "length": np.array([min(1.0, len(candidate.text.words) / _LONG_TEXT) for candidate in candidates]),
    }


def _share(held: npt.NDArray[np.bool_], weights: Floats) -> Floats:
    total = weights.sum()
    return np.asarray(held @ weights / total if total > 0 else np.zeros(len(held)), dtype=np.float64)


def _rarest(held: npt.NDArray[np.bool_], rare: Floats) -> Floats:
    """Return whether a candidate holds the question's rarest term that any candidate holds."""
    known = held.any(axis=0)
    if not known.any():
        return np.zeros(len(held))
    return held[:, int(np.argmax(np.where(known, rare, -1.0)))].astype(np.float64)


def _pair_share(asked: Asked, text: Text) -> float:
    return float(among(asked.pairs, text.pairs).mean()) if len(asked.pairs) else 0.0


def _held_share(asked: Asked, words: Numbers) -> float:
    total = float(asked.weights.sum())
    return float(asked.weights[among(asked.words, words)].sum()) / total if total and len(words) else 0.0


def _title_only(asked: Asked, row: npt.NDArray[np.bool_], candidate: Facts) -> float:
    """Return the share of the question that title or headings hold and the text does not."""
    if not (len(candidate.title) or len(candidate.path)):
        return 0.0
    above = among(asked.words, candidate.title) | among(asked.words, candidate.path)
    total = float(asked.weights.sum())
    return float(asked.weights[above & ~row].sum()) / total if total else 0.0


def _window(places: tuple[Numbers, Numbers], weights: Floats) -> float:
    """Return the largest share of the question that stands within WINDOW words."""
    at, terms = (row.tolist() for row in places)
    total = float(weights.sum())
    if not at or total <= 0:
        return 0.0
    counts: dict[int, int] = {}
    held = best = 0.0
    first = 0
    for place, term in zip(at, terms, strict=True):
        if not counts.get(term):
            held += weights[term]
        counts[term] = counts.get(term, 0) + 1
        while place - at[first] >= WINDOW:
            gone = terms[first]
            counts[gone] -= 1
            held -= weights[gone] if not counts[gone] else 0.0
            first += 1
        best = max(best, held)
    return best / total


def _phrases(places: tuple[Numbers, Numbers], asked: int) -> float:
    """Return the share of neighbouring terms of the question that are neighbours in the text, in their order."""
    if asked < 2:
        return 0.0
    at, terms = places[0].astype(np.int64), places[1].astype(np.int64)
    near = (np.diff(at) <= 2) & (np.diff(terms) == 1)
    return len(np.unique(terms[:-1][near])) / (asked - 1)


def _polarity(asked: Asked, places: tuple[Numbers, Numbers], candidate: Facts) -> float:
    """Return the share of the question's terms found that are denied in the text just as in the question."""
    at, terms = places
    if not len(at):
        return 1.0
    denied = negated(candidate.text)[at]
    agrees = denied == asked.denied[terms]
    found, fitting = np.zeros((2, len(asked.weights)), dtype=np.bool_)
    found[terms] = True
    fitting[terms[agrees]] = True
    total = float(asked.weights[found].sum())
    return float(asked.weights[fitting].sum()) / total if total else 1.0


def _soft(asked: Asked, candidates: Sequence[Facts], words: Words | None) -> dict[str, Floats]:
    """Compare each piece of the question with the most like piece of a text: MaxSim (Khattab and Zaharia, 2020).

    Over word vectors, not over the network's states: it finds other forms and near synonyms, and is nearly free.
    """
    names = ("soft", "soft_rare", "soft_telling", "soft_least", "soft_title")
    if words is None or not len(asked.pieces):
        return {name: np.zeros(len(candidates)) for name in names}
    rarity = words.rarities(asked.pieces).astype(np.float64) + _LEAST
    inside = _likest(words, asked.pieces, [candidate.pieces for candidate in candidates])
    above = _likest(words, asked.pieces, [candidate.pieces_above for candidate in candidates])
    both = np.maximum(inside, above)
    # What every candidate has tells none apart.
    telling = rarity * (1.0 - both.mean(axis=0)) + _LEAST
    rarest = np.argsort(-rarity, kind="stable")[: max(1, len(rarity) // 4)]
    return {
        "soft": both.mean(axis=1),
        "soft_rare": both @ rarity / rarity.sum(),
        "soft_telling": both @ telling / telling.sum(),
        "soft_least": both[:, rarest].mean(axis=1),
        "soft_title": above @ rarity / rarity.sum(),
    }


def _likest(words: Words, asked: Numbers, texts: Sequence[Numbers]) -> Floats:
    """Return the highest cosine of each piece asked for among a text's pieces, shape (texts, pieces); 0 for none."""
    held = np.unique(np.concatenate([*texts, asked[:0]]))
    best = np.zeros((len(texts), len(asked)))
    if not len(held):
        return best
    wanted, there = words.vectors(asked), words.vectors(held)
    step = max(1, _COMPARED // len(asked))
    likeness = np.concatenate([there[at : at + step] @ wanted.T for at in range(0, len(held), step)])
    for row, text in enumerate(texts):
        if len(text):
            best[row] = likeness[np.searchsorted(held, text)].max(axis=0)
    return np.clip(best, 0.0, 1.0)


def _documents(candidates: Sequence[Facts]) -> dict[str, Floats]:
    """Return how much the other candidates of a document speak for it, and which is its best."""
    by_document: dict[str, list[int]] = {}
    for place, candidate in enumerate(candidates):
        by_document.setdefault(candidate.document, []).append(place)
    fused = np.array([candidate.fused for candidate in candidates])
    top = fused.max() or 1.0
    siblings, leader = np.zeros(len(candidates)), np.zeros(len(candidates))
    for places in by_document.values():
        ranked = sorted(places, key=lambda place: (-fused[place], place))
        leader[ranked[0]] = 1.0
        for place in places:
            others = [fused[other] for other in ranked if other != place]
            siblings[place] = max(others, default=0.0) / top
    return {"siblings": siblings, "leader": leader}
