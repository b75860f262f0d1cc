"""Unstructured with the strategy that needs no model."""

from __future__ import annotations

from unstructured.partition.auto import partition
from unstructured.staging.base import elements_to_md


class Reader:
    """Elements of a file, written as Markdown by its own staging."""

    about = '`partition(strategy="fast")`, `elements_to_md`'

    def read(self, path: str) -> str:
        """Return the file as Markdown."""
        return str(elements_to_md(partition(filename=path, strategy="fast")))
