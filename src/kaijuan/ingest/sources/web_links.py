"""Where a page or a sitemap leads. Linear patterns over text: pages are not parsed in this process."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass

from kaijuan.errors import FetchError, UnsupportedDocumentError
from kaijuan.ingest.encoding import decode
from kaijuan.ingest.sources.web_addresses import led

_MOST_BYTES = 5_000_000
"""Links further down are not looked for."""
_MOST_LINKS = 5_000
_MOST_PLACES = 50_000
"""As many as a sitemap may hold."""
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_TAG = re.compile(r"<(a|area|base|meta|link)\s([^<>]{1,4000})>", re.IGNORECASE)
_ATTRIBUTE = re.compile(
    r"""([a-z-]{1,20})\s{0,5}=\s{0,5}(?:"([^"]{0,3000})"|'([^']{0,3000})'|([^\s"'>]{1,3000}))""", re.I
)
_SITEMAP = re.compile(r"<(?:\w{1,20}:)?(urlset|sitemapindex)[\s>]")
_PLACE = re.compile(r"<(?:\w{1,20}:)?loc>\s{0,50}([^<\s]{1,3000})\s{0,50}</")


@dataclass(frozen=True, slots=True, kw_only=True)
class Links:
    """What a page says of others and of itself."""

    addresses: tuple[str, ...]
    is_sitemap: bool = False
    wanted: bool = True
    """Whether the page lets itself be taken in (robots: noindex)."""


def links_in(data: bytes, address: str) -> Links:
    """Return the addresses that a page or sitemap at `address` names, each once, in their order."""
    try:
        text = decode(data[:_MOST_BYTES]).text
    except UnsupportedDocumentError:
        return Links(addresses=())
    if _SITEMAP.search(text[:5000]):
        places = [html.unescape(found[1]) for found in _PLACE.finditer(text)]
        return Links(addresses=_resolved(places, address, _MOST_PLACES), is_sitemap=True)
    return _page(_COMMENT.sub(" ", text) if text.count("<!--") < 10_000 else text, address)


def _page(text: str, address: str) -> Links:
    base, asked, named = address, "", []
    for tag in _TAG.finditer(text):
        given = {found[1].lower(): found[2] or found[3] or found[4] or "" for found in _ATTRIBUTE.finditer(tag[2])}
        kind = tag[1].lower()
        if kind == "meta" and given.get("name", "").lower() in {"robots", "kaijuan"}:
            asked += f",{given.get('content', '').lower()}"
        elif kind == "base" and "href" in given:
            base = next(iter(_resolved([html.unescape(given["href"])], address)), address)
        elif kind in {"a", "area"} and "href" in given and "nofollow" not in given.get("rel", "").lower():
            named.append(html.unescape(given["href"]).strip())
    words = {word.strip() for word in asked.split(",")}
    follow = words.isdisjoint({"nofollow", "none"})
    return Links(addresses=_resolved(named, base) if follow else (), wanted=words.isdisjoint({"noindex", "none"}))


def _resolved(named: list[str], base: str, most: int = _MOST_LINKS) -> tuple[str, ...]:
    found: dict[str, None] = {}
    # Each once before it is resolved, which takes a thousand times as long as finding it.
    whole = dict.fromkeys(name.partition("#")[0] for name in named)
    for name in list(whole)[:most]:
        if not name:
            continue
        try:
            found[led(base, name)] = None
        except FetchError:
            continue  # mailto:, javascript:, and what is no address
    return tuple(found)
