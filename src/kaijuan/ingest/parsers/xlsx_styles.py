"""Styles of a workbook: each cell style's number format, and whether it is made to stand out."""

from __future__ import annotations

from dataclasses import dataclass

from kaijuan.ingest.parsers.opc import Element, child, children, is_on, number_of, value_of

# ECMA-376 part 1, 18.8.30. From 27 on they are those of Chinese workbooks.
BUILT_IN = {
    0: "General",
    1: "0",
    2: "0.00",
    3: "#,##0",
    4: "#,##0.00",
    5: "$#,##0_);($#,##0)",
    6: "$#,##0_);[Red]($#,##0)",
    7: "$#,##0.00_);($#,##0.00)",
    8: "$#,##0.00_);[Red]($#,##0.00)",
    9: "0%",
    10: "0.00%",
    11: "0.00E+00",
    12: "# ?/?",
    13: "# ??/??",
    14: "yyyy-mm-dd",
    15: "d-mmm-yy",
    16: "d-mmm",
    17: "mmm-yy",
    18: "h:mm AM/PM",
    19: "h:mm:ss AM/PM",
    20: "h:mm",
    21: "h:mm:ss",
    22: "yyyy-mm-dd h:mm",
    37: "#,##0_);(#,##0)",
    38: "#,##0_);[Red](#,##0)",
    39: "#,##0.00_);(#,##0.00)",
    40: "#,##0.00_);[Red](#,##0.00)",
    41: "#,##0_);(#,##0)",
    42: "$#,##0_);($#,##0)",
    43: "#,##0.00_);(#,##0.00)",
    44: "$#,##0.00_);($#,##0.00)",
    45: "mm:ss",
    46: "[h]:mm:ss",
    47: "mm:ss.0",
    48: "##0.0E+0",
    49: "@",
    27: 'yyyy"年"m"月"',
    28: 'm"月"d"日"',
    29: 'm"月"d"日"',
    30: "m-d-yy",
    31: 'yyyy"年"m"月"d"日"',
    32: 'h"时"mm"分"',
    33: 'h"时"mm"分"ss"秒"',
    34: '上午/下午h"时"mm"分"',
    35: '上午/下午h"时"mm"分"ss"秒"',
    36: 'yyyy"年"m"月"',
    50: 'yyyy"年"m"月"',
    51: 'm"月"d"日"',
    52: 'yyyy"年"m"月"',
    53: 'm"月"d"日"',
    54: 'm"月"d"日"',
    55: '上午/下午h"时"mm"分"',
    56: '上午/下午h"时"mm"分"ss"秒"',
    57: 'yyyy"年"m"月"',
    58: 'm"月"d"日"',
}
"""Number formats that files name by number. Short dates (14, 22) follow the reader's country; here they are ISO."""


@dataclass(frozen=True, slots=True)
class Style:
    """How a cell is shown."""

    code: str = "General"
    strong: bool = False
    unseen: bool = False
    """White on no ground, or with a format that shows nothing."""


_PLAIN = Style()


class Styles:
    """The cell styles of a workbook by number."""

    def __init__(self, root: Element | None) -> None:
        codes = dict(BUILT_IN)
        for node in children(child(root, "numFmts"), "numFmt"):
            codes[number_of(value_of(node, "numFmtId"), -1)] = value_of(node, "formatCode")
        bold = [_is_bold(font) for font in children(child(root, "fonts"), "font")]
        white = [_is_white(font) for font in children(child(root, "fonts"), "font")]
        filled = [_is_filled(fill) for fill in children(child(root, "fills"), "fill")]
        self._styles = [
            Style(
                code := codes.get(number_of(value_of(node, "numFmtId")), "General"),
                _at(bold, number_of(value_of(node, "fontId"))) or _at(filled, number_of(value_of(node, "fillId"))),
                code.strip() == ";;;"
                or (
                    _at(white, number_of(value_of(node, "fontId")))
                    and not _at(filled, number_of(value_of(node, "fillId")))
                ),
            )
            for node in children(child(root, "cellXfs"), "xf")
        ]

    def of(self, number: int) -> Style:
        """Return a style by its number; the plain one when there is none."""
        return self._styles[number] if 0 <= number < len(self._styles) else _PLAIN


def _is_bold(font: Element) -> bool:
    bold = child(font, "b")
    return bold is not None and (not value_of(bold) or is_on(value_of(bold)))


def _is_white(font: Element) -> bool:
    colour = child(font, "color")
    return value_of(colour, "rgb").upper()[-6:] == "FFFFFF" or value_of(colour, "theme") == "0"


def _is_filled(fill: Element) -> bool:
    return value_of(child(fill, "patternFill"), "patternType") not in {"", "none", "gray125"}


def _at(flags: list[bool], number: int) -> bool:
    return flags[number] if 0 <= number < len(flags) else False
