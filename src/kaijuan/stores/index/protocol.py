"""What travels between the index owner and its clients: frames of msgpack, and how values are written in them.

A frame is four bytes of length, then one msgpack array. Requests are [id, verb, arguments], answers
[id, None, result] or [id, [error class, message, hint], None]; answers may come in any order.
"""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgpack
import numpy as np

from kaijuan import errors
from kaijuan.core.filters import And, Eq, Exists, Filter, In, Not, Or, Range
from kaijuan.core.ids import ChunkId
from kaijuan.errors import KaijuanError, StoreError, UsageError
from kaijuan.index.ports import Hit, Point, PointHeader, SpaceSpec, Vector

VERSION = 4
"""Owner and client must agree on it."""
FRAME_LIMIT = 64 * 2**20
POINTS_A_FRAME = 500
BYTES_A_FRAME = 8 * 2**20
"""A frame of points is sent when it holds this many, so that neither side holds a whole corpus in memory."""
IDS_A_FRAME = 5_000
_LENGTH = struct.Struct(">I")

Message = list[Any]
"""Any: what msgpack gives back; every verb knows the shape of its own arguments."""


def pack(message: Message) -> bytes:
    """Return one frame. UsageError when it is over the limit."""
    body: bytes = msgpack.packb(message, use_bin_type=True)
    if len(body) > FRAME_LIMIT:
        raise UsageError(f"A message of {len(body)} bytes is over the limit of {FRAME_LIMIT}.")
    return _LENGTH.pack(len(body)) + body


async def read_message(reader: asyncio.StreamReader) -> Message:
    """Return the next message. EOFError at the end of the stream, StoreError when it is not ours."""
    try:
        (length,) = _LENGTH.unpack(await reader.readexactly(_LENGTH.size))
        if length > FRAME_LIMIT:
            raise StoreError(f"A message of {length} bytes is over the limit of {FRAME_LIMIT}.")
        body = await reader.readexactly(length)
    except asyncio.IncompleteReadError as error:
        raise EOFError("The other side has gone.") from error
    try:
        message = msgpack.unpackb(body, raw=False, strict_map_key=False)
    except (ValueError, msgpack.UnpackException) as error:
        raise StoreError("A message between index owner and client could not be read.") from error
    if not isinstance(message, list) or len(message) != 3:
        raise StoreError("A message between index owner and client has the wrong shape.")
    return message


def pack_error(error: KaijuanError) -> Message:
    """Return an error as it travels."""
    return [type(error).__name__, error.message, error.hint]


def unpack_error(packed: Message) -> KaijuanError:
    """Return the error that the other side raised; an unknown class becomes StoreError."""
    name, message, hint = packed
    kind = getattr(errors, name, None)
    if not (isinstance(kind, type) and issubclass(kind, KaijuanError)):
        kind = StoreError
    return kind(message, hint=hint)


def pack_spec(spec: SpaceSpec) -> Message:
    """Return a specification as it travels, and as it is stored beside a space."""
    return [spec.name, spec.dimensions, spec.model, spec.analyser]


def unpack_spec(packed: Message) -> SpaceSpec:
    """Return a specification."""
    name, dimensions, model, analyser = packed
    return SpaceSpec(name=name, dimensions=dimensions, model=model, analyser=analyser)


def pack_vector(vector: Vector) -> bytes:
    """Return single precision, little endian."""
    return vector.astype("<f4", copy=False).tobytes()


def unpack_vector(packed: bytes) -> Vector:
    """Return a vector."""
    return np.frombuffer(packed, dtype="<f4").astype(np.float32, copy=False)


def pack_terms(terms: Mapping[int, float]) -> Message:
    """Return term ids and weights as two rows of bytes."""
    return [
        np.fromiter(terms.keys(), dtype="<u4", count=len(terms)).tobytes(),
        np.fromiter(terms.values(), dtype="<f4", count=len(terms)).tobytes(),
    ]


