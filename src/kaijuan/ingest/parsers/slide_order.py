"""The order in which people read boxes on a slide: band by band, in a band column by column, else as they were laid."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

Thing = TypeVar("Thing")
_DEEPEST = 40
_SLACK = 0.2
"""Boxes that overlap by less than this share of the smaller one are still apart."""


@dataclass(frozen=True, slots=True)
class Placed(Generic[Thing]):
    """Something in a box; None where its place is not known."""

    thing: Thing
    box: tuple[float, float, float, float] | None
    """Left, top, right, bottom."""


def in_reading_order(placed: Sequence[Placed[Thing]]) -> list[Thing]:
    """Return the things in reading order. One without a place stays behind the one it was laid on."""
    tied: list[tuple[Placed[Thing], list[Thing]]] = []
    first: list[Thing] = []
    for one in placed:
        if one.box is not None:
            tied.append((one, [one.thing]))
        elif tied:
            tied[-1][1].append(one.thing)
        else:
            first.append(one.thing)
    return first + [thing for _, things in _cut(tied, 0) for thing in things]


_Tied = tuple[Placed[Thing], list[Thing]]


def _cut(group: list[_Tied[Thing]], depth: int) -> list[_Tied[Thing]]:
    if len(group) < 2 or depth > _DEEPEST:
        return group
    # Bands first: a headline stands over all columns below it.
    for axis in (1, 0):
        parts = _parted(group, axis)
        if len(parts) > 1:
            return [one for part in parts for one in _cut(part, depth + 1)]
    return group


def _parted(group: list[_Tied[Thing]], axis: int) -> list[list[_Tied[Thing]]]:
    """Part a group where nothing reaches over, along one axis (0 across, 1 down)."""
    ordered = sorted(group, key=lambda one: _side(one, axis))
    parts: list[list[_Tied[Thing]]] = []
    end = 0.0
    for one in ordered:
        start, stop = _side(one, axis), _side(one, axis + 2)
        least = min((_side(at, axis + 2) - _side(at, axis) for at in (parts[-1] if parts else ())), default=0.0)
        if parts and start < end - _SLACK * min(least, stop - start):
            parts[-1].append(one)
            end = max(end, stop)
        else:
            parts.append([one])
            end = stop
    # Within a part the order in which the shapes were laid is kept.
    places = {id(one[0]): at for at, one in enumerate(group)}
    return [sorted(part, key=lambda one: places[id(one[0])]) for part in parts]


def _side(one: _Tied[Thing], side: int) -> float:
    return one[0].box[side] if one[0].box else 0.0
