"""Paragraphs that may be the furniture of many documents: what is compared of a document, and when many is enough.

A notice, a disclaimer, the standing first or last paragraph of a letter. Which of them is furniture only other
documents can tell, and only by standing word for word where furniture stands: among the first or last paragraphs of a
document, or several times in it. Never compared are headings, tables, lists, code and captions, short lines ("Not
applicable."), articles of statutes and contracts (the same clause governs each), questions, lead-ins, and what most of
a document is.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from kaijuan.core.documents import Block, BlockKind, ParsedBlock
from kaijuan.ingest.dedupe.shingles import BANDS, plain

EDGE = 4
"""Paragraphs from the beginning and from the end among which furniture stands."""
_KINDS = frozenset({BlockKind.PARAGRAPH, BlockKind.FOOTNOTE, BlockKind.QUOTE})
_LEAST_WEIGHT = 24
"""Letters and digits; an ideograph counts as two. Shorter paragraphs are labels and answers."""
_MOST_SHARE = 0.5
"""Of the text of its document: more is what the document says, not what it is printed on."""
_HAN = re.compile(r"[㐀-鿿]")
_CLAUSE = re.compile(
    r"\s*(?:第\s?[一二三四五六七八九十百千零〇两\d]{1,6}\s?[编編篇章节節条條款项項]"
    r"|[(（]\s?(?:[一二三四五六七八九十]{1,3}|\d{1,2}|[a-z]{1,2}|[ivx]{1,4})\s?[)）]"
    r"|[一二三四五六七八九十]{1,3}\s?[、.．]"
    r"|(?:part|chapter|title|article|section|clause|sec\.|schedule|annex|§)\s?(?:\d|[ivxlc]+\b|[a-z]\b)"
    r"|\d{1,3}(?:\.\d{1,3})*\s?[.)、．](?!\d)|\d{1,3}(?:\.\d{1,3})+\s)",
    re.I,
)
_OPEN_END = tuple("?？:：")


def digests(text: str, blocks: Sequence[Block | ParsedBlock]) -> dict[int, str]:
    """Return what is compared of a document: the digests of paragraphs by their place among `blocks`."""
    paragraphs = [at for at, block in enumerate(blocks) if block.kind in _KINDS and len(block.span)]
    found = {at: digest for at in paragraphs if (digest := _digest(text, blocks[at]))}
    edges = {*paragraphs[:EDGE], *paragraphs[-EDGE:]}
    times = Counter(found.values())
    return {at: digest for at, digest in found.items() if at in edges or times[digest] > 1}


def _digest(text: str, block: Block | ParsedBlock) -> str:
    said = block.span.of(text)
    above = block.title_path[-1] if block.title_path else ""
    if len(said) > _MOST_SHARE * len(text) or _CLAUSE.match(said) or _CLAUSE.match(above):
        return ""
    letters = plain(said)
    if said.rstrip().endswith(_OPEN_END) or len(letters) + len(_HAN.findall(letters)) < _LEAST_WEIGHT:
        return ""
    return hashlib.blake2b(letters.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def enough(total: int, least: int, share: float) -> int:
    """Return how many of a base's documents must share a paragraph: so many, and such a share of all."""
    return max(least, -int(-share * total // 1))


def kin(signatures: Mapping[str, bytes]) -> dict[str, str]:
    """Return for each document the first of its kin: those that are copies or revisions of one another are one witness.

    The same whatever the order of `signatures`, which are those of `shingles.signature`; one without has no kin.
    """
    names = sorted(signatures)
    first = {name: name for name in names}

    def root(name: str) -> str:
        while first[name] != name:
            first[name] = first[first[name]]
            name = first[name]
        return name

    seen: dict[tuple[int, bytes], str] = {}
    for name in names:
        for key in _shares(signatures[name]):
            one, other = sorted((root(seen.setdefault(key, name)), root(name)))
            first[other] = one
    return {name: root(name) for name in names}


def _shares(signature: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield every choice of three bands, with its number: two texts share one where they agree in three bands or more.

    Of texts alike at 0.9 that are four in five, at 0.7 one in a hundred.
    """
    if not signature:
        return
    bands = [signature[at : at + 8] for at in range(0, 8 * BANDS, 8)]
    number = 0
    for one in range(BANDS):
        for other in range(one + 1, BANDS):
            for third in range(other + 1, BANDS):
                yield number, bands[one] + bands[other] + bands[third]
                number += 1
