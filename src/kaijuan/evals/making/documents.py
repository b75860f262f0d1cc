"""The documents of a knowledge base at one snapshot: their names in the set, their splits, and what they offer."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from urllib.parse import unquote, urlsplit

from kaijuan.core.documents import Version
from kaijuan.core.ids import stable_id
from kaijuan.engine import Kaijuan
from kaijuan.evals.making.items import Head
from kaijuan.evals.making.material import Material, material_of
from kaijuan.evals.making.splits import Assigned, Shares, assign, family_of

Told = Callable[[str, int, int], None]
"""Told what is being done, and how many of how many are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """A document of the base with its place in the set."""

    version: Version
    head: Head
    family: str


def placed(versions: Sequence[Version], shares: Shares, before: Assigned | None = None) -> list[Placed]:
    """Return the documents in order of their sources, each with an id and a split.

    The id is the last part of the source, with a piece of its hash where two would share one.
    """
    names = {version.source: _name(version.source) for version in versions}
    shared = Counter(names.values())
    ids = {
        source: name if shared[name] == 1 else f"{name}~{stable_id('source', source)[:8]}"
        for source, name in names.items()
    }
    families = [(version.source, family_of(version.title, names[version.source])) for version in versions]
    assigned = assign(families, shares, before)
    found: list[Placed] = []
    for version in sorted(versions, key=lambda version: version.source):
        family, split = assigned[version.source]
        head = Head(
            id=ids[version.source],
            source=version.source,
            version_id=version.id,
            version=version.number,
            title=version.title,
            language=version.language,
            split=split,
        )
        found.append(Placed(version=version, head=head, family=family))
    return found


def _name(source: str) -> str:
    parts = urlsplit(source)
    name = unquote(parts.fragment) or PurePosixPath(unquote(parts.path)).name or source
    return " ".join(name.split()) or source


async def read_all(
    engine: Kaijuan, documents: Sequence[Placed], snapshot: int, told: Told | None = None
) -> AsyncIterator[tuple[Placed, str, Material]]:
    """Yield every document with its text and material, one at a time: a base may be larger than memory."""
    for at, document in enumerate(documents, start=1):
        view = await engine.show(document.version.id, as_of=snapshot)
        yield document, view.text, material_of(document.head, view.text, view.blocks)
        if told is not None:
            told("reading documents", at, len(documents))
