"""Pages that were read with little confidence (OCR): what stands there may not be what is printed."""

from __future__ import annotations

from collections.abc import Iterator

from kaijuan.core.reviews import Finding
from kaijuan.ingest.gate.matter import Matter

_NAMED = 10


def confidence(matter: Matter, least: float) -> Iterator[Finding]:
    """Tell of pages, or of the document where it has none, whose characters are below `least` on average."""
    blocks = matter.parsed.blocks
    if all(block.confidence >= least for block in blocks):
        return
    sums: dict[int, tuple[float, int]] = {}
    for block in blocks:
        page = block.lines[0].box.page if block.lines else block.pages[0] if block.pages else 0
        total, length = sums.get(page, (0.0, 0))
        sums[page] = total + block.confidence * len(block.span), length + len(block.span)
    low = sorted(page for page, (total, length) in sums.items() if total < least * length)
    if low:
        worst = min(total / length for total, length in sums.values())
        named = ", ".join(str(page) for page in low[:_NAMED] if page) + (" …" if len(low) > _NAMED else "")
        said = f"read with a confidence of {worst:.2f} at worst" + (f", on pages {named}" if named else "")
        yield Finding(detector="confidence", said=said, page=low[0], count=len(low))
