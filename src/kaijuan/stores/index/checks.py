"""What every index adapter refuses before it writes or searches, so that all of them refuse alike."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from kaijuan.core.filters import And, Eq, Exists, Filter, In, Not, Or, Range, Value
from kaijuan.core.ids import ChunkId
from kaijuan.core.snapshots import OPEN
from kaijuan.errors import FilterError, UsageError
from kaijuan.index.ports import Point, SpaceSpec, Vector

RESERVED = frozenset({"valid_from", "valid_to"})
"""Names that filters use for the interval; a payload may not carry them."""
_ID = re.compile(r"[0-9a-f]{32}")
_SPACE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]{0,99}")
_INTEGERS = range(-(2**63), 2**63)
_TERMS = range(2**32)
_DEPTH = 100


def check_space(name: str) -> str:
    """Return the name of a space if it may be one (it also names a folder), else raise UsageError."""
    if not _SPACE.fullmatch(name):
        raise UsageError(f"{name!r} is no name for an index space: letters, digits, dash and underscore, at most 100.")
    return name


def check_spec(spec: SpaceSpec) -> SpaceSpec:
    """Return the specification if a space can be made for it."""
    check_space(spec.name)
    if not 1 <= spec.dimensions <= 65_535:
        raise UsageError(f"An index space cannot have {spec.dimensions} dimensions.")
    return spec


def mismatch(built: SpaceSpec, wanted: SpaceSpec) -> str:
    """Say for people how the specification that a space was built for differs from the one asked for."""
    differences = []
    if (built.model, built.dimensions) != (wanted.model, wanted.dimensions):
        was, now = (f"{spec.model} ({spec.dimensions} dimensions)" for spec in (built, wanted))
        differences.append(f"another embedding model: {was}, now {now}")
    if built.analyser != wanted.analyser:
        differences.append(f"another version of the text analysis: {built.analyser}, now {wanted.analyser}")
    return f"The index was built with {' and '.join(differences)}."


def check_ids(ids: Iterable[ChunkId]) -> list[ChunkId]:
    """Return the ids without repeats; each must be 32 lower-case hexadecimal characters."""
    unique = list(dict.fromkeys(ids))
    for id in unique:
        if not _ID.fullmatch(id):
            raise UsageError(f"{id!r} is not a chunk id.")
    return unique


def check_snapshot(snapshot: int) -> int:
    """Return the snapshot number if an interval can end with it."""
    if isinstance(snapshot, bool) or not 0 <= snapshot <= OPEN:
        raise UsageError(f"{snapshot!r} is not a snapshot number.")
    return snapshot


def check_count(k: int) -> int:
    """Return how many hits were asked for; a negative number is refused."""
    if isinstance(k, bool) or k < 0:
        raise UsageError(f"{k!r} hits cannot be returned.")
    return k


def unit_vector(vector: Vector, dimensions: int) -> Vector:
    """Return the vector at length 1, as a copy. Wrong shape, NaN, infinity and zero are refused."""
    values = np.asarray(vector, dtype=np.float64)
    if values.shape != (dimensions,):
        raise UsageError(f"The vector has shape {values.shape}; this index space takes {dimensions} dimensions.")
    if not np.isfinite(values).all():
        raise UsageError("The vector holds NaN or infinity.")
    length = float(np.linalg.norm(values))
    if length < 1e-12:
        raise UsageError("The zero vector has no direction to search by.")
    return (values / length).astype(np.float32)


def check_terms(terms: Mapping[int, float]) -> dict[int, float]:
    """Return the terms of weight above 0. Ids beyond 32 bits and negative or undefined weights are refused."""
    for term, weight in terms.items():
        if term not in _TERMS:
            raise UsageError(f"{term!r} is not a term id of 32 bits.")
        if not math.isfinite(weight) or weight < 0:
            raise UsageError(f"Term {term} cannot have weight {weight!r}.")
    return {int(term): float(weight) for term, weight in terms.items() if weight > 0}


def _check_value(name: str, value: object) -> None:
    if isinstance(value, bool):
        return
    if isinstance(value, str):
        if not _encodable(value):
            raise UsageError(f"The text in {name!r} holds half of a surrogate pair.")
        return
    if isinstance(value, int):
        if value not in _INTEGERS:
            raise UsageError(f"The number in {name!r} needs more than 64 bits.")
        return
    if not isinstance(value, float) or not math.isfinite(value):
        raise UsageError(f"{value!r} cannot be stored in {name!r}.")


def _texts(name: str, items: Iterable[object]) -> tuple[str, ...]:
    texts = []
    for item in items:
        if not isinstance(item, str):
            raise UsageError(f"The list in {name!r} holds {item!r}; lists are of text.")
        _check_value(name, item)
        texts.append(item)
    return tuple(texts)


def check_payload(payload: Mapping[str, Value | tuple[str, ...]]) -> dict[str, Value | tuple[str, ...]]:
    """Return a copy of the payload, lists as tuples."""
    copy: dict[str, Value | tuple[str, ...]] = {}
    for name, value in payload.items():
        if name in RESERVED or not name or name.startswith("\x00") or not _encodable(name):
            raise UsageError(f"A payload field cannot be named {name!r}.")
        if isinstance(value, tuple | list):
            copy[name] = _texts(name, value)
        else:
            _check_value(name, value)
            copy[name] = value
    return copy


def check_points(spec: SpaceSpec, points: Sequence[Point]) -> list[Point]:
    """Return clean copies of the points, the last of each id only. Raises before anything is written."""
    check_ids(point.id for point in points)
    clean: dict[ChunkId, Point] = {}
    for point in points:
        clean.pop(point.id, None)
        clean[point.id] = replace(
            point,
            vector=unit_vector(point.vector, spec.dimensions),
            terms=check_terms(point.terms),
            payload=check_payload(point.payload),
            valid_from=check_snapshot(point.valid_from),
            valid_to=check_snapshot(point.valid_to),
        )
    return list(clean.values())


def check_filter(where: Filter, depth: int = 0) -> Filter:
    """Return the filter if every engine can apply it: at most 100 levels deep, all text encodable."""
    if depth > _DEPTH:
        raise FilterError(f"The filter is nested more than {_DEPTH} levels deep.")
    match where:
        case And(items) | Or(items):
            for item in items:
                check_filter(item, depth + 1)
        case Not(item):
            check_filter(item, depth + 1)
        case Eq(name, value):
            _check_operand(name, value)
        case In(name, values):
            for value in values:
                _check_operand(name, value)
        case Range() | Exists():
            pass
    return where


def _check_operand(name: str, value: Value) -> None:
    if isinstance(value, str) and not _encodable(value):
        raise FilterError(f"The text compared with {name!r} holds half of a surrogate pair.")
    if isinstance(value, int) and value not in _INTEGERS:
        raise FilterError(f"The number compared with {name!r} needs more than 64 bits.")


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
