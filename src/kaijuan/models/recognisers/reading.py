"""What a line of text says: pictures of lines through a CTC network (Graves et al., ICML 2006), with places."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import cv2
import numpy as np

from kaijuan.models.recognisers.detecting import Floats, Image, as_input

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

_HEIGHT = 48
"""Of a line in dots, as the network takes it."""
_LEAST_WIDTH = 16
_MOST_WIDTH = 8192
_WIDTH_STEP = 8
"""The network answers once every eight dots."""
_BATCH_WIDTH = 6400
"""Dots of all lines read at once: the answers, one number for each of 18,710 characters, take 60 MB."""
_BATCH_LINES = 8
_ALIKE = 1.15
_NARROW = 0.55
"""How wide a Latin letter is beside a Han."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """The text of a line, the share of its length at each edge of a character, and how sure it is (0 to 1)."""

    text: str
    edges: tuple[float, ...]
    confidence: float


NOTHING = Said(text="", edges=(0.0,), confidence=0.0)


class LineReader:
    """Reads pictures of single lines."""

    def __init__(self, session: InferenceSession) -> None:
        self._session = session
        self._input = session.get_inputs()[0].name
        listed = session.get_modelmeta().custom_metadata_map["character"].splitlines()
        self._characters = ["", *listed, " "]

    def read(self, lines: Sequence[Image]) -> list[Said]:
        """Return what each line says, in the order given. A line has the same answer in any company of its width."""
        widths = [_width(line) for line in lines]
        said: list[Said] = [NOTHING] * len(lines)
        for batch in _batches(widths):
            width = max(widths[place] for place in batch)
            width = -(-width // _WIDTH_STEP) * _WIDTH_STEP
            dots = np.zeros((len(batch), 3, _HEIGHT, width), np.float32)
            for row, place in enumerate(batch):
                resized = cv2.resize(lines[place], (widths[place], _HEIGHT), interpolation=cv2.INTER_LINEAR)
                dots[row, :, :, : widths[place]] = as_input(np.asarray(resized, np.uint8))
            answers = self._session.run(None, {self._input: dots})[0]
            for row, place in enumerate(batch):
                said[place] = self._said(answers[row], width / widths[place])
        return said

    def _said(self, answer: Floats, stretch: float) -> Said:
        """Return the text of the likeliest path. `stretch` is the padded width over the line's own."""
        best = answer.argmax(axis=1)
        is_new = best != 0
        is_new[1:] &= best[1:] != best[:-1]
        steps = np.flatnonzero(is_new)
        if not len(steps):
            return NOTHING
        text = "".join(self._characters[index] for index in best[steps])
        confidence = float(answer[steps, best[steps]].mean())
        centres = ((steps + 0.5) / len(best) * stretch).tolist()
        return Said(text=text, edges=_edges(text, centres), confidence=min(max(confidence, 0.0), 1.0))


def _width(line: Image) -> int:
    height, width = line.shape[:2]
    return min(max(round(_HEIGHT * int(width) / int(height)), _LEAST_WIDTH), _MOST_WIDTH)


def _batches(widths: Sequence[int]) -> Iterator[list[int]]:
    """Yield places of lines about as wide as each other: what is added to the narrower ones is read for nothing."""
    batch: list[int] = []
    for place in sorted(range(len(widths)), key=lambda place: (widths[place], place)):
        width = widths[place]
        full = len(batch) == _BATCH_LINES or (len(batch) + 1) * width > _BATCH_WIDTH
        if batch and (full or width > widths[batch[0]] * _ALIKE + _WIDTH_STEP):
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch


def _edges(text: str, centres: Sequence[float]) -> tuple[float, ...]:
    """Return where each character begins and the last ends: between two centres, nearer to the narrower one."""
    sizes = [1.0 if ord(char) >= 0x2E80 else _NARROW for char in text]
    inner = [
        left + (right - left) * size / (size + after)
        for (left, right), (size, after) in zip(pairwise(centres), pairwise(sizes), strict=True)
    ]
    half = _half(centres, sizes)
    first = max(centres[0] - half * sizes[0], 0.0)
    last = min(centres[-1] + half * sizes[-1], 1.0)
    edges = []
    highest = min(first, 1.0)
    for edge in (first, *inner, last):
        highest = max(highest, min(edge, 1.0))
        edges.append(highest)
    return tuple(edges)


def _half(centres: Sequence[float], sizes: Sequence[float]) -> float:
    """Return half the width of a Han, from the distances between characters."""
    if len(centres) < 2:
        return 0.5
    steps = sorted(
        (right - left) / (size + after)
        for (left, right), (size, after) in zip(pairwise(centres), pairwise(sizes), strict=True)
    )
    return steps[len(steps) // 2]
