"""Metadata as every index takes it. The one place where what sources and parsers say is made storable."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import cast

from kaijuan.core.documents import Metadata, ParsedDocument, Scalar

_RESERVED = frozenset({"valid_from", "valid_to"})
"""Filters use these for the interval in which a version is the current one."""
_INTEGERS = range(-(2**63), 2**63)
_LONGEST_SHOWN = 60


def storable(values: Mapping[str, object]) -> tuple[Metadata, tuple[str, ...]]:
    """Return the fields that can be stored, and one warning for each that cannot.

    Text loses NULs, and half characters become "?". A field is left out when its name is empty, reserved or already
    taken, when a number is not finite or needs more than 64 bits, and when it is neither text, number, truth value
    nor a list of texts.
    """
    kept: dict[str, Scalar | tuple[str, ...]] = {}
    warnings: list[str] = []
    for given, value in values.items():
        name = plain(str(given))
        fault = _fault_of_name(name, kept) or _fault_of_value(value)
        if fault:
            warnings.append(f"The field {name[:_LONGEST_SHOWN]!r} was left out: {fault}.")
        else:
            kept[name] = _value(value)
    return kept, tuple(warnings)


def with_storable(document: ParsedDocument) -> ParsedDocument:
    """Return the document with metadata that can be stored; what was left out is among its warnings."""
    metadata, warnings = storable(document.metadata)
    if not warnings and metadata == document.metadata:
        return document
    return replace(document, metadata=metadata, warnings=(*document.warnings, *warnings))


def plain(text: str) -> str:
    """Return text without NULs and half characters, which few stores take."""
    return text.encode("utf-8", "replace").decode("utf-8").replace("\x00", "")


def _fault_of_name(name: str, taken: Mapping[str, object]) -> str:
    if not name:
        return "a field needs a name"
    if name in _RESERVED:
        return "the name is kept for the interval of a version"
    return "another field has the same name" if name in taken else ""


def _fault_of_value(value: object) -> str:
    if isinstance(value, str | bool):
        return ""
    if isinstance(value, int):
        return "" if value in _INTEGERS else "the number needs more than 64 bits"
    if isinstance(value, float):
        return "" if math.isfinite(value) else "the number is not finite"
    if isinstance(value, list | tuple):
        return "" if all(isinstance(entry, str) for entry in value) else "lists are of text"
    return "only text, numbers, truth values and lists of text can be stored"


def _value(value: object) -> Scalar | tuple[str, ...]:
    """Return a value without fault as the plain type it is."""
    if isinstance(value, list | tuple):
        return tuple(plain(entry) for entry in value)
    if isinstance(value, str):
        return plain(value)
    if isinstance(value, bool):
        return value
    return int(value) if isinstance(value, int) else float(cast(float, value))
