"""Text recognition: characters wrong, seconds and memory a page, ours beside the default of the package rapidocr.

    python -m bench.ocr [--pages N] [--rounds N] [--without-rapidocr]

Truth is the gold text of the scanned manual among the shared files, and the text layer of Chinese and English PDFs
whose pages are drawn at 200 dots an inch as if they were scans (in the order of our reader). Blanks are not compared.
The character error rate is the edit distance over the length of the truth. Each engine runs in a process of its own
with all cores; rounds are interleaved. Processor time tells more than seconds on a machine that others use.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import numpy.typing as npt
import pypdfium2
from rapidfuzz.distance import Levenshtein

from bench.machine import machine
from kaijuan.ingest.parsers.pdf_graphics import Graphics
from kaijuan.ingest.parsers.pdf_lines import LineMaker
from kaijuan.ingest.parsers.pdf_ocr import drawn
from kaijuan.ingest.parsers.pdf_order import lines_in_order
from kaijuan.ingest.parsers.pdf_page import read_page
from kaijuan.ingest.parsers.recognised import runs_of
from kaijuan.ingest.ports import RecognisedLine
from kaijuan.models.recognisers.onboard import OnboardRecogniser

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "files"
SCAN = "derived/scan-zh.pdf"
LAYERS = {
    "pdf/Java开发手册(黄山版).pdf": (14, 22),
    "pdf/debian-reference.zh-cn.pdf": (30, 60),
    "pdf/install-latex-guide-zh-cn.pdf": (10, 20),
    "pdf/multi_page.pdf": (1, 2),
    "pdf/federal-register-2020-17221.pdf": (1, 2),
}
"""Files with a text layer, and pages of theirs (from 1)."""
ENGINES = ("ours", "rapidocr")

Image = npt.NDArray[np.uint8]
Read = Callable[[Image], list[RecognisedLine]]


@dataclass(frozen=True, kw_only=True)
class Page:
    """A page to read: its image, points a dot, and what it says."""

    file: str
    number: int
    image: Image
    width: float
    height: float
    scale: float
    truth: str


def pages(most: int) -> Iterator[Page]:
    """Yield the pages, at most `most` of a file."""
    gold = (DATA / SCAN).with_suffix(".txt").read_text(encoding="utf-8").split("\f")
    yield from _pages(SCAN, range(1, 5)[:most], lambda number, _: gold[number - 1])
    for file, numbers in LAYERS.items():
        if (DATA / file).is_file():
            yield from _pages(file, numbers[:most], lambda _, page: _layer(page))


def _pages(file: str, numbers: Any, truth: Callable[[int, Any], str]) -> Iterator[Page]:
    document = pypdfium2.PdfDocument(DATA / file)
    try:
        for number in numbers:
            page = document[number - 1]
            width, height = page.get_size()
            image, scale = drawn(page, width, height)
            yield Page(
                file=file,
                number=number,
                image=image,
                width=width,
                height=height,
                scale=scale,
                truth=truth(number, page),
            )
            page.close()
    finally:
        document.close()


def _layer(page: Any) -> str:
    runs = read_page(page).runs
    return "".join(line.text for line in lines_in_order(runs, Graphics(), 1, LineMaker()))


def said(page: Page, lines: list[RecognisedLine]) -> str:
    """Return what an engine read, in the order of our reader."""
    runs, _ = runs_of(lines, width=page.width, height=page.height, scale=page.scale)
    return "".join(line.text for line in lines_in_order(runs, Graphics(), 1, LineMaker()))


def wrong(truth: str, text: str) -> tuple[int, int]:
    """Return how many edits a text is from the truth, and how long that is; blanks apart."""
    truth, text = "".join(truth.split()), "".join(text.split())
    return Levenshtein.distance(truth, text), len(truth)


def engine(name: str) -> Read:
    """Return an engine by its name."""
    return OnboardRecogniser().recognise if name == "ours" else _default()


def _default() -> Read:
    from rapidocr import RapidOCR

    reader: Any = RapidOCR(params={"Global.log_level": "error"})

    def read(image: Image) -> list[RecognisedLine]:
        found = reader(np.ascontiguousarray(image[:, :, ::-1]))
        rows = zip(found.boxes, found.txts, found.scores, strict=True) if found.txts else ()
        return [
            RecognisedLine(text=text, corners=tuple((float(x), float(y)) for x, y in box), confidence=float(score))
            for box, text, score in rows
        ]

    return read


def measure(name: str, most: int) -> dict[str, Any]:
    """Read all pages with one engine in this process; the first page is read twice, and counted once."""
    read = engine(name)
    rows: list[dict[str, Any]] = []
    for page in pages(most):
        if not rows:
            read(page.image)
        wall, busy = time.perf_counter(), time.process_time()
        lines = read(page.image)
        wall, busy = time.perf_counter() - wall, time.process_time() - busy
        edits, length = wrong(page.truth, said(page, lines))
        rows.append(
            {
                "file": page.file,
                "page": page.number,
                "edits": edits,
                "characters": length,
                "seconds": wall,
                "cpu_seconds": busy,
            }
        )
    return {"pages": rows, "peak_mb": _peak_mb()}


def _peak_mb() -> float:
    with open("/proc/self/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM:")) / 1024


def in_a_process(name: str, most: int) -> dict[str, Any]:
    """Measure one engine in a process of its own."""
    words = [sys.executable, "-m", "bench.ocr", "--engine", name, "--pages", str(most)]
    done = subprocess.run(words, stdout=subprocess.PIPE, check=True, env=os.environ)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def summary(rounds: list[dict[str, Any]]) -> dict[str, Any]:
    """Return what the rounds of one engine come to: by file, and the best time of each page."""
    rows = rounds[0]["pages"]
    files = {}
    for file in dict.fromkeys(row["file"] for row in rows):
        of_file = [place for place, row in enumerate(rows) if row["file"] == file]
        edits, length = (sum(rows[place][key] for place in of_file) for key in ("edits", "characters"))
        files[file] = {
            "pages": len(of_file),
            "cer": round(edits / length, 4),
            **{
                key: round(median(min(found["pages"][place][key] for found in rounds) for place in of_file), 2)
                for key in ("seconds", "cpu_seconds")
            },
        }
    return {"files": files, "peak_mb": round(max(found["peak_mb"] for found in rounds))}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=4, help="of each file at most")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--without-rapidocr", action="store_true", help="measure ours alone")
    parser.add_argument("--engine", choices=ENGINES, help="measure one engine in this process")
    words = parser.parse_args()
    if words.engine:
        print(json.dumps(measure(words.engine, words.pages)))
        return
    names = ENGINES[:1] if words.without_rapidocr else ENGINES
    rounds: dict[str, list[dict[str, Any]]] = {name: [] for name in names}
    for _ in range(words.rounds):
        for name in names:
            rounds[name].append(in_a_process(name, words.pages))
    result: dict[str, Any] = {"machine": machine(), "engines": {name: summary(found) for name, found in rounds.items()}}
    print(json.dumps(result, ensure_ascii=False, indent=1))


if __name__ == "__main__":
    main()
