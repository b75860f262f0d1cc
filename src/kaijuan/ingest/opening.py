"""Which source serves a target: a named one of the configuration, or the first adapter that accepts an address."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from kaijuan.errors import UsageError
from kaijuan.ingest.ports import Notebook, Source, SourceFailure, SourceItem
from kaijuan.ingest.settings import IngestSettings
from kaijuan.ingest.sources.expanding import Ask, ExpandingSource
from kaijuan.ingest.sources.settings import BUILT_IN, OtherSourceSettings, SourceSettings

_NAME = re.compile(r"(?:(?P<kind>[a-z0-9]+):)?(?P<name>[^\s:/\\#]+)(?(kind)|:)")
"""NAME: or KIND:NAME."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Narrowing:
    """What a caller asks of a source beyond its target; None and () leave it as it is set."""

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    depth: int | None = None

    @property
    def given(self) -> dict[str, Any]:
        """The settings that this changes."""
        told: dict[str, Any] = {"include": self.include, "exclude": self.exclude, "depth": self.depth}
        return {name: value for name, value in told.items() if value not in ((), None)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A source, and the target as it knows it."""

    source: ExpandingSource
    target: str

    @property
    def scope(self) -> str:
        """The prefix of all addresses under the target."""
        return self.source.scope(self.target)

    def remember(self, notebook: Notebook) -> None:
        """Let the source leave out what looks as it did."""
        self.source.remember(notebook)

    def expected(self) -> int | None:
        """Return how many documents there are about; None where nobody knows. Blocks."""
        return self.source.expected(self.target)


@dataclass(frozen=True, kw_only=True)
class Opener:
    """Finds and makes sources. Adapters are classes with `from_settings(limits, settings or None, cache)`."""

    words: Sequence[str]
    """Kinds of sources, those that are asked first coming first."""
    load: Callable[[str], Any]
    """From a kind to its class; MissingExtraError when that cannot be imported."""
    named: Mapping[str, SourceSettings]
    limits: IngestSettings
    cache: Path
    """Folder for what sources keep between walks."""
    attachments: Ask | None = None
    """Reads messages in another process."""
    _bare: dict[str, Source] = field(default_factory=dict)

    def open(self, target: str, narrowing: Narrowing | None = None) -> Opened:
        """Return the source of a target; UsageError when nothing can read it."""
        wish = narrowing.given if narrowing else {}
        if found := self._named(target):
            name, settings = found
            settings = _changed(settings, wish, f"The source {name}") if wish else settings
            return self._opened(settings.kind, settings, settings.target(name))
        for word in self.words:
            if self._without_settings(word).accepts(target):
                settings_of = BUILT_IN.get(word, OtherSourceSettings)
                wanted = _changed(settings_of.model_construct(kind=word, at=target), wish, target) if wish else None
                return self._opened(word, wanted, target)
        raise UsageError(f"Nothing here can read {target!r}.", hint=self._advice())

    def scopes(self, word: str) -> list[str]:
        """Return the prefixes of addresses that a word may mean."""
        if self._named(word):
            return [self.open(word).scope]
        return [source.scope(word) for source in self._all if source.accepts(word)]

    def addresses(self, word: str) -> list[str]:
        """Return the addresses that a document called so may have."""
        scopes = self.scopes(word)
        # The scope of a page has no slash at its end, so that it is not taken for all that lies below it.
        return [*scopes, *(f"{scope}/" for scope in scopes)]

    @cached_property
    def _all(self) -> list[Source]:
        return [self._without_settings(word) for word in self.words]

    def _named(self, target: str) -> tuple[str, SourceSettings] | None:
        found = _NAME.fullmatch(target)
        if found is None:
            return None
        settings = self.named.get(found["name"])
        fits = settings is not None and found["kind"] in (None, settings.kind)
        return (found["name"], settings) if settings is not None and fits else None

    def _without_settings(self, word: str) -> Source:
        if word not in self._bare:
            self._bare[word] = self.load(word).from_settings(self.limits, None, self.cache)
        return self._bare[word]

    def _opened(self, word: str, settings: SourceSettings | None, target: str) -> Opened:
        made: Source = self.load(word).from_settings(self.limits, settings, self.cache)
        return Opened(source=ExpandingSource(made, self.limits, self.attachments), target=target)

    def _advice(self) -> str:
        known = f" Named sources: {', '.join(f'{name}:' for name in self.named)}." if self.named else ""
        return f"Give a path, an address, or the name of a source in the configuration.{known}"


async def walk_all(opened: Sequence[Opened]) -> AsyncIterator[SourceItem | SourceFailure]:
    """Yield what every source offers, one source after the other."""
    for one in opened:
        async for found in one.source.walk(one.target):
            yield found


def _changed(settings: SourceSettings, wish: Mapping[str, Any], whose: str) -> SourceSettings:
    """Return settings with what the caller asks for; UsageError when this kind has no such setting."""
    for name in wish:
        if name not in type(settings).model_fields:
            raise UsageError(f"{whose} has no {name}: it is of the kind {settings.kind}.", hint=f"Leave {name} out.")
    try:
        return type(settings).model_validate(settings.model_dump(exclude_unset=True) | dict(wish))
    except ValidationError as error:
        raise UsageError(f"{whose} cannot be narrowed so: {error.errors()[0]['msg']}.") from error
