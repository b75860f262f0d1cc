"""What age, authority and a newer edition make of a passage (spec G7), from what documents say about themselves.

Editions are documents whose titles differ only in year or version and which say when they came into force, or which
version they are. Two annual reports differ in year and are no editions: neither says that it replaces anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from enum import StrEnum
from urllib.parse import unquote

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
_MOST_NEWER = 50
"""Editions that are looked at after each: a base may hold thousands of one title."""
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
    versions: Mapping[VersionId, Version],
    question: str,
    now: float,
    settings: RetrieveSettings,
    kb: str,
    at: date | None = None,
) -> dict[VersionId, Validity]:
    """Return how each version stands among the others; those that nothing is said about hold.

    `now` is in seconds since 1970, `kb` the name of the base, whose half-life may be its own. `at` is the day that is
    asked about, whatever the question names.
    """
    asked = on(at) if at else asked_about(question, datetime.fromtimestamp(now, UTC).date())
    replaced = replaced_by(versions.values(), asked)
    half_life = settings.half_lives.get(kb, settings.half_life_days)
    found = {}
    for id, version in versions.items():
        standing, detail = standing_of(version, asked, replaced)
        factor = _freshness(version, now, half_life) * _authority(version.metadata, settings.authority)
        factor *= 1.0 if standing is Standing.HOLDS else settings.outdated_weight
        found[id] = Validity(standing=standing, detail=detail, factor=factor)
    return found


def on(day: date) -> Asked:
    """Return the day alone, as what is asked about."""
    return Asked(first=day, last=day, named=False)


def standing_of(version: Version, asked: Asked, replaced: Mapping[VersionId, Version]) -> tuple[Standing, str]:
    """Return how a version stands on the days asked about, and since or until when, or by what it was replaced."""
    start, end = day_of(version.metadata.get("effective_from")), day_of(version.metadata.get("effective_to"), last=True)
    if end is not None and end < asked.first:
        return Standing.EXPIRED, f"{end}"
    if start is not None and start > asked.last:
        return Standing.FUTURE, f"{start}"
    newer = replaced.get(version.id)
    if newer is not None:
        return Standing.SUPERSEDED, f"by {newer.title or newer.source}"
    return Standing.HOLDS, ""


def replaced_by(versions: Iterable[Version], asked: Asked) -> dict[VersionId, Version]:
    """Return the newer edition, in force on the day asked about, of every version that has one among the others."""
    replaced: dict[VersionId, Version] = {}
    for old, several in newer_ones(list(versions)).values():
        newer = [new for new in several if _in_force(new, asked) and not _named(old, asked)]
        if newer:
            replaced[old.id] = max(newer, key=lambda version: (age_key(version), version.id))
    return replaced


def newer_ones(versions: Sequence[Version]) -> dict[VersionId, tuple[Version, list[Version]]]:
    """Return for every version that others replace, whenever that is, the version and the others.

    An edition replaces an earlier one of the same family, and what it says that it supersedes, whatever that is called.
    """
    found: dict[VersionId, tuple[Version, list[Version]]] = {}
    for new, old in (*_by_family(versions), *_by_word(versions)):
        several = found.setdefault(old.id, (old, []))[1]
        if all(other.id != new.id for other in several):
            several.append(new)
    return found


def _by_family(versions: Iterable[Version]) -> Iterator[tuple[Version, Version]]:
    """Yield (newer, older) editions of one title."""
    families: dict[str, list[Version]] = {}
    for version in filter(_is_edition, versions):
        family = family_of(version.title)
        if len(family) >= _SHORTEST:
            families.setdefault(family, []).append(version)
    for family_members in families.values():
        editions = sorted(family_members, key=lambda version: (age_key(version), version.id))
        for at, one in enumerate(editions):
            # The oldest first: what replaces an edition comes after it. Of very many the next few will do.
            for other in editions[at + 1 : at + 1 + _MOST_NEWER]:
                if _replaces(other, one):
                    yield other, one
                elif _replaces(one, other):
                    yield one, other


def _by_word(versions: Sequence[Version]) -> Iterator[tuple[Version, Version]]:
    """Yield (newer, older) documents of which one names the other in its metadata."""
    if not any(version.metadata.get(field) for version in versions for field in ("supersedes", "superseded_by")):
        return
    called: dict[str, list[Version]] = {}
    for version in versions:
        for name in _names(version):
            called.setdefault(name, []).append(version)
    for version in versions:
        for old in _meant_by(version, "supersedes", called):
            yield version, old
        for new in _meant_by(version, "superseded_by", called):
            yield new, version


def _is_edition(version: Version) -> bool:
    """Say whether a version tells which edition it is."""
    return age_key(version) != (date.min, ())


def _names(version: Version) -> set[str]:
    """Return the words by which another document may mean this one."""
    place = unquote(version.source).rpartition("/")[2]
    said = version.metadata.get("document_number")
    names = {version.title, place, place.rpartition(".")[0], version.document_id, said if isinstance(said, str) else ""}
    return {folded(name).strip() for name in names if name}


def _meant_by(version: Version, field: str, called: Mapping[str, Sequence[Version]]) -> Iterator[Version]:
    """Yield the documents that a field of the metadata names; a name that several have means none of them."""
    value = version.metadata.get(field)
    for name in value if isinstance(value, tuple) else (value,):
        meant = called.get(folded(name).strip().strip("《》"), ()) if isinstance(name, str) else ()
        if len(meant) == 1 and meant[0].document_id != version.document_id:
            yield meant[0]


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


def age_key(version: Version) -> tuple[date, tuple[int, ...]]:
    """Return what orders editions: when they came into force, then their version."""
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
