"""Fit answer/checking/entailment.json: how likely evidence carries a claim in which nothing exact is wrong.

    python -m bench.fit_checking --zh FOLDER ... --en FOLDER ... --across FOLDER [--each N] [--write]

Fitted on one half of the documents (bench/checking.py reports on the other). `--across` names xquad_zh_en, whose
paragraphs exist in both languages: for claims whose evidence is in another language, where words say nothing.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from kaijuan.answer.checking.check import features_of
from kaijuan.config import Config
from kaijuan.core.ids import stable_id
from kaijuan.core.text.sentences import sentences
from kaijuan.evals.checking.material import material_of
from kaijuan.evals.checking.pairs import FOREIGN, Pair, make_pairs
from kaijuan.evals.checking.scores import Examined, examine
from kaijuan.evals.sets import corpus_path, rows
from kaijuan.verbs.embedders import make_embedder

Floats = npt.NDArray[np.float64]
WORDS = ("coverage", "held", "aligned", "replaced")
PLACE = Path(__file__).resolve().parents[1] / "src/kaijuan/answer/checking/entailment.json"
SEED = 11


def across_pairs(folder: Path, count: int) -> list[Pair]:
    """Return sentences with the same paragraph in the other language as evidence, and with another paragraph."""
    texts = {str(row["_id"]): str(row["text"]) for _, row in rows(corpus_path(folder))}
    chance = random.Random(SEED)
    made: list[Pair] = []
    for id in sorted(texts):
        other = id.replace("xq-zh", "xq-en") if "xq-zh" in id else id.replace("xq-en", "xq-zh")
        language = "zh" if "xq-zh" in id else "en"
        if other not in texts:
            continue
        far = chance.choice([one for one in sorted(texts) if one[:5] == other[:5] and one != other])
        near = id.rpartition("-")[0]
        beside = [one for one in sorted(texts) if one.startswith(other.rpartition("-")[0] + "-") and one != other]
        for span in sentences(texts[id])[:2]:
            for evidence, supported in (
                (other, True),
                (far if chance.random() < 0.5 or not beside else chance.choice(beside), False),
            ):
                made.append(
                    Pair(
                        kind=FOREIGN,
                        language=language,
                        document=near.replace("xq-zh", "").replace("xq-en", ""),
                        claim=span.of(texts[id]),
                        evidence=(texts[evidence],),
                        supported=supported,
                    )
                )
    chance.shuffle(made)
    return made[:count]


def fit(features: Floats, labels: Floats, ridge: float = 1e-2) -> Floats:
    """Return logistic regression weights by Newton's method; the last is the intercept."""
    whole = np.hstack([features, np.ones((len(features), 1))])
    weights = np.zeros(whole.shape[1])
    balance = np.where(labels == 1, 0.5 / max(labels.mean(), 1e-6), 0.5 / max(1 - labels.mean(), 1e-6))
    for _ in range(60):
        chance = 1 / (1 + np.exp(-np.clip(whole @ weights, -30, 30)))
        slope = whole.T @ (balance * (labels - chance)) - ridge * weights
        curve = (whole * (balance * chance * (1 - chance))[:, None]).T @ whole + ridge * np.eye(len(weights))
        weights += np.linalg.solve(curve, slope)
    return weights


def fitted(some: Sequence[Examined], names: Sequence[str]) -> dict[str, Any]:
    """Return coefficients, intercept and the threshold with the best F1 of both sides."""
    table = np.array([[features_of(one.comparison, one.cosine)[name] for name in names] for one in some])
    labels = np.array([float(one.pair.supported) for one in some])
    weights = fit(table, labels)
    chance = 1 / (1 + np.exp(-(table @ weights[:-1] + weights[-1])))
    thresholds = np.linspace(0.02, 0.98, 97)
    best = max(thresholds, key=lambda threshold: _balance(chance, labels, threshold))
    return {
        "coefficients": {name: round(float(value), 4) for name, value in zip(names, weights[:-1], strict=True)},
        # Moved so that a score of one half is where supported begins, whatever the balance of the pairs.
        "intercept": round(float(weights[-1]) - float(np.log(best / (1 - best))), 4),
    }


def _balance(chance: Floats, labels: Floats, threshold: float) -> float:
    """Return the lesser F1 of telling the supported and the unsupported."""
    said = chance >= threshold
    true = labels == 1
    f1 = []
    for one, other in ((said, true), (~said, ~true)):
        right = (one & other).sum()
        f1.append(2 * right / max(1, one.sum() + other.sum()))
    return float(min(f1))


async def run(options: argparse.Namespace) -> dict[str, Any]:
    """Make pairs, lay them along their evidence, and fit on those that rules let pass."""
    own = [
        *make_pairs(material_of(options.zh, "zh"), options.each, SEED),
        *make_pairs(material_of(options.en, "en"), options.each, SEED),
    ]
    across = across_pairs(options.across, options.each * 6)
    with tempfile.TemporaryDirectory() as cache:
        embedder = make_embedder(Config().embedder, Path(cache))
        model = embedder.info.name
        seen = [one for one in await examine([pair for pair in own if pair.half == "tune"], embedder) if not one.quoted]
        foreign = await examine([pair for pair in across if _tuned(pair)], embedder)
        await embedder.close()
    # Claims with one thing wrong are for the rules: fitted on, they would teach that much in common is suspicious.
    passed = [one for one in seen if one.pair.supported or one.pair.kind == FOREIGN]
    passed_foreign = [one for one in foreign if not one.comparison.faults]
    return {
        "record": {
            "by": "bench/fit_checking.py",
            "seed": SEED,
            "pairs": len(passed),
            "across": len(passed_foreign),
        },
        "models": {
            model: {"own": fitted(passed, WORDS), "foreign": fitted(passed_foreign, ("cosine",))},
            "any": {"own": fitted(passed, WORDS), "foreign": fitted(passed_foreign, ("coverage",))},
        },
    }


def _tuned(pair: Pair) -> bool:
    return int(stable_id("half", pair.document)[:8], 16) % 2 == 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--zh", nargs="+", type=Path, required=True)
    parser.add_argument("--en", nargs="+", type=Path, required=True)
    parser.add_argument("--across", type=Path, required=True)
    parser.add_argument("--each", type=int, default=150)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    text = json.dumps(asyncio.run(run(options)), indent=2) + "\n"
    print(text)
    if options.write:
        PLACE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
