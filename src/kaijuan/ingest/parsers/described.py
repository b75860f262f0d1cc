"""What a reader of one sort of document found besides its blocks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kaijuan.core.documents import Scalar


@dataclass(frozen=True, slots=True)
class Described:
    """A document's title and metadata."""

    title: str = ""
    metadata: Mapping[str, Scalar | tuple[str, ...]] = field(default_factory=dict)


def filled(**values: str | tuple[str, ...] | None) -> dict[str, Scalar | tuple[str, ...]]:
    """Return the values that say something; a list of one is that one."""
    single = {key: value[0] if isinstance(value, tuple) and len(value) == 1 else value for key, value in values.items()}
    return {key: value for key, value in single.items() if value}
