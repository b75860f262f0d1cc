"""Parts of docs/benchmarks.md about reading files: our own, spoiled files, and other libraries."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

Row = dict[str, Any]
NONE = "–"
NEED_NETWORK = {"Unstructured": "it fetches a language model (spaCy) at first use, for most formats"}
"""Readers that cannot do their work without a network, and why."""
_LEAST_TEXT = 100
"""Characters a page by which a PDF has a text layer."""
PDF_ONLY = frozenset({"pdfplumber", "PyMuPDF4LLM"})
"""Readers that are made for PDF, and are not asked for other formats."""
CELLS = ("agreed", "ours", "reference")


def parsing_table(result: Row) -> Iterator[str]:
    """Yield the rows of bench/parsing.py."""
    found = result["summary"]
    slowest, largest = found["slowest"], found["largest"]
    yield (
        f"{found['files']} files of every format. {', '.join(f'{n} {name}' for name, n in found['outcomes'].items())}; "
        f"over 60 processor seconds or 1.5 GB: {len(found['over_limits'])}. Slowest: `{slowest['file']}` "
        f"({slowest['cpu']:.0f} processor seconds); most memory: `{largest['file']}` ({largest['peak_mb']} MB).\n"
    )
    if found["codes"]:
        yield f"Named failures: {', '.join(f'{code} {count}' for code, count in found['codes'].items())}.\n"
    if "pdf" in result:
        yield from _pdf(result["pdf"])
    yield (
        f"Beside the Markdown of another reader ({found['compared']} files): similarity {found['similarity']:.3f}, of "
        f"our text contained in it {found['contained']:.3f}; table cells: precision {found['cell_precision']:.3f}, "
        f"recall {found['cell_recall']:.3f}, F1 {found['cell_f1']:.3f}.\n"
    )
    yield "| file | kind | similarity | contained | cells that agree | ours | its |\n|---|---|---|---|---|---|---|"
    for row in result["files"]:
        if "similarity" in row:
            cells = row["cells"]
            yield (
                f"| `{row['file']}` | {row['kind']} | {row['similarity']:.3f} | {row['contained']:.3f} "
                f"| {cells['agreed']} | {cells['ours']} | {cells['reference']} |"
            )


def _pdf(found: Row) -> Iterator[str]:
    speed = found["speed"]
    slow = ", ".join(f"`{row['file']}` {row['pages_a_second']}" for row in speed["slowest"][:3])
    yield (
        f"Digital PDFs: {speed['pages_a_second']} pages a processor second on one core ({speed['pages']} pages of "
        f"{speed['files']} files; slowest: {slow}).\n"
    )
    if "long" in found:
        sizes = ", ".join(f"{row.get('peak_mb', row.get('failed'))} MB at {row['pages']:,}" for row in found["long"])
        yield f"Peak of the parser process by pages of one file: {sizes}.\n"
    yield "| pages with columns | Kendall's tau | words compared |\n|---|---|---|"
    for row in found["order"]:
        yield f"| `{row['file']}` | {NONE if row['tau'] is None else format(row['tau'], '.3f')} | {row['words']:.0%} |"
    yield (
        f"\nTables of PDFs set down by hand, cells in their places: F1 {found['cell_f1']:.3f}.\n\n"
        "| file (page) | cells that agree | ours | the page's |\n|---|---|---|---|"
    )
    for row in found["tables"]:
        cells = row["cells"]
        yield f"| `{row['file']}` | {cells['agreed']} | {cells['ours']} | {cells['reference']} |"
    yield ""


def fuzz_table(result: Row) -> Iterator[str]:
    """Yield the rows of bench/fuzz_parsers.py."""
    kinds, limits = result["kinds"], result["limits"]
    total = sum(row["files"] for row in kinds.values())
    faults = sum(len(row["faults"]) for row in kinds.values())
    mended = sum(row["mended"] for row in kinds.values())
    yield (
        f"{total:,} spoiled files (aim: {result['each']:,} of each kind), each read within {limits['seconds']} s and "
        f"{limits['memory_mb']:,} MB. Open faults: {faults}; found by such runs, and mended: "
        f"{mended}. Deaths are of parser processes, never of the engine's. Seconds are the processor's.\n"
    )
    yield "| kind | files | read | named failures | deaths | slowest s | most MB | open faults |"
    yield "|---|---|---|---|---|---|---|---|"
    for kind, row in kinds.items():
        outcomes = row["outcomes"]
        failures = sum(count for name, count in outcomes.items() if name != "read")
        deaths = ", ".join(f"{why} {count}" for why, count in row["deaths"].items()) or "0"
        peak = row["largest"]["peak_mb"] or NONE
        yield (
            f"| {kind} | {row['files']:,} | {outcomes.get('read', 0):,} | {failures:,} | {deaths} "
            f"| {row['slowest']['seconds']:.2f} | {peak} | {len(row['faults'])} |"
        )


def parsing_peers_table(result: Row) -> Iterator[str]:
    """Yield the rows of bench/parsing_peers.py."""
    result, left_out = _working(result)
    readers: Mapping[str, Row] = result["readers"]
    yield (
        "Every reader in an environment of its own with its documented defaults for work without a network, without "
        "models to fetch; output as Markdown, scored in one way. A file that a reader does not read counts 0. The "
        "references of office and web files are Docling's own Markdown, so that Docling and docling-rs are compared "
        "with themselves there; what a reader adds (words in pictures, notes of slides) lowers the first, not the "
        "second. The tables and orders set down by hand were at hand while ours was made. Merged cells count once. "
        "PDFs of more than 20 pages are left out. Processor seconds are of all processes of a reader together; other "
        "programs ran meanwhile.\n"
    )
    for reader in left_out:
        read = sum(not row["error"] for row in _files(reader).values())
        yield (
            f"Left out: {reader['title']} ({_versions(reader)}; {reader['about']}), which read {read} of "
            f"{len(_files(reader))} files, many of them in part: {NEED_NETWORK[reader['title']]}.\n"
        )
    yield "| reader | versions | what is run |\n|---|---|---|"
    for reader in readers.values():
        yield f"| {reader['title']} | {_versions(reader)} | {reader['about']} |"
    measures = [
        (title, [measure(reader, result) for reader in readers.values()], best) for title, measure, best in MEASURES
    ]
    yield "\n| | " + " | ".join(reader["title"] for reader in readers.values()) + " |"
    yield "|---" * (1 + len(readers)) + "|"
    for title, values, best in measures:
        known = [value for value in values if value is not None]
        chosen = best(known) if best and known else None
        yield f"| {title} | " + " | ".join(_cell(value, chosen) for value in values) + " |"
    names = digital(result)
    yield (
        f"\nSpeed of PDF: {sum(result['pages'][name] for name in names)} pages of {len(names)} files that all read."
        "\n\n**Where another reader is better than ours:**\n"
    )
    yield from _better(list(readers.values()), measures)


def _versions(reader: Row) -> str:
    return ", ".join(f"{name} {number}" for name, number in reader["versions"].items() if name != "python")


def _working(result: Row) -> tuple[Row, list[Row]]:
    """Return the result with those readers that can work without a network, and the others."""
    readers: Mapping[str, Row] = result["readers"]
    kept = {name: reader for name, reader in readers.items() if reader["title"] not in NEED_NETWORK}
    return result | {"readers": kept}, [reader for name, reader in readers.items() if name not in kept]


Measure = Callable[[Row, Row], float | None]
Best = Callable[[Sequence[float]], float]


def _cell(value: float | None, best: float | None) -> str:
    if value is None:
        return NONE
    shown = f"{value:,.3f}" if 0 < value <= 1 and value != int(value) else f"{value:,.1f}".removesuffix(".0")
    return f"**{shown}**" if value == best else shown


def _better(readers: Sequence[Row], measures: Sequence[tuple[str, list[float | None], Best | None]]) -> Iterator[str]:
    ours = next((at for at, reader in enumerate(readers) if reader["title"] == "Kaijuan"), None)
    found = False
    for title, values, best in measures:
        mine = values[ours] if ours is not None else None
        known = [value for value in values if value is not None]
        if best is None or mine is None or best(known) == mine:
            continue
        names = [reader["title"] for reader, value in zip(readers, values, strict=True) if value == best(known)]
        found = True
        yield f"- {title}: {', '.join(names)} {_cell(best(known), None)}, ours {_cell(mine, None)}"
    if not found:
        yield "- nowhere in these measures"


def _files(reader: Row) -> dict[str, Row]:
    return {name: row for name, row in reader["files"].items() if not name.startswith("tables/")}


def _common(result: Row) -> set[str]:
    """Return the names that all readers of many formats were given."""
    readers = (reader for reader in result["readers"].values() if reader["title"] not in PDF_ONLY)
    return set.intersection(*(set(reader["files"]) for reader in readers))


def _read(reader: Row, result: Row) -> float | None:
    if reader["title"] in PDF_ONLY:
        return None
    common = _common(result)
    rows = (row for name, row in _files(reader).items() if name in common)
    return float(sum(not row["error"] and row["characters"] > 0 for row in rows))


def _died(reader: Row, _: Row) -> float | None:
    return float(reader["crashes"] + reader["late"])


def _asked(result: Row, key: str, prefix: str = "") -> set[str]:
    """Return the names for which any reader has a value."""
    rows = (item for reader in result["readers"].values() for item in reader["files"].items())
    return {name for name, row in rows if key in row and name.startswith(prefix)} & _common(result)


def _mean(reader: Row, names: set[str], key: str) -> float | None:
    if not names or not _was_given(reader, names):
        return None
    return float(round(sum(reader["files"][name].get(key) or 0.0 for name in names) / len(names), 4))


def _was_given(reader: Row, names: set[str]) -> bool:
    pdf = all(name.startswith(("pdf/", "tables/")) for name in names)
    return names <= set(reader["files"]) and (pdf or reader["title"] not in PDF_ONLY)


def _similarity(reader: Row, result: Row) -> float | None:
    return _mean(reader, _asked(result, "similarity") - _known(result), "similarity")


def _covered(reader: Row, result: Row) -> float | None:
    return _mean(reader, _asked(result, "covered") - _known(result), "covered")


def _known(result: Row) -> set[str]:
    return {name for name in _asked(result, "similarity") if name.startswith("derived/")}


def _known_similarity(reader: Row, result: Row) -> float | None:
    return _mean(reader, _known(result), "similarity")


def _f1(key: str, reader: Row, result: Row) -> float | None:
    names = _asked(result, key)
    if not _was_given(reader, names):
        return None
    readers = [other for other in result["readers"].values() if _was_given(other, names)]
    wanted = {name: max(_reference(other, name, key) for other in readers) for name in names}
    rows = [reader["files"][name].get(key, {"agreed": 0, "ours": 0, "reference": wanted[name]}) for name in names]
    agreed, ours, reference = (sum(row[part] for row in rows) for part in CELLS)
    return float(round(2 * agreed / max(ours + reference, 1), 4)) if rows else None


def _reference(reader: Row, name: str, key: str) -> int:
    return int(reader["files"][name].get(key, {}).get("reference", 0))


def _tau(reader: Row, result: Row) -> float | None:
    return _mean(reader, _asked(result, "tau"), "tau")


def _speed(reader: Row, result: Row) -> float | None:
    """Return pages a processor second over the digital PDFs that all who read PDFs at all could read."""
    names, pages = digital(result), result["pages"]
    if not names or not _pdfs(reader, result):
        return None
    seconds = sum(reader["files"][name]["cpu"] for name in names)
    return float(round(sum(pages[name] for name in names) / max(seconds, 0.001), 1))


def digital(result: Row) -> set[str]:
    """Return the PDFs with a text layer that all who read PDFs at all could read."""
    found = [names for reader in result["readers"].values() if (names := _pdfs(reader, result))]
    return set.intersection(*found) if found else set()


def _pdfs(reader: Row, result: Row) -> set[str]:
    pages = result["pages"]
    rows = ((name, row) for name, row in reader["files"].items() if name in pages and name.startswith("pdf/"))
    return {name for name, row in rows if not row["error"] and row["characters"] > _LEAST_TEXT * pages[name]}


def _office_cpu(reader: Row, result: Row) -> float | None:
    able = [other for other in result["readers"].values() if _office(other, result)]
    names = set.intersection(*(_office(other, result) for other in able)) if able else set()
    if not names or not _office(reader, result):
        return None
    return float(round(sum(reader["files"][name]["cpu"] for name in names), 2))


def _office(reader: Row, result: Row) -> set[str]:
    if reader["title"] in PDF_ONLY:
        return set()
    rows = ((name, row) for name, row in _files(reader).items() if name in _common(result))
    found = {name for name, row in rows if name.startswith("office/") and not row["error"] and row["characters"]}
    return found if len(found) > 10 else set()


def _peak(reader: Row, result: Row) -> float | None:
    common = _common(result)
    return float(max(row.get("peak_mb", 0) for name, row in reader["files"].items() if name in common))


def _start(reader: Row, _: Row) -> float | None:
    return round(float(reader["import_cpu"]), 2)


MEASURES: tuple[tuple[str, Measure, Best | None], ...] = (
    ("files of which there is any text", _read, max),
    ("crashes, and files of over 5 minutes", _died, min),
    ("similarity to Docling's Markdown", _similarity, max),
    ("share of Docling's text that is there", _covered, max),
    ("similarity to known text", _known_similarity, max),
    ("F1 of cells, office and web files", lambda reader, result: _f1("cells", reader, result), max),
    ("F1 of cells, tables of PDFs set down by hand", lambda reader, result: _f1("gold_cells", reader, result), max),
    ("order of columns in PDFs: Kendall's tau", _tau, max),
    ("digital PDF: pages a processor second", _speed, max),
    ("office files: processor seconds", _office_cpu, min),
    ("most memory, MB", _peak, min),
    ("start: processor seconds", _start, min),
)
