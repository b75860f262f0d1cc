"""Pages and files by http and https. Where a connection goes is decided here, not by whoever wrote the address."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Self
from urllib.parse import quote, unquote, urlsplit, urlunsplit

import httpx

from kaijuan.errors import DocumentError, FetchError, OversizeDocumentError, UsageError
from kaijuan.ingest.kinds import ENDINGS, LANGUAGES
from kaijuan.ingest.metadata import plain
from kaijuan.ingest.ports import SourceFailure, SourceItem
from kaijuan.ingest.settings import IngestSettings
from kaijuan.ingest.sources.hosts import Resolve, address_of, resolved
from kaijuan.ingest.sources.settings import SourceSettings

_MOST_REDIRECTS = 5
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_AGENT = "kaijuan"
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """What an address gave."""

    data: bytes
    name: str


class UrlSource:
    """Source of single addresses. Only public hosts are asked, unless `allow_private` says otherwise.

    The host name is resolved once per hop and the connection goes to the very IP that was checked, so neither a
    redirect nor a name that changes its IP in between leads into a private network. Proxies of the environment are
    not used, for behind a proxy the IP cannot be known. `seconds` limits a whole fetch, `max_bytes` its body.
    """

    def __init__(
        self,
        *,
        max_bytes: int = 200_000_000,
        seconds: float = 60.0,
        allow_private: bool = False,
        resolve: Resolve | None = None,
    ) -> None:
        self._max_bytes = max_bytes
        self._seconds = seconds
        self._allow_private = allow_private
        self._resolve = resolve or resolved

    @classmethod
    def from_settings(cls, limits: IngestSettings, _settings: SourceSettings | None, _cache: Path) -> Self:
        """Return the source as configured."""
        return cls(max_bytes=limits.max_bytes, allow_private=limits.allow_private_addresses)

    def accepts(self, target: str) -> bool:
        """Say whether `target` is an http or https address."""
        return target.strip().lower().startswith(("http://", "https://"))

    def scope(self, target: str) -> str:
        """Return the address itself: one target is one document."""
        return normal_address(target)

    async def walk(self, target: str) -> AsyncIterator[SourceItem | SourceFailure]:
        """Yield the one document at an address, or why it could not be fetched."""
        address = shown_address(target)
        try:
            address = normal_address(target)
            async with asyncio.timeout(self._seconds):
                fetched = await self._fetch(address)
        except TimeoutError:
            yield _failure(address, FetchError(f"{address} did not answer in full within {self._seconds:g} seconds."))
        except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
            # ValueError: httpx reads a redirect's address by itself and lets through what idna says of its host.
            reason = plain(str(error)).rstrip(".") or type(error).__name__
            yield _failure(address, FetchError(f"{address} cannot be fetched: {reason}."))
        except UsageError as error:
            yield _failure(address, FetchError(error.message))
        except DocumentError as error:
            yield _failure(address, error)
        else:
            yield SourceItem(source=address, name=fetched.name, size=len(fetched.data), data=fetched.data)

    async def _fetch(self, address: str) -> Fetched:
        at = address
        async with httpx.AsyncClient(timeout=self._seconds, trust_env=False, follow_redirects=False) as client:
            for _ in range(_MOST_REDIRECTS + 1):
                request = await self._request(client, at)
                response = await client.send(request, stream=True)
                try:
                    if response.status_code in _REDIRECTS and "location" in response.headers:
                        at = _led(at, response.headers["location"])
                        continue
                    return await self._body(response, at)
                finally:
                    await response.aclose()
        raise FetchError(f"{address} redirects more than {_MOST_REDIRECTS} times.")

    async def _request(self, client: httpx.AsyncClient, address: str) -> httpx.Request:
        """Return a request to the checked IP that still names the host, for the server and for its certificate."""
        url = httpx.URL(address)
        host = url.host
        port = url.port or (443 if url.scheme == "https" else 80)
        ip = await self._checked_ip(host, port)
        headers = {"Host": url.netloc.decode("ascii"), "User-Agent": _AGENT, "Accept": "*/*"}
        extensions = {"sni_hostname": url.raw_host.decode("ascii")}
        return client.build_request("GET", url.copy_with(host=ip), headers=headers, extensions=extensions)

    async def _checked_ip(self, host: str, port: int) -> str:
        look = partial(address_of, host, port, resolve=self._resolve, allow_private=self._allow_private)
        return await asyncio.get_running_loop().run_in_executor(None, look)

    async def _body(self, response: httpx.Response, address: str) -> Fetched:
        if response.status_code != 200:
            raise FetchError(f"{address} answered with status {response.status_code} {response.reason_phrase}.")
        too_large = OversizeDocumentError(f"{address} is larger than {self._max_bytes:,} bytes.")
        declared = response.headers.get("content-length", "")
        # A length of thousands of digits is no number that Python reads.
        if declared.isdecimal() and (len(declared) > 18 or int(declared) > self._max_bytes):
            raise too_large
        data = bytearray()
        async for piece in response.aiter_bytes():  # unpacked, so a compressed bomb meets the limit too
            data += piece
            if len(data) > self._max_bytes:
                raise too_large
        return Fetched(data=bytes(data), name=name_of(response.headers, address))


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


def _led(address: str, location: str) -> str:
    """Return where a redirect leads, however it is written."""
    try:
        return normal_address(str(httpx.URL(address).join(location)))
    except (ValueError, httpx.InvalidURL) as error:
        raise FetchError(f"{address} redirects to what is no address: {plain(str(error))}.") from error


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


def _failure(address: str, error: DocumentError) -> SourceFailure:
    return SourceFailure(source=address, code=error.code, message=str(error))
