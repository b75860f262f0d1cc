"""Editions of one document: which replaces which, and which holds on a day."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from kaijuan.core.documents import Metadata, Version
from kaijuan.core.ids import DocumentId, VersionId
from kaijuan.retrieve.validity import Standing, age_key, newer_ones, on, replaced_by, standing_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Edition:
    """One document among its editions, as it stands on a day."""

    version: Version
    label: str
    """What it calls itself: a version or edition; "" where it does not say."""
    effective_from: str
    effective_to: str
    """Days or years as the document has them; "" where it does not say."""
    standing: Standing
    detail: str
    """Since or until when, or by what it was replaced."""
    supersedes: tuple[DocumentId, ...]
    superseded_by: tuple[DocumentId, ...]
    """Those of the chain that replace it, whether or not they are in force on that day."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """Documents of which each replaces others, the oldest first."""

    editions: tuple[Edition, ...]

    @property
    def current(self) -> tuple[Edition, ...]:
        """Those that hold: one, none before the first came into force, several where nothing tells them apart."""
        return tuple(edition for edition in self.editions if edition.standing is Standing.HOLDS)


def chains(versions: Sequence[Version], day: date) -> list[Chain]:
    """Return the documents that replace each other, and by itself each that says when it is in force, by title.

    A document that says nothing of the kind is in none.
    """
    newer = newer_ones(versions)
    asked = on(day)
    replaced = replaced_by(versions, asked)
    after: dict[VersionId, list[Version]] = {old: several for old, (_, several) in newer.items()}
    before: dict[VersionId, list[Version]] = {}
    for old, several in newer.values():
        for new in several:
            before.setdefault(new.id, []).append(old)

    def edition(version: Version) -> Edition:
        standing, detail = standing_of(version, asked, replaced)
        return Edition(
            version=version,
            label=_text(version.metadata, "version"),
            effective_from=_text(version.metadata, "effective_from"),
            effective_to=_text(version.metadata, "effective_to"),
            standing=standing,
            detail=detail,
            supersedes=_ids(before.get(version.id, ())),
            superseded_by=_ids(after.get(version.id, ())),
        )

    found = []
    for group in _groups(versions, after, before):
        ordered = sorted(group, key=lambda version: (age_key(version), version.number, version.source))
        if len(group) > 1 or _is_dated(group[0]):
            found.append(Chain(editions=tuple(edition(version) for version in ordered)))
    return sorted(found, key=lambda chain: (chain.editions[-1].version.title, chain.editions[-1].version.source))


def not_in_force(versions: Sequence[Version], day: date) -> set[DocumentId]:
    """Return the documents that do not hold on a day: expired, not in force yet, or replaced by one that is."""
    asked = on(day)
    replaced = replaced_by(versions, asked)
    return {one.document_id for one in versions if standing_of(one, asked, replaced)[0] is not Standing.HOLDS}


def _groups(
    versions: Sequence[Version], after: dict[VersionId, list[Version]], before: dict[VersionId, list[Version]]
) -> list[list[Version]]:
    seen: set[VersionId] = set()
    groups = []
    for version in versions:
        group, waiting = [], [version]
        while waiting:
            one = waiting.pop()
            if one.id not in seen:
                seen.add(one.id)
                group.append(one)
                waiting += [*after.get(one.id, ()), *before.get(one.id, ())]
        if group:
            groups.append(group)
    return groups


def _is_dated(version: Version) -> bool:
    return any(version.metadata.get(name) for name in ("effective_from", "effective_to"))


def _ids(versions: Sequence[Version]) -> tuple[DocumentId, ...]:
    return tuple(sorted({version.document_id for version in versions}))


def _text(metadata: Metadata, name: str) -> str:
    value = metadata.get(name)
    return value if isinstance(value, str) else "" if value is None or isinstance(value, tuple) else str(value)
