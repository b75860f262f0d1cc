"""PyMuPDF4LLM (AGPL): measured here, never a dependency."""

from __future__ import annotations

import pymupdf4llm


class Reader:
    """Markdown with its own layout model."""

    about = "`pymupdf4llm.to_markdown` (AGPL; brings its own layout model)"

    def read(self, path: str) -> str:
        """Return the file as Markdown."""
        return str(pymupdf4llm.to_markdown(path))
