"""The part of docs/benchmarks.md that shows ours beside the peers, from the stored cells alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import median
from typing import Any

from bench.peers.environments import PEERS, Peer

Cells = Mapping[str, Mapping[str, Any]]

OURS = "ours"
MISSING = "–"
FILTERS = ("none", "50 %", "5 %", "0.5 %", "0.05 %", "deleted")

INTRODUCTION = """\
All are given the same onboard embedder through their own extension point, so the same text has the same vector, bytes
and all, and each is set up for hybrid search as its own documentation shows for one machine without services. A row of
a corpus is a document; each system cuts it with its own splitter at about 256 of the model's tokens; peers have the
title before the text. Documents are ranked by their best chunk. Corpora are seeded subsets that keep every relevant
document. No reranker is used. The vectors of passages and questions come from a file, so that times are the system's
own. A peer's store in memory loses what it has when the process ends; ours writes a catalog, originals and versions
with every document. Clock times suffer from whatever else ran on the machine (its load is given); processor time hardly
does. The best value of a column is bold."""


def peers_table(result: Mapping[str, Any]) -> Iterator[str]:
    """Yield all tables."""
    cells: Cells = result["cells"]
    yield INTRODUCTION + "\n"
    yield from _systems(cells)
    yield from _quality(cells)
    yield from _cost(cells)
    yield from _filters(cells)
    yield from _verdict(cells)


def _of(cells: Cells, measure: str) -> dict[str, dict[str, Mapping[str, Any]]]:
    """Return the cells of one measure by system and set."""
    found: dict[str, dict[str, Mapping[str, Any]]] = {}
    for name, cell in cells.items():
        system, kind, set = name.split("|")
        if kind == measure:
            found.setdefault(system, {})[set] = cell
    return found


def _systems(cells: Cells) -> Iterator[str]:
    yield "| system | versions | what is run |\n|---|---|---|"
    for peer in PEERS:
        own = [cell for name, cell in cells.items() if name.startswith(f"{peer.module}|")]
        about = next((cell["values"]["about"] for cell in own if "about" in cell["values"]), MISSING)
        versions = own[0]["versions"] if own else {}
        yield f"| {peer.title} | {', '.join(f'{name} {version}' for name, version in versions.items())} | {about} |"
    yield ""


# --- quality ----------------------------------------------------------------------------------------------------------


def _quality(cells: Cells) -> Iterator[str]:
    rows = _of(cells, "quality")
    sets = sorted({set for own in rows.values() for set in own})
    if not sets:
        return
    yield "**Quality: nDCG@10 / recall@10.**\n"
    yield "| system | " + " | ".join(sets) + " |\n|---" + "|---" * len(sets) + "|"
    best = {set: _best(rows, set, "ndcg@10") for set in sets}
    for peer in PEERS:
        shown = (_score(rows.get(peer.module, {}).get(set), best[set]) for set in sets)
        yield f"| {peer.title} | " + " | ".join(shown) + " |"
    yield "| *documents, questions* | " + " | ".join(_size(rows, set) for set in sets) + " |\n"


def _best(rows: Mapping[str, Mapping[str, Mapping[str, Any]]], set: str, metric: str) -> float:
    return max((own[set]["values"].get(metric, 0.0) for own in rows.values() if set in own), default=0.0)


def _score(cell: Mapping[str, Any] | None, best: float) -> str:
    if cell is None:
        return MISSING
    values = cell["values"]
    if "ndcg@10" not in values:
        return str(cell["state"])
    ndcg, recall = f"{values['ndcg@10']:.3f}", f"{values['recall@10']:.3f}"
    return f"**{ndcg}** / {recall}" if values["ndcg@10"] == best else f"{ndcg} / {recall}"


def _size(rows: Mapping[str, Mapping[str, Mapping[str, Any]]], set: str) -> str:
    found = [own[set]["values"] for own in rows.values() if set in own]
    documents, questions = (max(values.get(name, 0) for values in found) for name in ("documents", "queries"))
    return f"{documents:,}, {questions}"


# --- cost -------------------------------------------------------------------------------------------------------------

Column = Callable[[Cells, str], float | None]


def _total(name: str) -> Column:
    """Sum a value over the sets that the system finished."""
    return lambda cells, system: _sum([cell["values"].get(name) for cell in _done(cells, system)])


def _documents_per(name: str, *, without_embedding: bool = False) -> Column:
    def rate(cells: Cells, system: str) -> float | None:
        made = "vectors_made" if without_embedding else ""
        done = [cell for cell in _done(cells, system) if not cell["values"].get(made)]
        seconds = _sum([cell["values"].get(name) for cell in done])
        return sum(cell["values"]["documents"] for cell in done) / seconds if seconds else None

    return rate


def _questions_cpu(cells: Cells, system: str) -> float | None:
    done = _done(cells, system)
    seconds = _sum([cell["values"].get("questions_cpu_seconds") for cell in done])
    asked = sum(cell["values"].get("queries", 0) for cell in done)
    return seconds / asked * 1000 if seconds and asked else None


def _over(name: str, choose: Callable[[list[float]], float]) -> Column:
    def value(cells: Cells, system: str) -> float | None:
        found = [cell["values"][name] for cell in _done(cells, system) if name in cell["values"]]
        return choose(found) if found else None

    return value


def _peak(cells: Cells, system: str) -> float | None:
    return max((float(cell["peak_mb"]) for cell in _done(cells, system)), default=None)


def _disk(cells: Cells, system: str) -> float | None:
    return _sum([cell["disk_mb"] for cell in _done(cells, system)])


def _single(measure: str, name: str) -> Column:
    def value(cells: Cells, system: str) -> float | None:
        own = _of(cells, measure).get(system, {})
        return next((cell["values"].get(name) for cell in own.values() if cell["state"] == "done"), None)

    return value


def _uncached(cells: Cells, system: str) -> float | None:
    """Return documents a processor second, the embedding server's time included."""
    own = _of(cells, "uncached").get(system, {})
    for cell in own.values():
        values = cell["values"]
        if cell["state"] == "done" and "ingest_cpu_seconds" in values:
            return float(values["documents"] / (values["ingest_cpu_seconds"] + values["embedding_cpu_seconds"]))
    return None


