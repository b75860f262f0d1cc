"""Web addresses: the form in which they identify a document, where a link leads, and the file name they give."""

from __future__ import annotations

import re
from urllib.parse import quote, unquote, urlsplit, urlunsplit

import httpx

from kaijuan.errors import FetchError, UsageError
from kaijuan.ingest.kinds import ENDINGS, LANGUAGES
from kaijuan.ingest.metadata import plain

_OFFICE = "application/vnd.openxmlformats-officedocument"
_ODF = "application/vnd.oasis.opendocument"
_TYPES = {
    "text/html": ".html",
    "application/xhtml+xml": ".html",
    "text/markdown": ".md",
    "text/plain": ".txt",
    "text/csv": ".csv",
    "text/tab-separated-values": ".tsv",
    "text/x-rst": ".rst",
    "text/vtt": ".vtt",
    "application/x-subrip": ".srt",
    "application/json": ".json",
    "application/x-ndjson": ".jsonl",
    "application/x-ipynb+json": ".ipynb",
    "application/xml": ".xml",
    "text/xml": ".xml",
    "application/rss+xml": ".rss",
    "application/atom+xml": ".atom",
    "application/pdf": ".pdf",
    "application/rtf": ".rtf",
    "text/rtf": ".rtf",
    "application/epub+zip": ".epub",
    "application/zip": ".zip",
    "application/mbox": ".mbox",
    "message/rfc822": ".eml",
    "application/vnd.ms-outlook": ".msg",
    "application/msword": ".doc",
    "application/vnd.ms-excel": ".xls",
    "application/vnd.ms-powerpoint": ".ppt",
    f"{_OFFICE}.wordprocessingml.document": ".docx",
    f"{_OFFICE}.spreadsheetml.sheet": ".xlsx",
    f"{_OFFICE}.presentationml.presentation": ".pptx",
    f"{_ODF}.text": ".odt",
    f"{_ODF}.spreadsheet": ".ods",
    f"{_ODF}.presentation": ".odp",
}
"""Media types to the endings under which their files are known."""
_FILE_NAME = re.compile(r"""filename\*=(?:UTF-8|utf-8)''([^;]+)|filename="?([^";]+)""")


def normal_address(target: str) -> str:
    """Return an address in the form that identifies a document: host in lower case, no default port, no fragment.

    Raises UsageError for what is not an http or https address.
    """
    shown = shown_address(target)
    try:
        parts = urlsplit(target.strip())
        scheme, name, port = parts.scheme.lower(), parts.hostname or "", parts.port
        if scheme not in {"http", "https"} or not name:
            raise UsageError(f"{shown} is not an http or https address.")
        host = f"[{name}]" if ":" in name else name.lower()
        if port is not None and port != {"http": 80, "https": 443}[scheme]:
            host = f"{host}:{port}"
        url = httpx.URL(urlunsplit((scheme, host, parts.path or "/", parts.query, "")))
        if not url.host:  # read here, because names like xn-- are decoded, and refused, only then
            raise UsageError(f"{shown} names no host.")
    except (ValueError, httpx.InvalidURL) as error:  # ValueError covers brackets, ports, code points and IDNA
        raise UsageError(f"{shown} is not a valid address: {plain(str(error))}.") from error
    return str(url)


def shown_address(target: str) -> str:
    """Return an address as text that can be printed, stored and taken apart, whatever it was made of."""
    shown = plain(target.strip())
    try:
        urlsplit(shown)
    except ValueError:
        return quote(shown, safe="/:?#@!$&'()*+,;=%-._~")  # brackets and look-alikes of marks are what it refuses
    return shown


def led(address: str, location: str) -> str:
    """Return where a redirect or link leads, however it is written; FetchError when that is no web address."""
    try:
        return normal_address(str(httpx.URL(address).join(location)))
    except (ValueError, httpx.InvalidURL, UsageError) as error:
        raise FetchError(f"{address} leads to what is no address: {plain(str(error))}.") from error


def name_of(headers: httpx.Headers, address: str) -> str:
    """Return a file name by which the kind can be told: from the answer, else the address, its type appended."""
    found = _FILE_NAME.search(headers.get("content-disposition", ""))
    name = unquote(found[1] or found[2]).strip() if found else ""
    name = name.replace("\\", "/").rpartition("/")[2]
    if not name:
        parts = urlsplit(address)
        name = unquote(parts.path.rstrip("/").rpartition("/")[2], errors="replace") or parts.hostname or address
    type_ = headers.get("content-type", "").partition(";")[0].strip().lower()
    own = name.lower().rpartition(".")[2] if "." in name else ""
    # "page.php" as text/html is a page; as text/plain it is source code.
    known = own in ENDINGS or own == "txt" or (own in LANGUAGES and type_ == "text/plain")
    return name if known else name + _TYPES.get(type_, "")
