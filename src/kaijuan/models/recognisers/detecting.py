"""Where text stands on a page image: the map of a DB network (Liao et al., AAAI 2020) to a rectangle a line."""

from __future__ import annotations

import math
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

Image = npt.NDArray[np.uint8]
"""Rows, columns, channels."""
Floats = npt.NDArray[np.float32]
Quad = npt.NDArray[np.float32]
"""Four corners (x, y), clockwise from the top left one."""

_STEP = 32
"""The network halves its input five times."""
_SURE = 0.3
_LEAST_SCORE = 0.5
_GROW = 1.6
"""The network learned lines shrunk to their core; this much, by area over circumference, makes them whole."""
_LEAST_SIDE = 3.0
_MOST_LINES = 3000


def fitted(image: Image, longest: int) -> Image:
    """Return the image in a size that the network takes, its longer side at most `longest`."""
    height, width = image.shape[:2]
    scale = min(1.0, longest / max(height, width))
    if max(height, width) < longest // 2:
        scale = min(2.0, longest / 2 / max(height, width))  # small print in a small picture
    size = tuple(max(round(side * scale / _STEP), 1) * _STEP for side in (width, height))
    how = cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR
    return np.asarray(cv2.resize(image, size, interpolation=how), np.uint8)


def as_input(image: Image) -> Floats:
    """Return an image as the networks take it: channels first, from -1 to 1."""
    return np.ascontiguousarray((image.astype(np.float32) / 127.5 - 1.0).transpose(2, 0, 1))


def quads_of(probabilities: Floats, width: int, height: int) -> list[Quad]:
    """Return a rectangle for each line of text, in dots of an image of `width` by `height`, from top to bottom.

    `probabilities` says for each dot of the fitted image how likely it is the core of a line.
    """
    mask = cv2.dilate((probabilities > _SURE).astype(np.uint8), np.ones((2, 2), np.uint8))
    contours, _ = cv2.findContours(mask, cv2.RETR_LIST, cv2.CHAIN_APPROX_SIMPLE)
    rows, columns = probabilities.shape
    scale = np.array([width / columns, height / rows], np.float32)
    found = []
    for contour in contours[:_MOST_LINES]:
        centre, (across, down), angle = cv2.minAreaRect(contour)
        if min(across, down) < _LEAST_SIDE or _score(probabilities, contour) < _LEAST_SCORE:
            continue
        grown = across * down * _GROW / (across + down)
        corners = cv2.boxPoints((centre, (across + grown, down + grown), angle))
        quad = in_order(np.asarray(corners, np.float32) * scale)
        found.append(np.clip(quad, 0, np.array([width - 1, height - 1], np.float32)))
    found.sort(key=lambda quad: (float(quad[:, 1].mean()), float(quad[:, 0].mean())))
    return [quad for quad in found if min(sides(quad)) > _LEAST_SIDE]


def _score(probabilities: Floats, contour: Any) -> float:
    """Return the mean probability of the dots within a contour's smallest rectangle."""
    corners = cv2.boxPoints(cv2.minAreaRect(contour))
    rows, columns = probabilities.shape
    left, top = np.clip(np.floor(corners.min(axis=0)), 0, [columns - 1, rows - 1]).astype(int)
    right, bottom = np.clip(np.ceil(corners.max(axis=0)), 0, [columns - 1, rows - 1]).astype(int)
    mask = np.zeros((bottom - top + 1, right - left + 1), np.uint8)
    cv2.fillPoly(mask, [(corners - [left, top]).astype(np.int32)], 1)
    return float(cv2.mean(probabilities[top : bottom + 1, left : right + 1], mask)[0])


def in_order(corners: Quad) -> Quad:
    """Return the corners of a rectangle clockwise, from the top left one."""
    by_x = corners[np.argsort(corners[:, 0], kind="stable")]
    left = by_x[:2][np.argsort(by_x[:2, 1], kind="stable")]
    right = by_x[2:][np.argsort(by_x[2:, 1], kind="stable")]
    return np.array([left[0], right[0], right[1], left[1]], np.float32)


def sides(quad: Quad) -> tuple[float, float]:
    """Return how long a rectangle is along its upper side, and along its left one."""
    return math.dist(quad[0], quad[1]), math.dist(quad[0], quad[3])


def cut_out(image: Image, quad: Quad) -> Image:
    """Return the part of the image under a rectangle, set straight."""
    across, down = (max(round(side), 1) for side in sides(quad))
    if _is_straight(quad):
        left, top = (int(value) for value in np.floor(quad.min(axis=0)))
        right, bottom = (int(value) + 1 for value in np.ceil(quad.max(axis=0)))
        corners = np.array([[left, top], [right, top], [right, bottom], [left, bottom]], np.float32)
        turn = int(np.abs(corners - quad[0]).sum(axis=1).argmin())
        return np.rot90(image[top:bottom, left:right], turn)
    flat = np.array([[0, 0], [across, 0], [across, down], [0, down]], np.float32)
    turned = cv2.warpPerspective(
        image,
        cv2.getPerspectiveTransform(quad, flat),
        (across, down),
        flags=cv2.INTER_CUBIC,
        borderMode=cv2.BORDER_REPLICATE,
    )
    return np.asarray(turned, np.uint8)


def _is_straight(quad: Quad) -> bool:
    """Say whether a rectangle follows the rows and columns of the image to within a dot."""
    sides = np.abs(np.roll(quad, -1, axis=0) - quad)
    return bool(sides.min(axis=1).max() < 1)
