"""What a Word document holds and does not show: runs set to hidden, white ones on no ground, tiny ones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kaijuan.ingest.parsers.docx_text import W

_NAMES = {"w": W[1:-1]}
_SUSPECT = (
    ".//w:r[w:rPr[w:vanish or w:specVanish or w:webHidden or w:color[@w:val='FFFFFF' or @w:val='ffffff'"
    " or @w:themeColor='background1'] or w:sz[@w:val='1' or @w:val='2' or @w:val='3']]]"
)
_OFF = frozenset({"0", "false", "off"})
_WHITE = frozenset({"", "auto", "FFFFFF", "ffffff", "clear"})


def unseen_in_body(body: Any) -> Iterator[str]:
    """Yield the hidden text of each paragraph that has some. Text boxes are left out: they may be painted."""
    paragraph: Any = None
    parts: list[str] = []
    for run in body.xpath(_SUSPECT, namespaces=_NAMES):
        if not _is_hidden(run):
            continue
        above = next(run.iterancestors(f"{W}p"), None)
        if above is not paragraph and parts:
            yield "".join(parts)
            parts = []
        paragraph = above
        parts.extend(node.text or "" for node in run.iter(f"{W}t"))
    if parts:
        yield "".join(parts)


def _is_hidden(run: Any) -> bool:
    properties = run.find(f"{W}rPr")
    for name in ("vanish", "specVanish", "webHidden"):
        node = properties.find(f"{W}{name}")
        if node is not None and node.get(f"{W}val") not in _OFF:
            return True
    size = properties.find(f"{W}sz")
    if size is not None and (size.get(f"{W}val") or "").isdigit() and int(size.get(f"{W}val")) <= 3:
        return True
    return not _is_painted(run, properties)


def _is_painted(run: Any, properties: Any) -> bool:
    """Say whether the run, or what it stands in, has a ground on which white can be read."""
    if properties.find(f"{W}highlight") is not None or properties.find(f"{W}rStyle") is not None:
        return True
    shades = [properties.find(f"{W}shd")]
    for above in run.iterancestors(f"{W}p", f"{W}tc", f"{W}tbl", f"{W}txbxContent"):
        if above.tag == f"{W}txbxContent":
            return True
        shades.append(above.find(f"{above.tag}Pr/{W}shd"))
        if above.tag == f"{W}tbl" and above.find(f"{W}tblPr/{W}tblStyle") is not None:
            return True  # its style may paint it
    return any(shade is not None and shade.get(f"{W}fill", "") not in _WHITE for shade in shades)
