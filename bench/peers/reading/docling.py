"""Docling without models: its simple pipelines for office and web files, its native pipeline for PDF."""

from __future__ import annotations

from docling.datamodel.base_models import InputFormat
from docling.document_converter import DocumentConverter, NativePdfFormatOption


class Reader:
    """The converter; PDF by the pipeline that needs no model, since models cannot be fetched."""

    about = "`DocumentConverter`; PDF by `NativePdfFormatOption` (docling-parse, no layout, table or OCR models)"

    def __init__(self) -> None:
        self._converter = DocumentConverter(format_options={InputFormat.PDF: NativePdfFormatOption()})

    def read(self, path: str) -> str:
        """Return the file as Markdown."""
        return str(self._converter.convert(path).document.export_to_markdown())
