"""Passages of evaluation sets put together to whole documents again, and where each passage then stands in its text."""

from __future__ import annotations

import json
import random
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kaijuan import Kaijuan
from kaijuan.core.spans import Span
from kaijuan.evals.sets import EvalSet
from kaijuan.ingest.parsers.han_numbers import han_number

_ARTICLE = re.compile(r"第([零〇一二三四五六七八九十百千两\d]+)条(?:之([一二三四五六七八九十\d]+))?")
_PAGE = re.compile(r"#(\d+)$")
_ENDS = 40
"""Characters at both ends of a passage by which it is found again in the text as read."""
_PAGES_AROUND = 2
"""Pages of a long report before and after one that holds evidence."""
_TOKENS_A_HAN, _TOKENS_A_LETTER = 0.65, 0.25
_SHORTEST = 300
"""Tokens of a document worth cutting; of shorter ones no question is asked."""
_SHARE_OF_EVIDENCE = 0.7
"""Of all tokens, those of documents that hold evidence; the rest are documents by chance."""
NUMBERS = {
    han_number(number, "1").removeprefix("一" if 10 <= number < 20 else "").replace("〇", "零"): number
    for number in range(1, 3000)
}


@dataclass(frozen=True, kw_only=True)
class Passage:
    """A document of the corpus."""

    id: str
    title: str
    text: str

    @property
    def tokens(self) -> float:
        """About how many tokens it has."""
        return about_tokens(self.text)


Group = list[Passage]
"""The passages of one document, in its order."""


@dataclass(kw_only=True)
class Places:
    """Where the passages of a corpus stand: source of the file and span in its text."""

    found: dict[str, tuple[str, Span]] = field(default_factory=dict)
    missing: int = 0


def about_tokens(text: str) -> float:
    han = sum("\u4e00" <= letter <= "\u9fff" for letter in text)
    return _TOKENS_A_HAN * han + _TOKENS_A_LETTER * (len(text) - han)


def read_corpus(data: EvalSet) -> list[Passage]:
    rows = (json.loads(line) for line in data.corpus.read_text(encoding="utf-8").splitlines() if line.strip())
    return [Passage(id=str(row["_id"]), title=row.get("title", ""), text=row["text"]) for row in rows]


def documents_of(passages: Sequence[Passage]) -> list[Group]:
    """Put passages of one title together, in the order of their numbers, else of the corpus."""
    titled: dict[str, Group] = {}
    for passage in passages:
        titled.setdefault(passage.title or passage.id, []).append(passage)
    return [sorted(group, key=_order) for group in titled.values()]


def _order(passage: Passage) -> tuple[int, int]:
    if page := _PAGE.search(passage.id):
        return int(page[1]), 0
    article = _ARTICLE.match(passage.text.strip())
    if article is None:
        return 0, 0
    return NUMBERS.get(article[1].replace("〇", "零"), 0), NUMBERS.get(article[2] or "", 0)


def excerpts(groups: Sequence[Group], wanted: set[str]) -> list[Group]:
    """Return reports by pages as the pages around evidence, and without those that hold none; others as they are."""
    return [kept for group in groups if (kept := _excerpt(group, wanted))]


def _excerpt(group: Group, wanted: set[str]) -> Group:
    if not all(_PAGE.search(passage.id) for passage in group):
        return group
    near = [at for at, passage in enumerate(group) if passage.id in wanted]
    return [passage for at, passage in enumerate(group) if any(abs(at - place) <= _PAGES_AROUND for place in near)]


def chosen(groups: Sequence[Group], gold: Mapping[str, Sequence[str]], most: float, seed: int) -> list[Group]:
    """Return documents of at most about `most` tokens: those with the most questions for their length, then others
    by chance. `gold` are the passages of each question.
    """
    home = {passage.id: at for at, group in enumerate(groups) for passage in group}
    asked: dict[int, int] = defaultdict(int)
    for passages in gold.values():
        homes = {home.get(id, -1) for id in passages}
        if len(homes) == 1 and -1 not in homes:
            asked[homes.pop()] += 1
    order = list(range(len(groups)))
    random.Random(seed).shuffle(order)
    sizes = [sum(passage.tokens for passage in group) for group in groups]
    worth = [at for at in order if asked[at] and sizes[at] >= _SHORTEST]
    told = sorted(worth, key=lambda at: -asked[at] / sizes[at])
    rest = [at for at in order if not asked[at]]
    kept: list[int] = []
    total = 0.0
    for places, limit in ((told, _SHARE_OF_EVIDENCE * most if rest else most), (rest, most)):
        for at in places:
            if total + sizes[at] <= limit:
                kept.append(at)
                total += sizes[at]
    return [groups[at] for at in sorted(kept)]


def write_documents(groups: Sequence[Group], folder: Path) -> dict[str, Group]:
    """Write one Markdown file a document; return the passages by file name."""
    folder.mkdir(parents=True, exist_ok=True)
    written: dict[str, Group] = {}
    for number, group in enumerate(groups):
        name = f"{number:05d}.md"
        head = f"# {group[0].title}\n\n" if group[0].title else ""
        (folder / name).write_text(head + "\n\n".join(passage.text for passage in group), encoding="utf-8")
        written[name] = group
    return written


async def places_of(engine: Kaijuan, written: Mapping[str, Group]) -> Places:
    """Find every passage again in the texts as they were read; one that was changed by reading is counted."""
    places = Places()
    for version in await engine.list():
        text = await engine.texts.read(version.text_hash)
        at = 0
        for passage in written[Path(version.source).name]:
            body = passage.text.strip()
            start = text.find(body[:_ENDS].split("\n")[0], at)
            tail = body[-_ENDS:].split("\n")[-1]
            end = text.find(tail, max(start, start + len(body) - 3 * _ENDS)) if start >= 0 else -1
            if start < 0 or end < 0 or end > start + 2 * len(body) + _ENDS:
                places.missing += 1
                continue
            at = start + 1
            places.found[passage.id] = (version.source, Span(start, end + len(tail)))
    return places
