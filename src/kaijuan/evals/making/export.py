"""Sets for other programs: BEIR folders, JSON lines, a table for spreadsheets, rows as RAGAS test sets have them."""

from __future__ import annotations

import csv
import io
import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from kaijuan.errors import StoreError, UsageError
from kaijuan.evals.making.folder import CORPUS, item_row, qrels, query_row
from kaijuan.evals.making.formats import Format
from kaijuan.evals.making.items import Item, Split

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""How a cell begins that a spreadsheet would run (OWASP, CSV injection)."""
COLUMNS = (
    *("id", "kind", "split", "language", "question", "answers", "answerable", "status", "as_of", "how"),
    *("documents", "quotes", "spans"),
)


def export(folder: Path, items: Sequence[Item], target: Path, form: Format) -> None:
    """Write items to a file, or to a folder for BEIR; what is there already is never overwritten."""
    if target.exists():
        raise UsageError(f"{target} is there already.", hint="Name another file, or remove it first.")
    if not items:
        raise UsageError("No question is left to export.", hint="Look at --only, --kind and --split.")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if form is Format.BEIR:
            _beir(folder, items, target)
        else:
            target.write_text(_TEXTS[form](items), encoding="utf-8", errors="backslashreplace", newline="")
    except OSError as error:
        raise StoreError(f"{target} cannot be written: {error.strerror}.") from error


def _beir(folder: Path, items: Sequence[Item], target: Path) -> None:
    """Write one set, or one below the corpus for each split where there are several."""
    target.mkdir()
    shutil.copyfile(folder / CORPUS, target / CORPUS)
    splits = [split for split in Split if any(item.split is split for item in items)]
    for split in splits:
        place = target if len(splits) == 1 else target / split
        place.mkdir(exist_ok=True)
        if place != target:
            (place / "CORPUS").write_text("..\n", encoding="utf-8")
        chosen = [item for item in items if item.split is split]
        lines = "".join(json.dumps(query_row(item), ensure_ascii=False) + "\n" for item in chosen)
        (place / "queries.jsonl").write_text(lines, encoding="utf-8")
        (place / "qrels.tsv").write_text(qrels(chosen), encoding="utf-8")


def _jsonl(items: Sequence[Item]) -> str:
    return "".join(json.dumps(item_row(item) | {"status": item.status}, ensure_ascii=False) + "\n" for item in items)


def _ragas(items: Sequence[Item]) -> str:
    """Write the columns of a RAGAS test set: user_input, reference_contexts, reference, synthesizer_name."""
    rows: list[Mapping[str, Any]] = [
        {
            "user_input": item.question,
            "reference_contexts": [piece["quote"] for piece in item.evidence] if item.answerable else [],
            "reference": " / ".join(item.answers),
            "synthesizer_name": item.how,
            "id": item.id,
            "kind": str(item.kind),
        }
        for item in items
    ]
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def _csv(items: Sequence[Item]) -> str:
    """Write a table that Excel opens as UTF-8; no cell is taken for a formula."""
    out = io.StringIO()
    out.write("\ufeff")
    writer = csv.writer(out)
    writer.writerow(COLUMNS)
    for item in items:
        spans = " | ".join(f"{piece['start']}-{piece['end']}" for piece in item.evidence)
        row = (
            item.id, str(item.kind), str(item.split), item.language, item.question, " | ".join(item.answers),
            "yes" if item.answerable else "no", item.status or "open", item.as_of, item.how,
            " | ".join(str(piece["document"]) for piece in item.evidence),
            " | ".join(str(piece["quote"]) for piece in item.evidence), spans,
        )  # fmt: skip
        writer.writerow([_harmless(cell) for cell in row])
    return out.getvalue()


def _harmless(cell: str) -> str:
    return f"'{cell}" if cell.lstrip(" ").startswith(_FORMULA) else cell


_TEXTS: Mapping[Format, Callable[[Sequence[Item]], str]] = {
    Format.JSONL: _jsonl,
    Format.CSV: _csv,
    Format.RAGAS: _ragas,
}
