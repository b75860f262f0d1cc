"""Subtitles (WebVTT, SubRip): what is said, by whom, and when; lines of one sentence joined."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass

from kaijuan.core.documents import BlockKind, ParsedDocument
from kaijuan.errors import BrokenDocumentError, EmptyDocumentError
from kaijuan.ingest.encoding import decode
from kaijuan.ingest.parsers.draft import Draft, Origin, stem
from kaijuan.ingest.parsers.joining import join_lines

_TIME = r"(?:\d{1,3}:)?\d{1,2}:\d{2}[.,]\d{1,3}"
_TIMING = re.compile(rf"\s*({_TIME})\s+-->\s+({_TIME})(?:\s.*)?$")
_TAG = re.compile(r"</?[^<>\n]{0,200}>")
_STYLE = re.compile(r"\{\\[^{}\n]{0,100}\}")
_VOICE = re.compile(r"<v(?:\.[^\s>]+)?\s+([^>]{1,100})>")
_SPOKEN_BY = re.compile(r"([A-Z\u4e00-\u9fff][\w\u4e00-\u9fff .]{0,30})[:：]\s+\S")
_SENTENCE_ENDS = frozenset('。！？.!?…—"”’')
_LONG_PAUSE = 2.5
_LONGEST = 600
"""Characters after which a paragraph ends with its cue, whatever it says."""


@dataclass(frozen=True, slots=True)
class _Cue:
    start: str
    end: str
    voice: str
    text: str


class SubtitleParser:
    """Parser of kind "subtitles"."""

    def parse(self, data: bytes, name: str) -> ParsedDocument:
        """Return paragraphs of whole sentences by one voice, each with its time as place."""
        decoded = decode(data)
        if not decoded.text.strip():
            raise EmptyDocumentError(f"{name} is empty.")
        cues = list(_cues(decoded.text))
        if not cues:
            raise BrokenDocumentError(f"{name} holds no subtitles: there is no line with two times.")
        draft = Draft()
        for group in _sentences(cues):
            text = join_lines([line for cue in group for line in cue.text.split("\n")])
            voice = group[0].voice
            place = f"{group[0].start} --> {group[-1].end}"
            draft.add(BlockKind.PARAGRAPH, f"{voice}: {text}" if voice else text, origin=Origin(place=place))
        speakers = tuple(dict.fromkeys(cue.voice for cue in cues if cue.voice))
        metadata = {"speakers": speakers} if speakers else {}
        return draft.finish("subtitles", name, title=stem(name), metadata=metadata, warnings=decoded.warnings)


def _cues(text: str) -> Iterator[_Cue]:
    lines = text.split("\n")
    at = 0
    while at < len(lines):
        timing = _TIMING.match(lines[at])
        at += 1
        if not timing:
            continue
        body: list[str] = []
        while at < len(lines) and lines[at].strip() and not _TIMING.match(lines[at]):
            body.append(lines[at])
            at += 1
        raw = "\n".join(body)
        voice = _VOICE.search(raw)
        shown = html.unescape(_STYLE.sub("", _TAG.sub("", raw))).strip()
        if shown:
            yield _Cue(timing[1], timing[2], html.unescape(voice[1]).strip() if voice else "", shown)


def _sentences(cues: list[_Cue]) -> Iterator[list[_Cue]]:
    """Group cues until a sentence ends, another speaks, or nothing is said for a while."""
    group: list[_Cue] = []
    for cue in cues:
        if group and _parts(group, cue):
            yield group
            group = []
        group.append(cue)
    if group:
        yield group


def _parts(group: list[_Cue], cue: _Cue) -> bool:
    last = group[-1]
    pause = _seconds(cue.start) - _seconds(last.end)
    return (
        cue.voice != last.voice
        or cue.text.startswith(("-", "–", "—", ">>"))
        or bool(_SPOKEN_BY.match(cue.text))
        or last.text[-1:] in _SENTENCE_ENDS
        or not -_LONG_PAUSE < pause < _LONG_PAUSE
        or sum(len(one.text) for one in group) > _LONGEST
    )


def _seconds(time: str) -> float:
    seconds = 0.0
    for part in time.replace(",", ".").split(":"):
        seconds = seconds * 60 + float(part)
    return seconds
