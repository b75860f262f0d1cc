"""Read the shared files with other libraries too, each in an environment of its own, and compare what comes out.

    python -m bench.parsing_peers [--readers NAME ...] [--files PREFIX ...] [--environments FOLDER] [--quick]

Prints JSON. Every reader gets every file in one process, is started again when it dies or takes too long, and writes
Markdown; all Markdown is compared in one way: with the references (files/expected, which are Docling's own Markdown:
Docling is compared with itself there), with texts that are known because the files were made from them, with tables of
PDFs and the order of columns set down by hand from the page images (bench/gold). `--quick` makes no environment.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import selectors
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import pypdfium2

from bench.machine import machine
from bench.markdown_scores import likeness, table_cells
from bench.parsing import FILES
from bench.parsing_pdf import with_tables
from bench.peers.environments import Peer, python_of, versions
from bench.reading_order import gold, tau, wanted

ROOT = Path(__file__).resolve().parents[1]
SECONDS = 300
"""Most time for one file by the clock, generous because other programs run meanwhile."""
START_SECONDS = 600
READERS = (
    Peer(module="ours", title="Kaijuan", packages=("kaijuan",)),
    Peer(module="reading/docling", title="Docling", packages=("docling-slim", "docling-parse")),
    Peer(module="reading/docling_rs", title="docling-rs", packages=("docling-rs",)),
    Peer(module="reading/markitdown", title="MarkItDown", packages=("markitdown",)),
    Peer(module="reading/unstructured", title="Unstructured", packages=("unstructured",)),
    Peer(module="reading/kreuzberg", title="Kreuzberg", packages=("kreuzberg",)),
    Peer(module="reading/pymupdf4llm", title="PyMuPDF4LLM", packages=("pymupdf", "pymupdf4llm")),
    Peer(module="reading/pdfplumber", title="pdfplumber", packages=("pdfplumber",)),
)
KNOWN = {
    "derived/合同编.docx": "text/合同编.md",
    "derived/statute-gb18030.txt": "text/公司法(2023-12-29).md",
    "derived/statute-utf16.txt": "text/公司法(2023-12-29).md",
}
"""Files made from others, whose text is known."""
Row = dict[str, Any]


@dataclass(slots=True)
class Read:
    """What one reader did with all files."""

    about: str = ""
    import_cpu: float = 0.0
    crashes: int = 0
    late: int = 0
    rows: dict[str, Row] = field(default_factory=dict)


class Child:
    """A reader's process."""

    def __init__(self, module: str, interpreter: Path, folder: Path) -> None:
        self._process = subprocess.Popen(
            [str(interpreter), "-m", "bench.peers.reading.child", module, str(folder)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=os.environ | {"UNSTRUCTURED_DISABLE_NOTICE": "1", "DO_NOT_TRACK": "1", "HF_HUB_OFFLINE": "1"},
            start_new_session=True,
        )
        self.start = self.hear(START_SECONDS)

    def ask(self, path: Path, seconds: float) -> Row:
        """Return the row of a file; an error of "crash" or "late" ends the process."""
        try:
            _pipe(self._process.stdin).write(f"{path}\n")
            _pipe(self._process.stdin).flush()
        except OSError:
            return {"error": "crash"}
        return self.hear(seconds)

    def hear(self, seconds: float) -> Row:
        """Return the next line, or an error."""
        out = _pipe(self._process.stdout)
        with selectors.DefaultSelector() as ready:
            ready.register(out, selectors.EVENT_READ)
            if not ready.select(seconds):
                return {"error": "late"}
        line = out.readline()
        found: Row = json.loads(line) if line else {"error": "crash"}
        return found

    def end(self) -> None:
        """End the process and all that it started."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, 9)
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(OSError):  # what a process that is gone was to be told
                _pipe(pipe).close()


def _pipe(pipe: IO[str] | None) -> IO[str]:
    assert pipe is not None
    return pipe


def name_of(path: Path) -> str:
    """Return a file's name below the shared files, or that of a file made for its tables."""
    return str(path.relative_to(FILES)) if path.is_relative_to(FILES) else f"tables/{path.name}"


def made(folder: Path) -> list[Path]:
    """Write the PDFs whose tables are known into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, data, _ in with_tables(FILES):
        (folder / name).write_bytes(data)
    return sorted(folder.iterdir())


def read_all(peer: Peer, interpreter: Path, paths: Sequence[Path], folder: Path) -> Read:
    """Return what a reader did with the files; its Markdown lies in `folder`."""
    module = peer.module.rpartition("/")[2]
    found = Read()
    child: Child | None = None
    for path in paths:
        if child is None:
            child = Child(module, interpreter, folder)
            if "about" not in child.start:
                child.end()
                raise RuntimeError(f"{peer.title} does not start: {child.start}")
            found.about, found.import_cpu = child.start["about"], child.start["cpu"]
        row = child.ask(path, SECONDS)
        found.rows[name_of(path)] = row
        if row["error"] in {"crash", "late"}:
            found.crashes += row["error"] == "crash"
            found.late += row["error"] == "late"
            child.end()
            child = None
    if child is not None:
        child.end()
    return found


def score(read: Read, folder: Path) -> None:
    """Add to each row how good the Markdown is, where there is something to compare it with."""
    tables = {f"tables/{name}": reference for name, _, reference in with_tables(FILES)}
    for name, row in read.rows.items():
        for key in ("similarity", "covered", "cells", "gold_cells", "tau", "tau_words"):
            row.pop(key, None)
        text = _markdown(folder, name, row)
        if text is None:
            continue
        if reference := _reference(name):
            row["similarity"], row["covered"] = (round(value, 4) for value in likeness(text, reference))
            if name not in KNOWN:
                row["cells"] = table_cells(text, reference)
        if name in tables:
            row["gold_cells"] = table_cells(text, tables[name])
        if boxes := gold().get(name):
            row["tau"], row["tau_words"] = tau(text, wanted(FILES / name, boxes))


def _markdown(folder: Path, name: str, row: Row) -> str | None:
    path = folder / f"{Path(name).name}.md"
    return path.read_text(encoding="utf-8") if not row["error"] and path.exists() else None


def _reference(name: str) -> str:
    path = FILES / KNOWN[name] if name in KNOWN else FILES / "expected" / f"{Path(name).name}.md"
    return path.read_text(encoding="utf-8") if path.exists() else ""


def pages_of(paths: Sequence[Path]) -> dict[str, int]:
    """Return how many pages each readable PDF has."""
    found: dict[str, int] = {}
    for path in paths:
        if path.suffix == ".pdf":
            try:
                file = pypdfium2.PdfDocument(str(path))
            except (pypdfium2.PdfiumError, FileNotFoundError):
                continue
            found[str(path.relative_to(FILES))] = len(file)
            file.close()
    return found


def chosen(prefixes: Sequence[str]) -> list[Path]:
    """Return the shared files, without references."""
    paths = (path for path in sorted(FILES.rglob("*")) if path.is_file() and path.parent != FILES)
    names = [path for path in paths if path.parent.name != "expected"]
    return [path for path in names if not prefixes or str(path.relative_to(FILES)).startswith(tuple(prefixes))]


def measured(options: argparse.Namespace) -> Mapping[str, Any]:
    """Return every reader's rows, with those that are stored and not asked for again."""
    paths = chosen(options.files)
    pages = pages_of(chosen([]))
    paths = [path for path in paths if pages.get(str(path.relative_to(FILES)), 0) <= options.pages]
    stored = json.loads(options.into.read_text(encoding="utf-8")) if options.into and options.into.exists() else {}
    readers: dict[str, Row] = dict(stored.get("readers", {}))
    for peer in READERS:
        name = peer.module.rpartition("/")[2]
        if (options.readers and name not in options.readers) or (options.rescore and name not in readers):
            continue
        if options.rescore:
            score(Read(rows=readers[name]["files"]), options.keep / name)
            continue
        try:
            interpreter = python_of(peer, options.environments, make=not options.quick)
        except FileNotFoundError as error:
            print(f"{peer.title} is left out: {error}", file=sys.stderr)
            continue
        with tempfile.TemporaryDirectory() as work:
            folder = Path(options.keep or work) / name
            folder.mkdir(parents=True, exist_ok=True)
            chosen_too = made(Path(work) / "tables") if not options.files or "tables" in options.files else []
            read = read_all(peer, interpreter, [*paths, *chosen_too], folder)
            score(read, folder)
        readers[name] = {
            "title": peer.title,
            "versions": versions(peer, interpreter),
            "commit": machine()["commit"],
            "about": read.about,
            "import_cpu": read.import_cpu,
            "crashes": read.crashes,
            "late": read.late,
            "files": {**(readers.get(name, {}).get("files", {}) if options.files else {}), **read.rows},
        }
        result = {"machine": machine(), "pages": pages, "readers": readers}
        if options.into:
            options.into.write_text(json.dumps(result, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    result = {"machine": stored.get("machine", machine()), "pages": pages, "readers": readers}
    if options.into and options.rescore:
        options.into.write_text(json.dumps(result, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--readers", nargs="*", default=[])
    parser.add_argument("--files", nargs="*", default=[], help="only names that start so (or tables); others stay")
    parser.add_argument("--pages", type=int, default=20, help="leave out PDFs of more pages, which some take hours for")
    parser.add_argument("--environments", type=Path, default=ROOT / "build" / "peers")
    parser.add_argument("--into", type=Path, help="keep the result here after every reader, beside what is there")
    parser.add_argument("--keep", type=Path, help="keep the Markdown here")
    parser.add_argument("--rescore", action="store_true", help="compare what --keep holds again, read nothing")
    parser.add_argument("--quick", action="store_true")
    print(json.dumps(measured(parser.parse_args()), ensure_ascii=False))


if __name__ == "__main__":
    main()
