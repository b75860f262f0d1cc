"""pdfplumber: text and tables of PDF."""

from __future__ import annotations

import pdfplumber


class Reader:
    """Text of each page, then its tables, as its documentation shows; it has no Markdown of its own."""

    about = "`extract_text` and `extract_tables` of each page, the tables written after its text as Markdown"

    def read(self, path: str) -> str:
        """Return the file as Markdown."""
        parts: list[str] = []
        with pdfplumber.open(path) as file:
            for page in file.pages:
                parts.append(page.extract_text() or "")
                parts += ["\n".join(_row(row) for row in table) for table in page.extract_tables()]
                page.close()
        return "\n\n".join(parts)


def _row(cells: list[str | None]) -> str:
    return "| " + " | ".join(" ".join((cell or "").split()).replace("|", "\\|") for cell in cells) + " |"
