"""Office formulas (OMML, ECMA-376 part 1, 22.1) as LaTeX."""

from __future__ import annotations

from collections.abc import Callable

from kaijuan.ingest.parsers.latex_symbols import ACCENTS, FUNCTIONS, NARY, OVER_UNDER, latex_of
from kaijuan.ingest.parsers.opc import Element, child, children, is_on, local, value_of

_DEEPEST = 60
_FENCES = {"{": r"\{", "}": r"\}", "⟨": r"\langle ", "⟩": r"\rangle ", "〈": r"\langle ", "〉": r"\rangle "}
_FENCES |= {"⌊": r"\lfloor ", "⌋": r"\rfloor ", "⌈": r"\lceil ", "⌉": r"\rceil ", "‖": r"\|", "": "."}


def latex(node: Element, depth: int = 0) -> str:
    """Return an Office formula, or a part of one, as LaTeX on one line; beyond a sane depth only its characters."""
    if depth > _DEEPEST:
        return latex_of("".join(node.itertext()))
    name = local(node)
    if name == "r":
        return _run(node)
    shape = _SHAPES.get(name)
    if shape:
        return shape(node, depth)
    if name.endswith("Pr"):
        return ""
    parts = [latex(part, depth + 1) for part in node]
    return "".join(parts).strip() if name in {"oMath", "oMathPara"} else "".join(parts)


def _run(node: Element) -> str:
    text = "".join(at.text or "" for at in children(node, "t"))
    properties = child(node, "rPr")
    if child(properties, "nor") is not None and text.strip():
        return rf"\text{{{text}}}"
    if text.strip() in FUNCTIONS and value_of(child(properties, "sty")) == "p":
        return rf"\{text.strip()} "
    return latex_of(text)


def _part(node: Element, name: str, depth: int) -> str:
    found = child(node, name)
    return latex(found, depth + 1).strip() if found is not None else ""


def _property(node: Element, name: str) -> Element | None:
    return next((at for holder in node if local(holder).endswith("Pr") for at in holder if local(at) == name), None)


def _said(node: Element, name: str, default: str) -> str:
    """Return a property's value; one that is there but empty says that there is to be nothing."""
    found = _property(node, name)
    return default if found is None else value_of(found, default="")


def _fraction(node: Element, depth: int) -> str:
    above, below = _part(node, "num", depth), _part(node, "den", depth)
    kind = _said(node, "type", "bar")
    if kind == "lin":
        return f"{above}/{below}"
    return rf"\genfrac{{}}{{}}{{0pt}}{{}}{{{above}}}{{{below}}}" if kind == "noBar" else rf"\frac{{{above}}}{{{below}}}"


def _script(node: Element, depth: int) -> str:
    base = _part(node, "e", depth)
    base = f"{{{base}}}" if len(base) > 1 and not base.startswith("\\") else base
    return base + _limits(_part(node, "sub", depth), _part(node, "sup", depth))


def _before(node: Element, depth: int) -> str:
    return f"{{}}{_limits(_part(node, 'sub', depth), _part(node, 'sup', depth))}{_part(node, 'e', depth)}"


def _limits(low: str, high: str) -> str:
    return (f"_{{{low}}}" if low else "") + (f"^{{{high}}}" if high else "")


def _root(node: Element, depth: int) -> str:
    degree = "" if is_on(_said(node, "degHide", "0") or "1") else _part(node, "deg", depth)
    return rf"\sqrt{f'[{degree}]' if degree else ''}{{{_part(node, 'e', depth)}}}"


def _big(node: Element, depth: int) -> str:
    sign = _said(node, "chr", "∫")
    limits = _limits(_part(node, "sub", depth), _part(node, "sup", depth))
    return f"{NARY.get(sign, latex_of(sign).strip())}{limits} {_part(node, 'e', depth)}"


def _fenced(node: Element, depth: int) -> str:
    left, right = _said(node, "begChr", "("), _said(node, "endChr", ")")
    between = latex_of(_said(node, "sepChr", "|"))
    inside = f" {between} ".join(latex(part, depth + 1).strip() for part in children(node, "e"))
    return rf"\left{_FENCES.get(left, left)}{inside}\right{_FENCES.get(right, right)}"


def _function(node: Element, depth: int) -> str:
    name = _part(node, "fName", depth)
    word = name.split("_")[0].split("^")[0]
    if word in FUNCTIONS:
        name = "\\" + name
    return f"{name} {_part(node, 'e', depth)}"


def _low(node: Element, depth: int) -> str:
    return f"{_operator(_part(node, 'e', depth))}_{{{_part(node, 'lim', depth)}}}"


def _high(node: Element, depth: int) -> str:
    base = _part(node, "e", depth)
    over = _part(node, "lim", depth)
    return rf"\overset{{{over}}}{{{base}}}" if base.startswith("\\overbrace") else f"{_operator(base)}^{{{over}}}"


def _operator(base: str) -> str:
    return f"\\{base}" if base in FUNCTIONS else base


def _matrix(node: Element, depth: int) -> str:
    rows = (" & ".join(latex(cell, depth + 1).strip() for cell in children(row, "e")) for row in children(node, "mr"))
    return r"\begin{matrix}" + r" \\ ".join(rows) + r"\end{matrix}"


def _lines(node: Element, depth: int) -> str:
    rows = [latex(row, depth + 1).strip() for row in children(node, "e")]
    return rows[0] if len(rows) == 1 else r"\begin{array}{l}" + r" \\ ".join(rows) + r"\end{array}"


def _accent(node: Element, depth: int) -> str:
    return rf"{ACCENTS.get(_said(node, 'chr', chr(0x302)), chr(92) + 'hat')}{{{_part(node, 'e', depth)}}}"


def _bar(node: Element, depth: int) -> str:
    return rf"\{'overline' if _said(node, 'pos', 'bot') == 'top' else 'underline'}{{{_part(node, 'e', depth)}}}"


def _grouped(node: Element, depth: int) -> str:
    sign = _said(node, "chr", "⏟")
    command = OVER_UNDER.get(sign, r"\overbrace" if _said(node, "pos", "bot") == "top" else r"\underbrace")
    return f"{command}{{{_part(node, 'e', depth)}}}"


def _boxed(node: Element, depth: int) -> str:
    return rf"\boxed{{{_part(node, 'e', depth)}}}"


_SHAPES: dict[str, Callable[[Element, int], str]] = {
    "f": _fraction,
    "sSup": _script,
    "sSub": _script,
    "sSubSup": _script,
    "sPre": _before,
    "rad": _root,
    "nary": _big,
    "d": _fenced,
    "func": _function,
    "limLow": _low,
    "limUpp": _high,
    "m": _matrix,
    "eqArr": _lines,
    "acc": _accent,
    "bar": _bar,
    "groupChr": _grouped,
    "borderBox": _boxed,
}
