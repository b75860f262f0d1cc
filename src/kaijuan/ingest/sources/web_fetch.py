"""Fetching by http and https. Where a connection goes is decided here, not by whoever wrote the address."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from functools import partial
from types import TracebackType
from typing import Self

import httpx

from kaijuan.errors import DocumentError, FetchError, OversizeDocumentError
from kaijuan.ingest.metadata import plain
from kaijuan.ingest.sources.hosts import Resolve, address_of, resolved
from kaijuan.ingest.sources.web_addresses import led, name_of
from kaijuan.ingest.sources.web_robots import AGENT, MOST_ROBOTS_BYTES, Rules, rules_from

_MOST_REDIRECTS = 5
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_GONE = frozenset({404, 410})
_CODINGS = {"": 0, "identity": 0, "gzip": 31, "x-gzip": 31, "deflate": 47}
"""Content codings that are read, with the window that zlib wants for each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much of the web may be asked for. `seconds` limits a whole fetch, `max_bytes` its body."""

    max_bytes: int
    seconds: float = 60.0
    allow_private: bool = False
    robots: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """What an address gave. `address` is where the last redirect led."""

    address: str
    name: str
    type: str
    data: bytes
    status: int = 200

    @property
    def gone(self) -> bool:
        """Whether the server says that there is nothing there."""
        return self.status in _GONE


class Fetcher:
    """Fetches addresses, as an async context manager. Only public hosts are asked, unless the limits say otherwise.

    The host name is resolved once per hop and the connection goes to the very IP that was checked, so neither a
    redirect nor a name that changes its IP in between leads into a private network. Proxies of the environment are
    not used, for behind a proxy the IP cannot be known.
    """

    def __init__(self, limits: Limits, resolve: Resolve | None = None) -> None:
        self._limits = limits
        self._resolve = resolve or resolved
        self._client = httpx.AsyncClient(timeout=limits.seconds, trust_env=False, follow_redirects=False)
        self._rules: dict[str, Rules] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self._client.aclose()

    async def fetch(self, address: str) -> Fetched:
        """Return what an address gives; nothing, and `gone`, where there is nothing. Raises DocumentError only."""
        fetched = await self._in_time(address, self._limits.max_bytes, robots=True)
        if fetched.status != 200 and not fetched.gone:
            raise FetchError(f"{fetched.address} answered with status {fetched.status}.")
        return fetched

    async def allows(self, address: str) -> bool:
        """Say whether the site lets programs fetch an address."""
        return not self._limits.robots or (await self._rules_for(address)).allow(address)

    async def pause(self, address: str) -> None:
        """Wait as long as the site asks programs to, between one page and the next."""
        if self._limits.robots:
            await asyncio.sleep((await self._rules_for(address)).delay)

    async def _in_time(self, address: str, most: int, *, robots: bool) -> Fetched:
        try:
            async with asyncio.timeout(self._limits.seconds):
                return await self._followed(address, most, robots=robots)
        except TimeoutError as error:
            seconds = self._limits.seconds
            raise FetchError(f"{address} did not answer in full within {seconds:g} seconds.") from error
        except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
            # ValueError: httpx reads a redirect's address by itself and lets through what idna says of its host.
            reason = plain(str(error)).rstrip(".") or type(error).__name__
            raise FetchError(f"{address} cannot be fetched: {reason}.") from error

    async def _followed(self, address: str, most: int, *, robots: bool) -> Fetched:
        at = address
        for _ in range(_MOST_REDIRECTS + 1):
            if robots and not await self.allows(at):
                raise (await self._rules_for(at)).error or FetchError(
                    f"The site of {at} asks programs not to fetch it (robots.txt).",
                    hint="Ask its owner; ingest.respect_robots = false fetches it all the same.",
                )
            response = await self._client.send(await self._request(at), stream=True)
            try:
                if response.status_code in _REDIRECTS and "location" in response.headers:
                    at = led(at, response.headers["location"])
                    continue
                return await body_of(response, at, most)
            finally:
                await response.aclose()
        raise FetchError(f"{address} redirects more than {_MOST_REDIRECTS} times.")

    async def _request(self, address: str) -> httpx.Request:
        """Return a request to the checked IP that still names the host, for the server and for its certificate."""
        url = httpx.URL(address)
        port = url.port or (443 if url.scheme == "https" else 80)
        look = partial(address_of, url.host, port, resolve=self._resolve, allow_private=self._limits.allow_private)
        ip = await asyncio.get_running_loop().run_in_executor(None, look)
        headers = {
            "Host": url.netloc.decode("ascii"),
            "User-Agent": AGENT,
            "Accept": "*/*",
            "Accept-Encoding": "gzip",
        }
        extensions = {"sni_hostname": url.raw_host.decode("ascii")}
        return self._client.build_request("GET", url.copy_with(host=ip), headers=headers, extensions=extensions)

    async def _rules_for(self, address: str) -> Rules:
        url = httpx.URL(address)
        site = str(url.copy_with(raw_path=b"/robots.txt", fragment=None))
        if site not in self._rules:
            self._rules[site] = rules_from(await self._robots(site))
        return self._rules[site]

    async def _robots(self, site: str) -> bytes | DocumentError:
        """Return the file, nothing where there is none, or why the server could not say."""
        try:
            found = await self._in_time(site, MOST_ROBOTS_BYTES, robots=False)
        except OversizeDocumentError:
            return b""
        except DocumentError as error:
            return error
        return FetchError(f"{site} answered with status {found.status}.") if found.status >= 500 else found.data


async def body_of(response: httpx.Response, address: str, most: int) -> Fetched:
    """Return what an answer holds, at most `most` bytes; of any status but 200 the status alone."""
    status = response.status_code
    if status != 200:
        return Fetched(address=address, name="", type="", data=b"", status=status)
    too_large = OversizeDocumentError(f"{address} is larger than {most:,} bytes.")
    declared = response.headers.get("content-length", "")
    # A length of thousands of digits is no number that Python reads.
    if declared.isdecimal() and (len(declared) > 18 or int(declared) > most):
        raise too_large
    data = bytearray()
    async for piece in _unpacked(response, address, most + 1):
        data += piece
        if len(data) > most:
            raise too_large
    type_ = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    return Fetched(address=address, name=name_of(response.headers, address), type=type_, data=bytes(data))


async def _unpacked(response: httpx.Response, address: str, most: int) -> AsyncIterator[bytes]:
    """Yield the body without its coding, never more than `most` bytes at once.

    httpx would unpack each piece whole, and codings within codings: 64 KiB could become gigabytes before any limit.
    """
    coding = response.headers.get("content-encoding", "").strip().lower()
    if coding not in _CODINGS:
        raise FetchError(f"{address} is sent in a coding that is not read: {plain(coding)[:40]!r}.")
    if not _CODINGS[coding]:
        async for piece in response.aiter_raw():
            yield piece
        return
    unpack = zlib.decompressobj(_CODINGS[coding])
    try:
        async for piece in response.aiter_raw():
            while piece:
                yield unpack.decompress(piece, most)
                piece = unpack.unconsumed_tail
        yield unpack.flush()
    except zlib.error as error:
        raise FetchError(f"{address} is not packed as it says: {error}.") from error
