"""PP-OCRv6 (small) by onnxruntime: the weights of the package `rapidocr`, driven by our own steps.

Only the two weight files are taken from that package. Its own pipeline downloads what it misses, keeps no place for a
character, pads short lines to long ones, and needs three times as long (docs/decisions/0016-ocr.md).
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import cv2
import numpy as np
import onnxruntime

from kaijuan.errors import MissingExtraError
from kaijuan.ingest.ports import RecognisedLine
from kaijuan.models.recognisers.detecting import Floats, Image, Quad, as_input, cut_out, fitted, quads_of, sides
from kaijuan.models.recognisers.reading import LineReader, Said
from kaijuan.models.recognisers.turning import (
    DOWNWARD,
    OVER,
    UPRIGHT,
    UPWARD,
    Cells,
    as_line,
    is_tall,
    longest,
    turned,
)

if TYPE_CHECKING:
    from kaijuan.ingest.ports import PageImage

_DETECTION = "PP-OCRv6_det_small.onnx"
_READING = "PP-OCRv6_rec_small.onnx"
_LONGEST = 1280
"""Of the image in which lines are looked for; they are read in the image as it came."""
_LEAST_CONFIDENCE = 0.5
_CONFIDENT = 0.8
_CLEARLY = 0.1
_SAMPLES = 6
_STACKED = -1
_STRIP = 2.2
"""An image so much longer than wide is looked at in parts, or its print would be too small to see."""
_PART = 1.6


class OnboardRecogniser:
    """Reads Chinese, English and Japanese; print better than handwriting. `threads` is 0 for all cores it may use."""

    fingerprint = "pp-ocrv6-small/1"

    def __init__(self, threads: int = 0) -> None:
        self._threads = threads or _cores()
        cv2.setNumThreads(1)

    def recognise(self, image: PageImage) -> list[RecognisedLine]:
        """Return the lines of a page; one that the network is not sure about is left out."""
        quads = [quad for top, left, part in _parts(image) for quad in self._quads(part, left, top)]
        tall = [quad for quad in quads if is_tall(quad)]
        across = [quad for quad in quads if not is_tall(quad)]
        sideways = _length(tall) > _length(across)
        way = self._way(image, tall)
        turn = way if sideways and way != _STACKED else self._turn(image, across)
        found = self._lines(image, across, turn)
        found += self._lines(image, tall, way) if sideways else self._odd_lines(image, tall, way)
        return [line for line in found if line.confidence >= _LEAST_CONFIDENCE and line.text.strip()]

    def _quads(self, part: Image, left: int, top: int) -> list[Quad]:
        height, width = part.shape[:2]
        dots = as_input(fitted(part, _LONGEST))[None]
        session = self._detection
        answer: Floats = session.run(None, {session.get_inputs()[0].name: dots})[0]
        return [quad + np.array([left, top], np.float32) for quad in quads_of(answer[0, 0], width, height)]

    def _turn(self, image: Image, quads: Sequence[Quad]) -> int:
        """Say whether lines that run across stand on their heads."""
        sample = longest(quads, _SAMPLES)
        sure = self._confidence(image, sample, UPRIGHT)
        if not sample or sure >= _CONFIDENT:
            return UPRIGHT
        return OVER if self._confidence(image, sample, OVER) > sure + _CLEARLY else UPRIGHT

    def _way(self, image: Image, quads: Sequence[Quad]) -> int:
        """Say how lines that do not run across are read."""
        sample = longest(quads, _SAMPLES)
        if not sample:
            return UPWARD
        return max((UPWARD, DOWNWARD, _STACKED), key=lambda way: self._confidence(image, sample, way))

    def _confidence(self, image: Image, quads: Sequence[Quad], way: int) -> float:
        said = self._read(image, quads, way)
        return sum(line.confidence * len(line.text) for line in said) / max(sum(len(line.text) for line in said), 1)

    def _read(self, image: Image, quads: Sequence[Quad], way: int) -> list[Said]:
        if way == _STACKED:
            columns = [as_line(image, quad) for quad in quads]
            said = self._reader.read([column.line for column in columns])
            return [_along(line, column) for line, column in zip(said, columns, strict=True)]
        return self._reader.read([cut_out(image, turned(quad, way)) for quad in quads])

    def _lines(self, image: Image, quads: Sequence[Quad], way: int) -> list[RecognisedLine]:
        turn = DOWNWARD if way == _STACKED else way
        said = self._read(image, quads, way)
        return [_line(line, turned(quad, turn)) for quad, line in zip(quads, said, strict=True)]

    def _odd_lines(self, image: Image, quads: Sequence[Quad], way: int) -> list[RecognisedLine]:
        """Read tall rectangles on a page whose lines run across: labels at the side, or a single narrow character."""
        readings = zip(self._lines(image, quads, way), self._lines(image, quads, UPRIGHT), strict=True)
        return [max(both, key=lambda line: line.confidence) for both in readings]

    @cached_property
    def _detection(self) -> onnxruntime.InferenceSession:
        return self._session(_DETECTION)

    @cached_property
    def _reader(self) -> LineReader:
        return LineReader(self._session(_READING))

    def _session(self, name: str) -> onnxruntime.InferenceSession:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = self._threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 4
        # Memory given back after each page, and no core kept busy with waiting while others parse.
        options.enable_cpu_mem_arena = False
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        path = _folder() / name
        if not path.is_file():
            raise MissingExtraError(
                f"The weights {name} are not in the installed rapidocr.", hint="Run: pip install 'rapidocr>=3.10,<4'."
            )
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def _folder() -> Path:
    found = importlib.util.find_spec("rapidocr")
    if found is None or found.origin is None:
        raise MissingExtraError("Text recognition needs the package rapidocr.", hint="Run: pip install rapidocr.")
    return Path(found.origin).parent / "models"


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _length(quads: Sequence[Quad]) -> float:
    return sum(max(sides(quad)) for quad in quads)


def _line(said: Said, quad: Quad) -> RecognisedLine:
    corners = tuple((float(x), float(y)) for x, y in quad)
    return RecognisedLine(text=said.text, corners=corners, edges=said.edges, confidence=said.confidence)


def _along(said: Said, cells: Cells) -> Said:
    """Carry the places of characters from the line that was read back to the column."""
    edges = []
    for edge in said.edges:
        start, end, top, bottom = next((cell for cell in cells.places if edge <= cell[1]), cells.places[-1])
        edges.append(top + (bottom - top) * min(max((edge - start) / max(end - start, 1e-6), 0.0), 1.0))
    return Said(text=said.text, edges=tuple(edges), confidence=said.confidence)


def _parts(image: Image) -> list[tuple[int, int, Image]]:
    """Cut a long strip (a screenshot of a conversation) where nothing is printed; (top, left, part) of each part."""
    height, width = image.shape[:2]
    if max(height, width) <= max(_STRIP * min(height, width), _LONGEST):
        return [(0, 0, image)]
    lying = width > height
    strip = image.transpose(1, 0, 2) if lying else image
    cuts = [0]
    length, step = strip.shape[0], round(_PART * strip.shape[1])
    while length - cuts[-1] > 1.5 * step:
        cuts.append(_emptiest(strip, cuts[-1] + step // 2, cuts[-1] + step))
    ends = [*cuts[1:], length]
    if lying:
        return [(0, start, image[:, start:end]) for start, end in zip(cuts, ends, strict=True)]
    return [(start, 0, image[start:end]) for start, end in zip(cuts, ends, strict=True)]


def _emptiest(strip: Image, first: int, last: int) -> int:
    """Return the row between two in which the dots differ least, the middle one of several."""
    spread = strip[first:last].mean(axis=2).std(axis=1)
    alike = np.flatnonzero(spread <= spread.min() + 0.5)
    return first + int(alike[len(alike) // 2])
