"""The gate's steps: look at a parsed document with every detector that is not off."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kaijuan.core.documents import ParsedDocument
from kaijuan.core.reviews import Finding
from kaijuan.ingest.gate.confidence import confidence
from kaijuan.ingest.gate.hidden import hidden_instructions, hidden_text
from kaijuan.ingest.gate.instructions import instructions
from kaijuan.ingest.gate.invisible import invisible
from kaijuan.ingest.gate.matter import Matter
from kaijuan.ingest.gate.personal import personal
from kaijuan.ingest.gate.secrets import secrets
from kaijuan.ingest.ports import SourceItem
from kaijuan.ingest.settings import GateSettings

Detector = Callable[[Matter, GateSettings], Iterator[Finding]]


def _untrusted(matter: Matter, settings: GateSettings) -> Iterator[Finding]:
    for prefix in settings.untrusted_sources:
        if matter.source.startswith(prefix):
            yield Finding(detector="untrusted", said=f"from {prefix}, which is not trusted")
            return


DETECTORS: dict[str, Detector] = {
    "untrusted": _untrusted,
    "hidden_instructions": lambda matter, _: hidden_instructions(matter),
    "instructions": lambda matter, _: instructions(matter),
    "invisible": lambda matter, _: invisible(matter),
    "secrets": lambda matter, _: secrets(matter),
    "personal": lambda matter, settings: personal(matter, settings.bulk),
    "confidence": lambda matter, settings: confidence(matter, settings.least_confidence),
    "hidden_text": lambda matter, _: hidden_text(matter),
}
"""By name, which is also the name of the setting that says what follows from a finding."""


def findings(parsed: ParsedDocument, item: SourceItem, settings: GateSettings) -> tuple[Finding, ...]:
    """Return what the detectors find that are not off, in their order."""
    matter = Matter(parsed, source=item.source, title=item.title, metadata=item.metadata)
    return tuple(
        finding
        for name, detector in DETECTORS.items()
        if settings.action(name) != "off"
        for finding in detector(matter, settings)
    )
