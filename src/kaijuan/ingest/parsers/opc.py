"""Packages of Office Open XML (ECMA-376 part 2): parts, relations between them, and their XML, whoever wrote it.

Tags are compared by their local names, because the strict flavour of the standard has namespaces of its own.
"""

from __future__ import annotations

import io
import posixpath
import re
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Any
from urllib.parse import unquote

from lxml import etree

from kaijuan.core.documents import Scalar
from kaijuan.errors import BrokenDocumentError
from kaijuan.ingest.parsers.packages import check_package

Element = Any  # lxml has no types of its own
_SAFE: dict[str, Any] = {"resolve_entities": False, "no_network": True, "huge_tree": False, "remove_comments": True}
_RELATION_ID = re.compile(r"\{[^}]*/relationships\}(?:id|embed|link|pict)$")


@dataclass(frozen=True, slots=True)
class Relation:
    """What a part points to. `role` is the last word of the relation's type ("slide", "notesSlide")."""

    role: str
    part: str


class Package:
    """A package that is open for reading. Broken, protected and oversized ones raise their DocumentError."""

    def __init__(self, data: bytes, name: str) -> None:
        check_package(data, name)
        self._name = name
        self._zip = zipfile.ZipFile(io.BytesIO(data))
        self._members = {_plain(member): member for member in self._zip.namelist()}

    def __contains__(self, part: str) -> bool:
        return _plain(part) in self._members

    def open(self, part: str) -> IO[bytes]:
        """Return a part's bytes as a stream."""
        try:
            return self._zip.open(self._members[_plain(part)])
        except (KeyError, ValueError, zipfile.BadZipFile, NotImplementedError, OSError, RuntimeError) as error:
            raise self._broken(part, error) from error

    def read(self, part: str) -> bytes:
        """Return a part's bytes."""
        try:
            with self.open(part) as stream:
                return stream.read()
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError) as error:
            raise self._broken(part, error) from error

    def size(self, part: str) -> int:
        """Return how many bytes a part that exists says it has."""
        return self._zip.getinfo(self._members[_plain(part)]).file_size

    def xml(self, part: str) -> Element:
        """Return the root element of a part."""
        return parsed(self.read(part), f"The part {part} of {self._name}")

    def elements(self, part: str, *names: str) -> Iterator[Element]:
        """Yield elements of these local names as they end, outermost ones only; each is emptied when left."""
        try:
            with self.open(part) as stream:
                yield from _streamed(stream, names)
        except (etree.XMLSyntaxError, zipfile.BadZipFile, zlib.error, EOFError, OSError) as error:
            raise self._broken(part, error) from error

    def main(self) -> str:
        """Return the part that holds the document."""
        for relation in self.relations("").values():
            if relation.role == "officeDocument" and relation.part in self:
                return relation.part
        raise BrokenDocumentError(f"{self._name} has no main part.")

    def relations(self, part: str) -> dict[str, Relation]:
        """Return what a part points to inside the package, by id."""
        folder, _, base = part.rpartition("/")
        rels = f"{folder}/_rels/{base}.rels".lstrip("/")
        if rels not in self:
            return {}
        found = {}
        for node in self.xml(rels):
            if node.get("TargetMode") != "External" and isinstance(node.tag, str):
                target = unquote(node.get("Target") or "")
                inside = target if target.startswith("/") else posixpath.join(folder, target)
                role = (node.get("Type") or "").rpartition("/")[2]
                found[node.get("Id") or ""] = Relation(role, posixpath.normpath(inside).lstrip("/"))
        return found

    def related(self, part: str, role: str) -> list[str]:
        """Return the parts of one role that a part points to, those that exist."""
        return [found.part for found in self.relations(part).values() if found.role == role and found.part in self]

    def properties(self) -> dict[str, Scalar | tuple[str, ...]]:
        """Return the core properties of the document."""
        values: dict[str, Scalar | tuple[str, ...]] = {}
        parts = self.related("", "core-properties")
        try:
            root = self.xml(parts[0]) if parts else ()
        except BrokenDocumentError:
            return values  # damaged properties are no reason to lose the text
        for node in root:
            key = _PROPERTIES.get(local(node))
            text = " ".join("".join(node.itertext()).split())
            if key and text:
                values.setdefault(key, text)
        return values

    def _broken(self, part: str, error: Exception) -> BrokenDocumentError:
        return BrokenDocumentError(f"{self._name} is damaged at {part}: {error or type(error).__name__}.")


_PROPERTIES = {
    "title": "title",
    "creator": "author",
    "subject": "subject",
    "keywords": "keywords",
    "category": "category",
    "version": "version",
    "created": "created",
    "modified": "modified",
}


def _plain(part: str) -> str:
    # Some programs write backslashes, and names are the same whatever their case (part 2, 6.2.2.3).
    return part.replace("\\", "/").lstrip("/").lower()


def parsed(data: bytes, what: str) -> Element:
    """Return the root of an XML text. No entity is resolved and nothing is fetched."""
    try:
        return etree.fromstring(data, etree.XMLParser(**_SAFE))
    except (etree.XMLSyntaxError, ValueError) as error:
        raise BrokenDocumentError(f"{what} is no sound XML: {error}.") from error


def _streamed(stream: IO[bytes], names: tuple[str, ...]) -> Iterator[Element]:
    depth = 0
    wanted = [f"{{*}}{name}" for name in names]
    for event, node in etree.iterparse(stream, events=("start", "end"), tag=wanted, **_SAFE):
        depth += 1 if event == "start" else -1
        if event == "end" and depth == 0:
            yield node
            node.clear()
            # What was read is let go of, or a sheet of a million rows would stay in memory.
            while node.getprevious() is not None and node.getparent() is not None:
                del node.getparent()[0]


def local(node: Element) -> str:
    """Return an element's name without its namespace, "" for comments and the like."""
    tag = node.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def child(node: Element | None, *path: str) -> Element | None:
    """Return the first descendant along a path of local names, or None."""
    for name in path:
        if node is None:
            return None
        node = next((at for at in node if local(at) == name), None)
    return node


def children(node: Element | None, name: str) -> Iterator[Element]:
    """Yield the direct children of a local name."""
    if node is not None:
        yield from (at for at in node if local(at) == name)


def descendants(node: Element | None, name: str) -> Iterator[Element]:
    """Yield all descendants of a local name in document order."""
    if node is not None:
        yield from (at for at in node.iter() if local(at) == name)


def shown_nodes(node: Element) -> Iterator[Element]:
    """Yield an element and all below it, but not what stands there for programs that know less (mc:Fallback)."""
    yield node
    for at in node:
        if local(at) != "Fallback":
            yield from shown_nodes(at)


def value_of(node: Element | None, name: str = "val", default: str = "") -> str:
    """Return an attribute whatever its namespace."""
    if node is not None:
        for key, value in node.attrib.items():
            if key.rpartition("}")[2] == name:
                return str(value)
    return default


def relation_id(node: Element | None) -> str:
    """Return the id of the relation that an element names."""
    if node is not None:
        for key, value in node.attrib.items():
            if _RELATION_ID.search(key):
                return str(value)
    return ""


def number_of(text: str | None, default: int = 0) -> int:
    """Return an attribute as a whole number, `default` when it is none."""
    try:
        return int(text or "")
    except ValueError:
        return default


def is_on(text: str | None) -> bool:
    """Say whether an attribute of truth (ST_OnOff) is set."""
    return (text or "") in {"1", "true", "on"}
