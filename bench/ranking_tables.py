"""Parts of docs/benchmarks.md about ranking: JSON of a benchmark to the lines of its tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

Row = dict[str, Any]
GOAL = (
    *("stard_law_zh", "medfaq_zh", "rgb_news_zh", "mtrag_un_en"),
    *("financebench_en", "hotpot_en", "cosqa_code_en", "xquad_zh_en"),
)
"""Sets on which the better route alone is below 0.90."""
WANTED = 3.5
"""Points above the better route that the whole should reach on these, on average."""


def train_reranker_table(result: Row) -> Iterator[str]:
    """Yield the tables of bench/train_reranker.py."""
    yield (
        "Samples of the sets (`make train-reranker` says how large), nDCG@10. *Unseen* is the order of an onboard "
        "reranker that was trained on the other sets only; *spared* are the halves of questions that the shipped one "
        "was not trained on (all questions of rgb_news_zh and financebench_en, which only evaluation may use).\n"
    )
    yield (
        "| set | questions | dense | lexical | fused | reranked, unseen | over the better route | spared: better route "
        "| fused | reranked | recall@50: better route | fused |"
    )
    yield "|---" * 12 + "|"
    for name, row in result["order"].items():
        gain = 100 * (row["unseen"] - max(row["dense"], row["lexical"]))
        figures = [row["dense"], row["lexical"], row["fused"], row["unseen"]]
        spared = [row[f"spared_{key}"] for key in ("better_route", "fused", "whole")]
        recalls = [row["recall@50_better_route"], row["recall@50_fused"]]
        yield (
            f"| {name} | {row['questions']:.0f} | {_figures(figures)} | {gain:+.1f} | {_figures(spared)} "
            f"| {_figures(recalls)} |"
        )
    yield "\n" + _goal(result["order"])
    yield "\nWays of joining the lists, nDCG@10 before reranking:\n"
    ways = list(next(iter(result["fusions"].values())))
    yield f"| set | {' | '.join(ways)} |"
    yield "|---" * (1 + len(ways)) + "|"
    for name, row in result["fusions"].items():
        yield f"| {name} | {_figures(row.values())} |"
    means = [sum(row[way] for row in result["fusions"].values()) / len(result["fusions"]) for way in ways]
    yield f"| average | {_figures(means)} |"
    yield from _evidence(result)


def _figures(values: Any) -> str:
    return " | ".join(f"{value:.3f}" for value in values)


def _goal(order: Mapping[str, Row]) -> str:
    gains = {name: 100 * (row["unseen"] - max(row["dense"], row["lexical"])) for name, row in order.items()}
    goal = [gains[name] for name in GOAL if name in gains]
    worse = [f"{name} ({gain:+.1f})" for name, gain in gains.items() if gain < -0.3]
    short = [name for name, row in order.items() if row["recall@50_fused"] < row["recall@50_better_route"]]
    told = (
        f"Over the {len(goal)} sets where the better route is below 0.90, the reranked order lies "
        f"{sum(goal) / len(goal):+.2f} points from it on average (wanted: {WANTED:+.1f}); most of that is xquad_zh_en, "
        "where each language has a list of its own."
    )
    if worse:
        told += f" More than 0.3 points below the better route, which is not as wanted: {', '.join(worse)}."
    if short:
        told += f" The fused pool holds less than the better route among its first 50 on: {', '.join(short)}."
    return told


def _evidence(result: Row) -> Iterator[str]:
    yield (
        "\nEvidence: how often a question that has an answer gets more than one without (AUROC), by the highest "
        "evidence among its candidates. *Own* are the unanswerable questions of the set, *gone* its answerable ones "
        "with their documents taken away; for rgb_news_zh that is its test of refusal, near misses only.\n"
    )
    yield "| set | unseen: own | gone | spared: own | gone |\n|---|---|---|---|---|"
    for name, row in result["evidence"].items():
        keys = [f"{kind}_auroc_{which}" for kind in ("unseen", "spared") for which in ("own", "gone")]
        yield f"| {name} | {' | '.join(f'{row[key]:.3f}' if key in row else '' for key in keys)} |"
    yield "\nWhat evidence says and what is true, candidates of the spared halves:\n"
    rows = result["reliability"]
    yield "| said, mean | " + " | ".join(f"{row['said']:.2f}" for row in rows) + " |"
    yield "|---" * (1 + len(rows)) + "|"
    yield "| true | " + " | ".join(f"{row['true']:.2f}" for row in rows) + " |"
    yield "| candidates | " + " | ".join(f"{row['count']:.0f}" for row in rows) + " |"


def presets_table(result: Row) -> Iterator[str]:
    """Yield the tables of bench/presets.py."""
    presets = ("fast", "balanced", "thorough")
    yield (
        "nDCG@10 of what a reader is given; samples of the sets, `recall@50` before reranking. Half of the questions "
        "are of the halves that the reranker was trained on, except rgb_news_zh and financebench_en.\n"
    )
    head = f"| set | documents | questions | dense | lexical | {' | '.join(presets)} |"
    yield f"{head} recall@50: dense, lexical, fused |"
    yield "|---" * 9 + "|"
    for row in result["quality"]:
        scores = [row["balanced dense"], row["balanced lexical"], *(row[name] for name in presets)]
        recalls = (row[f"balanced {stage}"]["recall@50"] for stage in ("dense", "lexical", "fused"))
        yield (
            f"| {row['set']} | {row['documents']} | {row['questions']} | {_figures(one['ndcg@10'] for one in scores)} "
            f"| {', '.join(f'{value:.3f}' for value in recalls)} |"
        )
    took = result["time"]
    if not took:
        return
    yield (
        f"\n{took['chunks']:,} chunks, {took['queries']} questions, each embedded by the onboard model. "
        f"{took.get('note', '')} Load average of the machine meanwhile: {took['load_average']}, on "
        f"{result['machine']['cores']} cores.\n"
    )
    head = "| index | preset | p50 / p95 / p99 ms | processor ms | clients |"
    yield f"{head} p50 / p99 ms with these | searches a second |"
    yield "|---" * 7 + "|"
    for built in ("plain", "optimised"):
        for name in presets if built in took else ():
            row = took[built][name]
            times, many = row["ms"], row["clients"]
            yield (
                f"| {built} | {name} | {times['p50']:.0f} / {times['p95']:.0f} / {times['p99']:.0f} | {row['cpu_ms']} "
                f"| {many['count']} | {many['ms']['p50']:.0f} / {many['ms']['p99']:.0f} | {many['searches_a_second']} |"
            )
    if "graph_recall" in took:
        yield f"\nOf the nearest 50 chunks the graph of the optimised index finds {took['graph_recall']:.1%}."
    memory = took["plain"].get("memory_mb", {})
    if memory:
        yield "\nMemory: " + ", ".join(f"{role} {size} MB" for role, size in memory.items()) + "."
