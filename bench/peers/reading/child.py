"""Reads files one after another with one reader. Started by bench.parsing_peers in the reader's environment.

    python -m bench.peers.reading.child MODULE FOLDER

A path each line on stdin; on the real stdout a line of JSON for each file, its Markdown in FOLDER. Linux only.
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import sys
import time
from pathlib import Path
from typing import Any

from bench.peers.processes import forget_peaks, tree_peak_mb, tree_seconds
from bench.peers.reading.protocol import Reader

MEMORY_LIMIT = 8 << 30
"""Bytes of address space: a reader that asks for more fails at one file instead of taking the machine down."""


def main() -> None:
    module, folder = sys.argv[1], Path(sys.argv[2])
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    start, began = time.perf_counter(), tree_seconds()
    reader: Reader = importlib.import_module(f"bench.peers.reading.{module}").Reader()
    loaded: dict[str, Any] = {
        "about": reader.about,
        "seconds": time.perf_counter() - start,
        "cpu": tree_seconds() - began,
    }
    print(json.dumps(loaded), file=replies, flush=True)
    for line in sys.stdin:
        print(json.dumps(_read(reader, line.rstrip("\n"), folder)), file=replies, flush=True)


def _read(reader: Reader, path: str, folder: Path) -> dict[str, Any]:
    forget_peaks()
    start, began = time.perf_counter(), tree_seconds()
    error, text = "", ""
    try:
        text = reader.read(path)
    except (Exception, SystemExit) as failure:  # noqa: BLE001 - readers raise anything; it is counted, by name
        error = type(failure).__name__
    row = {
        "seconds": round(time.perf_counter() - start, 3),
        "cpu": round(tree_seconds() - began, 3),
        "peak_mb": round(tree_peak_mb()),
        "error": error,
        "characters": len(text.strip()),
    }
    (folder / f"{Path(path).name}.md").write_text(text, encoding="utf-8", errors="replace")
    return row


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))
    main()