COST: tuple[tuple[str, Column, bool], ...] = (
    ("ingest, cached: documents a processor second", _documents_per("ingest_cpu_seconds"), True),
    ("ingest, cached: documents a second", _documents_per("ingest_seconds", without_embedding=True), True),
    ("ingest, not cached: documents a processor second", _uncached, True),
    ("question: processor ms", _questions_cpu, False),
    ("question: p50 ms, median of the sets", _over("p50_ms", median), False),
    ("question: p99 ms, worst set", _over("p99_ms", max), False),
    ("peak memory MB", _peak, False),
    ("disk MB, all sets", _disk, False),
    ("import, processor s", _single("import", "import_cpu_seconds"), False),
    ("import s", _single("import", "import_seconds"), False),
)
"""Heading, how the value is found, and whether more is better."""


def _done(cells: Cells, system: str) -> list[Mapping[str, Any]]:
    return [cell for cell in _of(cells, "quality").get(system, {}).values() if cell["state"] == "done"]


def _sum(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if known and len(known) == len(values) else None


def _cost(cells: Cells) -> Iterator[str]:
    quality = _of(cells, "quality")
    if not quality:
        return
    everything = max(len(_done(cells, peer.module)) for peer in PEERS)
    yield f"**Cost over the same sets.** {_load(quality)}\n"
    heads = " | ".join(_counted(cells, peer, everything) for peer in PEERS)
    yield f"| | {heads} |\n|---" + "|---" * len(PEERS) + "|"
    for heading, column, more in COST:
        found = {peer.module: column(cells, peer.module) for peer in PEERS}
        best = _leader(found, more=more)
        yield f"| {heading} | " + " | ".join(_number(found[peer.module], peer.module in best) for peer in PEERS) + " |"
    yield (
        "\nNot cached: 100 documents of xquad_zh_en, no vector in the file; the embedding server's time is counted. "
        "Import: median of five fresh processes, numpy apart; Kaijuan imports most of its parts at first use.\n"
    )


def _load(rows: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> str:
    loads = [load for own in rows.values() for cell in own.values() for load in cell["values"].get("load", [])]
    return f"Load of the machine meanwhile: {min(loads)} to {max(loads)}." if loads else ""


def _counted(cells: Cells, peer: Peer, everything: int) -> str:
    done = len(_done(cells, peer.module))
    return peer.title if done == everything else f"{peer.title} ({done} of {everything} sets)"


def _leader(found: Mapping[str, float | None], *, more: bool) -> list[str]:
    known = {system: value for system, value in found.items() if value is not None}
    if not known:
        return []
    best = max(known.values()) if more else min(known.values())
    return [system for system, value in known.items() if value == best]


def _number(value: float | None, best: bool) -> str:
    if value is None:
        return MISSING
    shown = (
        f"{value:,.0f}"
        if value >= 100
        else f"{value:.1f}"
        if value >= 10
        else f"{value:.3g}"
        if value >= 1
        else f"{value:.3f}"
    )
    return f"**{shown}**" if best else shown


# --- filters ----------------------------------------------------------------------------------------------------------


def _filters(cells: Cells) -> Iterator[str]:
    rows = _of(cells, "filters")
    for size in sorted({set for own in rows.values() for set in own}, key=lambda set: int(set.split()[0])):
        yield (
            f"**Filters and deletion, {size} of one chunk each**, vectors from a seeded stub, exact neighbours by "
            "numpy under the filter; vector search alone, so that recall has a truth (ours: `retrieve.dense_weight` 1, "
            "the lexical route runs all the same). Cells: recall@10, p50 / p99 ms by the clock, to be compared between "
            "rows of like load only.\n"
        )
        heads = ("no filter", *(f"{share} match" for share in FILTERS[1:-1]), "after a fifth was deleted")
        yield f"| system | ingest s (processor s) | {' | '.join(heads)} | deletion s | wrongly found | load |"
        yield "|---" * (len(heads) + 5) + "|"
        for peer in PEERS:
            cell = rows.get(peer.module, {}).get(size)
            if cell is not None:
                yield f"| {peer.title} | " + " | ".join(_filter_row(cell)) + " |"
        yield ""


def _filter_row(cell: Mapping[str, Any]) -> Iterator[str]:
    values = cell["values"]
    if "ingest_seconds" not in values:
        yield str(cell["state"])
        yield from [MISSING] * (len(FILTERS) + 2)
        yield _loads(values)
        return
    yield f"{values['ingest_seconds']:,.0f} ({values.get('ingest_cpu_seconds', 0):,.0f})"
    asked = values.get("filters", {})
    for name in FILTERS:
        one = asked.get(name)
        yield f"{one['recall@10']:.3f}, {one['p50_ms']:.0f} / {one['p99_ms']:.0f}" if one else _why(cell)
    yield f"{values['delete_seconds']:,.1f}" if "delete_seconds" in values else _why(cell)
    yield str(sum(one["wrong"] for one in asked.values()))
    yield _loads(values)


def _loads(values: Mapping[str, Any]) -> str:
    return " to ".join(str(load) for load in values.get("load", [])) or MISSING


def _why(cell: Mapping[str, Any]) -> str:
    return MISSING if cell["state"] == "done" else str(cell["state"])


# --- where who is better ----------------------------------------------------------------------------------------------


def _verdict(cells: Cells) -> Iterator[str]:
    """Name every measure where a peer is ahead of ours, and by how much."""
    titles = {peer.module: peer.title for peer in PEERS}
    lines = [
        f"- {heading}: {', '.join(titles[system] for system in ahead)} {_number(found[ahead[0]], False)}, ours "
        f"{_number(found[OURS], False)}"
        for heading, found, more in _contests(cells)
        if (ahead := _leader(found, more=more)) and OURS not in ahead and found.get(OURS) is not None
    ]
    if lines:
        yield "**Where a peer is better than ours** (best peer and ours):\n"
        yield from lines


def _contests(cells: Cells) -> Iterator[tuple[str, dict[str, float | None], bool]]:
    quality = _of(cells, "quality")
    for set in sorted({set for own in quality.values() for set in own}):
        for metric in ("ndcg@10", "recall@10"):
            yield (
                f"{metric} on {set}",
                {s: own[set]["values"].get(metric) for s, own in quality.items() if set in own},
                True,
            )
    for heading, column, more in COST:
        yield heading, {peer.module: column(cells, peer.module) for peer in PEERS}, more
    yield from _filter_contests(cells)


def _filter_contests(cells: Cells) -> Iterator[tuple[str, dict[str, float | None], bool]]:
    rows = _of(cells, "filters")
    for size in sorted({set for own in rows.values() for set in own}):
        own = {system: found[size]["values"] for system, found in rows.items() if size in found}
        for name in FILTERS:
            asked = {s: values.get("filters", {}).get(name, {}) for s, values in own.items()}
            where = f"{size}, {name}"
            yield f"recall@10, {where}", {s: one.get("recall@10") for s, one in asked.items()}, True
            yield f"p50 ms, {where}", {s: one.get("p50_ms") for s, one in asked.items()}, False
        yield f"ingest processor s, {size}", {s: values.get("ingest_cpu_seconds") for s, values in own.items()}, False
        yield f"deletion s, {size}", {s: values.get("delete_seconds") for s, values in own.items()}, False
