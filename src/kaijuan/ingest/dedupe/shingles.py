"""A text as the set of its shingles, and a signature by which texts with much the same set are found.

Shingles are runs of six letters, digits or ideographs of the folded text: characters serve Chinese and English alike,
and what lies between words does not count. MinHash (Broder, SEQUENCES 1997) with 64 permutations in 8 bands of 8: of
two texts with a Jaccard likeness of 0.9 one band agrees with a probability of 0.99, at 0.5 of 0.03.
"""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt

from kaijuan.ingest.gate.matter import folded, visible

WIDTH = 6
BANDS, _ROWS = 8, 8
_SAMPLE = 1024
"""Shingles that a signature is made from, those with the smallest hashes: so the choice is the same for like texts."""
_LEAST = 40
"""Fewer shingles than this say too little to be nearly the same."""
_BETWEEN = re.compile(r"[\W_]+")
_BASE = np.uint64(0x100000001B3)
_MIX = np.uint64(0xFF51AFD7ED558CCD)
_HALF = np.uint64(33)
_random = np.random.default_rng(20_261_130)
_FACTORS = (_random.integers(1, 2**63, BANDS * _ROWS, dtype=np.uint64) << np.uint64(1)) | np.uint64(1)
_ROW_FACTORS = (_random.integers(1, 2**63, _ROWS, dtype=np.uint64) << np.uint64(1)) | np.uint64(1)

Shingles = npt.NDArray[np.uint64]
"""Hashes in ascending order, each once."""


def plain(text: str) -> str:
    """Return what counts of a text: letters, digits and ideographs in one case, width and script."""
    return _BETWEEN.sub("", visible(folded(text)))


def shingles(text: str) -> Shingles:
    """Return the hashed shingles of a text; empty where it is shorter than one."""
    codes = np.frombuffer(plain(text).encode("utf-32-le", "surrogatepass"), dtype=np.uint32).astype(np.uint64)
    count = len(codes) - WIDTH + 1
    if count < 1:
        return np.empty(0, dtype=np.uint64)
    hashes = np.zeros(count, dtype=np.uint64)
    for at in range(WIDTH):
        hashes = hashes * _BASE + codes[at : at + count]
    hashes = (hashes ^ (hashes >> _HALF)) * _MIX
    return np.unique(hashes ^ (hashes >> _HALF))


def signature(text: str) -> bytes:
    """Return 64 bytes, a hash of each band; empty for a text too short to be nearly the same as another."""
    found = shingles(text)
    if len(found) < _LEAST:
        return b""
    lowest = found[:_SAMPLE]
    permuted = (lowest[None, :] * _FACTORS[:, None]).min(axis=1)
    bands = (permuted.reshape(BANDS, _ROWS) * _ROW_FACTORS[None, :]).sum(axis=1, dtype=np.uint64)
    return bytes((bands ^ (bands >> _HALF)).astype("<u8").tobytes())


def likeness(one: Shingles, other: Shingles) -> float:
    """Return the Jaccard likeness of two sets of shingles, 0 to 1."""
    if not len(one) or not len(other):
        return 0.0
    shared = len(np.intersect1d(one, other, assume_unique=True))
    return shared / (len(one) + len(other) - shared)
