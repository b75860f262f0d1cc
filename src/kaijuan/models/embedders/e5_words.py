"""The word vectors inside multilingual-e5: what each piece of a word means by itself, read without running the network.

They are the model's first layer. Comparing the pieces of two texts one by one finds other forms, spellings and words of
like meaning, at the price of a lookup and one small product.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

import numpy as np

from kaijuan.models.embedders.e5_onnx import LOADED, load_tokenizer
from kaijuan.models.embedders.e5_tokens import E5Tokenizer
from kaijuan.models.embedders.e5_weights import E5File, bundled_model
from kaijuan.retrieve.ports import Floats32, Pieces

_LOADING = threading.Lock()


class E5Words:
    """Pieces of texts and their vectors. The tokenizer is loaded at first use; the vectors are read from the package.

    Safe to share between threads.
    """

    def __init__(self, cache_dir: Path) -> None:
        self._cache_dir = cache_dir

    @cached_property
    def _file(self) -> E5File:
        return E5File(bundled_model())

    @cached_property
    def _tokenizer(self) -> E5Tokenizer:
        digest = self._file.digest()
        with _LOADING:
            return LOADED.get(digest) or LOADED.setdefault(digest, load_tokenizer(self._file, self._cache_dir))

    def pieces(self, texts: Sequence[str]) -> list[Pieces]:
        """Return the pieces of each text, each piece once, by number."""
        return [np.unique(ids).astype(np.uint32) for ids in self._tokenizer.ids_each(texts)]

    def rarities(self, pieces: Pieces) -> Floats32:
        """Return how rare pieces are: the negative logarithm of their share in what the vocabulary was made from."""
        return np.maximum(-self._file.vocabulary.scores[pieces], 0.0).astype(np.float32)

    def vectors(self, pieces: Pieces) -> Floats32:
        """Return the vectors of pieces, of unit length, shape (pieces, width)."""
        rows = self._file.word_rows(pieces.astype(np.int64))
        return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9), dtype=np.float32)
