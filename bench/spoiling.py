"""Files changed in seeded ways: bytes, repeated and nested text, members of archives, trees of XML."""

from __future__ import annotations

import copy
import io
import json
import random
import zipfile
from collections.abc import Sequence
from typing import Any

from lxml import etree

_VALUES = ("", "-1", "0", "1", "999999999", "1e308", "x", "A1:XFD1048576", "../../a.xml", "NaN", "字" * 50)


def spoiled(data: bytes, seed: int | str) -> bytes:
    """Return the bytes changed in a way that the seed decides; inside an archive or a tree where there is one."""
    chance = random.Random(seed)
    # Most changes elsewhere in an archive, or of lengths in a container of sectors, only break the whole.
    if data[:4] == b"PK\x03\x04" and chance.random() < 0.8:
        return _archive(data, chance)
    if data[:4] == b"\xd0\xcf\x11\xe0" and chance.random() < 0.8:
        return _in_place(data, chance)
    if data[:1] == b"{" and chance.random() < 0.7:
        return _json(data, chance)
    if data[:5] == b"<?xml" and chance.random() < 0.5:
        return _part(data, chance, [data])
    return _text(data, chance) if _is_text(data) and chance.random() < 0.5 else _bytes(data, chance)


def _in_place(data: bytes, chance: random.Random) -> bytes:
    """Return data of the same length with a few numbers changed, away from its header."""
    out = bytearray(data)
    for _ in range(chance.randint(1, 6)):
        at = chance.randrange(min(512, len(out) - 4), len(out) - 3)
        if chance.random() < 0.5:
            out[at] = chance.randrange(256)
        else:
            out[at : at + 4] = chance.choice([b"\x00" * 4, b"\xff" * 4, b"\x01\x00\x00\x00", b"\xff\xff\xff\x7f"])
    return bytes(out)


def _json(data: bytes, chance: random.Random) -> bytes:
    """Return sound JSON, by line where there are many, with values lost, swapped, nested or of another type."""
    lines = data.splitlines()
    try:
        trees = [json.loads(line) for line in (lines if lines[0].endswith(b"}") else [data])]
        _change(trees, chance)
        return b"\n".join(json.dumps(tree, ensure_ascii=False).encode("utf-8", "replace") for tree in trees)
    except (ValueError, RecursionError):  # not JSON, or nested too deeply to be written
        return _text(data, chance)


def _change(trees: list[Any], chance: random.Random) -> None:
    for _ in range(chance.randint(1, 6)):
        places = [place for tree in trees for place in _places(tree)]
        if not places:
            return
        (holder, key), (other, other_key) = chance.choice(places), chance.choice(places)
        change = chance.randrange(4)
        if change == 0:
            del holder[key]
        elif change == 1:
            holder[key] = chance.choice([None, True, -1, 10**30, 1e308, [], {}, "", *_VALUES])
        elif change == 2:
            holder[key] = copy.deepcopy(other[other_key])
        else:
            for _ in range(chance.choice([1, 30, 300])):
                holder[key] = [holder[key]] if chance.random() < 0.5 else {"text": holder[key]}


def _places(tree: Any) -> list[tuple[Any, Any]]:
    """Return every (list or object, index or key) of a tree."""
    found: list[tuple[Any, Any]] = []
    left = [tree]
    while left:
        holder = left.pop()
        inside = holder.items() if isinstance(holder, dict) else enumerate(holder) if isinstance(holder, list) else ()
        for key, value in list(inside):
            found.append((holder, key))
            left.append(value)
    return found


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
            data = data[:start] + piece * chance.choices([2, 50, 2000], [8, 8, 1])[0] + data[start:]
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
                    new.writestr(_entry(name), part)
                elif chance.random() < 0.9:
                    new.writestr(_entry(name), _part(part, chance, [*parts.values()]))
    except (OSError, ValueError, zipfile.BadZipFile, NotImplementedError, EOFError):
        return _bytes(data, chance)
    return out.getvalue()


def _entry(name: str) -> zipfile.ZipInfo:
    # With the time of the day in it, no two runs would spoil alike.
    entry = zipfile.ZipInfo(name)
    entry.compress_type = zipfile.ZIP_DEFLATED
    return entry


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
