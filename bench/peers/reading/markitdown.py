"""MarkItDown, plug-ins off."""

from __future__ import annotations

from markitdown import MarkItDown


class Reader:
    """The converter with its built-in readers."""

    about = "`MarkItDown(enable_plugins=False).convert`; extras docx, pptx, xlsx, xls, outlook, pdf"

    def __init__(self) -> None:
        self._converter = MarkItDown(enable_plugins=False)

    def read(self, path: str) -> str:
        """Return the file as Markdown."""
        return str(self._converter.convert(path).markdown)
