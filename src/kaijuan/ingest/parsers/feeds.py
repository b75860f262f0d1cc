"""Feeds (RSS 0.9 to 2.0, RSS 1.0, Atom): each entry a section with its date, author and text."""

from __future__ import annotations

from kaijuan.core.documents import BlockKind
from kaijuan.ingest.parsers.described import Described, filled
from kaijuan.ingest.parsers.draft import Draft, Origin
from kaijuan.ingest.parsers.html_blocks import pieces_of
from kaijuan.ingest.parsers.html_tree import tree_of
from kaijuan.ingest.parsers.joining import squeeze
from kaijuan.ingest.parsers.opc import Element, child, children, descendants, local
from kaijuan.ingest.parsers.pieces import write_pieces

_BODIES = ("encoded", "content", "description", "summary")
"""Where the text of an entry may stand, the fullest first."""
_FACTS = ("pubDate", "published", "updated", "date", "creator", "author", "category")


def write_feed(draft: Draft, root: Element) -> Described | None:
    """Append the entries of a feed to a draft; None when the root is no feed."""
    channel = child(root, "channel") if local(root) in {"rss", "RDF"} else root
    entries = [*descendants(root, "item"), *children(root, "entry")]
    if channel is None or not entries:
        return None
    path = root.getroottree().getpath
    draft.add(BlockKind.PARAGRAPH, _text(channel, "description") or _text(channel, "subtitle"))
    for entry in entries:
        origin = Origin(place=path(entry))
        draft.add(BlockKind.HEADING, _text(entry, "title") or _text(entry, "link"), level=2, origin=origin)
        draft.add(BlockKind.LIST, "\n".join(_facts(entry)), origin=origin)
        _write_body(draft, entry, origin.place)
    title = _text(channel, "title")
    language = _text(channel, "language") or channel.get("{http://www.w3.org/XML/1998/namespace}lang", "")
    return Described(title, filled(lang=language, author=_text(channel, "managingEditor")))


def _write_body(draft: Draft, entry: Element, place: str) -> None:
    for name in _BODIES:
        node = child(entry, name)
        if node is None:
            continue
        if node.get("type") == "xhtml":
            # The div inside is the text; as a tree of its own it is read like any page.
            from lxml import etree

            text = "".join(etree.tostring(part, encoding="unicode") for part in node)
        else:
            text = "".join(node.itertext())
        if text.strip():
            write_pieces(draft, pieces_of(tree_of(text)), within=place)
            return


def _facts(entry: Element) -> list[str]:
    lines = []
    for name in _FACTS:
        values = [squeeze(" ".join(node.itertext())) or node.get("term", "") for node in children(entry, name)]
        if said := ", ".join(filter(None, values)):
            lines.append(f"{name}: {said}")
    return lines


def _text(node: Element, name: str) -> str:
    found = child(node, name)
    return squeeze("".join(found.itertext())) if found is not None else ""
