"""Parts of docs/benchmarks.md: JSON of a benchmark to the lines of its table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Row = dict[str, Any]
_BUILT = {"add": "`add`", "ports": "ports", "optimised": "ports, optimised"}


def scaling_table(result: Row) -> Iterator[str]:
    """Yield the rows of bench/scaling.py."""
    asked = " or ".join(str(number) for number in sorted({row["queries"] for row in result["rows"]}))
    yield (
        f"{asked} questions a size; short chunks of about 110 terms, vectors of a stub. Built by `add`, or "
        "through the catalog and index ports in bulk (without chunker and analyser, one base that grows). The index is "
        "not optimised unless it says so. Both routes wait for each other in the owner. Processor times are of engine "
        f"and owner together and depend less than the others on what else the machine does. {result['note']}\n"
    )
    yield "| built by | chunks | build s | processor s | chunks a processor second | engine, owner peak MB | disk MB |"
    yield "|---|---|---|---|---|---|---|"
    for row in result["rows"]:
        cpu = row["build_cpu_seconds"]
        rate = f"{row['chunks'] / cpu:.0f}" if cpu else ""
        yield (
            f"| {_BUILT[row['built']]} | {row['chunks']:,} | {row['build_seconds']:.0f} | {cpu or ''} | {rate} "
            f"| {_peaks(row)} | {sum(row['disk_mb'].values())} |"
        )
    yield ""
    yield (
        "| built by | chunks | search p50 / p95 / p99 ms | with the question's embedding | filtered to 50 % "
        "| filtered to 0.05 % | processor ms | dense, lexical route p50 ms | owner MB, its own |"
    )
    yield "|---|---|---|---|---|---|---|---|---|"
    for row in result["rows"]:
        times, routes = row["search_ms"], row["routes_ms_p50"]
        yield (
            f"| {_BUILT[row['built']]} | {row['chunks']:,} | {_three(times['plain'])} "
            f"| {_three(times[EMBEDDED])} | {_three(times['filtered 50 %'])} | {_three(times['filtered 0.05 %'])} "
            f"| {row['search_cpu_ms']['plain']} | {routes['dense']}, {routes['lexical']} "
            f"| {row['search_peak_mb']['index owner']}, {row['build_peak_private_mb'].get('index owner', '')} |"
        )
    yield "\n" + _bend(result)


EMBEDDED = "plain, with the question's embedding"


def _three(times: Row) -> str:
    return f"{times['p50']:.0f} / {times['p95']:.0f} / {times['p99']:.0f}"


def _peaks(row: Row) -> str:
    peaks = row["build_peak_mb"]
    return ", ".join(str(peaks[role]) for role in ("engine", "index owner") if role in peaks)


def _bend(result: Row) -> str:
    sizes = sorted((row for row in result["rows"] if row["built"] == "ports"), key=lambda row: row["chunks"])
    largest = sizes[-1]
    if result["bends_at"] is None:
        return f"Up to {largest['chunks']:,} chunks, search does not grow nearly with the size."
    bend = next(row for row in sizes if row["chunks"] == result["bends_at"])
    grown = [largest["routes_ms_p50"][route] / bend["routes_ms_p50"][route] for route in ("dense", "lexical")]
    return (
        f"The curve bends at {bend['chunks']:,} chunks: from there the processor time of a search grows more than "
        f"half as steeply as the number of chunks (on logarithmic scales). From there to {largest['chunks']:,} chunks "
        f"the dense route takes {grown[0]:.1f} times as long, the lexical route {grown[1]:.1f} times."
    )


def index_table(result: Row) -> Iterator[str]:
    """Yield the rows of bench/index_search.py."""
    trip, memory = result["socket_round_trip"], result["owner_mb"]
    yield (
        f"{result['rows']:,} points. An empty call takes {trip['p50_ms']:.2f} ms (p99 {trip['p99_ms']:.2f}). "
        f"Starting the owner and making a space {result['first_open_seconds']:.1f} s, opening this one again "
        f"{result['reopen_seconds']:.1f} s; {result['load_rows_per_second']:,} points are written a second. The owner "
        f"holds {memory['resident']} MB, {memory['private']} of them its own and the others pages of files. "
        f"The load average was {result['load_average']:.0f}.\n"
    )
    yield "| filter | points | dense p50 / p99 ms | lexical p50 / p99 ms | both at once p50 / p99 ms |"
    yield "|---|---|---|---|---|"
    for name, row in result["search"].items():
        cells = " | ".join(
            f"{row[way]['p50_ms']:.2f} / {row[way]['p99_ms']:.2f}" for way in ("dense", "lexical", "both")
        )
        yield f"| {name} | {row['rows']:,} | {cells} |"


def fusion_table(result: Row) -> Iterator[str]:
    """Yield the rows of bench/fusion.py."""
    yield "nDCG@10 of both routes, of the sum of their scaled scores and of reciprocal rank fusion:\n"
    yield "| set | questions | dense | lexical | sum | reciprocal ranks |\n|---|---|---|---|---|---|"
    for row in result["sets"]:
        scores = " | ".join(f"{row['ndcg@10'][way]:.3f}" for way in ("dense", "lexical", "sum", "rrf"))
        yield f"| {row['set']} | {row['queries']} | {scores} |"
    first = result["sets"][0]
    yield "\nThe sum by the number of chunks asked of each route (`retrieve.route_k`):\n"
    yield "| set | " + " | ".join(first["depth"]) + " |\n|---" + "|---" * len(first["depth"]) + "|"
    for row in result["sets"]:
        yield f"| {row['set']} | " + " | ".join(f"{value:.3f}" for value in row["depth"].values()) + " |"
    yield "\nRelevant documents among the first ten that are cut away at a ratio (`retrieve.cut_ratio`):\n"
    ratios = first["cut"]["lost"]
    yield "| set | relevant | " + " | ".join(ratios) + " |\n|---|---" + "|---" * len(ratios) + "|"
    for row in result["sets"]:
        cells = " | ".join(str(count) for count in row["cut"]["lost"].values())
        yield f"| {row['set']} | {row['cut']['relevant_in_first_ten']} | {cells} |"


_ANSWERED = ("answered", "hit", "hit_answered", "f1", "citation_recall", "citation_precision", "faithful")


def answers_table(result: Row) -> Iterator[str]:
    """Yield the rows of bench/answers.py: a row a kind of question, then refusals, then conflicts."""
    yield (
        "By kind of question: the share that was answered; that contains all expected answers, of all and of the "
        "answered; F1; citation recall and precision (ALCE); statements that their cited words carry. `withheld` are "
        "answerable ones, asked without the documents that answer them.\n"
    )
    heads = ("answered", "hit", "hit, answered", "F1", "citation recall", "citation precision", "faithful")
    yield f"| set | kind | asked | {' | '.join(heads)} |\n" + "|---" * (3 + len(heads)) + "|"
    for row in result["sets"]:
        for kind, found in row["by_kind"].items():
            shares = " | ".join(_share(found[name]) for name in _ANSWERED)
            yield f"| {row['set']} | {kind} | {found['questions']} | {shares} |"
    yield "\nRefusals. AUROC: the chance that an answerable question has more confidence than one that is not.\n"
    yield "| set | answerable answered | unanswerable refused | mean | AUROC |\n|---|---|---|---|---|"
    for row in result["sets"]:
        names = ("answerable_answered", "unanswerable_refused", "balanced_accuracy", "confidence_auroc")
        yield f"| {row['set']} | " + " | ".join(_share(row["refusal"][name]) for name in names) + " |"
    yield from _conflict_rows(result)
    failed = sum(sum(row["failed"].values()) for row in result["sets"])
    judged = sum(row["judge"]["failed"] for row in result["sets"])
    yield f"\n{failed} questions failed, the judge ({result['sets'][0]['judge']['name']}) failed {judged} times."


def _conflict_rows(result: Row) -> Iterator[str]:
    rows = [(row["set"], kind, found) for row in result["sets"] for kind, found in row["conflicts"].items()]
    if not rows:
        return
    names = [name for name in rows[0][2] if name != "notes"]
    yield "\nDocuments that disagree: how many answers gave what.\n"
    yield f"| set | kind | {' | '.join(names)} |\n" + "|---" * (2 + len(names)) + "|"
    for name, kind, found in rows:
        yield f"| {name} | {kind} | " + " | ".join(str(found[each]) for each in names) + " |"


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def install_table(result: Row) -> Iterator[str]:
    """Yield the rows of bench/install_size.py."""
    yield (
        f"{result['packages']} packages: {result['download_mb']:.0f} MB to download, {result['venv_mb']:.0f} MB in the "
        "virtual environment."
    )


def chunking_table(result: Row) -> Iterator[str]:
    """Yield the rows of bench/chunking.py."""
    texts = result["texts"]
    yield (
        "MB of UTF-8 text a second of one core: with the tokens known beforehand / with the onboard tokenizer, which "
        "measures every size. Texts are made up; in English they repeat few words, which the tokenizer looks up: true "
        "English takes it two to three times as long. Processor time, on a machine busy with other work.\n"
    )
    yield "| | " + " | ".join(text["text"] for text in texts) + " |"
    yield "|---" * (1 + len(texts)) + "|"
    yield "| the tokenizer alone | " + " | ".join(f"{text['tokenizer']:.1f}" for text in texts) + " |"
    for name in texts[0]["strategies"]:
        found = [text["strategies"][name] for text in texts]
        yield f"| `{name}` | " + " | ".join(f"{one['cut']:.1f} / {one['whole']:.1f}" for one in found) + " |"


def ablation_table(result: Row) -> Iterator[str]:
    """Yield the rows of bench/ablation.py: the difference of each ablation to the whole, starred where it is sure."""
    sets = result["sets"]
    yield (
        f"{result['metric']} less that of the whole search, {result['questions']} questions, at most "
        f"{result['limit'] or 'all'} a set. A star: p below 0.05 by a paired randomisation test, corrected by Holm for "
        "the number of ablations.\n"
    )
    yield f"| left out or done another way | {' | '.join(sets)} | average (95 %) |\n" + "|---" * (2 + len(sets)) + "|"
    for arm in result["variants"]:
        cells = [_starred(arm["sets"][name]) for name in sets]
        whole = arm["pooled"]
        cells.append(f"{_starred(whole)} ({whole['low']:+.3f} to {whole['high']:+.3f})")
        yield f"| {arm['name']} | {' | '.join(cells)} |"


def _starred(found: Row) -> str:
    return f"{found['effect']:+.3f}{'*' if found['p_holm'] < 0.05 else ''}"


def ocr_table(result: Row) -> Iterator[str]:
    """Yield the rows of bench/ocr.py."""
    engines = result["engines"]
    names = list(engines)
    yield "Characters wrong, seconds and processor seconds for a page (A4 at 200 dots an inch), all cores.\n"
    yield "| file | pages | " + " | ".join(f"{name}: wrong | s | processor s" for name in names) + " |"
    yield "|---|---" + "|---|---|---" * len(names) + "|"
    for file, first in engines[names[0]]["files"].items():
        rows = [engines[name]["files"][file] for name in names]
        cells = " | ".join(f"{row['cer']:.2%} | {row['seconds']:.1f} | {row['cpu_seconds']:.1f}" for row in rows)
        yield f"| `{file}` | {first['pages']} | {cells} |"
    yield "\n" + "; ".join(f"{name}: at most {engines[name]['peak_mb']} MB" for name in names) + "."


def reader_table(result: Row) -> Iterator[str]:
    """Yield the rows of bench/console_reader.py."""
    yield (
        f"A PDF of {result['pages']:,} full pages, {result['pdf_mb']} MB, in Chromium without a graphics processor, "
        f"service and browser on the same machine; load average {result['load']} while it was measured. Frames are "
        "those of a wheel that turns without pause.\n"
    )
    frames, jumps, last = result["frame_ms"], result["jump_ms"], result["pages"] * 3 // 4
    rows = {
        f"from the link to the highlighted words on page {last:,}": f"{result['opened_seconds']} s",
        "fetched of the file for that": f"{result['transferred_mb']} MB",
        "a frame while scrolling, p50 / p95 / longest": f"{frames['p50']} / {frames['p95']} / {frames['p100']} ms",
        "frames longer than 50 ms": f"{result['frames_over_50_ms']:.1%}",
        "from a page number to its page drawn, p50 / p95": f"{jumps['p50']} / {jumps['p95']} ms",
        "pages drawn at the end": result["canvases"],
        "elements in the page at the end": f"{result['elements']:,}",
        "JavaScript heap at the end": f"{result['heap_mb']} MB",
    }
    yield "| measure | |\n|---|---|"
    for name, value in rows.items():
        yield f"| {name} | {value} |"
