"""Parts of docs/benchmarks.md about understanding: JSON of a benchmark to the lines of its table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Row = dict[str, Any]


def rewriting_table(result: Row) -> Iterator[str]:
    """Yield the rows of bench/rewriting.py."""
    yield (
        f"Model `{result['model']}`. Recall@10; in `mtrag_un_en` of judged documents, in the two others of what the "
        "reference rewrite finds first in the same corpora, since these sets have no documents. A model is asked only "
        "where a question may go on from those before; replies that lose or make up anything exact are thrown away.\n"
    )
    yield (
        "| set | turns | last turn | rules | model | model asked | last turn, rules, model where asked "
        "| thrown away, failed | lost an anchor |"
    )
    yield "|---|---|---|---|---|---|---|---|---|"
    for name, row in result["sets"].items():
        whole, asked = row["recall@10"], row["recall@10 where asked"]
        cells = " | ".join(f"{whole[way]:.3f}" for way in ("last turn", "rules", "model"))
        where = ", ".join(f"{value:.3f}" for value in asked.values())
        replies = row["replies"]
        thrown = replies.get("thrown away", 0)
        failed = sum(replies.values()) - thrown - replies.get("ok", 0)
        yield (
            f"| {name} | {row['turns']} | {cells} | {row['model asked']} | {where} | {thrown}, {failed} "
            f"| {row['lost an anchor']} |"
        )


def against_plain_table(result: Row) -> Iterator[str]:
    """Yield the rows of bench/against_plain.py."""
    yield (
        f"Model `{result['model']}`; {result['sample']} questions of each kind and language, seed {result['seed']}. "
        "Plainly: one prompt with the same documents that tells the model to refuse where they do not say.\n"
    )
    yield "| questions | language | asked | way | right | refused | followed | first token s, p50 | whole s, p50 |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for row in result["table"]:
        shares = " | ".join(_percent(row[name]) for name in ("right", "refused", "followed"))
        times = " | ".join("–" if row[name] is None else f"{row[name]:.2f}" for name in ("first_s_p50", "whole_s_p50"))
        failed = f" ({row['failed']} failed)" if row["failed"] else ""
        yield f"| {row['kind']} | {row['language']} | {row['asked']}{failed} | {row['way']} | {shares} | {times} |"


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{value:.0%}"


def answering_table(result: Row) -> Iterator[str]:
    """Yield the rows of bench/answering.py."""
    ended = ", ".join(f"{count} {status}" for status, count in result["ended"].items())
    yield f"`{result['set']}`, {result['chunks']:,} chunks, {result['questions']} questions: {ended}.\n"
    yield "| part | p50 ms | p95 ms | p99 ms |\n|---|---|---|---|"
    for name in ("answer_ms", "search_ms", "cpu_ms"):
        times = result[name]
        yield f"| {name.removesuffix('_ms')} | {times['p50']:.0f} | {times['p95']:.0f} | {times['p99']:.0f} |"


def near_misses_table(result: Row) -> Iterator[str]:
    """Yield the rows of bench/near_misses.py."""
    found, pairs = result["identifiers"], result["pairs"]
    yield (
        f"{found['identifiers']:,} identifiers that differ by one sign, asked for in long sentences about other "
        f"things; {pairs['pairs']} pairs of texts that differ in a number or a denial, right when the question for "
        f"each finds it above the other. Preset `{result['preset']}`.\n"
    )
    yield "| questions | asked | right |\n|---|---|---|"
    for form, share in found["hit@1"].items():
        yield f"| identifier, {form}: hit@1 | {found['questions'][form]:,} | {share:.1%} |"
    for kind, share in pairs["right by kind"].items():
        yield f"| pairs, {kind} | | {share:.1%} |"
    yield f"| pairs, all | {pairs['pairs']} | {pairs['right']:.1%} |"


def languages_table(result: Row) -> Iterator[str]:
    """Yield the rows of bench/languages.py."""
    yield (
        "All languages in one list, and each language that the question is not in by itself "
        f"(`retrieve.languages_apart`). Preset `{result['preset']}`.\n"
    )
    yield "| set | questions | lists | recall@10 | nDCG@10 | own language | other language |"
    yield "|---|---|---|---|---|---|---|"
    for row in result["sets"]:
        for way in ("together", "apart"):
            figures = row[way]
            sides = " | ".join(_or_nothing(figures.get(side)) for side in ("own language", "other language"))
            scores = f"{figures['recall@10']:.3f} | {figures['ndcg@10']:.3f}"
            yield f"| {row['set']} | {row['questions']} | {way} | {scores} | {sides} |"
    noises = [(row["set"], way, noise) for row in result["sets"] for way, noise in row.get("noise", {}).items()]
    if noises:
        yield "\nCosines of a question and texts picked at random:\n\n| set | question to text | mean | deviation |"
        yield "|---|---|---|---|"
    for name, way, noise in noises:
        yield f"| {name} | {way} | {noise['mean']:.3f} | {noise['deviation']:.3f} |"


def routing_table(result: Row) -> Iterator[str]:
    """Yield the rows of bench/routing.py."""
    yield (
        "How many questions a model would be asked about at a threshold of `understanding.model_below`, and how many "
        "of those that found nothing relevant among three passages are among them.\n"
    )
    levels = list(next(iter(result["sets"].values()))["asked"])
    heads = " | ".join(f"below {level}" for level in levels)
    yield f"| set | questions | not found | {heads} | taken apart | asked back |"
    yield "|---" * (5 + len(levels)) + "|"
    for name, row in result["sets"].items():
        cells = " | ".join(f"{row['asked'][level]}, {row['of these not found'][level]}" for level in levels)
        yield (
            f"| {name} | {row['questions']} | {row['not found']} | {cells} | {row['taken apart']} "
            f"| {row['asked back']} |"
        )


def understanding_table(result: Row) -> Iterator[str]:
    """Yield the rows of bench/understanding.py."""
    yield (
        "Questions as they are, and those in which a word can be put amiss by rule (a letter, a character of the same "
        "sound), without and with the steps of understanding. Without the reranker.\n"
    )
    yield "| set | questions | steps | words alone nDCG@10 | whole nDCG@10 | whole recall@10 |"
    yield "|---|---|---|---|---|---|"
    for row in result["sets"]:
        for name, count in (("as they are", row["questions"]), ("with a slip", row["with a slip"])):
            for how in ("off", "on"):
                figures = row[f"{name}, {how}"]
                scores = " | ".join(
                    f"{figures[key]:.3f}" for key in ("lexical ndcg@10", "final ndcg@10", "final recall@10")
                )
                yield f"| {row['set']} | {count}, {name} | {how} | {scores} |"


def wordings_table(result: Row) -> Iterator[str]:
    """Yield the rows of bench/wordings.py."""
    yield (
        f"Model `{result['model']}`, asked each time and for one thing only. `parts` is over questions that the rules "
        "would take apart, the others over questions of every kind. Better and worse are by nDCG@10.\n"
    )
    yield (
        "| set | way | questions | nDCG@10 | recall@10 | words used | nDCG@10 there without, with | better, worse "
        "| replies |"
    )
    yield "|---|---|---|---|---|---|---|---|---|"
    for name, kinds in result["sets"].items():
        for kind, ways in kinds.items():
            for way, row in ways.items():
                there = ", ".join(
                    _or_nothing(row["where used"][how].get("ndcg@10")) for how in ("as it is", "with them")
                )
                replies = ", ".join(f"{count} {state}" for state, count in sorted(row["replies"].items()))
                yield (
                    f"| {name} | {way}{' (these)' if kind == 'parts' and way != kind else ''} | {row['questions']} "
                    f"| {_or_nothing(row.get('ndcg@10'))} | {_or_nothing(row.get('recall@10'))} | {row['words used']} "
                    f"| {there} | {row['better']}, {row['worse']} | {replies} |"
                )


def _or_nothing(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"