def unpack_terms(packed: Message) -> dict[int, float]:
    """Return terms and weights."""
    ids, weights = packed
    return dict(
        zip(np.frombuffer(ids, dtype="<u4").tolist(), np.frombuffer(weights, dtype="<f4").tolist(), strict=True)
    )


def _pack_point(point: Point) -> bytes:
    body: bytes = msgpack.packb(
        [
            point.id,
            pack_vector(point.vector),
            pack_terms(point.terms),
            dict(point.payload),
            point.valid_from,
            point.valid_to,
        ],
        use_bin_type=True,
    )
    return body


def pack_points(points: Iterable[Point]) -> Iterator[list[bytes]]:
    """Yield the points in batches small enough for one frame each."""
    batch: list[bytes] = []
    size = 0
    for point in points:
        packed = _pack_point(point)
        if batch and (len(batch) >= POINTS_A_FRAME or size + len(packed) > BYTES_A_FRAME):
            yield batch
            batch, size = [], 0
        batch.append(packed)
        size += len(packed)
    if batch:
        yield batch


def unpack_points(batch: list[bytes]) -> list[Point]:
    """Return the points of one frame."""
    return [_unpack_point(packed) for packed in batch]


def _unpack_point(packed: bytes) -> Point:
    id, vector, terms, payload, start, end = msgpack.unpackb(packed, raw=False)
    return Point(
        id=ChunkId(id),
        vector=unpack_vector(vector),
        terms=unpack_terms(terms),
        payload={name: tuple(value) if isinstance(value, list) else value for name, value in payload.items()},
        valid_from=start,
        valid_to=end,
    )


def pack_hits(hits: Iterable[Hit]) -> Message:
    """Return ids and scores."""
    return [[hit.id, hit.score] for hit in hits]


def unpack_hits(packed: Message) -> list[Hit]:
    """Return hits."""
    return [Hit(ChunkId(id), score) for id, score in packed]


def pack_header(header: PointHeader) -> Message:
    """Return what scan tells of one point."""
    return [header.id, header.valid_from, header.valid_to, dict(header.payload)]


def unpack_header(packed: Message) -> PointHeader:
    """Return what scan tells of one point."""
    id, start, end, payload = packed
    fields = {name: tuple(value) if isinstance(value, list) else value for name, value in payload.items()}
    return PointHeader(id=ChunkId(id), valid_from=start, valid_to=end, payload=fields)


def pack_filter(where: Filter) -> Message:  # noqa: PLR0911 one return a node kind
    """Return a filter tree as nested arrays."""
    match where:
        case Eq(name, value):
            return ["eq", name, value]
        case In(name, values):
            return ["in", name, list(values)]
        case Range():
            bounds = (where.gte, where.gt, where.lte, where.lt)
            return ["range", where.field, *(None if bound is None else float(bound) for bound in bounds)]
        case Exists(name):
            return ["exists", name]
        case And(items):
            return ["and", [pack_filter(item) for item in items]]
        case Or(items):
            return ["or", [pack_filter(item) for item in items]]
        case Not(item):
            return ["not", pack_filter(item)]


def unpack_filter(packed: Message) -> Filter:  # noqa: PLR0911 one return a node kind
    """Return a filter tree."""
    match packed:
        case ["eq", name, value]:
            return Eq(name, value)
        case ["in", name, values]:
            return In(name, tuple(values))
        case ["range", name, gte, gt, lte, lt]:
            return Range(field=name, gte=gte, gt=gt, lte=lte, lt=lt)
        case ["exists", name]:
            return Exists(name)
        case ["and", items]:
            return And(tuple(unpack_filter(item) for item in items))
        case ["or", items]:
            return Or(tuple(unpack_filter(item) for item in items))
        case ["not", item]:
            return Not(unpack_filter(item))
    raise StoreError("A filter sent to the index owner has the wrong shape.")
