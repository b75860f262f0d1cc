"""The kinds of documents that are told apart: their names' endings, and which may pass for one another."""

from __future__ import annotations

ENDINGS = {
    "pdf": "pdf",
    "docx": "docx",
    "docm": "docx",
    "dotx": "docx",
    "dotm": "docx",
    "doc": "doc",
    "dot": "doc",
    "wps": "doc",
    "rtf": "rtf",
    "odt": "odt",
    "ott": "odt",
    "xlsx": "xlsx",
    "xlsm": "xlsx",
    "xltx": "xlsx",
    "xls": "xls",
    "xlt": "xls",
    "et": "xls",
    "ods": "ods",
    "ots": "ods",
    "csv": "csv",
    "tsv": "csv",
    "tab": "csv",
    "psv": "csv",
    "pptx": "pptx",
    "pptm": "pptx",
    "ppsx": "pptx",
    "potx": "pptx",
    "ppt": "ppt",
    "pps": "ppt",
    "dps": "ppt",
    "odp": "odp",
    "otp": "odp",
    "htm": "html",
    "html": "html",
    "xhtml": "html",
    "shtml": "html",
    "md": "markdown",
    "markdown": "markdown",
    "mkd": "markdown",
    "mdx": "markdown",
    "rst": "rst",
    "rest": "rst",
    "adoc": "asciidoc",
    "asciidoc": "asciidoc",
    "json": "json",
    "geojson": "json",
    "jsonl": "json",
    "ndjson": "json",
    "ipynb": "ipynb",
    "xml": "xml",
    "nxml": "xml",
    "rss": "xml",
    "atom": "xml",
    "opml": "xml",
    "epub": "epub",
    "eml": "eml",
    "mht": "eml",
    "mhtml": "eml",
    "msg": "msg",
    "mbox": "mbox",
    "mbx": "mbox",
    "vtt": "subtitles",
    "srt": "subtitles",
    "zip": "zip",
    **dict.fromkeys(
        (
            *("png", "apng", "jpg", "jpeg", "jpe", "jfif", "gif", "tif", "tiff", "bmp", "dib", "webp"),
            *("jp2", "ppm", "pgm", "pbm", "heic", "heif", "avif"),
        ),
        "image",
    ),
}
"""Ending to kind; source code is in LANGUAGES, everything else is plain text."""

LANGUAGES = {
    "awk": "awk",
    "bash": "bash",
    "bat": "batch",
    "c": "c",
    "cc": "cpp",
    "cfg": "ini",
    "clj": "clojure",
    "cmake": "cmake",
    "cpp": "cpp",
    "cs": "csharp",
    "css": "css",
    "cu": "cuda",
    "cxx": "cpp",
    "dart": "dart",
    "diff": "diff",
    "dockerfile": "dockerfile",
    "erl": "erlang",
    "ex": "elixir",
    "exs": "elixir",
    "f90": "fortran",
    "go": "go",
    "gradle": "groovy",
    "graphql": "graphql",
    "groovy": "groovy",
    "h": "c",
    "hpp": "cpp",
    "hs": "haskell",
    "ini": "ini",
    "java": "java",
    "jl": "julia",
    "js": "javascript",
    "jsx": "javascript",
    "kt": "kotlin",
    "kts": "kotlin",
    "less": "less",
    "lua": "lua",
    "m": "objectivec",
    "makefile": "makefile",
    "mjs": "javascript",
    "ml": "ocaml",
    "mm": "objectivec",
    "patch": "diff",
    "php": "php",
    "pl": "perl",
    "pm": "perl",
    "properties": "properties",
    "proto": "protobuf",
    "ps1": "powershell",
    "py": "python",
    "pyi": "python",
    "r": "r",
    "rb": "ruby",
    "rs": "rust",
    "sass": "sass",
    "scala": "scala",
    "scss": "scss",
    "sh": "bash",
    "sql": "sql",
    "svelte": "svelte",
    "swift": "swift",
    "tex": "latex",
    "tf": "hcl",
    "toml": "toml",
    "ts": "typescript",
    "tsx": "typescript",
    "vb": "vb",
    "vim": "vim",
    "vue": "vue",
    "yaml": "yaml",
    "yml": "yaml",
    "zig": "zig",
    "zsh": "bash",
}
"""Ending, or whole name, to the language of source code."""

CONTAINERS = frozenset({"zip", "mbox", "eml", "msg"})
"""Kinds that hold other documents; of these zip and mbox are nothing besides."""

WORDS = {
    "pdf": "a PDF",
    "docx": "a Word document (docx)",
    "doc": "an old Word document (doc)",
    "rtf": "an RTF document",
    "odt": "an OpenDocument text (odt)",
    "xlsx": "an Excel workbook (xlsx)",
    "xls": "an old Excel workbook (xls)",
    "ods": "an OpenDocument spreadsheet (ods)",
    "pptx": "a PowerPoint presentation (pptx)",
    "ppt": "an old PowerPoint presentation (ppt)",
    "odp": "an OpenDocument presentation (odp)",
    "epub": "an EPUB book",
    "msg": "an Outlook message (msg)",
    "zip": "a zip archive",
    "image": "a picture",
    "text": "plain text",
}
"""What people call a binary kind."""

_FAMILIES = (
    # Programs save one as the other, and many a system's "Excel export" is a page or text with tabs.
    frozenset({"docx", "doc", "rtf", "odt", "html", "eml", "xml"}),
    frozenset({"xlsx", "xls", "ods", "csv", "html", "eml", "xml"}),
    frozenset({"pptx", "ppt", "odp"}),
)
_FIRM = frozenset(WORDS) - {"text", "zip"}


def ending(name: str) -> str:
    """Return what is behind a name's last dot, or the whole name where that says it (Makefile), in lower case."""
    base = name.rpartition("/")[2].lower()
    return base.rpartition(".")[2] if "." in base else base if base in LANGUAGES else ""


def named_kind(name: str) -> str:
    """Return the kind that a file's name promises, "" when it promises none."""
    end = ending(name)
    return ENDINGS.get(end, "code" if end in LANGUAGES else "")


def is_firm(kind: str) -> bool:
    """Say whether a name of this kind is a promise: a text file may be called anything, a PDF may not."""
    return kind in _FIRM


def may_pass(found: str, named: str) -> bool:
    """Say whether content of one kind may stand under a name of another."""
    return found == named or not is_firm(named) or any({found, named} <= family for family in _FAMILIES)
