"""Pages and files by http and https: one address, or the pages that it leads to on its own site."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self, cast
from urllib.parse import unquote, urlsplit

from kaijuan.errors import DocumentError, FetchError, OversizeDocumentError, UsageError
from kaijuan.ingest.ports import SourceFailure, SourceItem
from kaijuan.ingest.settings import IngestSettings
from kaijuan.ingest.sources.hosts import Resolve
from kaijuan.ingest.sources.patterns import PathFilter
from kaijuan.ingest.sources.settings import SourceSettings, WebSettings
from kaijuan.ingest.sources.web_addresses import normal_address, shown_address
from kaijuan.ingest.sources.web_fetch import Fetched, Fetcher, Limits
from kaijuan.ingest.sources.web_links import Links, links_in

_PAGES = frozenset({"text/html", "application/xhtml+xml", "application/xml", "text/xml"})


class UrlSource:
    """Source of single addresses, and with a depth of the pages below the same folder of the same host.

    robots.txt is respected, redirects are followed, and private addresses refused, as `limits` say. A sitemap with a
    depth is no document but the list of them.
    """

    def __init__(
        self, limits: Limits | None = None, *, settings: WebSettings | None = None, resolve: Resolve | None = None
    ) -> None:
        self._limits = limits or Limits(max_bytes=200_000_000)
        self._depth = settings.depth if settings else 0
        self._pages = settings.pages if settings else 1
        self._paths = PathFilter(settings.include, settings.exclude) if settings else PathFilter()
        self._resolve = resolve

    @classmethod
    def from_settings(cls, limits: IngestSettings, settings: SourceSettings | None, _cache: Path) -> Self:
        """Return the source as configured."""
        chosen = Limits(
            max_bytes=limits.max_bytes, allow_private=limits.allow_private_addresses, robots=limits.respect_robots
        )
        return cls(chosen, settings=cast(WebSettings | None, settings))

    def accepts(self, target: str) -> bool:
        """Say whether `target` is an http or https address."""
        return target.strip().lower().startswith(("http://", "https://"))

    def scope(self, target: str) -> str:
        """Return the address itself, without a slash at its end; with a depth its folder, with one."""
        address = normal_address(target)
        return _folder(address) if self._depth else address.rstrip("/")

    async def walk(self, target: str) -> AsyncIterator[SourceItem | SourceFailure]:
        """Yield the document at an address, then those it leads to; what could not be fetched is a failure."""
        try:
            address = normal_address(target)
        except UsageError as error:
            yield _failure(shown_address(target), FetchError(error.message))
            return
        async with Fetcher(self._limits, self._resolve) as fetcher:
            if not self._depth:
                yield await _single(fetcher, address)
                return
            crawl = _Crawl(fetcher=fetcher, start=address, scope=_folder(address), depth=self._depth, paths=self._paths)
            async for found in crawl.walk(self._pages):
                yield found


async def _single(fetcher: Fetcher, address: str) -> SourceItem | SourceFailure:
    try:
        fetched = await fetcher.fetch(address)
        if fetched.gone:
            raise FetchError(f"{address} answered with status {fetched.status}.")
    except DocumentError as error:
        return _failure(address, error)
    return _item(address, fetched)


@dataclass(slots=True, kw_only=True)
class _Crawl:
    """One walk over the pages of a site, nearest first."""

    fetcher: Fetcher
    start: str
    scope: str
    depth: int
    paths: PathFilter
    met: set[str] = field(default_factory=set)
    waiting: deque[tuple[str, int]] = field(default_factory=deque)
    lost: bool = False
    """Whether a page could not be fetched whose links nobody knows now."""

    async def walk(self, most: int) -> AsyncIterator[SourceItem | SourceFailure]:
        self.waiting.append((self.start, 0))
        self.met.add(self._known(self.start))
        fetched = 0
        while self.waiting:
            if fetched >= most:
                yield _failure(
                    self.scope,
                    OversizeDocumentError(f"{self.start} leads to more than {most:,} pages.", hint="Raise `pages`."),
                )
                return
            address, depth = self.waiting.popleft()
            if fetched:
                await self.fetcher.pause(address)
            fetched += 1
            found = await self._page(address, depth)
            if found is not None:
                yield found
        if self.lost:
            # Documents behind that page must not count as gone from the site.
            yield _failure(self.scope, FetchError("Some pages failed, so that not all links are known."))

    async def _page(self, address: str, depth: int) -> SourceItem | SourceFailure | None:
        fetched = await self._fetched(address, depth)
        if not isinstance(fetched, Fetched):
            return fetched
        at = self._known(fetched.address)
        if at != self._known(address) and (at in self.met or not self._is_below(at)):
            return None  # a redirect to a page that is met as itself, or to another place
        self.met.add(at)
        links = await self._follow(fetched, depth)
        if links is not None and (links.is_sitemap or not links.wanted):
            return None
        return _item(at, fetched) if self._is_wanted(at) else None

    async def _fetched(self, address: str, depth: int) -> Fetched | SourceFailure | None:
        """Return a page, or why it failed; None for one that the site keeps from programs, or has no more."""
        try:
            if depth and not await self.fetcher.allows(address):
                return None
            fetched = await self.fetcher.fetch(address)
            if fetched.gone and not depth:
                raise FetchError(f"{address} answered with status {fetched.status}.")
        except DocumentError as error:
            self.lost = self.lost or 0 < depth < self.depth
            # Without the first page nothing is known of any other.
            return _failure(address if depth else self.scope, error)
        return None if fetched.gone else fetched

    async def _follow(self, fetched: Fetched, depth: int) -> Links | None:
        if fetched.type not in _PAGES and not fetched.name.endswith((".html", ".xml")):
            return None
        links = await asyncio.to_thread(links_in, fetched.data, fetched.address)
        # A list of sitemaps is one step, however it is divided.
        further = depth if links.is_sitemap and depth else depth + 1
        if further <= self.depth:
            for address in links.addresses:
                known = self._known(address)
                if known not in self.met and self._is_below(known) and self.paths.enters(self._path(known)):
                    self.met.add(known)
                    self.waiting.append((address, further))
        return links

    def _known(self, address: str) -> str:
        """Return an address as documents have it: the folder itself is named with its slash."""
        return self.scope if f"{address}/" == self.scope else address

    def _is_below(self, address: str) -> bool:
        return address.startswith(self.scope)

    def _path(self, address: str) -> str:
        return unquote(address[len(self.scope) :].partition("?")[0])

    def _is_wanted(self, address: str) -> bool:
        return self.paths.takes(self._path(address) or "index.html")


def _folder(address: str) -> str:
    """Return the folder of an address, with a slash; a last part without a dot is one itself."""
    parts = urlsplit(address)
    start, _, last = parts.path.rpartition("/")
    path = f"{start}/" if "." in last or not last else f"{parts.path}/"
    return f"{parts.scheme}://{parts.netloc}{path}"


def _item(address: str, fetched: Fetched) -> SourceItem:
    return SourceItem(source=address, name=fetched.name, size=len(fetched.data), data=fetched.data)


def _failure(address: str, error: DocumentError) -> SourceFailure:
    return SourceFailure(source=address, code=error.code, message=str(error))
