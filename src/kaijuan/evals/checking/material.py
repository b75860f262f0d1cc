"""Real sentences with their surroundings, and names that occur in them: what pairs are made from."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kaijuan.core.text.language import language_of
from kaijuan.core.text.sentences import sentences
from kaijuan.evals.sets import corpus_path, rows
from kaijuan.samples import sample_folder

SHORTEST = {"zh": 14, "en": 45}
LONGEST = {"zh": 130, "en": 320}
"""Characters of a sentence that is taken."""
_PASSAGE = 900
"""Characters of a document that are shown as evidence at most."""
_ASKS_NAME = re.compile(
    r"谁|誰|哪位|何人|哪[个個]国|哪国|哪[裡里儿]|何处|何處|何地|什么地方|什麼地方|哪[座所家间間]|哪[个個](?:城市|地方|国家|國家|省|公司|大学|大學)|叫什么|叫什麼|名字"
    r"|\bwho\b|\bwhere\b|\bwhose\b|\bwhich (?:country|city|state|company|team|person|university)\b|\bname\b",
    re.IGNORECASE,
)
_NAME_ZH = re.compile(r"[\u4e00-\u9fff·]{2,10}")
_NOT_NAME = re.compile("[的了是在和与與等有不为為及]|人们|人民|自己")
_NAME_EN = re.compile(r"[A-Z][\w'’.-]+(?: (?:of |the |de |van )?[A-Z][\w'’.-]+){0,3}")
_TIMES = re.compile(
    r"\b(?:January|February|March|April|May|June|July|August|September|October|November|December"
    r"|Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday"
    r"|The|This|That|These|Those|In|On|At|He|She|It|They|We|I|His|Her|Its|Their)\b"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """One sentence of a document, which it can be cited from with more or less of its surroundings."""

    document: str
    title: str
    text: str
    place: int
    """Number of the sentence in its document."""
    around: tuple[str, ...]
    """All sentences of the document's beginning, this one among them at `place`."""
    names: tuple[str, ...]
    """Names that occur in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """Sentences of one language, and names by which others can be replaced."""

    language: str
    sentences: tuple[Sentence, ...]
    names: tuple[str, ...]


def material_of(folders: Sequence[Path], language: str) -> Material:
    """Return the sentences of one language in sets of BEIR layout, or of the bundled samples where none is given."""
    documents = list(_documents(folders)) if folders else list(_sampled())
    names = _names(folders, documents, language)
    found = [sentence for document in documents for sentence in _sentences(document, language, names)]
    return Material(language=language, sentences=tuple(found), names=tuple(sorted(names)))


Document = tuple[str, str, str]


def _documents(folders: Iterable[Path]) -> Iterator[Document]:
    for folder in folders:
        for _, row in rows(corpus_path(folder)):
            yield f"{folder.name}/{row['_id']}", str(row.get("title") or ""), str(row.get("text") or "")


def _sampled() -> Iterator[Document]:
    for path in sorted(sample_folder().iterdir()):
        if path.suffix in {".md", ".txt"}:
            yield path.name, path.stem, path.read_text(encoding="utf-8")


def _names(folders: Sequence[Path], documents: Sequence[Document], language: str) -> frozenset[str]:
    """Return answers to questions for a name, and titles: names as people gave them, not as a tagger sees them."""
    found: set[str] = set()
    for folder in folders:
        path = folder / "queries.jsonl"
        for _, row in rows(path) if path.exists() else ():
            if _ASKS_NAME.search(str(row.get("text"))):
                given = row.get("answer") or []
                found.update(given if isinstance(given, list) else [given])
    found.update(re.sub(r"\s*[(（].*[)）]", "", title) for _, title, _ in documents)
    return frozenset(name for name in found if _is_name(str(name), language))


def _is_name(text: str, language: str) -> bool:
    if language == "zh":
        return bool(_NAME_ZH.fullmatch(text)) and not _NOT_NAME.search(text)
    return bool(_NAME_EN.fullmatch(text)) and not _TIMES.search(text)


def _sentences(document: Document, language: str, names: frozenset[str]) -> Iterator[Sentence]:
    id, title, text = document
    around = tuple(span.of(text).strip() for span in sentences(text[:_PASSAGE]))[:-1]
    by_first: Mapping[str, list[str]] = _by_first(names) if language == "zh" else {}
    for place, one in enumerate(around):
        if not _usable(one, language):
            continue
        held = _held_zh(one, by_first) if language == "zh" else _held_en(one)
        yield Sentence(document=id, title=title, text=one, place=place, around=around, names=tuple(held))


def _usable(text: str, language: str) -> bool:
    if not SHORTEST[language] <= len(text) <= LONGEST[language] or language_of(text) != language:
        return False
    closed = text[-1] in "。！." and text.count("（") == text.count("）") and text.count("(") == text.count(")")
    return closed and "\n" not in text and "|" not in text


def _by_first(names: Iterable[str]) -> Mapping[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for name in sorted(names, key=len, reverse=True):
        found[name[0]].append(name)
    return found


def _held_zh(text: str, by_first: Mapping[str, list[str]]) -> list[str]:
    """Return the known names and titles in a sentence, none within another, each named once."""
    held: list[str] = []
    at = 0
    while at < len(text):
        name = next((name for name in by_first.get(text[at], ()) if text.startswith(name, at)), "")
        if name:
            held.append(name)
        at += len(name) or 1
    held += [match[1] for match in re.finditer("《([^《》]{2,12})》", text)]
    return [name for name in dict.fromkeys(held) if text.count(name) == 1]


def _held_en(text: str) -> list[str]:
    found = [match.group() for match in _NAME_EN.finditer(text) if match.start() > 0]
    plain = [name.rstrip(".") for name in found if not _TIMES.search(name) and "'" not in name]
    return [name for name in dict.fromkeys(plain) if text.count(name) == 1 and len(name) > 2]
