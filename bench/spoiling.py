"""Files changed in seeded ways: bytes, repeated and nested text, members of archives, trees of XML."""

from __future__ import annotations

import copy
import io
import random
import zipfile
from collections.abc import Sequence

from lxml import etree

_VALUES = ("", "-1", "0", "1", "999999999", "1e308", "x", "A1:XFD1048576", "../../a.xml", "NaN", "字" * 50)


def spoiled(data: bytes, seed: int | str) -> bytes:
    """Return the bytes changed in a way that the seed decides; inside an archive where there is one."""
    chance = random.Random(seed)
    # Most changes elsewhere in an archive only break the archive.
    if data[:4] == b"PK\x03\x04" and chance.random() < 0.8:
        return _archive(data, chance)
    return _text(data, chance) if _is_text(data) and chance.random() < 0.5 else _bytes(data, chance)


def _is_text(data: bytes) -> bool:
    return b"\x00" not in data[:1000]


def _bytes(data: bytes, chance: random.Random) -> bytes:
    """Return data with bytes changed, cut out, put in, or its end cut off."""
    out = bytearray(data)
    for _ in range(chance.randint(1, 12)):
        at = chance.randrange(len(out))
        change = chance.randrange(5)
        if change == 0:
            out[at] = chance.randrange(256)
        elif change == 1:
            del out[at : at + chance.randint(1, 40)]
        elif change == 2:
            out[at:at] = chance.randbytes(chance.randint(1, 20))
        elif change == 3:
            out[at : at + 4] = chance.choice([b"\x00" * 4, b"\xff" * 4, b"\x7f\xff\xff\xff", b"\xff\xff\xff\x7f"])
        elif chance.random() < 0.1:
            del out[at:]
        if not out:
            return b"x"
    return bytes(out)


def _text(data: bytes, chance: random.Random) -> bytes:
    """Return data with pieces repeated, swapped or nested: what bounds and recursion must hold against."""
    for _ in range(chance.randint(1, 4)):
        start = chance.randrange(len(data))
        piece = data[start : start + chance.randint(1, 60)]
        other = chance.randrange(len(data))
        change = chance.randrange(3)
        if change == 0:
            data = data[:start] + piece * chance.choice([2, 50, 2000]) + data[start:]
        elif change == 1:
            data = data[:other] + piece + data[other:]
        else:
            data = data[:start] + data[start + len(piece) :]
        data = data[:2_000_000] or b"x"
    return data


def _archive(data: bytes, chance: random.Random) -> bytes:
    """Return an archive with some members spoiled, lost or swapped; checksums are right."""
    out = io.BytesIO()
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
            parts = {member.filename: old.read(member) for member in old.infolist()[:2000] if not member.flag_bits & 1}
            chosen = set(chance.sample(sorted(parts), min(len(parts), chance.randint(1, 4))))
            for name, part in parts.items():
                if name not in chosen or not part:
                    new.writestr(name, part)
                elif chance.random() < 0.9:
                    new.writestr(name, _part(part, chance, [*parts.values()]))
    except (OSError, ValueError, zipfile.BadZipFile, NotImplementedError, EOFError):
        return _bytes(data, chance)
    return out.getvalue()


def _part(part: bytes, chance: random.Random, others: Sequence[bytes]) -> bytes:
    change = chance.randrange(10)
    if change == 0:
        return chance.choice(others)
    if change == 1:
        return _bytes(part, chance)
    try:
        return _tree(part, chance)
    except (etree.XMLSyntaxError, ValueError):
        return _text(part, chance) if _is_text(part) else _bytes(part, chance)


def _tree(part: bytes, chance: random.Random) -> bytes:
    """Return well-formed XML with elements lost, moved, nested, and values out of range."""
    root = etree.fromstring(part, etree.XMLParser(resolve_entities=False, no_network=True))
    for _ in range(chance.randint(1, 10)):
        nodes = list(root.iter("*"))[:20_000]
        node, other = chance.choice(nodes), chance.choice(nodes)
        change = chance.randrange(5)
        if change == 0 and node is not root:
            node.getparent().remove(node)
        elif change == 1 and node is not root:
            other.append(copy.deepcopy(node))
        elif change == 2 and node.attrib:
            node.set(chance.choice(list(node.attrib)), chance.choice(_VALUES))
        elif change == 3:
            node.text = chance.choice([None, *_VALUES])
        elif node is not root and len(node) < 20:
            for _ in range(chance.choice([1, 30, 300])):
                deeper = etree.SubElement(other, node.tag, dict(node.attrib))
                other = deeper
    return bytes(etree.tostring(root))
