"""A sentence that says where a chunk comes from: document, section, date, and whom it is about but does not name.

By rules alone, and kept apart from the text: "the company" is found by the name that only the first page has.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from kaijuan.core.text.characters import HAN
from kaijuan.ingest.ports import Facts

_SEEN = 100_000
_FEWEST = 2
_NAMED = 3
_LONGEST = 24
_ORGANISATION = "公司|集团|大学|学院|医院|银行|委员会|法院|研究院|研究所|出版社|协会|基金会|事务所|合作社|中心"
_NAMES = re.compile(
    rf"《(?P<work>[^》\n]{{2,24}})》|(?P<body>[{HAN}]{{2,10}}?(?:{_ORGANISATION}))"
    r"|(?P<name>\b[A-Z][\w&'-]+(?:\s(?:of|the|and|de|van|von)?\s?[A-Z][\w&'-]+){1,3})|(?P<code>\b[A-Z]{2,}[-\d]\w*)"
)
_DATES = ("date", "effective_from", "published", "year")


def names_of(text: str) -> list[str]:
    """Return what a document names several times, most often first: works, organisations, people, codes."""
    counts = Counter(_found(text[:_SEEN]))
    return [name for name, count in counts.most_common() if count >= _FEWEST]


def _found(text: str) -> Iterator[str]:
    for match in _NAMES.finditer(text):
        name = " ".join((match[match.lastgroup] if match.lastgroup else "").split())
        if 2 <= len(name) <= _LONGEST:
            yield name


def situated(facts: Facts, path: Sequence[str], names: Sequence[str], body: str) -> str:
    """Return the sentence for a chunk; `names` are those of its document, `body` its own text."""
    lower = body.lower()
    title = facts.title.strip()
    about = [name for name in names if name.lower() not in lower and name not in title][:_NAMED]
    date = next((str(facts.metadata[name]) for name in _DATES if facts.metadata.get(name)), "")
    # The columns of a long table stand in the path, too.
    section = next((name.strip() for name in reversed(path) if " | " not in name), "")
    if facts.language == "zh":
        said = [f"出自《{title}》"] if title else []
        said += [f"日期 {date}"] if date else []
        said += [f"“{section}”部分"] if section else []
        said += [f"涉及{'、'.join(about)}"] if about else []
        return "，".join(said)
    said = [f"From “{title}”"] if title else []
    said += [f"dated {date}"] if date else []
    said += [f"section “{section}”"] if section else []
    said += [f"about {', '.join(about)}"] if about else []
    return ", ".join(said)
