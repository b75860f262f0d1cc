"""Parts of docs/benchmarks.md about a base that lives."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Row = dict[str, Any]


def kills_table(result: Row) -> Iterator[str]:
    """Yield the rows of bench/kills.py."""
    runs = result.get("runs", [result])
    verbs = list(runs[0]["kills"])
    yield (
        "Processes ended (SIGKILL) at random moments of each verb, in one home that lives through all of them; one "
        "time in three the index owner as well. After each kill readers saw a whole snapshot, the verb ended well "
        "when asked for again, every document was there once, and `doctor --deep` found nothing. Readers asked all the "
        "time.\n"
    )
    yield f"| seed | {' | '.join(verbs)} | answers read meanwhile | errors | mixed snapshots | texts embedded | twice |"
    yield "|---" * (len(verbs) + 6) + "|"
    for run in runs:
        readers = run["readers"]
        yield (
            f"| {run['seed']} | {' | '.join(str(run['kills'][verb]) for verb in verbs)} | {readers['answers']:,} "
            f"| {sum(readers['errors'].values())} | {readers['mixed_snapshots']} | {run['texts_embedded']:,} "
            f"| {run['embedded_again']} |"
        )
    if note := result.get("note"):
        yield f"\n{note}"


def lifecycle_table(result: Row) -> Iterator[str]:
    """Yield the rows of bench/lifecycle.py."""
    yield (
        "Documents of bench/living.py (Markdown, HTML, text, Word, PDF, CSV; Chinese and English) of a quarter of the "
        "characters named up to all of them; vectors of a stub. Times by the clock depend on the load of the machine, "
        f"named beside them; processor times are of engine, parser and index owner, without parsers that were "
        f"replaced on the way. {result.get('note', '')}\n"
    )
    yield "| measure | " + " | ".join(f"{b['documents']:,} of {b['longest']:,}" for b in result["bases"]) + " |"
    yield "|---" * (1 + len(result["bases"])) + "|"
    for name, shown in _MEASURES.items():
        cells = [_cell(base, shown) for base in result["bases"]]
        if any(cells):
            yield f"| {name} | " + " | ".join(cells) + " |"


def _cell(base: Row, shown: str) -> str:
    part, _, form = shown.partition(" ")
    try:
        return form.format(**base[part], **_more(base, part))
    except KeyError:
        return ""  # not measured on that base


def _more(base: Row, part: str) -> Row:
    if part == "again":
        return {"times": base["ingest"]["seconds"] / base["again"]["seconds"]}
    if part == "ingest":
        shares = base["ingest"]["stage_utilisation"]
        return {"stages": ", ".join(f"{name} {share:.0%}" for name, share in shares.items())}
    if part == "resume":
        row = base["resume"]
        return {"share": row["texts_embedded_twice"] / row["texts_embedded"]}
    return {}


_MEASURES = {
    "chunks": "ingest {chunks:,}",
    "taken in: s (load)": "ingest {seconds:,.0f} ({load_average})",
    "documents a second, a processor second": "ingest {documents_a_second}, {documents_a_processor_second}",
    "stages at work": "ingest {stages}",
    "beyond the slowest stage": "ingest {beyond_the_slowest_stage:.0%}",
    "peak MB: engine, index owner, parser, together": (
        "ingest {peak_mb[engine]}, {peak_mb[index owner]}, {peak_mb[parser]}, {peak_mb[together]}"
    ),
    "snapshots published on the way": "ingest {snapshots}",
    "again, unchanged: s, times faster (load)": "again {seconds}, {times:,.0f} ({load_average})",
    "again, every file read: s": "again {reading_everything_seconds}",
    "one changed document found after: s p50, worst (load)": (
        "fresh {changed_s[p50]:.2f}, {changed_s[max]:.2f} ({load_average})"
    ),
    "of it processor s of the engine": "fresh {engine_processor_seconds_a_change}",
    "one removed document gone after: s p50, worst": "fresh {removed_s[p50]:.2f}, {removed_s[max]:.2f}",
    "search beside nothing: s p50, p99": "readers {alone[search_s][p50]:.3f}, {alone[search_s][p99]:.3f}",
    "search while documents are updated: s p50, p99 (answers)": (
        "readers {while_updating[search_s][p50]:.3f}, {while_updating[search_s][p99]:.3f} "
        "({while_updating[answers]:,} of {updated} updates)"
    ),
    "mixed snapshots, stale passages, errors meanwhile": (
        "readers {while_updating[mixed_snapshots]}, {while_updating[stale_passages]}, {while_updating[errors]}"
    ),
    "killed in the middle: texts embedded twice": "resume {texts_embedded_twice} of {texts_embedded:,} ({share:.1%})",
    "killed in the middle: documents published before, added after": (
        "resume {documents_published_before_the_kill:,}, {added_by_the_second_run:,}"
    ),
}
