"""docling-rs, the same interface in Rust."""

from __future__ import annotations

from docling_rs import DocumentConverter


class Reader:
    """The converter as it comes; its PDF route wants models that cannot be fetched."""

    about = "`DocumentConverter` as it comes"

    def __init__(self) -> None:
        self._converter = DocumentConverter()

    def read(self, path: str) -> str:
        """Return the file as Markdown."""
        return str(self._converter.convert(path).document.export_to_markdown())
