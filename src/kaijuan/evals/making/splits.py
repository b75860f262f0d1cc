"""Which split a document belongs to. No document's questions are in two splits, and none ever moves.

A document's split follows from a hash of its family, so that adding documents moves nobody; editions of one title
(2023 版 and 2025 版, the pages of one report) are one family, because they say nearly the same.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from kaijuan.core.text.normalise import folded
from kaijuan.errors import UsageError
from kaijuan.evals.making.items import Split

_EDITION = re.compile(r"[\d一二三四五六七八九十〇零]+|版本?|edition|version|v(?=\d)|\W|_", re.IGNORECASE)
_PARTS = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Shares:
    """Parts of a whole hundred for train, dev and test."""

    train: int = 60
    dev: int = 20
    test: int = 20

    def __post_init__(self) -> None:
        parts = (self.train, self.dev, self.test)
        if min(parts) < 0 or sum(parts) != 100:
            raise UsageError(
                f"The shares {','.join(map(str, parts))} do not make 100.", hint="Write them like --shares 60,20,20."
            )


def read_shares(text: str) -> Shares:
    """Read "60,20,20"."""
    try:
        train, dev, test = (int(part) for part in text.split(","))
    except ValueError as error:
        raise UsageError(
            f"{text!r} is not three shares.", hint="Write the parts of train, dev and test like --shares 60,20,20."
        ) from error
    return Shares(train=train, dev=dev, test=test)


def family_of(title: str, name: str) -> str:
    """Return what the editions of one document have in common: its title without numbers, or its name."""
    family = _EDITION.sub("", folded(title or name))
    return family if len(family) >= 2 else folded(title or name)


def split_of(family: str, shares: Shares) -> Split:
    """Return the split of a family, by its hash alone."""
    digest = hashlib.blake2b(family.encode("utf-8", "surrogatepass"), digest_size=8, person=b"kaijuan-split").digest()
    point = int.from_bytes(digest) % _PARTS * 100 / _PARTS
    if point < shares.train:
        return Split.TRAIN
    return Split.DEV if point < shares.train + shares.dev else Split.TEST


@dataclass(frozen=True, slots=True, kw_only=True)
class Assigned:
    """Where documents and families went, by their names. What was settled before holds on, whatever the shares."""

    documents: Mapping[str, Split]
    families: Mapping[str, Split]


def assign(
    documents: Iterable[tuple[str, str]], shares: Shares, before: Assigned | None = None
) -> dict[str, tuple[str, Split]]:
    """Return family and split of each document, given as (key, family). Earlier assignments are never changed."""
    known = before or Assigned(documents={}, families={})
    found: dict[str, tuple[str, Split]] = {}
    for key, family in documents:
        split = known.documents.get(key) or known.families.get(family) or split_of(family, shares)
        found[key] = (family, split)
    return found
