"""Kaijuan (开卷): answers from your own documents, every sentence cited to the exact words.

from kaijuan import Kaijuan        # async
from kaijuan.sync import Kaijuan   # blocking, the same verbs
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kaijuan.core.filter_language import parse_filter
    from kaijuan.engine import Kaijuan

__version__ = "0.1.0"
__all__ = ["Kaijuan", "__version__", "parse_filter"]


def __getattr__(name: str) -> object:
    # PEP 562: the engine and what it needs are imported at first use, so that `import kaijuan` stays quick.
    if name == "Kaijuan":
        from kaijuan.engine import Kaijuan

        return Kaijuan
    if name == "parse_filter":
        from kaijuan.core.filter_language import parse_filter

        return parse_filter
    raise AttributeError(f"module 'kaijuan' has no attribute {name!r}")
