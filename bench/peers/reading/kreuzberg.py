"""Kreuzberg: a Rust core for many formats."""

from __future__ import annotations

from kreuzberg import ExtractionConfig, OutputFormat, extract_file_sync


class Reader:
    """Markdown, no cache; OCR would need Tesseract on the machine."""

    about = "`extract_file_sync`, output as Markdown, no cache"

    def __init__(self) -> None:
        self._config = ExtractionConfig(output_format=OutputFormat.MARKDOWN, use_cache=False)

    def read(self, path: str) -> str:
        """Return the file as Markdown."""
        return str(extract_file_sync(path, config=self._config).content)
