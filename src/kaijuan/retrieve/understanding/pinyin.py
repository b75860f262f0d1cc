"""How Han characters sound, without tones: which could have been typed for which."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType

from kaijuan.core.text.normalise import folded

_COMMON = range(0xB0, 0xD8)
"""First bytes of the 3,755 common characters in GB 2312; rarer ones are nobody's slip."""
_NEAR = (("zh", "z"), ("ch", "c"), ("sh", "s"), ("ang", "an"), ("eng", "en"), ("ing", "in"), ("n", "l"), ("h", "f"))
"""Beginnings and ends that many speakers do not tell apart."""
_LONGEST_TYPED = 30


@cache
def _sounds() -> Mapping[str, tuple[str, ...]]:
    """Return character to its readings, common characters only, the usual reading first."""
    table = _table()
    common = filter(_is_common, map(chr, range(0x4E00, 0xA000)))
    return MappingProxyType({one: _without_tones(table[one]) for one in common if one in table})


def _table() -> Mapping[str, str]:
    """Return character to its readings with tones, joined by commas."""
    # Not by importing the package: that reads a dictionary of phrases too, half a second that every first question with
    # an unknown word would wait. Nor by asking it for a row of characters: where two of them happen to be a word, it
    # tells how they sound in that word alone.
    spec = find_spec("pypinyin")
    for folder in (spec and spec.submodule_search_locations) or ():
        place = Path(folder, "pinyin_dict.json")
        if place.is_file():
            return {chr(int(point)): readings for point, readings in json.loads(place.read_bytes()).items()}
    from pypinyin.pinyin_dict import pinyin_dict

    return {chr(point): readings for point, readings in pinyin_dict.items()}


def _without_tones(readings: str) -> tuple[str, ...]:
    """Return the sounds as they are typed: lü4 is lv."""
    apart = unicodedata.normalize("NFD", readings.replace("ü", "v")).replace("u\u0308", "v")
    plain = "".join(character for character in apart if not unicodedata.combining(character))
    return tuple(dict.fromkeys(plain.split(",")))


def _is_common(character: str) -> bool:
    try:
        return character.encode("gb2312")[0] in _COMMON
    except UnicodeEncodeError:
        return False


@cache
def _by_sound() -> Mapping[str, str]:
    """Return sound to the common characters that have it."""
    found: dict[str, list[str]] = {}
    for character, readings in _sounds().items():
        for reading in readings:
            found.setdefault(reading, []).append(character)
    return MappingProxyType({sound: "".join(characters) for sound, characters in found.items()})


def readings(character: str) -> tuple[str, ...]:
    """Return the sounds of a character, () for one that is not common."""
    return _sounds().get(folded(character), ())


def alike(character: str, *, near: bool = False) -> str:
    """Return common characters that sound the same, or with `near` almost the same, without the character itself."""
    sounds = [sound for reading in readings(character) for sound in (_nearly(reading) if near else (reading,))]
    found = dict.fromkeys(other for sound in sounds for other in _by_sound().get(sound, ""))
    return "".join(other for other in found if other != character)


def _nearly(sound: str) -> Iterator[str]:
    """Yield sounds that differ in one pair of beginnings or ends."""
    for left, right in _NEAR:
        for one, other in ((left, right), (right, left)):
            if one[0] in "aei":
                if sound.endswith(one):
                    yield sound[: len(sound) - len(one)] + other
            elif sound.startswith(one):
                yield other + sound[len(one) :]


def sounds_like(word: str, syllables: tuple[str, ...]) -> bool:
    """Say whether a word can be read as these syllables."""
    return len(word) == len(syllables) and all(
        syllable in readings(character) for character, syllable in zip(word, syllables, strict=True)
    )


def syllables_of(typed: str) -> tuple[str, ...]:
    """Return a word of Latin letters as pinyin syllables ("baoxiao": bao, xiao), () where it is none.

    The longest syllables count, of at least two: "an" alone is English. Linear in the length of `typed`.
    """
    if not typed.isascii() or not typed.isalpha() or len(typed) > _LONGEST_TYPED:
        return ()
    pattern = _syllable_pattern()
    return tuple(re.findall(pattern, typed)) if re.fullmatch(rf"(?:{pattern}){{2,4}}", typed) else ()


@cache
def _syllable_pattern() -> str:
    return "|".join(sorted(map(re.escape, _by_sound()), key=lambda sound: (-len(sound), sound)))


def written(syllable: str) -> str:
    """Return the common characters of a sound."""
    return _by_sound().get(syllable, "")
