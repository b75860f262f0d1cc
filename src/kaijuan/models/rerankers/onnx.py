"""A cross-encoder in a folder, run by onnxruntime: model.onnx and tokenizer.json, as Hugging Face's exporters write."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from kaijuan import telemetry
from kaijuan.errors import ClosedError, MissingExtraError, ModelError, UsageError
from kaijuan.models.embedders.e5_tokens import readable
from kaijuan.models.rerankers.options import RerankerOptions, passage_text
from kaijuan.retrieve.ports import Reading, Verdict

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from tokenizers import Tokenizer

Floats = npt.NDArray[np.float64]

_PLACES = ("model.onnx", "onnx/model.onnx", "model_quantized.onnx", "onnx/model_quantized.onnx")
_TOGETHER = 8
"""Pairs in one batch: after each of them a deadline can stop the rest."""
_LONGEST = 512
"""Tokens of question and passage together; what is longer loses its end, counted as `rerank.cut`."""


class OnnxReranker:
    """Reads question and passage together. Loaded at first use; a deadline that passes stops it after a batch."""

    name = "onnx"

    def __init__(self, folder: Path, *, characters: int = 2000, threads: int = 0) -> None:
        self._folder = folder
        self._characters = characters
        self._threads = threads
        self._loading = threading.Lock()
        self._closed = False

    @classmethod
    def from_settings(cls, settings: RerankerOptions, cache: Path) -> OnnxReranker:  # noqa: ARG003 - keeps no files
        """Return the cross-encoder in the configured folder; UsageError where there is none."""
        folder = Path(settings.model).expanduser()
        if not settings.model or not (folder / "tokenizer.json").is_file() or _graph_in(folder) is None:
            raise UsageError(
                "reranker.model must be a folder with model.onnx and tokenizer.json.",
                hint="Export a cross-encoder to ONNX, for example with optimum-cli, and name its folder.",
            )
        return cls(folder, characters=settings.characters, threads=settings.threads)

    async def rerank(self, question: str, candidates: Sequence[Reading]) -> list[Verdict]:
        """Return the model's logits, and their logistic as evidence."""
        if self._closed:
            raise ClosedError("The reranker is closed.")
        texts = [passage_text(candidate, self._characters) for candidate in candidates]
        # Equal lengths together: a batch is as wide as its longest.
        order = sorted(range(len(texts)), key=lambda place: (-len(texts[place]), place))
        verdicts: dict[int, Verdict] = {}
        for at in range(0, len(order), _TOGETHER):
            places = order[at : at + _TOGETHER]
            logits = await asyncio.to_thread(self._logits, readable(question), [texts[place] for place in places])
            for place, logit in zip(places, logits.tolist(), strict=True):
                verdicts[place] = Verdict(score=round(logit, 6), evidence=round(_chance(logit), 6))
        return [verdicts[place] for place in range(len(texts))]

    async def close(self) -> None:
        """Refuse further calls."""
        self._closed = True

    def _logits(self, question: str, texts: Sequence[str]) -> Floats:
        tokenizer, session = self._loaded()
        encodings = tokenizer.encode_batch([(question, text) for text in texts])
        cut = sum(bool(one.overflowing) for one in encodings)
        if cut:
            telemetry.count("rerank.cut", cut)
        columns = {
            "input_ids": [one.ids for one in encodings],
            "attention_mask": [one.attention_mask for one in encodings],
            "token_type_ids": [one.type_ids for one in encodings],
        }
        wanted = [each.name for each in session.get_inputs()]
        if not set(wanted) <= set(columns):
            raise ModelError(f"The cross-encoder asks for inputs that are not known: {', '.join(wanted)}.")
        try:
            (found, *_) = session.run(None, {name: np.array(columns[name], dtype=np.int64) for name in wanted})
        # Broad because onnxruntime's own errors have no common public class.
        except Exception as error:
            raise ModelError(f"The cross-encoder failed: {error}.") from error
        return _one_each(np.asarray(found, dtype=np.float64), len(texts))

    def _loaded(self) -> tuple[Tokenizer, InferenceSession]:
        with self._loading:
            return self._tokenizer, self._session

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        try:
            from tokenizers import Tokenizer
        except ImportError as error:
            raise MissingExtraError(
                "The package tokenizers is not installed.", hint="Run: pip install 'kaijuan[cross-encoder]'."
            ) from error
        try:
            tokenizer = Tokenizer.from_file(str(self._folder / "tokenizer.json"))
            tokenizer.enable_truncation(_LONGEST, strategy="longest_first")
            tokenizer.enable_padding()
        # Broad because tokenizers raises plain Exception.
        except Exception as error:
            raise ModelError(f"The cross-encoder's tokenizer cannot be loaded: {error}.") from error
        return tokenizer

    @cached_property
    def _session(self) -> InferenceSession:
        os.environ["ORT_DISABLE_TELEMETRY"] = "1"
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = self._threads
        options.log_severity_level = 3
        graph = _graph_in(self._folder)
        try:
            return onnxruntime.InferenceSession(str(graph), options, providers=["CPUExecutionProvider"])
        # Broad because onnxruntime's own errors have no common public class.
        except Exception as error:
            raise ModelError(f"The cross-encoder cannot be loaded: {error}.") from error


def _graph_in(folder: Path) -> Path | None:
    return next((folder / place for place in _PLACES if (folder / place).is_file()), None)


def _one_each(found: Floats, count: int) -> Floats:
    """Return one logit a pair: of two classes how much more the second is, "relevant" by convention."""
    if found.shape == (count, 2):
        found = found[:, 1] - found[:, 0]
    if found.size != count or not np.isfinite(found).all():
        raise ModelError(f"The cross-encoder gave {found.shape} numbers for {count} passages.")
    return found.reshape(count)


def _chance(logit: float) -> float:
    return float(1.0 / (1.0 + np.exp(-np.clip(logit, -30.0, 30.0))))
