"""What age, authority and a newer edition make of a passage (spec G7), from what documents say about themselves.

Editions are documents whose titles differ only in year or version and which say when they came into force, or which
version they are. Two annual reports differ in year and are no editions: neither says that it replaces anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from enum import StrEnum

from kaijuan.core.documents import Metadata, Version
from kaijuan.core.ids import VersionId
from kaijuan.core.text.normalise import folded
from kaijuan.retrieve.settings import RetrieveSettings

_DAY = re.compile(r"((?:19|20)\d\d)(?:-(\d\d)(?:-(\d\d))?)?")
_YEAR = re.compile(r"(?<!\d)((?:19|20)\d\d)(?!\d)")
_EDITION = re.compile(
    r"v?\d+(?:\.\d+)*|[一二三四五六七八九十]+(?=[版稿])|[版稿修订訂正第年度()（）\[\]〔〕\s_.-]|\b(?:version|edition|rev)\b"
)
_NUMBERS = re.compile(r"\d+")
_SHORTEST = 2
"""Characters of a title without its edition by which a family of editions is known."""
_AGES = ("updated", "published", "effective_from")
"""Fields that say how old a document is, the surest first."""
_DAYS_A_YEAR = 365.25
_SECONDS_A_DAY = 86_400.0


class Standing(StrEnum):
    """How a document stands on the day asked about."""

    HOLDS = ""
    EXPIRED = "expired"
    FUTURE = "not in force yet"
    SUPERSEDED = "superseded"


@dataclass(frozen=True, slots=True, kw_only=True)
class Validity:
    """How a version stands. `detail` says since or until when, or by what it was replaced."""

    standing: Standing
    detail: str = ""
    factor: float = 1.0
    """What its score is multiplied with, for age and authority."""

    def __str__(self) -> str:
        return f"{self.standing} {self.detail}".strip()


HOLDS = Validity(standing=Standing.HOLDS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The day that a question is about: today, or the year or years that it names."""

    first: date
    last: date
    named: bool


def asked_about(question: str, today: date) -> Asked:
    """Return the days that a question is about; a question that names years is about these."""
    years = sorted({int(year) for year in _YEAR.findall(folded(question))})
    if not years:
        return Asked(first=today, last=today, named=False)
    return Asked(first=date(years[0], 1, 1), last=date(years[-1], 12, 31), named=True)


def validities(
    versions: Mapping[VersionId, Version], question: str, now: float, settings: RetrieveSettings, kb: str
) -> dict[VersionId, Validity]:
    """Return how each version stands among the others; those that nothing is said about hold.

    `now` is in seconds since 1970, `kb` the name of the base, whose half-life may be its own.
    """
    asked = asked_about(question, datetime.fromtimestamp(now, UTC).date())
    replaced = _replaced(versions.values(), asked)
    half_life = settings.half_lives.get(kb, settings.half_life_days)
    found = {}
    for id, version in versions.items():
        standing, detail = _standing(version, asked, replaced)
        factor = _freshness(version, now, half_life) * _authority(version.metadata, settings.authority)
        factor *= 1.0 if standing is Standing.HOLDS else settings.outdated_weight
        found[id] = Validity(standing=standing, detail=detail, factor=factor)
    return found


def _standing(version: Version, asked: Asked, replaced: Mapping[VersionId, Version]) -> tuple[Standing, str]:
    start, end = day_of(version.metadata.get("effective_from")), day_of(version.metadata.get("effective_to"), last=True)
    if end is not None and end < asked.first:
        return Standing.EXPIRED, f"{end}"
    if start is not None and start > asked.last:
        return Standing.FUTURE, f"{start}"
    newer = replaced.get(version.id)
    if newer is not None:
        return Standing.SUPERSEDED, f"by {newer.title or newer.source}"
    return Standing.HOLDS, ""


def _replaced(versions: Iterable[Version], asked: Asked) -> dict[VersionId, Version]:
    """Return the newer edition, in force on the day asked about, of every version that has one among the others."""
    families: dict[str, list[Version]] = {}
    for version in versions:
        family = family_of(version.title)
        if len(family) >= _SHORTEST:
            families.setdefault(family, []).append(version)
    replaced: dict[VersionId, Version] = {}
    for editions in families.values():
        for old in editions:
            newer = [
                new for new in editions if _replaces(new, old) and _in_force(new, asked) and not _named(old, asked)
            ]
            if newer:
                replaced[old.id] = max(newer, key=lambda version: (_age_key(version), version.id))
    return replaced


def family_of(title: str) -> str:
    """Return a title without what tells editions apart."""
    return _EDITION.sub("", folded(title))


def _replaces(new: Version, old: Version) -> bool:
    if new.document_id == old.document_id:
        return False
    later, earlier = day_of(new.metadata.get("effective_from")), day_of(old.metadata.get("effective_from"))
    if later is not None and earlier is not None:
        return later > earlier
    mine, theirs = new.metadata.get("version"), old.metadata.get("version")
    if not (isinstance(mine, str) and isinstance(theirs, str)):
        return False
    return _version_key(mine) > _version_key(theirs) > ()


def _version_key(label: str) -> tuple[int, ...]:
    return tuple(int(number) for number in _NUMBERS.findall(label)[:4])


def _age_key(version: Version) -> tuple[date, tuple[int, ...]]:
    label = version.metadata.get("version")
    return (
        day_of(version.metadata.get("effective_from")) or date.min,
        _version_key(label) if isinstance(label, str) else (),
    )


def _in_force(version: Version, asked: Asked) -> bool:
    start = day_of(version.metadata.get("effective_from"))
    # A year in which the newer one came into force is asked about both: until then the older one held.
    return start is None or start <= asked.first


def _named(version: Version, asked: Asked) -> bool:
    """Say whether the question names the year of this very edition."""
    years = {int(year) for year in _YEAR.findall(folded(version.title))}
    start = day_of(version.metadata.get("effective_from"))
    years |= {start.year} if start else set()
    return asked.named and bool(years & set(range(asked.first.year, asked.last.year + 1)))


def _freshness(version: Version, now: float, half_life: float) -> float:
    if not half_life:
        return 1.0
    said = next((day for name in _AGES if (day := day_of(version.metadata.get(name))) is not None), None)
    born = datetime(said.year, said.month, said.day, tzinfo=UTC).timestamp() if said else version.created_at
    return float(0.5 ** (max(0.0, now - born) / _SECONDS_A_DAY / half_life))


def _authority(metadata: Metadata, factors: Mapping[str, float]) -> float:
    said = metadata.get("authority")
    return factors.get(str(said), 1.0) if said is not None else 1.0


def day_of(value: object, *, last: bool = False) -> date | None:
    """Return the day that metadata names ("2024", "2024-03", "2024-03-05"); of a longer time its first or last day."""
    match = _DAY.match(value) if isinstance(value, str) else None
    if match is None:
        return None
    year, month, day = int(match[1]), int(match[2] or (12 if last else 1)), int(match[3] or (28 if last else 1))
    try:
        return date(year, month, day)
    except ValueError:
        return None
